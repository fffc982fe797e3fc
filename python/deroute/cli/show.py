"""`deroute show`."""

from __future__ import annotations

import polars as pl
from rich.table import Table

from deroute import analysis
from deroute.cli import app
from deroute.errors import InputError
from deroute.frame import SEED, Results, load_results

_STYLES = {"steady": "green", "saturated": "yellow", "not-converged": "red"}


def show(directory: app.Directory, where: app.Pairs = []) -> None:
    """Show the results of an experiment as a table, averaged over seeds.

    - `deroute show runs/demo`
    - `deroute show runs/demo --where routing=MIN --where traffic=UN`
    """
    results = load_results(directory)
    labels = app.labels(results.experiment, where)
    console = app.out()
    if results.frame.is_empty():
        console.print(f"{directory}: no point of {results.experiment.name} is finished yet")
        return
    try:
        frame = analysis.where(results.frame, labels)
    except analysis.AnalysisError:
        raise InputError.of("no finished point has these labels", "--where") from None
    console.print(_table(results, frame))
    if results.missing:
        console.print(f"{len(results.missing)} points are not finished")


def _table(results: Results, frame: pl.DataFrame) -> Table:
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    cycle = pl.col("cycle_ns")
    by = axes or ["load.offered"]
    rows = frame.group_by(by, maintain_order=True).agg(
        pl.col("load.accepted", "fairness.jain_routers", "hops_mean").mean(),
        pl.col("load.offered").first().alias("show.offered"),
        (pl.col("latency.mean") * cycle).mean().alias("show.latency"),
        (pl.col("latency.p99") * cycle).mean().alias("show.p99"),
        pl.len().alias("show.seeds"),
        pl.col("verdict.state"),
    )
    table = Table(title=results.experiment.title, box=None, header_style="bold")
    for axis in axes:
        table.add_column(axis, no_wrap=True)
    for name in ("offered", "accepted", "latency ns", "p99 ns", "hops", "Jain", "seeds"):
        table.add_column(name, justify="right")
    table.add_column("state")
    for row in rows.iter_rows(named=True):
        state = analysis.worst_state(row["verdict.state"])
        table.add_row(
            *(str(row[axis]) for axis in axes),
            f"{row['show.offered']:.3f}",
            f"{row['load.accepted']:.3f}",
            f"{row['show.latency']:,.0f}",
            f"{row['show.p99']:,.0f}",
            f"{row['hops_mean']:.2f}",
            f"{row['fairness.jain_routers']:.4f}",
            str(row["show.seeds"]),
            f"[{_STYLES[state]}]{state}[/]",
        )
    return table

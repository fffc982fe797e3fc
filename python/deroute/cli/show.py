"""`deroute show`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from deroute import analysis
from deroute.cli import app
from deroute.errors import InputError
from deroute.frame import SEED, Results, load_results

_STYLES = {
    **{"steady": "green", "saturated": "yellow", "not-converged": "red"},
    **{"completed": "green", "unfinished": "red"},
}
#: Columns beside the axes and the state, and how their values are written.
_COLUMNS = {
    "offered": "{:.3f}",
    "accepted": "{:.3f}",
    "latency ns": "{:,.0f}",
    "p99 ns": "{:,.0f}",
    "hops": "{:.2f}",
    "Jain": "{:.4f}",
    "seeds": "{}",
}
#: The same where there is a workload.
_WORKLOAD_COLUMNS = {
    "time us": "{:,.2f}",
    "latency ns": "{:,.0f}",
    "p99 ns": "{:,.0f}",
    "hops": "{:.2f}",
    "seeds": "{}",
}
#: Columns in the order in which a narrow terminal does without them.
_LEAST_IMPORTANT = ("seeds", "hops", "Jain", "p99 ns", "offered")
_UNLIMITED = 10_000


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
    for count in range(len(_LEAST_IMPORTANT) + 1):
        left_out = _LEAST_IMPORTANT[:count]
        table = _table(results, frame, left_out)
        if _fits(console, table):
            break
    console.print(table)
    if left_out:
        console.print(f"Not shown, for want of width: {', '.join(left_out)}")
    if results.missing:
        console.print(f"{len(results.missing)} points are not finished")


def _table(results: Results, frame: pl.DataFrame, less: Sequence[str]) -> Table:
    """The table without some of its columns."""
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    known = _WORKLOAD_COLUMNS if analysis.MAKESPAN in frame.columns else _COLUMNS
    columns = {name: text for name, text in known.items() if name not in less}
    table = Table(title=results.experiment.title, box=None, header_style="bold")
    for axis in axes:
        table.add_column(axis, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for row in _averages(frame, axes).iter_rows(named=True):
        state = analysis.worst_state(row["verdict.state"])
        labels = (escape(str(row[axis])) for axis in axes)
        cells = (text.format(row[f"show.{name}"]) for name, text in columns.items())
        table.add_row(*labels, *cells, f"[{_STYLES[state]}]{state}[/]")
    return table


def _averages(frame: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    """One row for each combination of labels, averaged over the seeds."""
    cycle = pl.col("cycle_ns")
    shown = {
        "offered": pl.col("load.offered").first(),
        "accepted": pl.col("load.accepted").mean(),
        "latency ns": (pl.col("latency.mean") * cycle).mean(),
        "p99 ns": (pl.col("latency.p99") * cycle).mean(),
        "hops": pl.col("hops_mean").mean(),
        "Jain": pl.col("fairness.jain_routers").mean(),
        "seeds": pl.len(),
    }
    if analysis.MAKESPAN in frame.columns:
        shown["time us"] = (pl.col(analysis.MAKESPAN) * cycle).mean() / 1000
    values = (value.alias(f"show.{name}") for name, value in shown.items())
    by = list(axes) or ["load.offered"]
    return frame.group_by(by, maintain_order=True).agg(*values, pl.col("verdict.state"))


def _fits(console: Console, table: Table) -> bool:
    unlimited = console.options.update(width=_UNLIMITED)
    return Measurement.get(console, unlimited, table).maximum <= console.width

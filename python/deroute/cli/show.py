"""`deroute show`."""

from __future__ import annotations

import math
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
#: Columns beside the axes and the state: the scalar, that of its interval within a run, the digits
#: after the point, and whether it is a time in cycles, shown in ns.
_COLUMNS = {
    "offered": ("load.offered", None, 3, False),
    "accepted": ("load.accepted", "load.accepted_ci95", 3, False),
    "latency ns": ("latency.mean", "latency.ci95", 0, True),
    "p99 ns": ("latency.p99", None, 0, True),
    "hops": ("hops_mean", None, 2, False),
    "Jain": ("fairness.jain_routers", None, 4, False),
}
#: The same where there is a workload.
_WORKLOAD_COLUMNS = {
    "time us": (analysis.MAKESPAN, None, 2, True),
    "latency ns": ("latency.mean", None, 0, True),
    "p99 ns": ("latency.p99", None, 0, True),
    "hops": ("hops_mean", None, 2, False),
}
#: Those that are shown with an interval: between the seeds, or within the only run.
_WITH_INTERVAL = ("accepted", "latency ns", "time us")
#: How many seeds there are, or how many of them have another state than all together.
_SEEDS = "seeds"
#: Columns in the order in which a narrow terminal does without them.
_LEAST_IMPORTANT = ("Jain", "hops", "p99 ns", "offered", "seeds")
_UNLIMITED = 10_000


def show(directory: app.Directory, where: app.Pairs = []) -> None:
    """Show the results of an experiment as a table, averaged over seeds.

    `±` is the half-width of the 95% confidence interval: between the seeds, or within the run if
    there is one. The state of several seeds is theirs together; those with another one are counted.

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
    columns = {name: column for name, column in known.items() if name not in less}
    table = Table(title=results.experiment.title, box=None, header_style="bold")
    for axis in axes:
        table.add_column(axis, overflow="fold")
    names = [*columns, *(() if _SEEDS in less else (_SEEDS,))]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    by = list(axes) or ["load.offered"]
    for key, runs in frame.group_by(by, maintain_order=True):
        state = analysis.state_over_seeds(runs)
        others = analysis.other_states(runs, state)
        labels = (escape(str(label)) for label in key) if axes else ()
        cells = [_cell(runs, name, *column) for name, column in columns.items()]
        if _SEEDS not in less:
            cells.append(others or str(len(runs)))
        table.add_row(*labels, *cells, f"[{_STYLES[state]}]{state}[/]")
    return table


def _cell(
    runs: pl.DataFrame, name: str, scalar: str, within: str | None, digits: int, time: bool
) -> str:
    """A mean over the seeds, with its interval where there is one."""
    cycle_ns = float(runs["cycle_ns"][0]) if time else 1.0
    scale = cycle_ns / 1000 if name.endswith(" us") else cycle_ns
    inside = float(runs[within][0]) if within is not None else math.nan
    found = analysis.estimate(runs[scalar].to_numpy(), inside).scaled(scale)
    text = f"{found.mean:,.{digits}f}"
    if name not in _WITH_INTERVAL or math.isnan(found.ci95):
        return text
    return f"{text} ± {_half_width(found.ci95, digits)}"


def _half_width(value: float, digits: int) -> str:
    """With as many digits as the mean; one that counts if those are all 0."""
    text = f"{value:,.{digits}f}"
    return text if float(text.replace(",", "")) > 0 or value == 0 else f"{value:.1g}"


def _fits(console: Console, table: Table) -> bool:
    unlimited = console.options.update(width=_UNLIMITED)
    return Measurement.get(console, unlimited, table).maximum <= console.width

"""`deroute show`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl
from rich.markup import escape
from rich.table import Table

from deroute import analysis, replications
from deroute.cli import app
from deroute.cli.cells import cell, fitted, tables
from deroute.errors import InputError
from deroute.frame import SEED, Results, load_results
from deroute.reference import ACCEPTED, ACCEPTED_CI95, SLOWDOWN

#: The scalar, that of its interval within a run, the digits after the point, and whether it is a
#: time in cycles, shown in ns.
Column = tuple[str, str | None, int, bool]

_STYLES = {
    **{"steady": "green", "saturated": "yellow", "not-converged": "red"},
    **{"completed": "green", "unfinished": "red"},
}
#: Columns beside the axes and the state.
_COLUMNS: Mapping[str, Column] = {
    "offered": ("load.offered", None, 3, False),
    "accepted": ("load.accepted", "load.accepted_ci95", 3, False),
    "relative": (ACCEPTED, ACCEPTED_CI95, 3, False),
    "latency ns": ("latency.mean", "latency.ci95", 0, True),
    "p99 ns": ("latency.p99", None, 0, True),
    "hops": ("hops_mean", None, 2, False),
    "Jain": ("fairness.jain_routers", None, 4, False),
}
#: The same where there is a workload.
_WORKLOAD_COLUMNS: Mapping[str, Column] = {
    "time us": (analysis.MAKESPAN, None, 2, True),
    "slowdown": (SLOWDOWN, None, 3, False),
    "latency ns": ("latency.mean", None, 0, True),
    "p99 ns": ("latency.p99", None, 0, True),
    "hops": ("hops_mean", None, 2, False),
}
#: Columns with a unit that their names do not say.
_LOADS = ("offered", "accepted")
#: How many seeds there are, or how many of them have another state than all together.
_SEEDS, _STATE = "seeds", "state"
#: Columns in the order in which a narrow terminal does without them; the axes stay, and what was
#: accepted or how long a workload took.
_LEAST_IMPORTANT = (
    *("Jain", "hops", "p99 ns", "offered", _SEEDS),
    *("relative", "slowdown", "latency ns", _STATE),
)
#: What flow control, congestion control and the routing did, in words; points for which it is
#: told, at most.
_SAYS = {
    "Flow control": "flow_control.says",
    "Congestion points": "congestion_point.says",
    "Notifications": "notifications.says",
    "Reaction points": "reaction_point.says",
    "Adaptation": "adaptation.says",
    "Entropies": "entropy.says",
    "Retransmission": "retransmission.says",
    "Link-level retry": "retry.says",
}
_SAID = 20


def show(directory: app.Directory, where: app.Pairs = []) -> None:
    """Show the results of an experiment as a table, averaged over seeds.

    `±` is the half-width of the 95% confidence interval: between the seeds, or within the run if
    there is one. The state of several seeds is theirs together; those with another one are counted.
    With a reference, `relative` is the accepted load over that of the reference, and `slowdown` the
    time of a workload over that on the reference; `?` where the reference is not finished.

    - `deroute show runs/demo`
    - `deroute show runs/demo --where routing=MIN --where traffic=UN`
    """
    results = load_results(directory)
    labels = app.labels(results.experiment, where)
    console = app.out()
    if results.frame.is_empty():
        words = f"no point of {results.experiment.name} is finished yet"
        console.print(f"{directory}: {words}", markup=False, soft_wrap=True)
        return
    try:
        frame = analysis.where(results.frame, labels)
    except analysis.AnalysisError:
        raise InputError.of("no finished point has these labels", "--where") from None
    least = [name for name in _LEAST_IMPORTANT if name in (*_columns(frame), _SEEDS, _STATE)]
    made = partial(_table, results, frame)
    not_shown: dict[str, None] = {}
    for table, left_out in (fitted(console, made, least), *tables(console, results, frame)):
        console.print(table)
        not_shown |= dict.fromkeys(left_out)
    if not_shown:
        console.print(f"Not shown, for want of width: {', '.join(not_shown)}")
    for line in (line for who in _SAYS for line in _said(results, frame, who)):
        console.print(escape(line))
    wide = replications.open_points(results.experiment, results.frame)
    if wide:
        console.print(f"Points whose intervals are too wide after the last of their seeds: {wide}")
    if results.missing:
        console.print(f"{len(results.missing)} points are not finished")


def _said(results: Results, frame: pl.DataFrame, who: str) -> list[str]:
    """What somebody did, in words: once for all, or for each point, of its first seed."""
    says = _SAYS[who]
    if says not in frame.columns:
        return []
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    points = frame.drop_nulls(says)
    if points.is_empty():
        return []
    said = points.unique(axes, keep="first", maintain_order=True) if axes else points.head(1)
    if said[says].n_unique() == 1 and len(points) == len(frame):
        return [f"{who}: {text}" for text in said[says].unique()]
    keys = said.select(pl.concat_str(axes, separator=", ")).to_series()
    lines = [f"- {key}: {text}" for key, text in zip(keys, said[says], strict=True)]
    rest = [f"- and {len(lines) - _SAID} more"] if len(lines) > _SAID else []
    return [who, *lines[:_SAID], *rest]


def _table(results: Results, frame: pl.DataFrame, less: Sequence[str]) -> Table:
    """The table without some of its columns."""
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    columns = {name: each for name, each in _columns(frame).items() if name not in less}
    loads = " and ".join(name for name in _LOADS if name in columns)
    table = Table(
        title=escape(results.experiment.title),
        caption=f"{loads} in phits/host/cycle" if loads else None,
        box=None,
        header_style="bold",
    )
    for axis in axes:
        table.add_column(axis, overflow="fold")
    names = [*columns, *(() if _SEEDS in less else (_SEEDS,))]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    if _STATE not in less:
        table.add_column(_STATE, no_wrap=True)
    by = list(axes) or ["load.offered"]
    for key, runs in frame.group_by(by, maintain_order=True):
        state = analysis.state_over_seeds(runs)
        others = analysis.other_states(runs, state)
        labels = (escape(str(label)) for label in key) if axes else ()
        cells = [cell(runs, name, *column) for name, column in columns.items()]
        if _SEEDS not in less:
            cells.append(others or str(len(runs)))
        if _STATE not in less:
            cells.append(f"[{_STYLES[state]}]{state}[/]")
        table.add_row(*labels, *cells)
    return table


def _columns(frame: pl.DataFrame) -> dict[str, Column]:
    """What is known of the points, beside their axes, seeds and states."""
    known = _WORKLOAD_COLUMNS if analysis.MAKESPAN in frame.columns else _COLUMNS
    return {name: column for name, column in known.items() if column[0] in frame.columns}

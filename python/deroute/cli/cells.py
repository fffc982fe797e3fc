"""Cells and tables of results that commands print."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from statistics import mean

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from deroute import analysis
from deroute.frame import SEED, Results
from deroute.jobs import PATH, CriticalPath
from deroute.results import Outcome

#: Those that are shown with an interval: between the seeds, or within the only run.
_WITH_INTERVAL = ("accepted", "relative", "latency ns", "time us", "slowdown")
#: Columns of a stream: the scalar below its name, that of its interval within a run, the digits
#: after the point, and whether it is a time in cycles, shown in ns.
_STREAM_COLUMNS = {
    "offered": ("link_share.offered", None, 3, False),
    "accepted": ("link_share.accepted", "link_share.accepted_ci95", 3, False),
    "latency ns": ("latency.mean", "latency.ci95", 0, True),
    "p99 ns": ("latency.p99", None, 0, True),
    "slowdown": ("slowdown.mean", None, 2, False),
    "out of order": ("out_of_order_share", None, 4, False),
}
#: Columns in the order in which a narrow terminal does without them: of streams, of paths.
_LEAST_OF_STREAMS = ("out of order", "slowdown", "p99 ns", "offered", "latency ns")
_LONGEST = "longest part"
_LEAST_OF_PATHS = (_LONGEST, *reversed(PATH[1:]))

#: Which row of the results it is.
_ROW = "row of the results"
_UNLIMITED = 10_000

#: A table, and the columns that it does without.
Fitted = tuple[Table, Sequence[str]]


def fits(console: Console, table: Table) -> bool:
    """Whether the console has the width for a table."""
    unlimited = console.options.update(width=_UNLIMITED)
    return Measurement.get(console, unlimited, table).maximum <= console.width


def fitted(
    console: Console, made: Callable[[Sequence[str]], Table], columns: Sequence[str]
) -> Fitted:
    """A table without as many of these columns, the first ones first, as it takes to fit; and
    those. `made` is the table without some columns.
    """
    for count in range(len(columns) + 1):
        less = columns[:count]
        table = made(less)
        if fits(console, table):
            break
    return table, less


def grid(rows: Iterable[Sequence[str]]) -> Table:
    """Rows of names and texts, which are shown as they are and whole, however narrow they get."""
    table = Table.grid(padding=(0, 2))
    for row in rows:
        while len(table.columns) < len(row):
            table.add_column(overflow="fold")
        table.add_row(*map(escape, row))
    return table


def cell(
    runs: pl.DataFrame, name: str, scalar: str, within: str | None, digits: int, time: bool
) -> str:
    """A mean over the seeds, with its interval where there is one."""
    cycle_ns = float(runs["cycle_ns"][0]) if time else 1.0
    scale = cycle_ns / 1000 if name.endswith(" us") else cycle_ns
    inside = float(runs[within][0]) if within is not None else math.nan
    found = analysis.estimate(runs[scalar].to_numpy(), inside).scaled(scale)
    if math.isnan(found.mean):
        return "?"
    text = f"{found.mean:,.{digits}f}"
    if name not in _WITH_INTERVAL or math.isnan(found.ci95):
        return text
    return f"{text} ± {_half_width(found.ci95, digits)}"


def _half_width(value: float, digits: int) -> str:
    """With as many digits as the mean; one that counts if those are all 0."""
    text = f"{value:,.{digits}f}"
    return text if float(text.replace(",", "")) > 0 or value == 0 else f"{value:.1g}"


def tables(console: Console, results: Results, frame: pl.DataFrame) -> Iterator[Fitted]:
    """Tables of the streams and of the critical paths, if there are any."""
    names = dict.fromkeys(each.name for outcome in results.outcomes for each in outcome.streams)
    if names:
        made = partial(_stream_table, results, frame, list(names))
        yield fitted(console, made, _LEAST_OF_STREAMS)
    rows = _with_paths(results, frame)
    jobs = {name: None for row in rows[_ROW] for name in _paths(results.outcomes[row])}
    if jobs:
        made = partial(_path_table, results, rows, list(jobs))
        yield fitted(console, made, _LEAST_OF_PATHS)


def _stream_table(
    results: Results, frame: pl.DataFrame, names: Sequence[str], less: Sequence[str]
) -> Table:
    """A row for each stream of each point, without some of the columns."""
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    table = Table(title="Streams, as shares of the link", box=None, header_style="bold")
    for axis in (*axes, "stream"):
        table.add_column(axis, overflow="fold")
    columns = {name: each for name, each in _STREAM_COLUMNS.items() if name not in less}
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for key, runs in frame.group_by(axes or ["load.offered"], maintain_order=True):
        labels = [escape(str(label)) for label in key] if axes else []
        for name in names:
            prefix = f"streams.{name}."
            known = f"{prefix}hosts" in runs.columns
            own = runs.filter(pl.col(f"{prefix}hosts").is_not_null()) if known else runs.clear()
            if own.is_empty():
                continue
            cells = [
                cell(own, column, prefix + scalar, within and prefix + within, digits, time)
                for column, (scalar, within, digits, time) in columns.items()
            ]
            table.add_row(*labels, escape(name), *cells)
    return table


def _with_paths(results: Results, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a frame, with the numbers of their outcomes."""
    points = list(results.experiment.axes)
    rows = results.frame.with_row_index(_ROW)
    return rows.join(frame, on=points, how="semi") if points else rows


def _paths(outcome: Outcome) -> dict[str, tuple[float, CriticalPath]]:
    """Times and critical paths of the jobs that have followed them."""
    jobs = outcome.workload.jobs if outcome.workload else []
    return {job.name: (job.time, job.critical_path) for job in jobs if job.critical_path}


def _path_table(
    results: Results, rows: pl.DataFrame, names: Sequence[str], less: Sequence[str]
) -> Table:
    """A row for each job of each point, without some of the columns.

    The shares are means over the seeds; the longest part is that of the first seed.
    """
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    table = Table(title="Critical paths, as shares of the time", box=None, header_style="bold")
    for axis in (*axes, "job"):
        table.add_column(axis, overflow="fold")
    columns = [column for column in PATH if column not in less]
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    if _LONGEST not in less:
        table.add_column(_LONGEST, overflow="fold")
    for key, runs in rows.group_by(axes or [pl.lit(0)], maintain_order=True):
        labels = [escape(str(label)) for label in key] if axes else []
        outcomes = [results.outcomes[row] for row in runs[_ROW]]
        for name in names:
            found = [_paths(outcome) for outcome in outcomes]
            paths = [each[name] for each in found if name in each]
            if not paths:
                continue
            shares = [mean(getattr(path, what) / time for time, path in paths) for what in columns]
            cells = [f"{share:.1%}" for share in shares]
            if _LONGEST not in less:
                cells.append(escape(_longest(paths[0][1], outcomes[0].cycle_ns)))
            table.add_row(*labels, escape(name), *cells)
    return table


def _longest(path: CriticalPath, cycle_ns: float) -> str:
    """The longest part of a path, in words."""
    if not path.longest:
        return ""
    part = path.longest[0]
    who = f"{part.from_} to {part.rank}" if part.from_ != part.rank else f"rank {part.rank}"
    text = f"{part.what}, {who}, {part.cycles * cycle_ns / 1000:,.2f} us"
    return f"{text}: {part.call}" if part.call else text

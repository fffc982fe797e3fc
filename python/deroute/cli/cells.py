"""Cells and tables of results that commands print."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from deroute import analysis
from deroute.frame import SEED, Results
from deroute.jobs import PATH, CriticalPath

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

#: Which row of the results it is.
_ROW = "row of the results"
_UNLIMITED = 10_000


def fits(console: Console, table: Table) -> bool:
    """Whether the console has the width for a table."""
    unlimited = console.options.update(width=_UNLIMITED)
    return Measurement.get(console, unlimited, table).maximum <= console.width


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


def stream_tables(results: Results, frame: pl.DataFrame) -> Iterator[Table]:
    """A table of the streams, if there are any: a row for each of each point."""
    names = dict.fromkeys(each.name for outcome in results.outcomes for each in outcome.streams)
    if not names:
        return
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    table = Table(title="Streams, as shares of the link", box=None, header_style="bold")
    for axis in (*axes, "stream"):
        table.add_column(axis, overflow="fold")
    for column in _STREAM_COLUMNS:
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
                for column, (scalar, within, digits, time) in _STREAM_COLUMNS.items()
            ]
            table.add_row(*labels, escape(name), *cells)
    yield table


def path_tables(results: Results, frame: pl.DataFrame) -> Iterator[Table]:
    """A table of the critical paths, if jobs have followed them: a row for each of each point.

    The shares are means over the seeds; the longest part is that of the first seed.
    """
    points = list(results.experiment.axes)
    rows = results.frame.with_row_index(_ROW)
    if points:
        rows = rows.join(frame, on=points, how="semi")
    outcomes = [results.outcomes[row] for row in rows[_ROW]]
    jobs = [outcome.workload.jobs if outcome.workload else [] for outcome in outcomes]
    names = dict.fromkeys(job.name for each in jobs for job in each if job.critical_path)
    if not names:
        return
    axes = [axis for axis in results.experiment.axes if axis != SEED]
    table = Table(title="Critical paths, as shares of the time", box=None, header_style="bold")
    for axis in (*axes, "job"):
        table.add_column(axis, overflow="fold")
    for column in PATH:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("longest part", overflow="fold")
    for key, runs in rows.group_by(axes or [pl.lit(0)], maintain_order=True):
        labels = [escape(str(label)) for label in key] if axes else []
        for name in names:
            own = [results.outcomes[row].workload.job(name) for row in runs[_ROW]]
            paths = [(job, job.critical_path) for job in own if job.critical_path is not None]
            if not paths:
                continue
            shares = [mean(getattr(path, what) / job.time for job, path in paths) for what in PATH]
            cells = [f"{share:.1%}" for share in shares]
            longest = _longest(paths[0][1], results.outcomes[runs[_ROW][0]].cycle_ns)
            table.add_row(*labels, escape(name), *cells, escape(longest))
    yield table


def _longest(path: CriticalPath, cycle_ns: float) -> str:
    """The longest part of a path, in words."""
    if not path.longest:
        return ""
    part = path.longest[0]
    who = f"{part.from_} to {part.rank}" if part.from_ != part.rank else f"rank {part.rank}"
    text = f"{part.what}, {who}, {part.cycles * cycle_ns / 1000:,.2f} us"
    return f"{text}: {part.call}" if part.call else text

"""`transient`: latency and misrouted share against time, around a change of the traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deroute import analysis
from deroute.figures import layout, timeline
from deroute.figures.study import Study, only
from deroute.figures.style import TWO_COLUMNS
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.results import Outcome


@dataclass(frozen=True, slots=True)
class Trace:
    """Time series of one point over its seeds; NaN in bins without packets."""

    #: Middle of each bin, in microseconds since the beginning of the measurement.
    time_us: NDArray[np.float64]
    latency_ns: analysis.Profile
    misrouted_percent: analysis.Profile


def trace(outcomes: Sequence[Outcome], by: str) -> Trace:
    """Mean latency and share of non-minimal packets per bin, by `generation` or `delivery`."""
    if len({outcome.measured_cycles for outcome in outcomes}) > 1:
        message = "runs that last until enough is known have no time series in common"
        raise FigureError("run.precision", message)
    times, latencies, shares = np.empty(0), [], []
    for outcome in outcomes:
        series = outcome.series
        if series is None:
            raise FigureError("probes.series", "a transient figure needs the time series")
        columns = series.by_generation if by == "generation" else series.by_delivery
        packets = np.asarray(columns.packets, dtype=float)
        packets[packets == 0] = np.nan
        latencies.append(np.asarray(columns.latency_sum) / packets * outcome.cycle_ns)
        shares.append(100 * np.asarray(columns.nonminimal) / packets)
        middle = series.start + (np.arange(len(packets)) + 0.5) * series.width
        if len(middle) > len(times):
            times = middle * outcome.cycle_ns / 1000
    # Of packets generated in the last bins none may have come in some of the runs.
    rows = [
        analysis.profile([_to_length(values, len(times)) for values in each])
        for each in (latencies, shares)
    ]
    return Trace(times, *rows)


def _to_length(values: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """With NaN up to a length."""
    return np.pad(values, (0, length - len(values)), constant_values=np.nan)


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: latency above, misrouted share below, one column per panel."""
    names = table.labels(study.axes, table.panel)
    size = (TWO_COLUMNS if len(names) > 1 else 4.6, 3.9)
    figure, grid = layout.new_figure(2, len(names), size, sharex=True, sharey="row")
    by = str(table.options["by"])
    changes: list[set[float]] = [set() for _ in names]
    bands = False
    for column, name in enumerate(names):
        layout.panel_title(grid[0, column], table.panel, name)
        for label in table.labels(study.axes, table.series):
            chosen = only(table.panel, name) | only(table.series, label)
            rows = study.rows(table, **chosen)
            if not rows.is_empty():
                line = trace(study.outcomes_of(rows), by)
                index = study.place(table.series, label)
                changes[column] |= study.changes_of(rows)
                bands |= line.latency_ns.runs > 1
                timeline.curve(grid[0, column], line.time_us, line.latency_ns, index, label)
                timeline.curve(grid[1, column], line.time_us, line.misrouted_percent, index, label)
    _scales(grid, table)
    for column, times in enumerate(changes):
        timeline.changes(grid[:, column].tolist(), times)
    figure.align_ylabels()
    layout.axis_titles(figure, f"Time of {by} since the measurement began (µs)", None)
    layout.legend(figure, layout.first_handles(layout.flatten(grid)), study, table)
    notes = ["bands: 95% confidence over the seeds"] if bands else []
    layout.footnote(figure, study, table, notes)
    return figure


def _scales(grid: NDArray[np.object_], table: FigureTable) -> None:
    layout.from_zero(grid[0])
    grid[1, 0].set_ylim(-3, 104)
    grid[0, 0].set_ylabel("Mean latency (ns)")
    grid[1, 0].set_ylabel("Non-minimal packets (%)")
    timeline.bounds(grid[0, 0], table)


KIND = FigureKind(
    name="transient",
    summary="latency and non-minimal share against time (`by`: generation or delivery)",
    draw=draw,
    options={
        "by": Option((str,), default="delivery", choices=("generation", "delivery")),
        **timeline.OPTIONS,
    },
)

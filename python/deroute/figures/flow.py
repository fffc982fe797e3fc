"""`flow`: accepted load against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deroute import analysis
from deroute.figures import layout, streams, timeline
from deroute.figures.study import Study
from deroute.figures.table import FigureError, FigureKind, FigureTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.records import Series
    from deroute.results import Outcome


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per label and a curve per series."""
    hosts = "sending host" if streams.split(table) else "host"
    title = f"Accepted load (phits/{hosts}/cycle)"
    figure = timeline.draw(study, table, course, title, [], of_stream=course_of_stream)
    layout.from_zero(figure.axes)
    return figure


def course(outcomes: Sequence[Outcome]) -> timeline.Course:
    """Accepted load in time, from the runs of one point."""
    times, loads = np.array([]), []
    for outcome in outcomes:
        series = outcome.series
        if series is None:
            raise FigureError("probes.series", "this figure needs the time series")
        phits = np.asarray(series.by_delivery.phits, dtype=float)
        loads.append(phits / (series.width * outcome.size.hosts))
        times = _middles(outcome, series, len(phits))
    return times, analysis.profile(loads)


def course_of_stream(outcomes: Sequence[Outcome], name: str) -> timeline.Course:
    """The same of a stream, for each host that sends it."""
    times, loads = np.array([]), []
    for outcome in outcomes:
        series = outcome.series
        if series is None:
            raise FigureError("probes.series", "this figure needs the time series")
        phits = np.zeros(len(series.by_delivery.phits))
        if name in outcome.stream_series:
            own = outcome.stream_series[name].phits
            phits[: len(own)] = own
            phits /= series.width * outcome.stream(name).hosts
        loads.append(phits)
        times = _middles(outcome, series, len(phits))
    return times, analysis.profile(loads)


def _middles(outcome: Outcome, series: Series, bins: int) -> NDArray[np.float64]:
    """The middle of each bin, in microseconds."""
    middle = series.start + (np.arange(bins) + 0.5) * series.width
    return np.asarray(middle * outcome.cycle_ns / 1000)


KIND = FigureKind(
    name="flow",
    summary="accepted load against time",
    draw=draw,
    options={**timeline.OPTIONS, **streams.OPTIONS},
)

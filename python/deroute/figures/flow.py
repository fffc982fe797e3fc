"""`flow`: accepted load against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deroute import analysis
from deroute.figures import timeline
from deroute.figures.study import Study
from deroute.figures.table import FigureError, FigureKind, FigureTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deroute.results import Outcome


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per label and a curve per series."""
    figure = timeline.draw(study, table, course, "Accepted load (phits/host/cycle)", [])
    figure.axes[0].set_ylim(bottom=0)
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
        middle = series.start + (np.arange(len(phits)) + 0.5) * series.width
        times = middle * outcome.cycle_ns / 1000
    return times, analysis.profile(loads)


KIND = FigureKind(
    name="flow", summary="accepted load against time", draw=draw, options=timeline.OPTIONS
)

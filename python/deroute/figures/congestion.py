"""`congestion`: congestion trees and head-of-line blocking against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deroute import analysis
from deroute.figures import layout, timeline
from deroute.figures.study import Study
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.records import CongestionSeries
    from deroute.results import Outcome

#: What is drawn, by the name in the file, and its title.
_VALUES = {
    "trees": "Congestion trees",
    "depth": "Depth of the deepest tree (links)",
    "buffers": "Buffers in congestion trees",
    "hosts": "Injection queues in congestion trees",
    "held": "Phits in congestion trees (% of all queued)",
    "blocked": "Phits blocked by a head (% of all queued)",
}
#: Those that are shown as a share of all phits that are queued.
_SHARES = ("held", "blocked")


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: one quantity, a panel per label and a curve per series."""
    value = str(table.options["value"])

    def read(outcomes: Sequence[Outcome]) -> timeline.Course:
        return course(outcomes, value)

    figure = timeline.draw(study, table, read, _VALUES[value], [])
    layout.from_zero(figure.axes)
    return figure


def course(outcomes: Sequence[Outcome], value: str) -> timeline.Course:
    """A quantity in time, from the runs of one point."""
    sampled = [series(outcome) for outcome in outcomes]
    length = min(len(each.trees) for each in sampled)
    values = [_values(each, value)[:length] for each in sampled]
    cycles = sampled[0].cycles[:length]
    return cycles * outcomes[0].cycle_ns / 1000, analysis.profile(values)


def series(outcome: Outcome) -> CongestionSeries:
    """The samples of a run, which has to have some."""
    if outcome.congestion is None:
        raise FigureError("probes.congestion", "this figure needs the congestion trees")
    return outcome.congestion


def _values(samples: CongestionSeries, value: str) -> NDArray[np.float64]:
    values = np.asarray(getattr(samples, value), dtype=float)
    if value in _SHARES:
        # Nothing is held where nothing is queued.
        return 100 * values / np.maximum(samples.queued, 1)
    return values


KIND = FigureKind(
    name="congestion",
    summary=(
        "congestion trees and head-of-line blocking against time (`value`: trees, depth, buffers,"
        " hosts, held or blocked)"
    ),
    draw=draw,
    options={
        "value": Option((str,), default="held", choices=tuple(_VALUES)),
        **timeline.OPTIONS,
    },
)

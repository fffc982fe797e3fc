"""`line`: any column of the results against any axis of numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from deroute import units
from deroute.figures import latency, layout
from deroute.figures.curves import Curve, Notes, band, draw_panels, line
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option
from deroute.results import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

    from deroute.figures.study import Study

#: Columns that have an interval within a run.
_WITHIN = {"latency.mean": "latency.ci95", "load.accepted": "load.accepted_ci95"}
_CHOICES = 8
_TITLES = {
    "latency.mean": "Mean packet latency",
    "latency.min": "Least packet latency",
    "latency.max": "Largest packet latency",
    "load.offered": layout.OFFERED,
    "load.accepted": "Accepted load (phits/host/cycle)",
    "hops_mean": "Links on a path",
    "fairness.jain_routers": "Jain's index over routers",
}
#: Parts of an outcome whose names depend on the network and on what it does.
_DYNAMIC = (
    *("paths", "links", "workload", "flow_control", "streams", "classes", "congestion_point"),
    *("trend", "relative", "pauses", "queues"),
)
#: Those that the engine gives.
_PERCENTILES = ("1", "25", "50", "95", "99", "99.9")


def unknown(column: str) -> list[str] | None:
    """Columns that may have been meant by what can be none; None if it may be one."""
    if column.partition(".")[0] in _DYNAMIC:
        return None
    known = list(_columns("", Outcome))
    return None if column in known else difflib.get_close_matches(column, known, _CHOICES) or known


def _columns(prefix: str, part: type[BaseModel]) -> Iterator[str]:
    """Names of the numbers of an outcome that every outcome has."""
    for name, field in part.model_fields.items():
        kind = field.annotation
        if kind in (int, float):
            yield prefix + name
        elif name == "percentiles":
            yield from (f"{prefix}p{percent}" for percent in _PERCENTILES)
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _columns(f"{prefix}{name}.", kind)


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure. Saturated points have no latency; of all else they are shown."""
    column = known_column(study, table)
    within = _WITHIN.get(column)
    if column.startswith("latency.") and units.is_time(column):
        return latency.draw_column(study, table, column, within, title_of(column))
    scale = float(study.frame["cycle_ns"][0]) if units.is_time(column) else 1.0
    marks = Notes()

    def one(panel: Plot, curve: Curve) -> None:
        marks.bands |= band(panel, curve, curve.points, scale)
        marks.hollow |= line(panel, curve, curve.points, scale)

    figure, panels = draw_panels(study, table, column, within, one)
    limit = table.options["y_max"]
    if isinstance(limit, int | float):
        panels[0].set_ylim(top=float(limit))
        panels[0].set_ylim(bottom=min(0.0, panels[0].get_ylim()[0]))
    elif panels[0].get_ylim()[0] >= 0:
        layout.from_zero(panels)
    title = title_of(column)
    if units.is_time(column):
        title += f" ({layout.times(panels, panels[0].get_ylim()[1])})"
    x = layout.OFFERED if table.x == "load" else str(table.x)
    layout.axis_titles(figure, x, title)
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, marks.texts(layout.seeds_of(study, table)))
    return figure


def title_of(column: str) -> str:
    """A column in words, where it has some."""
    if column.startswith("latency.p") and column.removeprefix("latency.p") in _PERCENTILES:
        percent = column.removeprefix("latency.p")
        ending = "st" if percent in ("1",) else "th"
        return f"{percent}{ending} percentile of packet latency"
    return _TITLES.get(column, column)


def known_column(study: Study, table: FigureTable) -> str:
    """The column that a figure names as its `y`; it is a number of the results."""
    column = str(table.options["y"])
    frame = study.rows(table)
    known = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    if column not in known:
        close = difflib.get_close_matches(column, known, n=_CHOICES, cutoff=0.4)
        path = f"figure {table.name!r}.y"
        raise FigureError(path, f"the results have no number {column!r}", close or known)
    return column


KIND = FigureKind(
    name="line",
    summary="a column of the results (`y`, such as `latency.p99`) against an axis of numbers",
    draw=draw,
    x="load",
    uneven=True,
    options={"y": Option((str,), required=True), "y_max": Option((int, float))},
)

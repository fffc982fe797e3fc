"""`latency`: mean latency against offered load, cut where the network saturates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.path import Path as Shape
from matplotlib.transforms import offset_copy

from deroute.figures import layout
from deroute.figures.curves import HOLLOW, Curve, Notes, band, doubtful, draw_panels, line
from deroute.figures.table import FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.figures.study import Study

# Without `y_max` the ordinate ends at this multiple of the slowest zero-load latency, so that one
# point close to saturation does not flatten all the rest.
_HEADROOM = 2.6

# Marks at the top of the axes, in shapes of no series: a caret where a curve was cut, an arrow
# above a point that lies beyond the axes.
_CARET = Shape([(-1, -0.5), (0, 0.6), (1, -0.5)])
_ARROW = Shape([(0, -1), (0, 1), (-0.6, 0.3), (0, 1), (0.6, 0.3)], [1, 2, 1, 2, 2])
_TOP, _BELOW_TOP = 0.965, 0.91
# Distance between carets at the same load, in points.
_SIDE_STEP = 5.0


def steady_part(points: pl.DataFrame, along_load: bool) -> pl.DataFrame:
    """Points that have a latency: none that is saturated, and along a load none beyond it."""
    saturated = (points["state"] == "saturated").to_numpy()
    if along_load and saturated.any():
        return points.head(int(np.argmax(saturated)))
    return points.filter(pl.Series(~saturated))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A curve that was drawn: the part that has a latency, in nanoseconds."""

    panel: Plot
    curve: Curve
    steady: pl.DataFrame
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure; a caret at the top marks where a curve was cut."""
    cycle_ns = float(study.frame["cycle_ns"][0])
    along_load = table.x == "load"
    drawn: list[_Drawn] = []
    marks = Notes()

    def one(panel: Plot, curve: Curve) -> None:
        points = steady_part(curve.points, along_load)
        if not points.is_empty():
            marks.bands |= band(panel, curve, points, cycle_ns)
        line(panel, curve, points, cycle_ns)
        x, y = curve.column(curve.x, points), curve.column("mean", points) * cycle_ns
        marks.hollow |= bool(doubtful(points).any())
        drawn.append(_Drawn(panel, curve, points, x, y))

    figure, panels = draw_panels(study, table, "latency.mean", "latency.ci95", one)
    limit = table.options["y_max"]
    slowest = max((float(each.y[0]) for each in drawn if len(each.y)), default=1.0)
    top = float(limit) if isinstance(limit, int | float) else _HEADROOM * slowest
    panels[0].set_ylim(0, top)
    if along_load:
        panels[0].set_xlim(0, 1.03 * float(study.rows(table)["load.offered"].to_numpy().max()))
    notes = marks.texts(layout.seeds_of(study, table))
    cut = [each for each in drawn if along_load and len(each.steady) < len(each.curve.points)]
    for each, shift in zip(cut, _side_steps(cut), strict=True):
        _mark_saturation(each, top, shift)
    if cut:
        notes.append("carets: saturated from there on")
    above = [_mark_beyond(each, top) for each in drawn]
    if any(above):
        notes.append("arrows: above the axes")
    layout.axis_titles(
        figure, layout.OFFERED if along_load else str(table.x), "Mean packet latency (ns)"
    )
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, notes)
    return figure


def _first_saturated(drawn: _Drawn) -> float:
    return float(drawn.curve.column(drawn.curve.x)[len(drawn.steady)])


def _side_steps(cut: Sequence[_Drawn]) -> list[float]:
    """Points to the side for each caret, so that those at the same load stand side by side."""
    places = [(id(each.panel), _first_saturated(each)) for each in cut]
    return [
        _SIDE_STEP * (places[:index].count(place) - (places.count(place) - 1) / 2)
        for index, place in enumerate(places)
    ]


def _mark_saturation(drawn: _Drawn, top: float, shift: float) -> None:
    """A dotted rise from the last steady point to a caret at the first saturated load."""
    beyond, height = _first_saturated(drawn), _TOP * top
    colour: dict[str, Any] = {"color": drawn.curve.look.colour}
    if len(drawn.y) and drawn.y[-1] < height:
        ends = [drawn.x[-1], beyond], [drawn.y[-1], height]
        drawn.panel.plot(*ends, linestyle=":", linewidth=0.9, **colour)
    _mark(drawn, _CARET, [beyond], top, shift)


def _mark_beyond(drawn: _Drawn, top: float) -> bool:
    """An arrow for each point above the axes, under it a hollow point if it is not converged."""
    above = drawn.y > top
    if not above.any():
        return False
    _mark(drawn, _ARROW, drawn.x[above], top)
    x = drawn.x[above & doubtful(drawn.steady)]
    look = drawn.curve.look
    y = np.full(len(x), _BELOW_TOP * top)
    drawn.panel.plot(x, y, color=look.colour, marker=look.marker, **HOLLOW)
    return True


def _mark(
    drawn: _Drawn,
    shape: Shape,
    x: Sequence[float] | NDArray[np.float64],
    top: float,
    shift: float = 0,
) -> None:
    figure = drawn.panel.get_figure(root=True)
    drawn.panel.plot(
        x,
        np.full(len(x), _TOP * top),
        marker=shape,
        markersize=6,
        markerfacecolor="none",
        markeredgewidth=1.3,
        linestyle="none",
        color=drawn.curve.look.colour,
        clip_on=False,
        transform=offset_copy(drawn.panel.transData, figure, shift, 0, units="points"),
        zorder=4,
    )


KIND = FigureKind(
    name="latency",
    summary="mean latency in ns against load; saturated points are cut and marked",
    draw=draw,
    x="load",
    options={"y_max": Option((int, float))},
)

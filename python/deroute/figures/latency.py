"""`latency`: mean latency against offered load, cut where the network saturates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.path import Path as Shape
from matplotlib.transforms import offset_copy

from deroute.figures import layout, streams
from deroute.figures.curves import HOLLOW, Curve, Notes, band, doubtful, draw_panels, line
from deroute.figures.table import FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.figures.study import Study

# Without `y_max` the ordinate ends at this multiple of the slowest zero-load latency, so that one
# point close to saturation does not flatten all the rest; or, if nothing comes near that, above the
# highest point, with room for the marks of what is not drawn.
HEADROOM, _ROOM = 2.6, 1.25

# Marks at the top of the axes, in shapes of no series: a caret where a curve was cut, an arrow
# above a point that lies beyond the axes.
_CARET = Shape([(-1, -0.5), (0, 0.6), (1, -0.5)])
_ARROW = Shape([(0, -1), (0, 1), (-0.6, 0.3), (0, 1), (0.6, 0.3)], [1, 2, 1, 2, 2])
_TOP, _BELOW_TOP = 0.965, 0.91
# Distance between carets at the same load, in points.
_SIDE_STEP = 5.0


@dataclass(frozen=True, slots=True)
class Parts:
    """Points of a curve by whether they have a latency."""

    #: Not saturated, and not beyond the load where the curve ends.
    drawn: pl.DataFrame
    #: Saturated, but below a load that is steady.
    between: pl.DataFrame
    #: From the load on where the curve ends: the first saturated one above which none is steady.
    beyond: pl.DataFrame


def parts(points: pl.DataFrame, along_load: bool) -> Parts:
    """Split a curve; where `x` is no load, it has no end."""
    saturated = (points["state"] == "saturated").to_numpy()
    end = len(points)
    if along_load and saturated.any():
        steady = np.flatnonzero((points["state"] == "steady").to_numpy())
        from_there = saturated.copy()
        from_there[: int(steady[-1]) + 1 if steady.size else 0] = False
        end = int(np.argmax(from_there)) if from_there.any() else end
    below = points.head(end)
    chosen = pl.Series(saturated[:end], dtype=pl.Boolean)
    return Parts(below.filter(~chosen), below.filter(chosen), points.slice(end))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A curve that was drawn: the part that has a latency, in nanoseconds."""

    panel: Plot
    curve: Curve
    parts: Parts
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    def ends_at(self) -> float:
        """First load that is not drawn."""
        return float(self.curve.column(self.curve.x, self.parts.beyond)[0])


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure; a caret at the top marks where a curve was cut."""
    return draw_column(study, table, "latency.mean", "latency.ci95", "Mean packet latency")


def draw_column(
    study: Study, table: FigureTable, column: str, within: str | None, title: str
) -> Figure:
    """Draw a latency, in cycles, of which saturated points have none."""
    cycle_ns = float(study.frame["cycle_ns"][0])
    along_load = table.x == "load" and not streams.split(table)
    drawn: list[_Drawn] = []
    marks = Notes()

    def one(panel: Plot, curve: Curve) -> None:
        split = parts(curve.points.filter(pl.col("mean").is_not_nan()), along_load)
        points = split.drawn
        if not points.is_empty():
            marks.bands |= band(panel, curve, points, cycle_ns)
        line(panel, curve, points, cycle_ns)
        x, y = curve.column(curve.x, points), curve.column("mean", points) * cycle_ns
        marks.hollow |= bool(doubtful(points).any())
        drawn.append(_Drawn(panel, curve, split, x, y))

    figure, panels = draw_panels(study, table, column, within, one)
    limit = table.options["y_max"]
    slowest = max((float(each.y[0]) for each in drawn if len(each.y)), default=1.0)
    highest = max((float(each.y.max()) for each in drawn if len(each.y)), default=slowest)
    top = min(HEADROOM * slowest, _ROOM * highest)
    top = float(limit) if isinstance(limit, int | float) else top
    panels[0].set_ylim(0, top)
    if along_load:
        panels[0].set_xlim(0, 1.03 * float(study.rows(table)["load.offered"].to_numpy().max()))
    notes = marks.texts(layout.seeds_of(study, table))
    notes += _mark_saturated(drawn, top) if along_load else []
    above = [_mark_beyond(each, top) for each in drawn]
    if any(above):
        notes.append("arrows: above the axes")
    unit = layout.times(panels, top)
    layout.axis_titles(figure, layout.OFFERED if along_load else str(table.x), f"{title} ({unit})")
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, notes)
    return figure


def _mark_saturated(drawn: Sequence[_Drawn], top: float) -> list[str]:
    """Carets where curves end, and where points between steady ones are left out; what they say."""
    cut = [each for each in drawn if len(each.parts.beyond)]
    for each, shift in zip(cut, _side_steps(cut), strict=True):
        _mark_saturation(each, top, shift)
    notes = ["carets: saturated from there on"] if cut else []
    between = [each for each in drawn if len(each.parts.between)]
    for each in between:
        _mark(each, _CARET, each.curve.column(each.curve.x, each.parts.between), top)
    if between:
        notes.append("carets above a curve: saturated there, steady at higher loads")
    return notes


def _side_steps(cut: Sequence[_Drawn]) -> list[float]:
    """Points to the side for each caret, so that those at the same load stand side by side."""
    places = [(id(each.panel), each.ends_at()) for each in cut]
    return [
        _SIDE_STEP * (places[:index].count(place) - (places.count(place) - 1) / 2)
        for index, place in enumerate(places)
    ]


def _mark_saturation(drawn: _Drawn, top: float, shift: float) -> None:
    """A dotted rise from the last steady point to a caret at the first saturated load."""
    beyond, height = drawn.ends_at(), _TOP * top
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
    x = drawn.x[above & doubtful(drawn.parts.drawn)]
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
    uneven=True,
    options={"y_max": Option((int, float)), **streams.OPTIONS},
)

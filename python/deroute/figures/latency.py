"""`latency`: mean latency against offered load, cut where the network saturates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from deroute.figures import layout
from deroute.figures.curves import Curve, band, draw_panels, line
from deroute.figures.table import FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

    from deroute.figures.study import Study

# Without `y_max` the ordinate ends at this multiple of the slowest zero-load latency, so that one
# point close to saturation does not flatten all the rest.
_HEADROOM = 2.6


def steady_part(points: pl.DataFrame, along_load: bool) -> pl.DataFrame:
    """Points that have a latency: none that is saturated, and along a load none beyond it."""
    saturated = (points["state"] == "saturated").to_numpy()
    if along_load and saturated.any():
        return points.head(int(np.argmax(saturated)))
    return points.filter(pl.Series(~saturated))


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure; a caret at the top marks where a curve was cut."""
    cycle_ns = float(study.frame["cycle_ns"][0])
    along_load = table.x == "load"
    slowest: list[float] = []
    marks: list[tuple[Plot, Curve, pl.DataFrame]] = []

    def one(panel: Plot, curve: Curve) -> None:
        points = steady_part(curve.points, along_load)
        if not points.is_empty():
            band(panel, curve, points, cycle_ns)
            slowest.append(float(curve.column("mean", points)[0]) * cycle_ns)
        line(panel, curve, points, cycle_ns)
        if along_load and len(points) < len(curve.points):
            marks.append((panel, curve, points))

    figure, panels = draw_panels(study, table, "latency.mean", "latency.ci95", one)
    limit = table.options["y_max"]
    top = float(limit) if isinstance(limit, int | float) else _HEADROOM * max(slowest, default=1)
    panels[0].set_ylim(0, top)
    if along_load:
        panels[0].set_xlim(0, 1.03 * float(study.rows(table)["load.offered"].to_numpy().max()))
    for panel, curve, points in marks:
        _mark_saturation(panel, curve, points, cycle_ns, top)
    layout.axis_titles(
        figure, layout.OFFERED if along_load else str(table.x), "Mean packet latency (ns)"
    )
    layout.legend(figure, layout.first_handles(panels), table.title)
    note = "bands: 95% confidence; carets: saturated from there on; hollow: not converged"
    layout.footnote(figure, study, table, note)
    return figure


def _mark_saturation(
    panel: Plot, curve: Curve, steady: pl.DataFrame, cycle_ns: float, top: float
) -> None:
    """A dotted rise from the last steady point to the first saturated load at the top."""
    beyond = curve.column(curve.x)[len(steady)]
    height = top * (0.965 - 0.035 * curve.index)
    start = (beyond, height)
    if not steady.is_empty():
        start = (
            float(curve.column(curve.x, steady)[-1]),
            float(curve.column("mean", steady)[-1]) * cycle_ns,
        )
    style: dict[str, Any] = {"color": curve.look.colour, "clip_on": True}
    if start[1] < height:
        panel.plot([start[0], beyond], [start[1], height], linestyle=":", linewidth=0.9, **style)
    panel.plot([beyond], [height], marker=10, markersize=5, linestyle="none", **style)


KIND = FigureKind(
    name="latency",
    summary="mean latency in ns against load; saturated points are cut and marked",
    draw=draw,
    x="load",
    options={"y_max": Option((int, float))},
)

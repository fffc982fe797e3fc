"""`heat-map`: a column of the results over two axes, as coloured cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Normalize

from deroute import analysis, units
from deroute.figures import layout
from deroute.figures.line import known_column, title_of
from deroute.figures.study import Study, only
from deroute.figures.style import INK, NO_VALUE, TWO_COLUMNS
from deroute.figures.table import FigureError, FigureKind, FigureTable, Label, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Numbers stand in the cells of panels with no more cells than this in a row or a column.
_LEGIBLE = 10
_COLOURS = "cividis"
# Cells brighter than this share of the scale have dark numbers.
_BRIGHT = 0.55


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure; saturated points have no latency, and their cells are grey."""
    if table.series is None:
        axes = [axis for axis in study.axes if axis != table.x]
        raise FigureError(f"figure {table.name!r}.series", "is missing: the axis of the rows", axes)
    column = known_column(study, table)
    time = units.is_time(column)
    names = table.labels(study.axes, table.panel)
    cells = [_cells(study, table, name, column) for name in names]
    values = np.concatenate([each[0].ravel() for each in cells])
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    unit, size = units.time_unit(most) if time else ("", 1.0)
    norm = Normalize(least / size, most / size)
    rows, columns = layout.panel_grid(len(names), most_columns=2)
    down = len(table.labels(study.axes, table.series))
    height = rows * max(1.6, 0.32 * down + 0.8) + 0.8
    shape = (TWO_COLUMNS, height)
    figure, grid = layout.new_figure(rows, columns, shape, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    for panel, name, (mean, doubtful, cut) in zip(panels, names, cells, strict=True):
        layout.panel_title(panel, table.panel, name)
        _draw_cells(panel, study, table, mean / size, norm)
        _write_numbers(panel, mean / size, doubtful, norm)
        if cut.all():
            layout.say(panel, "saturated everywhere")
    bar = figure.colorbar(panels[0].images[0], ax=panels, shrink=0.9, pad=0.02)
    title = title_of(column)
    bar.set_label(f"{title} ({unit})" if time else title, fontsize=8)
    layout.axis_titles(figure, layout.OFFERED if table.x == "load" else str(table.x), table.series)
    layout.legend(figure, [], study, table)
    notes = []
    if any((~np.isfinite(mean) & cut).any() for mean, _, cut in cells):
        notes.append("grey: saturated, without a latency")
    if any((doubtful & np.isfinite(mean)).any() for mean, doubtful, _ in cells):
        legible = max(cells[0][0].shape) <= _LEGIBLE
        notes.append(f"{'in brackets' if legible else 'dots'}: not converged")
    layout.footnote(figure, study, table, notes)
    return figure


def _cells(
    study: Study, table: FigureTable, panel: Label | None, column: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Means by row and column, times in ns, nan where there is none; which are not converged, and
    which saturated.
    """
    across = table.labels(study.axes, table.x)
    down = table.labels(study.axes, table.series)
    shape = len(down), len(across)
    mean = np.full(shape, np.nan)
    doubtful, cut = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    scale = float(study.frame["cycle_ns"][0]) if units.is_time(column) else 1.0
    latency = units.is_time(column) and column.startswith("latency.")
    for row, label in enumerate(down):
        for place, x in enumerate(across):
            chosen = only(table.panel, panel) | only(table.series, label) | only(table.x, x)
            runs = study.rows(table, **chosen)
            if runs.is_empty():
                continue
            state = analysis.state_over_seeds(runs)
            cut[row, place] = state == "saturated"
            doubtful[row, place] = state == "not-converged"
            if not (latency and cut[row, place]):
                mean[row, place] = scale * float(np.mean(runs[column].to_numpy()))
    return mean, doubtful, cut


def _draw_cells(
    panel: Plot, study: Study, table: FigureTable, mean: NDArray[np.float64], norm: Normalize
) -> None:
    panel.set_facecolor(NO_VALUE)
    panel.imshow(mean, cmap=_COLOURS, norm=norm, aspect="auto", origin="lower")
    panel.grid(visible=False)
    for axis, labels in ((panel.xaxis, table.x), (panel.yaxis, table.series)):
        names = [str(label) for label in table.labels(study.axes, labels)]
        axis.set_ticks(range(len(names)), names)


def _write_numbers(
    panel: Plot, mean: NDArray[np.float64], doubtful: NDArray[np.bool_], norm: Normalize
) -> None:
    if max(mean.shape) > _LEGIBLE:
        row, place = np.nonzero(doubtful & np.isfinite(mean))
        bright = norm(mean[row, place]) > _BRIGHT
        panel.scatter(place, row, s=6, c=np.where(bright, INK, "white"), linewidths=0)
        return
    where: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6}
    for (row, place), value in np.ndenumerate(mean):
        if np.isfinite(value):
            number = units.number(float(value))
            text = f"({number})" if doubtful[row, place] else number
            colour = INK if float(norm(value)) > _BRIGHT else "white"
            panel.text(place, row, text, color=colour, **where)


KIND = FigureKind(
    name="heat-map",
    summary="a column of the results (`y`) over two axes, `x` and `series`, as coloured cells",
    draw=draw,
    x="load",
    options={"y": Option((str,), required=True)},
)

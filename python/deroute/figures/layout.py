"""Panels, legends, axis titles and the footnote, shared by all kinds of figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatter

from deroute import units
from deroute.analysis import MAKESPAN
from deroute.figures.style import QUIET, TWO_COLUMNS
from deroute.figures.table import FigureTable, Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.axis import Axis
    from numpy.typing import NDArray

    from deroute.figures.study import Study

OFFERED = "Offered load (phits/host/cycle)"

# Panel widths and heights, a line of the footnote, and the title of the abscissa, in inches.
_SINGLE = (4.4, 3.1)
_HEIGHT = {1: 2.6, 2: 2.6, 3: 2.3}
_FOOT_INCHES, _TITLE_INCHES = 0.13, 0.17
# A unit is taken from so many of it on: 4,000 ns reads as well as 4 us, 40,000 ns does not.
_FEW_UNITS = 5
# Share of the figure's width that a line of text may fill.
_LINE = 0.96
_FOOT_FONT, _TITLE_FONT = FontProperties(size=6), FontProperties(size=9, weight="bold")


def panel_grid(count: int, most_columns: int = 3) -> tuple[int, int]:
    """Rows and columns for so many panels: the fewest holes, then the widest."""
    if count == 4:
        return 2, 2
    columns = min(count, most_columns)
    return math.ceil(count / columns), columns


def new_figure(
    rows: int, columns: int, size: tuple[float, float] | None = None, **share: Any
) -> tuple[Figure, NDArray[np.object_]]:
    """An empty figure of `rows` x `columns` panels; `share` goes to `Figure.subplots`."""
    if size is None:
        single = rows * columns == 1
        size = _SINGLE if single else (TWO_COLUMNS, rows * _HEIGHT.get(columns, 2.1) + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, **share)
    return figure, panels


def flatten(panels: NDArray[np.object_]) -> list[Plot]:
    """The panels of a grid, row by row."""
    return [panel for row in panels.tolist() for panel in row]


def hide_unused(panels: NDArray[np.object_], used: int) -> list[Plot]:
    """The first `used` panels, row by row; the rest disappears."""
    flat = flatten(panels)
    for panel in flat[used:]:
        panel.set_visible(False)
    above_hole = panels.shape[1] if used < len(flat) else 0
    for panel in flat[max(used - above_hole, 0) : used]:
        panel.tick_params(labelbottom=True)
    return flat[:used]


def panel_title(panel: Plot, axis: str | None, label: Label | None) -> None:
    """Say which label of the panel axis this is."""
    if axis is not None:
        text = label if isinstance(label, str) else f"{axis} = {label}"
        panel.set_title(str(text), loc="left", fontweight="bold")


def axis_titles(figure: Figure, x: str, y: str | None) -> None:
    """Titles of the shared axes, once for all panels."""
    figure.supxlabel(x, fontsize=8)
    if y is not None:
        figure.supylabel(y, fontsize=8)


def times(panels: Sequence[Plot], most_ns: float) -> str:
    """Ordinates in ns, told in the unit that a person reads; returns its name."""
    return _times([panel.yaxis for panel in panels], most_ns)


def times_across(panels: Sequence[Plot], most_ns: float) -> str:
    """The same of abscissas."""
    return _times([panel.xaxis for panel in panels], most_ns)


def _times(axes: Sequence[Axis], most_ns: float) -> str:
    name, size = units.time_unit(most_ns / _FEW_UNITS)
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda ns, _: f"{ns / size:,.10g}"))
    return name


class _Plain(LogFormatter):
    """Labels where a logarithmic axis has them by default, without mathematics."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:,.10g}" if super().__call__(x, pos) else ""


def logarithmic(panel: Plot, axes: str) -> None:
    """Make the axes named (`"x"`, `"y"`, `"xy"`) logarithmic, with plain numbers."""
    for name in axes:
        panel.set(**{f"{name}scale": "log"})
        axis = panel.xaxis if name == "x" else panel.yaxis
        axis.set_major_formatter(_Plain())
        axis.set_minor_formatter(_Plain())


def from_zero(panels: Sequence[Plot]) -> None:
    """Lets the ordinate that panels share begin at zero, with room above the highest value.

    The room that there is by itself is a share of the range of the values: next to none above flat
    curves, whose markers it would cut.
    """
    highest = max(float(panel.dataLim.y1) for panel in panels)
    top = max(panels[0].get_ylim()[1], 1.05 * highest) if math.isfinite(highest) else None
    panels[0].set_ylim(0, top)


def say(panel: Plot, text: str) -> None:
    """Why a panel is empty."""
    where: Any = {"transform": panel.transAxes, "ha": "center", "va": "center"}
    panel.text(0.5, 0.5, text, color=QUIET, fontsize=8, **where)


#: Rows of a legend for which a figure has room, and the height of another one.
_ROWS, _ROW_INCHES = 4, 0.21


def legend(figure: Figure, handles: Sequence[Any], study: Study, table: FigureTable) -> None:
    """One legend above all panels, where it covers nothing, under the title.

    It names the axis whose labels it shows; where it shows something else, it names none.
    """
    title = study.title if table.title is None else table.title
    labels = {str(label) for label in table.labels(study.axes, table.series)}
    of_series = any(handle.get_label() in labels for handle in handles)
    heading(figure, handles, title, table.series if of_series else None)


def heading(
    figure: Figure, handles: Sequence[Any], title: str | None, series: str | None = None
) -> None:
    """Title and legend, of handles that have a name, after that of their axis."""
    named = [handle for handle in handles if not handle.get_label().startswith("_")]
    if series is not None and len(named) > 1:
        named.insert(0, Line2D([], [], linestyle="none", label=f"{series}:"))
    if len(named) > 1 or title is not None:
        width = figure.get_figwidth()
        longest = max((len(handle.get_label()) for handle in named), default=1)
        columns = max(1, min(len(named), int(width / (0.55 + 0.062 * longest))))
        rows = math.ceil(len(named) / columns)
        columns = math.ceil(len(named) / rows) if named else 1
        # What is longer takes its room beside that of the panels.
        longer = _ROW_INCHES * max(rows - _ROWS, 0)
        figure.set_figheight(figure.get_figheight() + longer)
        figure.legend(
            handles=named,
            loc="outside upper center",
            ncols=columns,
            title=None if title is None else "\n".join(wrapped(figure, [title], _TITLE_FONT)),
            title_fontproperties=_TITLE_FONT,
        )


def first_handles(panels: Sequence[Plot]) -> list[Any]:
    """Legend entries of all panels, each label once, in the order of appearance."""
    found: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values())


def footnote(figure: Figure, study: Study, table: FigureTable, notes: Sequence[str]) -> None:
    """Engine version, repetitions, run length, and how to read the marks that there are."""
    frame, seeds = study.rows(table), seeds_of(study, table)
    warmup, measured = _cycles(frame, "measured_from"), _cycles(frame, "measured_cycles")
    to_the_end = MAKESPAN in frame.columns
    length = f"{warmup} + {measured} cycles (warm-up + measured)"
    parts = [
        f"Deroute {study.engine}",
        f"{seeds} seed{'s' if seeds > 1 else ''}",
        f"runs of {measured} cycles" if to_the_end else length,
    ]
    foot(figure, [*parts, *notes])


def foot(figure: Figure, parts: Sequence[str]) -> None:
    """Small print under the title of the abscissa."""
    lines = wrapped(figure, parts, _FOOT_FONT)
    height = figure.get_figheight() + _FOOT_INCHES * (len(lines) - 1)
    figure.set_figheight(height)
    share = (_FOOT_INCHES * len(lines) + 0.04) / height
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    figure.supxlabel(figure.get_supxlabel(), y=share + 0.03 / height, fontsize=8)
    below = share + _TITLE_INCHES / height
    engine.set(rect=(0, below, 1, 1 - below))
    figure.text(
        0.01,
        0.04 / height,
        "\n".join(lines),
        fontproperties=_FOOT_FONT,
        color=QUIET,
        va="bottom",
        ha="left",
    )


def seeds_of(study: Study, table: FigureTable) -> int:
    """Number of seeds in what the figure draws."""
    frame = study.rows(table)
    return int(frame["seed"].n_unique()) if "seed" in frame.columns else 1


def _cycles(frame: Any, column: str) -> str:
    values = sorted(frame[column].unique().to_list())
    first, last = f"{values[0]:,}", f"{values[-1]:,}"
    return first if first == last else f"{first} to {last}"


def wrapped(figure: Figure, parts: Sequence[str], font: FontProperties) -> list[str]:
    """Lines that fit into the figure: broken between parts, inside only those that need it."""
    agg: Any = RendererAgg
    renderer = agg(figure.get_figwidth() * figure.dpi, 100, figure.dpi)
    most = _LINE * figure.get_figwidth() * figure.dpi

    def fits(line: str) -> bool:
        return bool(renderer.get_text_width_height_descent(line, font, False)[0] <= most)

    lines: list[str] = []
    for part in parts:
        if lines and fits(f"{lines[-1]} · {part}"):
            lines[-1] += f" · {part}"
            continue
        first, *words = part.split(" ")
        lines.append(first)
        for word in words:
            if fits(f"{lines[-1]} {word}"):
                lines[-1] += f" {word}"
            else:
                lines.append(word)
    return lines

"""Curves against time and the changes of the traffic, for all kinds of figure that show these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patheffects import withStroke

from deroute import analysis
from deroute.figures import layout, streams
from deroute.figures.study import ROW, Study, only
from deroute.figures.style import QUIET, look
from deroute.figures.table import FigureTable, Label, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.results import Outcome

#: Times in microseconds, and a value at each.
Course = tuple["NDArray[np.float64]", analysis.Profile]

TIME = "Time since the measurement began (µs)"

#: Bounds of the time, in microseconds since the measurement began.
OPTIONS: Mapping[str, Option] = {"from_us": Option((int, float)), "to_us": Option((int, float))}


def records(
    study: Study, table: FigureTable, title: str, draw_record: Callable[[Plot, Outcome], None]
) -> tuple[Figure, list[Plot]]:
    """A panel per panel and series, each with what a run of the first seed has recorded in time."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    figure, grid = layout.new_figure(rows, columns, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    for panel, (name, label, frame) in zip(panels, cells, strict=True):
        draw_record(panel, study.outcomes[int(frame[ROW][0])])
        panel.margins(x=0)
        bounds(panel, table)
        changes([panel], study.changes_of(frame.head(1)))
        text = " · ".join(str(part) for part in (name, label) if part is not None)
        panel.set_title(text, loc="left", fontweight="bold")
    layout.from_zero(panels)
    layout.axis_titles(figure, TIME, title)
    return figure, panels


def draw(
    study: Study,
    table: FigureTable,
    read: Callable[[Sequence[Outcome]], Course],
    title: str,
    notes: Sequence[str],
    *,
    of_stream: Callable[[Sequence[Outcome], str], Course] | None = None,
) -> Figure:
    """A panel per label with a curve per series: what `read` makes of the runs of a point, or
    `of_stream` for each stream, if the figure is split by them.
    """
    names = table.labels(study.axes, table.panel)
    rows, columns = layout.panel_grid(len(names))
    figure, grid = layout.new_figure(rows, columns, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    bands = False
    for panel, name in zip(panels, names, strict=True):
        layout.panel_title(panel, table.panel, name)
        moments: set[float] = set()
        by_stream = of_stream is not None and streams.split(table)
        labels = streams.names(study) if by_stream else table.labels(study.axes, table.series)
        for index, label in enumerate(labels):
            frame = study.rows(table, **only(table.panel, name), **only(table.series, label))
            if frame.is_empty():
                continue
            outcomes = study.outcomes_of(frame)
            if of_stream is not None and by_stream:
                time_us, values = of_stream(outcomes, str(label))
            else:
                time_us, values = read(outcomes)
            place = index if by_stream else study.place(table.series, label)
            curve(panel, time_us, values, place, label)
            moments |= study.changes_of(frame)
            bands |= values.runs > 1
        bounds(panel, table)
        changes([panel], moments)
    layout.axis_titles(figure, TIME, title)
    layout.legend(figure, layout.first_handles(panels), study, table)
    bars = ["bands: 95% confidence over the seeds"] if bands else []
    layout.footnote(figure, study, table, [*notes, *bars])
    return figure


def curve(
    panel: Plot,
    time_us: NDArray[np.float64],
    values: analysis.Profile,
    index: int,
    label: Label | None,
) -> None:
    """A curve with a few markers, and its band over the seeds."""
    style = look(index)
    text = "_" if label is None else str(label)
    every = max(1, len(time_us) // 12)
    panel.plot(
        time_us,
        values.mean,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markevery=(index % every, every),
        linewidth=1.1,
        label=text,
    )
    half = np.nan_to_num(values.ci95)
    low, high = values.mean - half, values.mean + half
    panel.fill_between(time_us, low, high, color=style.colour, alpha=0.2, linewidth=0)


def bounds(panel: Plot, table: FigureTable) -> None:
    """Show the time that the table asks for."""
    low, high = (table.options[key] for key in OPTIONS)
    panel.set_xlim(
        float(low) if isinstance(low, int | float) else None,
        float(high) if isinstance(high, int | float) else None,
    )


def changes(panels: Sequence[Plot], times_us: Iterable[float], *, on_map: bool = False) -> None:
    """A dashed line through the panels at each change of the traffic that is within them.

    On a map it is white with a black rim, which shows on every colour.
    """
    looks: dict[str, Any] = {"color": QUIET}
    if on_map:
        looks = {"color": "white", "path_effects": [withStroke(linewidth=2.2, foreground="black")]}
    for panel in panels:
        low, high = panel.get_xlim()
        for time in sorted(time for time in times_us if low <= time <= high):
            panel.axvline(time, linewidth=0.9, dashes=(4, 3), label="traffic changes", **looks)

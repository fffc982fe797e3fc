"""`fairness`: injected load of each router of a group, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from deroute import analysis
from deroute.figures import layout
from deroute.figures.study import Study, only
from deroute.figures.style import QUIET, TWO_COLUMNS, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Label, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

#: Which group is drawn.
GROUP = Option((int, str), default="all", choices=("all",))

# Share of the distance between two routers that the bars fill.
_FILLED = 0.84


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a series stands among the bars of one router, and its look."""

    index: int
    of: int
    look: int


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: one panel under the other, because groups of bars are wide."""
    size = group_size(study, table)
    names = table.labels(study.axes, table.panel)
    series = table.labels(study.axes, table.series)
    height = len(names) * 1.7 + 0.8
    figure, grid = layout.new_figure(len(names), 1, (TWO_COLUMNS, height), sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    for panel, name in zip(panels, names, strict=True):
        for index, label in enumerate(series):
            rows = study.rows(table, **only(table.panel, name), **only(table.series, label))
            if not rows.is_empty():
                place = _Place(index, len(series), study.place(table.series, label))
                _bars(panel, study, table, rows, label=label, place=place)
        layout.panel_title(panel, table.panel, name)
        panel.grid(visible=False, axis="x")
        panel.set_xticks(range(size), [f"R{router}" for router in range(size)])
        panel.set_xlim(-0.5, size - 0.5)
    layout.axis_titles(figure, f"Router of the group ({group_text(table)})", None)
    figure.supylabel("Injected load (phits/host/cycle)", fontsize=8)
    layout.legend(figure, layout.first_handles(panels), study, table)
    notes = ["dashed grey: offered load"]
    if any(panel.collections for panel in panels):
        notes.insert(0, "error bars: 95% confidence over the seeds")
    layout.footnote(figure, study, table, notes)
    return figure


def group_size(study: Study, table: FigureTable) -> int:
    """Routers per group, or an error that says that there are no groups."""
    if study.routers_per_group is None:
        message = "the topology has no groups of routers"
        raise FigureError(f"figure {table.name!r}.kind", message)
    return study.routers_per_group


def chosen_group(table: FigureTable) -> int | None:
    """Number of the group that is drawn; None for all groups."""
    group = table.options["group"]
    return group if isinstance(group, int) else None


def group_text(table: FigureTable) -> str:
    """Which group is drawn, for a title."""
    group = chosen_group(table)
    return "mean over all groups" if group is None else f"group {group}"


def _bars(
    panel: Plot,
    study: Study,
    table: FigureTable,
    rows: pl.DataFrame,
    *,
    label: Label | None,
    place: _Place,
) -> None:
    size = group_size(study, table)
    profile = analysis.injected_by_router(study.outcomes_of(rows), size, chosen_group(table))
    width = _FILLED / place.of
    panel.bar(
        np.arange(size) + (place.index - (place.of - 1) / 2) * width,
        profile.mean,
        width * 0.94,
        yerr=None if np.isnan(profile.ci95).any() else profile.ci95,
        error_kw={"elinewidth": 0.6, "ecolor": "#222222"},
        label="_" if label is None else str(label),
        color=look(place.look).fill,
        linewidth=0,
    )
    offered = float(rows["load.offered"][0])
    panel.axhline(offered, color=QUIET, linewidth=0.8, dashes=(4, 3), zorder=0.5)


KIND = FigureKind(
    name="fairness",
    summary='bars of the injected load of each router of a group (`group`: a number or "all")',
    draw=draw,
    options={"group": GROUP},
)

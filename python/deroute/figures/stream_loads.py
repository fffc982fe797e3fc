"""`streams`: what each stream of the traffic is accepted, as bars: victims beside culprits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deroute import analysis
from deroute.figures import layout, streams
from deroute.figures.completion import abscissa
from deroute.figures.study import Study, only
from deroute.figures.style import TWO_COLUMNS, look
from deroute.figures.table import FigureKind, FigureTable, Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

# Share of the distance between two groups of bars that they fill, and the most of a bar alone.
_FILLED, _ALONE = 0.84, 0.5
_INK = "#222222"


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: panels as in a table, a group of bars per label of `x`, a bar per stream."""
    cells = [(name, label) for name, label, _ in study.cells(table)]
    rows, columns = layout.panel_grid(len(cells))
    size = (TWO_COLUMNS, 2.3 * rows + 0.5) if columns > 1 else (4.4, 2.4 * rows + 0.6)
    figure, grid = layout.new_figure(rows, columns, size, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    names = streams.names(study)
    bars = False
    for panel, (name, label) in zip(panels, cells, strict=True):
        chosen = only(table.panel, name) | only(table.series, label)
        for index in range(len(names)):
            bars |= _bars(panel, study, table, chosen, (index, names))
        abscissa(panel, table.labels(study.axes, table.x), size[0] / columns)
        panel.set_ylim(0, 109)
        panel.set_yticks(range(0, 101, 20))
        title = " · ".join(str(part) for part in (name, label) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold")
    layout.axis_titles(figure, str(table.x), "Accepted load (% of a host's link)")
    layout.legend(figure, layout.first_handles(panels), study, table)
    notes = ["lines: offered", "mean of the hosts that send the stream"]
    notes += ["error bars: 95% confidence over the seeds"] if bars else []
    layout.footnote(figure, study, table, notes)
    return figure


def _bars(
    panel: Plot,
    study: Study,
    table: FigureTable,
    chosen: dict[str, Label | None],
    place: tuple[int, list[str]],
) -> bool:
    """Draw the bars of a stream; whether they have error bars."""
    index, names = place
    width = min(_FILLED / len(names), _ALONE)
    known = False
    for position, x in enumerate(table.labels(study.axes, table.x)):
        outcomes = study.outcomes_of(study.rows(table, **chosen, **only(table.x, x)))
        mine = [each for outcome in outcomes for each in outcome.streams]
        mine = [each for each in mine if each.name == names[index]]
        if not mine:
            continue
        point = analysis.estimate([100 * each.link_share.accepted for each in mine])
        at = position + (index - (len(names) - 1) / 2) * width
        known |= not np.isnan(point.ci95)
        bars = panel.bar(
            at,
            point.mean,
            0.94 * width,
            color=look(index).fill,
            linewidth=0,
            yerr=None if np.isnan(point.ci95) else point.ci95,
            error_kw={"elinewidth": 0.6, "ecolor": _INK},
            label=names[index],
        )
        panel.bar_label(bars, [f"{point.mean:.3g}"], padding=1.5, fontsize=6)
        offered = 100 * float(np.mean([each.link_share.offered for each in mine]))
        half = 0.47 * width
        panel.hlines(offered, at - half, at + half, color=_INK, linewidth=0.9)
    return known


KIND = FigureKind(
    name="streams",
    summary="accepted load of each stream of the traffic, as bars beside what it offers",
    draw=draw,
    x="routing",
)

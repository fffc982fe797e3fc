"""`path-mix`: shares of the path kinds, stacked, against an axis or per router of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.patches import Patch

from deroute import analysis
from deroute.figures import layout
from deroute.figures.fairness import GROUP, chosen_group, group_size, group_text
from deroute.figures.study import Study, numeric_x, only
from deroute.figures.style import TWO_COLUMNS
from deroute.figures.table import FigureKind, FigureTable, Label, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.results import Outcome

#: Value of `x` that asks for one bar per router of a group.
ROUTER = "router"
# Values of `unit`, and the titles of their ordinates.
_SHARE, _LOAD = "share", "load"
_ORDINATES = {_SHARE: "Share of packets (%)", _LOAD: "Injected load (phits/host/cycle)"}

# Grey for minimal, then blues that are the darker the longer the path may be.
# Orange for paths with deroutes, in a lattice.
_COLOURS = ("#c4c4c4", "#08306b", "#2171b5", "#5aa2cf", "#a9d0e6", "#d95f0e")
_HATCHES = ("", "", "////", "", "....", "")

# Cells (panel x series) in a row of the figure.
_COLUMNS = 4

# Bounds of the width of a bar, as shares of the abscissa; distance between labels of ticks.
_THINNEST, _WIDEST = 0.015, 0.15
_LABEL_INCHES = 0.27


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: one cell per panel and series."""
    cells = [
        (name, label, study.rows(table, **_chosen(table, name, label)))
        for name in table.labels(study.axes, table.panel)
        for label in table.labels(study.axes, table.series)
    ]
    cells = [cell for cell in cells if not cell[2].is_empty()]
    kinds = [str(kind) for kind in study.outcomes_of(cells[0][2])[0].arrays.path_kinds]
    series = len(table.labels(study.axes, table.series))
    columns = series if 1 < series <= _COLUMNS else min(len(cells), _COLUMNS)
    rows = -(-len(cells) // columns)
    in_load = table.options["unit"] == _LOAD
    size = (TWO_COLUMNS if columns > 1 else 4.4, (2.1 if in_load else 1.75) * rows + 0.7)
    figure, grid = layout.new_figure(rows, columns, size, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    seen, highest = np.zeros(len(kinds), dtype=bool), 0.0
    for panel, (name, label, frame) in zip(panels, cells, strict=True):
        x, shares = _shares(study, table, frame)
        _stack(panel, x, shares)
        _ticks(panel, x, 0.8 * size[0] / columns, "R" if table.x == ROUTER else "")
        seen |= shares.sum(axis=0) > 0
        highest = max(highest, float(shares.sum(axis=1).max()))
        panel.set_title(_title(name, label), loc="left", fontweight="bold", fontsize=8)
    panels[0].set_ylim(0, 1.05 * highest or 1 if in_load else 100)
    names = {"load": layout.OFFERED, ROUTER: f"Router of the group ({group_text(table)})"}
    ordinate = _ORDINATES[str(table.options["unit"])]
    layout.axis_titles(figure, names.get(str(table.x), str(table.x)), ordinate)
    patches = [
        Patch(**_fill(index), linewidth=0, label="MIN" if kind == "minimal" else kind)
        for index, kind in enumerate(kinds)
        if seen[index]
    ]
    layout.legend(figure, patches, study, table)
    notes = ["path kinds by phase A of the Valiant path"] if seen[1:].any() else []
    layout.footnote(figure, study, table, notes)
    return figure


def _fill(kind: int) -> dict[str, Any]:
    """Fill of a path kind; its own palette, for kinds are not series."""
    return {
        "facecolor": _COLOURS[kind % len(_COLOURS)],
        "hatch": _HATCHES[kind % len(_HATCHES)],
        "edgecolor": "white",
    }


def _chosen(table: FigureTable, name: Label | None, label: Label | None) -> dict[str, Label | None]:
    return only(table.panel, name) | only(table.series, label)


def _title(name: Label | None, label: Label | None) -> str:
    return " · ".join(str(part) for part in (name, label) if part is not None)


def _shares(
    study: Study, table: FigureTable, frame: pl.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Abscissa, and percent or load per path kind in the columns."""
    in_percent = table.options["unit"] == _SHARE
    if table.x == ROUTER:
        size, group = group_size(study, table), chosen_group(table)
        outcomes = study.outcomes_of(frame)
        shares = analysis.path_shares_by_router(outcomes, size, group).mean
        loads = analysis.injected_by_router(outcomes, size, group).mean
        return np.arange(size, dtype=float), shares * (100 if in_percent else loads[:, np.newaxis])
    x = numeric_x(study, table)
    places = np.sort(frame[x].unique().to_numpy()).astype(float)
    rows = []
    for place in places:
        outcomes = study.outcomes_of(frame.filter((pl.col(x) - place).abs() < 1e-9))
        load = float(np.mean([outcome.load.injected for outcome in outcomes]))
        rows.append(_mean_shares(outcomes) * (100 if in_percent else load))
    return places, np.array(rows)


def _mean_shares(outcomes: Sequence[Outcome]) -> NDArray[np.float64]:
    kinds = [str(kind) for kind in outcomes[0].arrays.path_kinds]
    total = np.zeros(len(kinds))
    for outcome in outcomes:
        for path in outcome.paths:
            total[kinds.index(str(path.kind))] += path.share
    return total / len(outcomes)


def bar_width(x: NDArray[np.float64]) -> float:
    """Width of the bars at these places: most of the smallest spacing, within bounds."""
    if len(x) < 2:
        return 1.0
    span = float(x[-1] - x[0])
    return min(max(0.86 * float(np.diff(x).min()), _THINNEST * span), _WIDEST * span)


def _stack(panel: Plot, x: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
    width = bar_width(x)
    below = np.zeros(len(x))
    for index in range(shares.shape[1]):
        panel.bar(x, shares[:, index], width, bottom=below, linewidth=0, **_fill(index))
        below += shares[:, index]
    panel.grid(visible=False, axis="x")
    if len(x) == 1:
        panel.set_xlim(x[0] - 2 * width, x[0] + 2 * width)


def _ticks(panel: Plot, x: NDArray[np.float64], inches: float, prefix: str) -> None:
    """A tick at every place, with a label wherever there is room for one."""
    nearest = _LABEL_INCHES * float(x[-1] - x[0]) / inches
    labels, last = [], -np.inf
    for place in x:
        room = place - last >= nearest
        labels.append(f"{prefix}{place:g}" if room else "")
        last = place if room else last
    panel.set_xticks(x, labels)


KIND = FigureKind(
    name="path-mix",
    summary='stacked shares of the path kinds against an axis, or per router (`x = "router"`)',
    draw=draw,
    x="load",
    x_extra=(ROUTER,),
    options={"group": GROUP, "unit": Option((str,), default=_SHARE, choices=(_SHARE, _LOAD))},
)

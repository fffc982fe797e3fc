"""`throughput`: accepted against offered load, with the line of a network that accepts all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deroute.figures import layout
from deroute.figures.curves import Curve, Notes, band, draw_panels, line
from deroute.figures.style import QUIET
from deroute.figures.table import FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

    from deroute.figures.study import Study


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure; beyond saturation the curves show the plateau."""
    along_load = table.x == "load"
    marks = Notes()

    def one(panel: Plot, curve: Curve) -> None:
        marks.bands |= band(panel, curve, curve.points)
        marks.hollow |= line(panel, curve, curve.points)

    figure, panels = draw_panels(study, table, "load.accepted", "load.accepted_ci95", one)
    notes = marks.texts(layout.seeds_of(study, table))
    if along_load:
        highest = float(study.rows(table)["load.offered"].to_numpy().max())
        for panel in panels:
            panel.plot([0, highest], [0, highest], color=QUIET, linewidth=0.8, dashes=(4, 3))
        panels[0].set_xlim(0, 1.03 * highest)
        notes.insert(0, "dashed grey: accepted = offered")
    limit = table.options["y_max"]
    panels[0].set_ylim(0, float(limit) if isinstance(limit, int | float) else None)
    layout.axis_titles(
        figure,
        layout.OFFERED if along_load else str(table.x),
        "Accepted load (phits/host/cycle)",
    )
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, notes)
    return figure


KIND = FigureKind(
    name="throughput",
    summary="accepted load against offered load, with the guide accepted = offered",
    draw=draw,
    x="load",
    options={"y_max": Option((int, float))},
)

"""`throughput`: accepted against offered load, with the line of a network that accepts all; or as a
share of what the reference accepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deroute.figures import layout, streams
from deroute.figures.curves import Curve, Notes, band, draw_panels, line
from deroute.figures.style import QUIET
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option
from deroute.reference import ACCEPTED, ACCEPTED_CI95

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

    from deroute.figures.study import Study


#: What is shown: the load itself, or relative to the reference.
_LOAD, RELATIVE = "load", "relative"


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure; beyond saturation the curves show the plateau."""
    by_stream = streams.split(table)
    along_load = table.x == "load" and not by_stream
    relative = table.options["of"] == RELATIVE
    columns = (ACCEPTED, ACCEPTED_CI95) if relative else ("load.accepted", "load.accepted_ci95")
    if relative and by_stream:
        raise FigureError(f"figure {table.name!r}.split", "the reference is of all traffic")
    absolute = f"Accepted load (phits/{'sending host' if by_stream else 'host'}/cycle)"
    marks = Notes()

    def one(panel: Plot, curve: Curve) -> None:
        marks.bands |= band(panel, curve, curve.points)
        marks.hollow |= line(panel, curve, curve.points)

    figure, panels = draw_panels(study, table, *columns, one)
    notes = marks.texts(layout.seeds_of(study, table))
    if along_load:
        highest = float(study.rows(table)["load.offered"].to_numpy().max())
        guide = [1, 1] if relative else [0, highest]
        for panel in panels:
            panel.plot([0, highest], guide, color=QUIET, linewidth=0.8, dashes=(4, 3))
        panels[0].set_xlim(0, 1.03 * highest)
        notes.insert(0, f"dashed grey: {'the reference' if relative else 'accepted = offered'}")
    limit = table.options["y_max"]
    if isinstance(limit, int | float):
        panels[0].set_ylim(0, float(limit))
    else:
        layout.from_zero(panels)
    layout.axis_titles(
        figure,
        layout.OFFERED if along_load else str(table.x),
        "Accepted load / that of the reference" if relative else absolute,
    )
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, notes)
    return figure


KIND = FigureKind(
    name="throughput",
    summary="accepted load against offered load, with the guide accepted = offered, or (`of`)"
    " relative to the reference",
    draw=draw,
    x="load",
    uneven=True,
    options={
        "y_max": Option((int, float)),
        "of": Option((str,), default=_LOAD, choices=(_LOAD, RELATIVE)),
        **streams.OPTIONS,
    },
)

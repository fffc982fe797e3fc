"""`rates`: rates of hosts against time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from deroute.figures import layout, timeline
from deroute.figures.queues import thinned
from deroute.figures.study import ROW, Study
from deroute.figures.style import look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.rates import RateSeries
    from deroute.results import Outcome

#: Flows that have a curve of their own, at most: the slowest.
_MOST = 8


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per panel and series, of the first seed, with a curve per flow."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    figure, grid = layout.new_figure(rows, columns, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    names: list[str] = []
    hidden = False
    for panel, (name, label, frame) in zip(panels, cells, strict=True):
        outcome = study.outcomes[int(frame[ROW][0])]
        record, flows = _flows(outcome, table)
        slowest = np.argsort(record.rates[:, flows].min(axis=0), kind="stable")
        shown = flows[np.sort(slowest[:_MOST])]
        hidden |= len(shown) < len(flows)
        for flow in shown:
            text = _name(*record.flows[flow])
            if text not in names:
                names.append(text)
            _curve(panel, outcome, record, int(flow), names.index(text))
        panel.margins(x=0)
        timeline.bounds(panel, table)
        timeline.changes([panel], study.changes_of(frame.head(1)))
        title = " · ".join(str(part) for part in (name, label) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold")
        panel.set_ylim(bottom=0)
    layout.axis_titles(figure, timeline.TIME, "Rate (share of the link)")
    curves: list[Any] = [
        {"color": look(i).colour, "linestyle": look(i).dashes, "label": name}
        for i, name in enumerate(names)
    ]
    handles = [Line2D([], [], **style) for style in curves]
    layout.legend(figure, [*handles, *layout.first_handles(panels)], study, table)
    notes = ["first seed"] if layout.seeds_of(study, table) > 1 else []
    notes += [f"the {_MOST} flows that were slowest"] if hidden else []
    layout.footnote(figure, study, table, notes)
    return figure


def _flows(outcome: Outcome, table: FigureTable) -> tuple[RateSeries, NDArray[np.int64]]:
    """The record of a run, and the columns of the flows that the figure is about."""
    record = outcome.rates
    if record is None:
        raise FigureError("probes.rates", "this figure needs a record of rates")
    host = table.options["host"]
    if host is None:
        return record, np.arange(len(record.flows))
    found = np.flatnonzero(record.flows[:, 0] == host)
    if not len(found):
        known = np.unique(record.flows[:, 0]).tolist()
        message = f"no flow of host {host} is in the record"
        raise FigureError(f"figure {table.name!r}.host", message, known)
    return record, found


def _name(host: int, destination: int) -> str:
    return f"host {host}" if destination < 0 else f"host {host} to {destination}"


def _curve(panel: Plot, outcome: Outcome, record: RateSeries, column: int, index: int) -> None:
    rates = record.rates[:, column]
    kept = thinned(rates)
    time_us = record.cycles[kept] * outcome.cycle_ns / 1000
    style = look(index)
    panel.plot(time_us, rates[kept], color=style.colour, linestyle=style.dashes, linewidth=1.0)


KIND = FigureKind(
    name="rates",
    summary="rates of hosts against time, of all flows of the record or of those of a `host`",
    draw=draw,
    options={"host": Option((int,)), **timeline.OPTIONS},
)

"""`rates`: rates or windows of hosts against time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from deroute.figures import layout, timeline
from deroute.figures.queues import thinned
from deroute.figures.study import Study
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
#: What of a flow is drawn.
_TITLES = {"rate": "Rate (share of the link)", "window": "Window (KB)"}


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per panel and series, of the first seed, with a curve per flow."""
    names: list[str] = []
    hidden = False

    def curves(panel: Plot, outcome: Outcome) -> None:
        nonlocal hidden
        record, flows = _flows(outcome, table)
        values = _values(outcome, record, table)
        slowest = np.argsort(values[:, flows].min(axis=0), kind="stable")
        shown = flows[np.sort(slowest[:_MOST])]
        hidden |= len(shown) < len(flows)
        for flow in shown:
            text = _name(*record.flows[flow])
            if text not in names:
                names.append(text)
            _curve(panel, outcome, (record.cycles, values[:, flow]), names.index(text))

    title = _TITLES[str(table.options["of"])]
    figure, panels = timeline.records(study, table, title, curves)
    styles: list[Any] = [
        {"color": look(i).colour, "linestyle": look(i).dashes, "label": name}
        for i, name in enumerate(names)
    ]
    handles = [Line2D([], [], **style) for style in styles]
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


def _values(outcome: Outcome, record: RateSeries, table: FigureTable) -> NDArray[np.float64]:
    """Rates, or windows in KB."""
    if table.options["of"] == "rate":
        return record.rates
    if not len(record.windows):
        message = "the flows of this run have no windows"
        raise FigureError(f"figure {table.name!r}.of", message, ["rate"])
    return record.windows * outcome.phit_bytes / 1000


def _name(host: int, destination: int) -> str:
    return f"host {host}" if destination < 0 else f"host {host} to {destination}"


def _curve(
    panel: Plot,
    outcome: Outcome,
    course: tuple[NDArray[np.int64], NDArray[np.float64]],
    index: int,
) -> None:
    cycles, values = course
    kept = thinned(values)
    time_us = cycles[kept] * outcome.cycle_ns / 1000
    style = look(index)
    panel.plot(time_us, values[kept], color=style.colour, linestyle=style.dashes, linewidth=1.0)


KIND = FigureKind(
    name="rates",
    summary="rates, or windows, of hosts against time (`of`), of all flows or those of a `host`",
    draw=draw,
    options={
        "of": Option((str,), default="rate", choices=tuple(_TITLES)),
        "host": Option((int,)),
        **timeline.OPTIONS,
    },
)

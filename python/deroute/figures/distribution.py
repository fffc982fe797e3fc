"""`distribution`: which share of the packets, hosts, routers or links is at most so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from deroute import analysis
from deroute.figures import layout
from deroute.figures.study import Study, only
from deroute.figures.style import look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

LINKS = "links"
#: What is distributed, and how its abscissa is called.
_OF = {
    "latency": "Packet latency",
    "hosts": "Load injected by a host (phits/cycle)",
    "routers": "Load injected by a host of a router, on average (phits/cycle)",
    LINKS: "Utilisation of a link",
}
_PERCENTILE = "latency.p"


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: one curve for each series, with all its seeds."""
    of = str(table.options["of"])
    names = table.labels(study.axes, table.panel)
    rows, columns = layout.panel_grid(len(names))
    figure, grid = layout.new_figure(rows, columns, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    cut, ends = False, [0.0]
    for panel, name in zip(panels, names, strict=True):
        layout.panel_title(panel, table.panel, name)
        for label in table.labels(study.axes, table.series):
            runs = study.rows(table, **only(table.panel, name), **only(table.series, label))
            if runs.is_empty():
                continue
            if of == "latency" and analysis.state_over_seeds(runs) == "saturated":
                cut = True
                continue
            x, share = _percentiles(runs) if of == "latency" else _values(study, table, runs)
            ends.append(float(x[-1]))
            style = look(study.place(table.series, label))
            panel.plot(
                x,
                share,
                color=style.colour,
                linestyle=style.dashes,
                marker=style.marker if of == "latency" else "",
                drawstyle="default" if of == "latency" else "steps-post",
                label="_" if label is None else str(label),
            )
        if not panel.lines:
            layout.say(panel, "saturated" if cut else "no finished point")
    panels[0].set_ylim(0, 1.02)
    title = _OF[of]
    if of == "latency":
        title += f" ({layout.times_across(panels, max(ends))})"
    layout.axis_titles(figure, title, _share_of(of))
    layout.legend(figure, layout.first_handles(panels), study, table)
    notes = ["marks: the percentiles that results keep"] if of == "latency" else []
    if cut:
        notes.append("left out: saturated, without a latency")
    layout.footnote(figure, study, table, notes)
    return figure


def _share_of(of: str) -> str:
    return "Share of the packets" if of == "latency" else f"Share of the {of}"


def _percentiles(runs: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Latencies in ns at the shares that the engine keeps, means over the seeds."""
    found = [name for name in runs.columns if name.startswith(_PERCENTILE)]
    places = {float(name.removeprefix(_PERCENTILE)) / 100: name for name in found}
    places = {0.0: "latency.min", **dict(sorted(places.items())), 1.0: "latency.max"}
    ns = float(runs["cycle_ns"][0])
    means = [ns * float(np.mean(runs[name].to_numpy())) for name in places.values()]
    return np.array(means), np.array(list(places))


def _values(
    study: Study, table: FigureTable, runs: pl.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All values of all seeds in ascending order, with the share that is no larger."""
    of = str(table.options["of"])
    arrays = [outcome.arrays for outcome in study.outcomes_of(runs)]
    name = {"hosts": "injected_by_host", "routers": "injected_by_router", LINKS: "link_use"}[of]
    values = np.sort(np.concatenate([getattr(each, name) for each in arrays]))
    if not len(values):
        message = "the results have no utilisation of single links: `probes.links = true`"
        raise FigureError(f"figure {table.name!r}.of", message, [of for of in _OF if of != LINKS])
    return values, np.arange(1, len(values) + 1) / len(values)


KIND = FigureKind(
    name="distribution",
    summary="the share of packets whose latency is at most so long (`of`: or of hosts, routers or "
    "links, by their loads)",
    draw=draw,
    options={"of": Option((str,), default="latency", choices=tuple(_OF))},
)

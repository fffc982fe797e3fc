"""`congestion-hosts`: which hosts' injection queues are in a congestion tree, against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from deroute import _engine
from deroute.economics.network import Network
from deroute.figures import congestion, layout, timeline
from deroute.figures.study import ROW, Study
from deroute.figures.table import FigureError, FigureKind, FigureTable
from deroute.spec import in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.results import Outcome

#: From a queue that is in no tree to the fullest one.
_COLOURS = LinearSegmentedColormap.from_list(
    "waiting", ["white", *colormaps["YlOrRd"](np.linspace(0.3, 1.0, 64))]
)


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per panel and series, of the first seed, with a row per host."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    figure, grid = layout.new_figure(rows, columns, sharex=True)
    panels = layout.hide_unused(grid, len(cells))
    found = []
    for _, _, frame in cells:
        index = int(frame[ROW][0])
        outcome = study.outcomes[index]
        network = Network.of(study.specs[index], _engine.topology(in_order(study.specs[index])))
        found.append((waiting(outcome, network) * outcome.phit_bytes / 1000, outcome))
    norm = Normalize(0, max(float(phits.max(initial=0)) for phits, _ in found) or 1.0)
    for panel, (name, label, frame), (kilobytes, outcome) in zip(panels, cells, found, strict=True):
        samples = congestion.series(outcome)
        ends = samples.start + samples.width * np.arange(len(kilobytes) + 1)
        hosts = np.arange(kilobytes.shape[1] + 1) - 0.5
        edges_us = ends * outcome.cycle_ns / 1000
        panel.pcolormesh(edges_us, hosts, kilobytes.T, cmap=_COLOURS, norm=norm, rasterized=True)
        if not kilobytes.any():
            layout.say(panel, "no injection queue in a tree")
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(visible=False)
        panel.margins(x=0)
        timeline.bounds(panel, table)
        timeline.changes([panel], study.changes_of(frame.head(1)))
        title = " · ".join(str(part) for part in (name, label) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold")
    layout.axis_titles(figure, timeline.TIME, "Host")
    bar = figure.colorbar(ScalarMappable(norm, _COLOURS), ax=panels, aspect=30)
    bar.set_label("Injection queues in congestion trees (KB)", fontsize=8)
    layout.legend(figure, layout.first_handles(panels), study, table)
    notes = ["white: in no tree"]
    notes += ["first seed"] if layout.seeds_of(study, table) > 1 else []
    layout.footnote(figure, study, table, notes)
    return figure


def waiting(outcome: Outcome, network: Network) -> NDArray[np.float64]:
    """(samples, hosts) phits in the injection queues of a host that are in a congestion tree."""
    samples = congestion.series(outcome)
    if len(samples.roots) and not len(samples.members):
        message = "this figure needs the buffers of the trees: `members = true`"
        raise FigureError("probes.congestion.members", message)
    host = np.full(network.wiring.link_class.shape, -1)
    for (router, port), number in network.wiring.host_ports().items():
        host[router, port] = number
    tree, router, port, vc, _, phits = samples.members.astype(np.int64).T
    # A queue may be in several trees of a sample.
    queues = np.stack([samples.roots[tree, 0], host[router, port], vc, phits])
    queues = np.unique(queues[:, queues[1] >= 0], axis=1)
    found = np.zeros((len(samples.trees), network.hosts))
    np.add.at(found, (queues[0], queues[1]), queues[3])
    return found


KIND = FigureKind(
    name="congestion-hosts",
    summary="hosts whose injection queues are in a congestion tree, against time, as a heat map",
    draw=draw,
    options=timeline.OPTIONS,
)

"""`congestion-map`: the congestion trees of one moment, drawn on the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from deroute import _engine
from deroute.economics.network import Network
from deroute.figures import congestion, layout
from deroute.figures.places import curve, dot, positions
from deroute.figures.study import ROW, Study
from deroute.figures.style import QUIET, TWO_COLUMNS, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option
from deroute.spec import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.records import CongestionSeries

#: More routers would be a grey disc.
MOST_ROUTERS = 200
#: Trees that have a colour of their own: those with most phits.
_COLOURED = 4
# Widths of a link: idle, and with the fullest buffer.
_IDLE, _FULL = 0.25, 2.0


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a network per panel and series, of the first seed."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    size = (TWO_COLUMNS, (3.0 if columns == 1 else 2.4) * rows + 0.9)
    figure, grid = layout.new_figure(rows, columns, size)
    panels = layout.hide_unused(grid, len(cells))
    for panel, (name, label, frame) in zip(panels, cells, strict=True):
        index = int(frame[ROW][0])
        samples = congestion.series(study.outcomes[index])
        cycle_ns = study.outcomes[index].cycle_ns
        network = network_of(study.specs[index], table)
        sample = _sample(samples, table.options["at_us"], cycle_ns)
        _draw_trees(panel, network, samples, sample)
        when = f"{samples.cycles[sample] * cycle_ns / 1000:.4g} µs"
        title = " · ".join(str(part) for part in (name, label, when) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold", fontsize=8)
    layout.legend(figure, _handles(), study, table)
    notes = [
        "width: phits in the buffer at the end of the link",
        "dots: grey without, coloured with a buffer in a tree, black rim with an injection queue",
        "stars: roots",
    ]
    layout.footnote(figure, study, table, notes)
    return figure


def network_of(spec: Mapping[str, Any], table: FigureTable) -> Network:
    network = Network.of(spec, _engine.topology(in_order(spec)))
    if network.routers > MOST_ROUTERS:
        message = f"{network.routers:,} routers are too many to draw: at most {MOST_ROUTERS}"
        raise FigureError(f"figure {table.name!r}", message)
    return network


def _sample(samples: CongestionSeries, at_us: object, cycle_ns: float) -> int:
    """The sample nearest to a time; that with most phits in trees if none is given."""
    if not isinstance(at_us, int | float):
        return int(np.argmax(samples.held))
    return int(np.argmin(np.abs(samples.cycles * cycle_ns / 1000 - at_us)))


def _draw_trees(panel: Plot, network: Network, samples: CongestionSeries, sample: int) -> None:
    places, wiring = positions(network), network.wiring
    straight = wiring.tree is not None
    bend: Callable[[int, int], NDArray[np.float64]] = lambda a, b: curve(  # noqa: E731
        places[a], places[b], 0.03 if straight else 0.12
    )
    router, peer, _ = network.links()
    idle = [bend(a, b) for a, b in zip(router, peer, strict=True)]
    panel.add_collection(LineCollection(idle, colors=QUIET, linewidths=_IDLE, alpha=0.5))
    roots = samples.roots
    largest = np.flatnonzero(roots[:, 0] == sample)
    largest = largest[np.argsort(-roots[largest, 8], kind="stable")]
    colour = {int(tree): _colour(place) for place, tree in enumerate(largest)}
    members = samples.members[np.isin(samples.members[:, 0], largest)]
    most = max(int(members[:, 5].max()), 1) if len(members) else 1
    inside: dict[int, str] = {}
    waiting: set[int] = set()
    # Small trees first, so that the largest are on top.
    for tree in largest[::-1]:
        for _, at, port, _, _, phits in members[members[:, 0] == tree]:
            inside[int(at)] = colour[int(tree)]
            if wiring.link_class[at, port] < 0:
                waiting.add(int(at))
                continue
            line = bend(int(wiring.peer_router[at, port]), int(at))
            width = _IDLE + (_FULL - _IDLE) * float(phits) / most
            panel.plot(*line.T, color=colour[int(tree)], linewidth=width, solid_capstyle="butt")
    numbers = np.arange(network.routers)
    panel.scatter(
        places[:, 0],
        places[:, 1],
        s=dot(network.routers),
        c=[inside.get(int(number), QUIET) for number in numbers],
        edgecolors=["black" if int(number) in waiting else "none" for number in numbers],
        linewidths=0.8,
        zorder=3,
    )
    for tree in largest[::-1]:
        x, y = places[roots[tree, 1]]
        panel.plot(
            x, y, marker="*", markersize=10, color=colour[int(tree)], markeredgecolor="black",
            markeredgewidth=0.5, zorder=4,
        )  # fmt: skip
    panel.set_aspect("equal" if not straight else "auto")
    panel.margins(0.06)
    panel.set_axis_off()


def _colour(place: int) -> str:
    return look(place).colour if place < _COLOURED else look(_COLOURED).colour


def _handles() -> list[Line2D]:
    names = ["largest tree", "second", "third", "fourth", "smaller ones"]
    return [
        Line2D([], [], color=_colour(place), linewidth=2.0, label=name)
        for place, name in enumerate(names)
    ]


KIND = FigureKind(
    name="congestion-map",
    summary="the congestion trees on the network at one moment (`at_us`; the worst when absent)",
    draw=draw,
    options={"at_us": Option((int, float))},
)

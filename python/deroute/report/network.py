"""A network as a drawing in SVG: whole if it is small, else by groups or a part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from deroute.economics.network import Network
from deroute.figures.places import host_positions, positions
from deroute.figures.style import QUIET, look

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Dots of a drawing; more would be a grey disc.
MOST = 200
#: Hosts that are drawn, and dots that have their number in them.
_MOST_HOSTS, _NUMBERED = 200, 40
# The box of a drawing: as wide as a narrow window, so that its numbers are legible there.
_WIDE, _MARGIN = 360.0, 16.0
_HIGH, _LOWEST = {"tree": 200.0, "other": 330.0}, 40.0
# Bends of curved links, as shares of their length.
_BEND, _STRAIGHT = 0.12, 0.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Dots, lines between them, and which router each dot stands for."""

    title: str
    #: What a dot is, and what is not drawn.
    note: str
    #: (dots, 2) and (hosts, 2) places in the box; no hosts if there are too many.
    places: NDArray[np.float64]
    hosts: NDArray[np.float64]
    names: Sequence[str]
    #: (routers,) dot of each router; -1 if it is not drawn.
    dot_of_router: NDArray[np.int64]
    #: (hosts of the network,) dot of the router of each host.
    homes: NDArray[np.int64]
    #: Pairs of dots, by the class of the link.
    lines: Mapping[str, NDArray[np.int64]]
    #: Links, by their class, of the whole network.
    counts: Mapping[str, int]
    #: How far lines are from straight ones, by the class of the link.
    bends: Mapping[str, float]
    height: float


def of(network: Network, around: int = 0) -> Drawing:
    """The drawing of a network; of one that is too large, by groups or the part with a router."""
    routers = np.arange(network.routers)
    if network.routers <= MOST:
        return _drawing(network, routers, positions(network), "", whole=True)
    if network.name == "dragonfly":
        return _dragonfly(network, around)
    if network.name == "hyperx":
        widths, size, kept = list(network.parameters["widths"]), 1, 0
        while kept < len(widths) and size * widths[kept] <= MOST:
            size *= widths[kept]
            kept += 1
        if kept:
            first = around // size * size
            words = f"of the first {kept} dimensions" if kept > 1 else "of the first dimension"
            note = f"Drawn are the {size} routers {words} around router {around}; there are"
            note += f" {network.routers // size} such parts."
            part = Network("hyperx", {"widths": widths[:kept]}, network.wiring)
            return _part(network, routers[first : first + size], note, part)
    tree = network.wiring.tree
    if tree is not None:
        levels = max(
            (level for level in range(1, len(tree.children)) if 1 < tree.block(level) <= MOST),
            default=0,
        )
        if levels:
            size = tree.block(levels)
            below = network.routers // size
            number = min(around // size, below - 1)
            note = f"Drawn is one subtree of {levels} levels, with {size} of the"
            note += f" {network.routers:,} switches; the links from its top upwards are not."
            return _part(network, routers[number * size : (number + 1) * size], note)
    return _part(network, *_near(network, around))


def _dragonfly(network: Network, around: int) -> Drawing:
    """Groups as dots; of very many groups one, router by router."""
    size = int(network.parameters["a"])
    groups = network.routers // size
    if groups > MOST:
        first = around // size * size
        note = f"Drawn is one of {groups:,} groups; its global links are not."
        return _part(network, np.arange(first, first + size)[:MOST], note)
    note = f"Each dot is a group of {size} routers, and a line is all links between two groups."
    turn = np.arange(groups) * 2 * np.pi / groups
    places = np.stack([np.sin(turn), np.cos(turn)], axis=1)
    dots = np.arange(network.routers) // size
    return _drawing(network, dots, places, note, names=[f"group {each}" for each in range(groups)])


def _near(network: Network, around: int) -> tuple[NDArray[np.int64], str]:
    """The routers that are the fewest links away from one."""
    peers, seen, order = network.wiring.peer_router, {around}, [around]
    for router in order:
        for peer in peers[router]:
            if peer >= 0 and int(peer) not in seen and len(order) < MOST:
                seen.add(int(peer))
                order.append(int(peer))
    note = f"Drawn are the {len(order)} routers nearest to router {around}, and the links between"
    return np.sort(np.array(order)), f"{note} them."


def _part(
    network: Network, chosen: NDArray[np.int64], note: str, shape: Network | None = None
) -> Drawing:
    """Some routers; a HyperX of fewer dimensions as a grid, a tree in rows, else in a circle."""
    dots = np.full(network.routers, -1)
    dots[chosen] = np.arange(len(chosen))
    if shape is not None:
        places = positions(shape)[: len(chosen)]
    elif network.wiring.tree is not None:
        level = network.wiring.tree.level[chosen]
        places = np.zeros((len(chosen), 2))
        for each in np.unique(level):
            mine = np.flatnonzero(level == each)
            places[mine, 0] = (np.arange(len(mine)) + 0.5) / len(mine)
            places[mine, 1] = each
    else:
        turn = np.arange(len(chosen)) * 2 * np.pi / len(chosen)
        places = np.stack([np.sin(turn), np.cos(turn)], axis=1)
    return _drawing(network, dots, places, note, names=[f"router {each}" for each in chosen])


def _drawing(
    network: Network,
    dots: NDArray[np.int64],
    places: NDArray[np.float64],
    note: str,
    *,
    whole: bool = False,
    names: Sequence[str] = (),
) -> Drawing:
    wiring = network.wiring
    router, peer, kind = network.links()
    ends = np.sort(np.stack([dots[router], dots[peer]], axis=1), axis=1)
    drawn = (ends[:, 0] >= 0) & (ends[:, 0] != ends[:, 1])
    lines = {
        name: np.unique(ends[drawn & (kind == index)], axis=0)
        for index, name in enumerate(wiring.class_names)
    }
    tree = wiring.tree is not None
    hosts = np.zeros((0, 2))
    if whole and network.hosts <= _MOST_HOSTS and not (tree and network.hosts > _MOST_HOSTS // 2):
        hosts = host_positions(network, places)
    height = _HIGH["tree" if tree else "other"]
    bends = {name: _STRAIGHT if tree or name == "local" else _BEND for name in lines}
    tops = [_tops(places, pairs, bends[name]) for name, pairs in lines.items()]
    fitted, height = _fitted(np.concatenate([places, hosts, *tops]), height, equal=not tree)
    return Drawing(
        title=f"{network.name}: {network.routers:,} routers, {network.hosts:,} hosts",
        note=note,
        places=fitted[: len(places)],
        hosts=fitted[len(places) : len(places) + len(hosts)],
        names=names or [f"router {each}" for each in range(network.routers)],
        dot_of_router=dots,
        homes=dots[wiring.router_of_host],
        lines=lines,
        counts=network.links_by_class(),
        bends=bends,
        height=height,
    )


def _tops(
    places: NDArray[np.float64], pairs: NDArray[np.int64], bend: float
) -> NDArray[np.float64]:
    """Middles of lines, which are farthest out."""
    start, end = places[pairs[:, 0]], places[pairs[:, 1]]
    x, y = (end - start).T
    middles: NDArray[np.float64] = (start + end) / 2 + bend * np.stack([y, -x], axis=1)
    return middles


def _fitted(
    places: NDArray[np.float64], height: float, *, equal: bool
) -> tuple[NDArray[np.float64], float]:
    """Places in a box of that height at most, with the ordinate downwards; and its height."""
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.array([_WIDE, height]) - 2 * _MARGIN
    scale = room / np.maximum(high - low, 1e-9)
    scale = np.where(high - low < 1e-9, 1.0, scale)
    if equal:
        scale = np.full(2, scale.min())
        height = max(float((high - low)[1] * scale[1]), _LOWEST) + 2 * _MARGIN
    centred = (places - (low + high) / 2) * scale * (1, -1)
    return centred + np.array([_WIDE, height]) / 2, height


def svg(drawing: Drawing, name: str, *, coloured: bool) -> str:
    """The drawing; `name` begins the names of its parts, and the classes of links have colours."""
    parts = [
        f'<svg id="{name}" class="network" viewBox="0 0 {_WIDE:g} {drawing.height:g}" role="img"'
        f' aria-label="{escape(drawing.title, quote=True)}">'
    ]
    for index, (kind, pairs) in enumerate(drawing.lines.items()):
        ends = ((drawing.places[a], drawing.places[b]) for a, b in pairs)
        path = "".join(_line(a, b, drawing.bends[kind]) for a, b in ends)
        colour = look(index).colour if coloured else QUIET
        parts.append(f'<path class="link" stroke="{colour}" d="{path}"/>')
    homes = zip(drawing.hosts, drawing.homes, strict=False)
    path = "".join(_line(place, drawing.places[home], _STRAIGHT) for place, home in homes)
    parts.append(f'<path class="link" stroke="{QUIET}" d="{path}"/><g id="{name}-trees"></g>')
    size = radius(drawing)
    for index, (x, y) in enumerate(drawing.hosts):
        parts.append(
            f'<circle class="host" id="{name}-h{index}" cx="{x:.1f}" cy="{y:.1f}" r="2.2">'
            f"<title>host {index}</title></circle>"
        )
    numbered = len(drawing.places) <= _NUMBERED and size >= 8
    for index, (x, y) in enumerate(drawing.places):
        parts.append(
            f'<circle class="router" id="{name}-r{index}" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}">'
            f"<title>{escape(drawing.names[index])}</title></circle>"
        )
        if numbered:
            number = drawing.names[index].rpartition(" ")[2]
            parts.append(f'<text x="{x:.1f}" y="{y + 3.9:.1f}">{number}</text>')
    return "".join([*parts, f'<g id="{name}-roots"></g></svg>'])


def radius(drawing: Drawing) -> float:
    """That of a router's dot."""
    return float(np.clip(_room(drawing.places) / 3, 2.5, 9.5))


def _line(start: NDArray[np.float64], end: NDArray[np.float64], bend: float) -> str:
    """A curve whose middle is off the straight line by a share of its length."""
    (x, y), (u, v) = start, end
    if not bend:
        return f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"
    across = (x + u) / 2 - 2 * bend * (v - y), (y + v) / 2 + 2 * bend * (u - x)
    return f"M{x:.1f} {y:.1f}Q{across[0]:.1f} {across[1]:.1f} {u:.1f} {v:.1f}"


def _room(places: NDArray[np.float64]) -> float:
    """Smallest distance between two dots."""
    if len(places) < 2:
        return _WIDE
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    return float(gaps[gaps > 1e-6].min(initial=_WIDE))

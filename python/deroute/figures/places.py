"""Where the routers and links of a small network are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.economics.network import Network
    from deroute.wiring import Tree

_STEPS = np.linspace(0.0, 1.0, 24)[:, None]


def positions(network: Network) -> NDArray[np.float64]:
    """Where routers are drawn.

    The groups of a Dragonfly are small circles on a large one; the first two dimensions of a
    HyperX are a grid, further ones grids of grids; the levels of a fat tree are rows; all else is a
    circle.
    """
    number = np.arange(network.routers)
    if network.name == "dragonfly":
        size = int(network.parameters["a"])
        groups = network.routers // size
        small = min(0.32, 0.8 * np.pi / groups)
        turned = number % size + size * (number // size) / groups
        return _circle(number // size, groups) + small * _circle(turned, size)
    if network.name == "hyperx":
        widths = list(network.parameters["widths"])
        places, step, pitch = np.zeros((network.routers, 2)), 1, [1.0, 1.0]
        for dimension, width in enumerate(widths):
            axis = dimension % 2
            places[:, axis] += number // step % width * pitch[axis]
            pitch[axis] *= width + 0.8
            step *= width
        return places * (1.0, -1.0)
    if network.wiring.tree is not None:
        return _layers(network.wiring.tree)
    return _circle(number, network.routers)


def host_positions(network: Network, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where hosts are drawn: fanned out around their router, away from its neighbours."""
    homes = network.wiring.router_of_host
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    near = float(gaps[gaps > 0].min()) if network.routers > 1 else 1.0
    found = np.zeros((len(homes), 2))
    for router in np.unique(homes):
        mine = np.flatnonzero(homes == router)
        peers = network.wiring.peer_router[router]
        peers = peers[peers >= 0]
        ahead, width = np.pi / 2, 2 * np.pi
        if network.wiring.tree is not None:
            # From left to right.
            ahead, width = -np.pi / 2, -np.pi / 2
        elif len(peers):
            x, y = places[router] - places[peers].mean(axis=0)
            ahead, width = float(np.arctan2(y, x)), np.pi
        width = min(width, 2 * np.pi * (1 - 1 / len(mine)))
        turns = np.linspace(0.5, -0.5, len(mine)) if len(mine) > 1 else np.zeros(1)
        angles = ahead + width * turns
        fan = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        found[mine] = places[router] + 0.4 * near * fan
    return found


def _layers(tree: Tree) -> NDArray[np.float64]:
    """Levels as rows; the switches of a subtree side by side above its hosts."""
    places = np.zeros((len(tree.level), 2))
    widest = max(int((tree.level == level + 1).sum()) for level in range(len(tree.children)))
    for level in range(1, len(tree.children) + 1):
        mine = np.flatnonzero(tree.level == level)
        places[mine, 0] = (np.arange(len(mine)) + 0.5) * widest / len(mine)
        places[mine, 1] = level * widest / (2.5 * len(tree.children))
    return places


def _circle(index: NDArray[np.float64] | NDArray[np.int64], count: int) -> NDArray[np.float64]:
    if count == 1:
        return np.zeros((len(index), 2))
    angle = np.pi / 2 - 2 * np.pi * index / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def curve(start: NDArray[np.float64], end: NDArray[np.float64], bend: float) -> NDArray[np.float64]:
    """Points of a curve that leaves the straight line by `bend` of its length."""
    across = np.array([-(end - start)[1], (end - start)[0]])
    middle = (start + end) / 2 + 2 * bend * across
    return (1 - _STEPS) ** 2 * start + 2 * _STEPS * (1 - _STEPS) * middle + _STEPS**2 * end


def dot(routers: int) -> float:
    """Area of the dot of a router, in square points."""
    return float(np.clip(600 / routers, 5, 30))

"""A drawing of a small network: routers as dots, links as curves, one colour per link class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from deroute.economics.network import Network
from deroute.errors import InputError
from deroute.figures.style import FORMATS, TWO_COLUMNS, look, paper, save
from deroute.reproduce.evidence import Tree

#: More routers would be a grey disc.
MOST_ROUTERS = 200

_STEPS = np.linspace(0.0, 1.0, 24)[:, None]


def form_of(file: Path) -> str:
    """Format of a figure by the name of its file, or an error that says which there are."""
    form = file.suffix.removeprefix(".")
    if form not in FORMATS:
        known = [f"{file.stem or 'network'}.{each}" for each in FORMATS]
        raise InputError.of(f"{str(file)!r} does not end in a known format", "--plot", known)
    return form


def check(network: Network, file: Path) -> str:
    """Format of the drawing, or an error if it cannot be made."""
    form = form_of(file)
    if network.routers > MOST_ROUTERS:
        message = f"{network.routers:,} routers are too many to draw: at most {MOST_ROUTERS}"
        raise InputError.of(message, "--plot")
    return form


def draw(network: Network, file: Path) -> Path:
    """Draw a network of at most `MOST_ROUTERS` routers into a PNG, SVG or PDF file."""
    form = check(network, file)
    with paper():
        figure = _figure(network)
        try:
            return save(figure, file.with_suffix(""), [form])[0]
        except OSError as error:
            raise InputError.of(f"cannot write {file}: {error}", "--plot") from error


def _figure(network: Network) -> Figure:
    places = positions(network)
    wide, high = np.maximum(np.ptp(places, axis=0), 1e-9)
    height = TWO_COLUMNS * float(np.clip(high / wide, 0.4, 0.9)) + 0.6
    figure = Figure(figsize=(TWO_COLUMNS, height), layout="constrained")
    panel = figure.subplots()
    router, peer, kind = network.links()
    names = network.wiring.class_names
    for index in reversed(range(len(names))):
        mine = kind == index
        # The local links of a Dragonfly are the sides and diagonals of its groups.
        straight = names[index] == "local" or network.wiring.tree is not None
        bend = 0.0 if straight else 0.12
        ends = zip(router[mine], peer[mine], strict=True)
        curves = [_curve(places[a], places[b], bend) for a, b in ends]
        colour = look(index).colour
        panel.add_collection(LineCollection(curves, colors=colour, linewidths=0.7, alpha=0.75))
    panel.scatter(places[:, 0], places[:, 1], s=_size(network.routers), color="black", zorder=3)
    handles = [Line2D([], [], color=look(index).colour) for index in range(len(names))]
    labels = [f"{name}: {count:,}" for name, count in network.links_by_class().items()][1:]
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(handles)))
    panel.set_title(f"{network.name}: {network.routers} routers, {network.hosts} hosts")
    panel.set_aspect("equal")
    panel.margins(0.06)
    panel.set_axis_off()
    return figure


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


def _curve(
    start: NDArray[np.float64], end: NDArray[np.float64], bend: float
) -> NDArray[np.float64]:
    """Points of a curve that leaves the straight line by `bend` of its length."""
    across = np.array([-(end - start)[1], (end - start)[0]])
    middle = (start + end) / 2 + 2 * bend * across
    return (1 - _STEPS) ** 2 * start + 2 * _STEPS * (1 - _STEPS) * middle + _STEPS**2 * end


def _size(routers: int) -> float:
    return float(np.clip(600 / routers, 5, 30))

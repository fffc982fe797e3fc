"""A drawing of a small network: routers as dots, links as curves, one colour per link class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deroute.economics.network import Network
from deroute.errors import InputError
from deroute.figures.places import curve, dot, positions
from deroute.figures.style import FORMATS, TWO_COLUMNS, look, paper, save
from deroute.writing import blaming

#: More routers would be a grey disc.
MOST_ROUTERS = 200


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
        with blaming("--plot", file):
            return save(figure, file.with_suffix(""), [form])[0]


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
        curves = [curve(places[a], places[b], bend) for a, b in ends]
        colour = look(index).colour
        panel.add_collection(LineCollection(curves, colors=colour, linewidths=0.7, alpha=0.75))
    panel.scatter(places[:, 0], places[:, 1], s=dot(network.routers), color="black", zorder=3)
    box = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.2}
    for number, (x, y) in enumerate(places):
        panel.annotate(
            f"{number}", (x, y), (2.5, 2.5), textcoords="offset points", fontsize=5, bbox=box
        )
    handles = [Line2D([], [], color=look(index).colour) for index in range(len(names))]
    labels = [f"{name}: {count:,}" for name, count in network.links_by_class().items()][1:]
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(handles)))
    panel.set_title(f"{network.name}: {network.routers} routers, {network.hosts} hosts")
    panel.set_aspect("equal")
    panel.margins(0.06)
    panel.set_axis_off()
    return figure

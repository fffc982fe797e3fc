"""Curves over whole families of networks: hosts against ports, cost of cables against hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from deroute import _engine
from deroute.economics import comparison, power, power_chart, prices
from deroute.economics.scaling import BISECTION, FAMILIES, Design, largest
from deroute.errors import InputError
from deroute.figures import layout
from deroute.figures.style import QUIET, look, paper, save
from deroute.tables.sizes import Shape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A network of fewer ports is no example of anything.
FEWEST_PORTS = 8


def scalability(
    title: str,
    ports: int = 64,
    topologies: Sequence[str] = tuple(FAMILIES),
    bisection: float = BISECTION,
) -> Figure:
    """Hosts of the largest network of each topology against the ports of its routers."""
    figure, panels = layout.new_figure(1, 1, (5.2, 4.2))
    panel = panels[0, 0]
    radices = range(FEWEST_PORTS, ports + 1)
    for index, name in enumerate(topologies):
        if name not in FAMILIES:
            raise InputError.of(f"unknown topology {name!r}", "topologies", FAMILIES)
        found = [(radix, largest(name, radix, bisection)) for radix in radices]
        sizes = [(radix, design.hosts) for radix, design in found if design is not None]
        style = look(index)
        panel.plot(
            [radix for radix, _ in sizes],
            [hosts for _, hosts in sizes],
            color=style.colour,
            marker=style.marker,
            linestyle=style.dashes,
            markevery=8,
            label=FAMILIES[name].title,
        )
    layout.logarithmic(panel, "y")
    panel.set_xlim(FEWEST_PORTS, ports)
    _finish(figure, title, "Ports of a router", "Hosts of the largest network", ())
    return figure


def cable_cost(
    title: str,
    widths: Sequence[int],
    signalling: Sequence[float],
    ports: int = 64,
    dimensions: int = 3,
) -> Figure:
    """Cost of a Dragonfly's cables over that of a HyperX of the same size, by signalling rate.

    Beside it the same for the number of cables and for their metres: for cables that reach
    everywhere and cost so much each plus so much a metre, the ratio lies between these two.
    """
    figure, panels = layout.new_figure(1, 1)
    panel = panels[0, 0]
    pairs = [comparison.beside(width, dimensions, ports, _engine.topology) for width in widths]
    curves = {f"copper and AOC, {rate:g} GHz": prices.read(None, rate) for rate in signalling}
    bills = {
        name: [[comparison.bill(each, table) for each in pair] for pair in pairs]
        for name, table in curves.items()
    }
    ratios = {name: [ours.cost / theirs.cost for ours, theirs in of] for name, of in bills.items()}
    some = next(iter(bills.values()))
    ratios["number of cables"] = [ours.cables / theirs.cables for ours, theirs in some]
    ratios["metres of cable"] = [ours.metres / theirs.metres for ours, theirs in some]
    sizes = [theirs.hosts for _, theirs in some]
    for index, (name, values) in enumerate(ratios.items()):
        style = look(index)
        panel.plot(
            sizes,
            values,
            color=style.colour,
            marker=style.marker,
            linestyle=style.dashes,
            label=name,
        )
    panel.axhline(1.0, color=QUIET, linewidth=0.8, dashes=(4, 3), zorder=0.5)
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.set_xlim(0, None)
    panel.set_ylim(0, None)
    notes = [next(iter(curves.values())).note]
    _finish(figure, title, "Hosts", "Dragonfly over HyperX, per host", notes)
    return figure


def power_draw(title: str) -> Figure:
    """What the networks of thesis 4.7.2 draw, by kind of tables."""
    networks = power.companions(lambda topology: comparison.wired(topology, _engine.topology))
    return power_chart.stacked(title, networks, power.read())


def rules(
    title: str,
    topologies: Sequence[str],
    addressings: Sequence[str],
    ports: Sequence[int] = (8, 16, 24, 48, 96),
) -> Figure:
    """Rules of a switch against hosts of the largest networks, by topology and addressing.

    Closed forms; between the least and the most rules is a shade.
    """
    figure, panels = layout.new_figure(1, 1, (5.2, 4.2))
    panel = panels[0, 0]
    handles, dashes = [], _DASHES[len(_DASHES) - len(addressings) :]
    for index, name in enumerate(topologies):
        if name not in FAMILIES:
            raise InputError.of(f"unknown topology {name!r}", "topologies", FAMILIES)
        designs = [largest(name, radix) for radix in ports]
        known = [each for each in designs if each is not None]
        hosts, style = [each.hosts for each in known], look(index)
        for place, addressing in enumerate(addressings):
            bounds = [shape_of(each).rules(addressing) for each in known]
            lows, highs = zip(*bounds, strict=True)
            shown = {"color": style.colour, "marker": style.marker, "dashes": dashes[place]}
            panel.plot(hosts, lows, **shown)
            if lows != highs:
                panel.plot(hosts, highs, **shown)
                panel.fill_between(hosts, lows, highs, color=style.colour, alpha=0.15, lw=0)
        label = FAMILIES[name].title
        handles.append(Line2D([], [], color=style.colour, marker=style.marker, label=label))
    if len(addressings) > 1:
        handles += [
            Line2D([], [], color=QUIET, dashes=each, label=name)
            for name, each in zip(addressings, dashes, strict=True)
        ]
    layout.logarithmic(panel, "xy")
    layout.axis_titles(figure, "Hosts", "Rules of a switch with hosts")
    layout.heading(figure, handles, title)
    sizes = ", ".join(str(radix) for radix in ports)
    note = f"largest networks from switches with {sizes} ports"
    layout.foot(figure, [f"Deroute {_engine.VERSION}", note])
    return figure


#: Dashes of addressings, those of the last one last.
_DASHES = ((7, 1, 1, 1), (1, 1), (4, 2), (1, 0))


def shape_of(design: Design) -> Shape:
    """What equation 4-1 needs of a design, by its parameters; nothing is wired."""
    if design.topology is None:
        raise InputError.of(f"there are no addresses for {design.shape}", "topology")
    ((name, parameters),) = design.topology.items()
    switches = design.hosts // design.hosts_per_access_router
    match name:
        case "dragonfly":
            size = parameters["a"]
        case "hyperx":
            size = parameters["widths"][-1]
        case _:
            half = parameters["ports"] // 2
            size = half if parameters["stages"] > 2 else switches
    hosts = design.hosts_per_access_router
    return Shape(switches // size, size, hosts, design.ports, scattered=name == "dragonfly")


#: Every kind of chart, by its name in `[[drawing]]` tables.
CATALOGUE: Mapping[str, Callable[..., Figure]] = {
    "scalability": scalability,
    "cable-cost": cable_cost,
    "power": power_draw,
    "rules": rules,
}


def draw(kind: str, title: str, stem: Path, formats: Sequence[str], **options: Any) -> list[Path]:
    """Draw a chart and write it as `stem.FORMAT` for each format."""
    with paper():
        return save(CATALOGUE[kind](title, **options), stem, formats)


def _finish(figure: Figure, title: str, x: str, y: str, notes: Sequence[str]) -> None:
    layout.axis_titles(figure, x, y)
    handles = layout.first_handles(figure.axes)
    layout.heading(figure, handles, title)
    layout.foot(figure, [f"Deroute {_engine.VERSION}", *notes])

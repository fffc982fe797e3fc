"""A Dragonfly beside a HyperX or a fat tree of the same size: what the cables of a host cost.

Source: McDonald et al. (SC 2019), section 1 and section 3.1 with figure 3. All are made of routers
with the same number of ports and have room for uniform traffic at full load: the Dragonfly is as
large as these routers allow in its groups (a = 2p = 2h) and has as many parallel links between two
groups as its ports have; the HyperX has equal widths and as many hosts on a router; the fat tree
has three levels and full bisection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deroute.economics import floor, scaling
from deroute.economics.network import Network
from deroute.economics.prices import Prices
from deroute.errors import InputError

#: What the engine's `topology` does.
Wire = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Bill:
    """Cables of a network, per host; links to hosts included."""

    hosts: int
    cables: float
    #: In metres.
    metres: float
    #: In the currency of the prices, for links of 1 Gb/s.
    cost: float


def bill(network: Network, prices: Prices) -> Bill:
    """What the cables of a network cost."""
    found = floor.cables(network, floor.place(network, prices.floor), prices.floor)
    cost = sum(share.cost for share in floor.cost(found, prices, 1.0))
    hosts = network.hosts
    return Bill(hosts, len(found.lengths) / hosts, float(found.lengths.sum()) / hosts, cost / hosts)


def spec_for(topology: Mapping[str, Any], routing: Mapping[str, Any] | None = None) -> str:
    """A valid spec of a topology as JSON, whose other parts play no part."""
    (name, parameters), *_ = topology.items()
    classes = {"dragonfly": ["local", "global"], "graph": ["link"]}.get(name, [])
    if name == "hyperx":
        classes = [f"dim{place + 1}" for place in range(len(parameters["widths"]))]
    if name in _LEVELS:
        levels = parameters[_LEVELS[name]]
        count = len(levels) if isinstance(levels, list) else levels
        classes = [f"level{place + 1}" for place in range(count - 1)]
    link = {"latency": "50 ns", "vcs": 2, "buffer": 128}
    spec = {
        "network": {
            "topology": dict(topology),
            "links": dict.fromkeys(classes, link),
            "switch": {"combined_queued": {"pipeline": "50 ns", "output_buffer": 128}},
        },
        "routing": dict(routing or {"minimal": {}}),
        "traffic": {"load": 0.1, "packet_size": 1, "pattern": "uniform"},
        "run": {"warmup": 1, "measure": 1},
    }
    return json.dumps(spec)


#: What says how many levels a fat tree has.
_LEVELS = {"rlft": "stages", "fat_tree": "children", "kary_tree": "levels", "folded_clos": "levels"}


def wired(topology: Mapping[str, Any], wire: Wire) -> Network:
    """A topology as the engine wires it; the rest of the spec plays no part."""
    spec = spec_for(topology)
    return Network.of(json.loads(spec), wire(spec))


def hyperx(width: int, dimensions: int, radix: int) -> dict[str, Any]:
    """HyperX of equal widths with as many hosts on a router, or as many as its ports allow."""
    hosts = min(width, radix - dimensions * (width - 1))
    if hosts < 1:
        raise InputError.of(f"{radix} ports do not make {dimensions} dimensions of {width}")
    return {"hyperx": {"widths": [width] * dimensions, "hosts": hosts}}


def dragonfly(hosts: int, radix: int) -> dict[str, Any]:
    """Dragonfly of about so many hosts, in as many whole groups as come nearest."""
    full = scaling.dragonfly(radix)
    if full is None or full.topology is None:
        raise InputError.of(f"{radix} ports make no Dragonfly")
    p, a, h = (int(full.topology["dragonfly"][name]) for name in ("p", "a", "h"))
    groups = min(max(2, round(hosts / (a * p))), a * h + 1)
    return {"dragonfly": {"p": p, "a": a, "h": h, "groups": groups, "trunk": a * h // (groups - 1)}}


def fat_tree(hosts: int, radix: int) -> dict[str, Any]:
    """Fat tree of three levels and about so many hosts, in as many whole pods as come nearest."""
    half = radix // 2
    pods = min(max(2, round(hosts / half**2)), 2 * half)
    return {"fat_tree": {"children": [half, half, pods], "parents": [1, half, half]}}


def beside(
    width: int, dimensions: int, radix: int, wire: Wire, other: str = "hyperx"
) -> tuple[Network, Network]:
    """The Dragonfly and the HyperX, or a `fat_tree`, of one size: that of the HyperX."""
    lattice = hyperx(width, dimensions, radix)
    hosts = lattice["hyperx"]["hosts"] * width**dimensions
    others = {"hyperx": lattice, "fat_tree": fat_tree(hosts, radix)}
    if other not in others:
        raise InputError.of(f"unknown topology {other!r}", "topology", others)
    return wired(dragonfly(hosts, radix), wire), wired(others[other], wire)

"""A commented experiment file for a network of some size, to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from deroute import _engine
from deroute.api import check
from deroute.economics.comparison import wired
from deroute.economics.scaling import FAMILIES, Design
from deroute.errors import InputError, SpecError
from deroute.writing import experiment_name, toml_value

_Topology = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A family of networks, and how long the cables of its classes of links are."""

    summary: str
    family: str
    #: The last one is that of all further classes.
    lengths: tuple[str, ...]
    #: Routings of figures that compare what there is.
    usual: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "dragonfly": Kind(
        "balanced Dragonfly", "dragonfly", ("3 m", "30 m"), ("minimal", "valiant", "ugal")
    ),
    "hyperx-2d": Kind("HyperX of two dimensions", "hyperx2", ("3 m", "10 m"), ("minimal", "ugal")),
    "hyperx-3d": Kind(
        "HyperX of three dimensions", "hyperx3", ("3 m", "10 m", "30 m"), ("minimal", "ugal")
    ),
    "fat-tree": Kind(
        "fat tree of three levels, full bandwidth", "clos3", ("5 m", "20 m"), ("mod_k", "ecmp")
    ),
}

#: Patterns by their names in the file, with the parameters that must be there.
PATTERNS: Mapping[str, Any] = {
    "uniform": "uniform",
    "adversarial": {"adversarial": {"offset": 1}},
    "bit_complement": "bit_complement",
    "shift": {"shift": {}},
    "tornado": {"tornado": {}},
    "permutation": {"permutation": {"seed": 1}},
}
MOST_HOSTS = 1_000_000
_MOST_RADIX = 1024
_SWITCH = {"combined_queued": {"pipeline": "90 ns", "speedup": 2, "output_buffer": "10 kB"}}

_TEMPLATE = Template(
    """\
# $title: $shape.
# $hosts hosts, $routers routers with $ports ports that are used.
#
#   deroute check FILE    says what is wrong, what was filled in, and how long a run takes
#   deroute run FILE      runs it, or what is left of it, and draws the figures
#
# Times are "90 ns" or lengths of cable, data is "250 B" or "10 kB"; a bare number is in cycles or
# phits.
name = "$name"
title = "$title, $hosts hosts"

[base.units]
cycle = "1 ns"
link_rate = "200 Gb/s"  # what every link carries; in a cycle that is a phit, here 25 B

[base.network.topology.$key]
$parameters

# Every class of links needs its length. Left out, `vcs` are as many as the routing needs, and the
# `buffer` of each holds what it needs to fill the link.
[base.network.links]
$links

[base.network.nic]
injection_queue = "50 kB"  # without it no packet is refused, and memory grows in saturation

[base.network.switch.combined_queued]
pipeline = "90 ns"       # from the head of a queue to the link
speedup = 2              # of the crossbar, over the links
output_buffer = "10 kB"

[base.routing.$routing]

[base.traffic]
load = 0.1               # of what a host's link carries; the axis below sets it
packet_size = "250 B"
pattern = $pattern

[base.run]
warmup = "10 us"         # too short ones are warned of
measure = "10 us"

# Axes: one point for every combination of their values, the last axis varying fastest.
[[axis]]
name = "traffic"
values = [
$sent
]

[[axis]]
name = "routing"
values = [
$routed
]

[[axis]]
name = "load"
path = "traffic.load"
values = [0.05, 0.2, 0.4, 0.6, 0.8, 1.0]

# Three seeds give confidence intervals over runs:
# [[axis]]
# name = "seed"
# path = "run.seed"
# values = [1, 2, 3]

[[figure]]
name = "latency"
kind = "latency"
series = "routing"
panel = "traffic"

[[figure]]
name = "throughput"
kind = "throughput"
series = "routing"
panel = "traffic"
"""
)


def design(topology: str, hosts: int) -> Design:
    """The smallest network of a kind that has so many hosts."""
    if topology not in KINDS:
        raise InputError.of(f"there is no topology {topology!r}", "--topology", list(KINDS))
    if not 2 <= hosts <= MOST_HOSTS:
        raise InputError.of(f"{hosts} is out of range", "--hosts", [f"2 to {MOST_HOSTS}"])
    family = FAMILIES[KINDS[topology].family]
    for radix in range(2, _MOST_RADIX):
        found = family.largest(radix, 0.5)
        if found is not None and found.hosts >= hosts and found.topology is not None:
            return found
    raise InputError.of(f"no {topology} has {hosts} hosts", "--hosts")


def routings(topology: str) -> list[str]:
    """Routings that work on a kind of network without parameters."""
    small = design(topology, 2).topology
    assert small is not None
    schema = json.loads(_engine.schema("spec"))["$defs"]["Algorithm"]
    names = [name for variant in schema["oneOf"] for name in variant["properties"]]
    return [name for name in names if _possible(_spec(topology, small, name, "uniform"))]


def patterns(topology: str, hosts: int) -> list[str]:
    """Patterns that work on the network of a kind and size."""
    wiring = design(topology, hosts).topology
    assert wiring is not None
    usual = KINDS[topology].usual[0]
    return [name for name in PATTERNS if _possible(_spec(topology, wiring, usual, name))]


def experiment(
    file: Path, topology: str, hosts: int, routing: Sequence[str], traffic: Sequence[str]
) -> str:
    """The text of an experiment file."""
    found = design(topology, hosts)
    assert found.topology is not None
    routed = checked(topology, routing)
    fit = patterns(topology, hosts)
    for name in traffic:
        if name not in fit:
            raise InputError.of(f"{name!r} is no pattern of this network", "--traffic", fit)
    ((key, shape),) = found.topology.items()
    sent = "\n".join(f"    {_value(n, {'traffic.pattern': PATTERNS[n]})}" for n in traffic)
    title = KINDS[topology].summary
    return _TEMPLATE.substitute(
        name=experiment_name(file),
        title=title[0].upper() + title[1:],
        shape=found.shape,
        hosts=f"{found.hosts:,}",
        routers=f"{found.routers:,}",
        ports=found.ports,
        key=key,
        parameters="\n".join(f"{name} = {toml_value(value)}" for name, value in shape.items()),
        links=link_lines(topology),
        routing=routing[0],
        pattern=toml_value(PATTERNS[traffic[0]]),
        sent=sent,
        routed=routed,
    )


def checked(topology: str, routing: Sequence[str]) -> str:
    """Lines of an axis of routings. Raises `InputError` if one does not fit."""
    known = routings(topology)
    for name in routing:
        if name not in known:
            raise InputError.of(f"{name!r} does not route on a {topology}", "--routing", known)
    return "\n".join(f"    {_value(name, {'routing': {name: {}}})}" for name in routing)


def link_lines(topology: str) -> str:
    """A line for each class of links."""
    return "\n".join(
        f"{name} = {{ latency = {toml_value(each['latency'])} }}"
        for name, each in _links(topology).items()
    )


def _links(topology: str) -> dict[str, dict[str, str]]:
    lengths = KINDS[topology].lengths
    small = design(topology, 2).topology
    assert small is not None
    names = wired(small, _engine.topology).wiring.class_names
    return {name: {"latency": lengths[min(i, len(lengths) - 1)]} for i, name in enumerate(names)}


def _spec(topology: str, wiring: _Topology, routing: str, pattern: str) -> dict[str, Any]:
    return {
        "network": {
            "topology": wiring,
            "links": _links(topology),
            "switch": _SWITCH,
            "nic": {"injection_queue": "50 kB"},
        },
        "routing": {routing: {}},
        "traffic": {"load": 0.1, "packet_size": "250 B", "pattern": PATTERNS[pattern]},
        "run": {"warmup": 1000, "measure": 1000},
    }


def _possible(spec: Mapping[str, Any]) -> bool:
    try:
        check(spec)
    except SpecError:
        return False
    return True


def _value(label: str, sets: Mapping[str, Any]) -> str:
    return f"{{ label = {toml_value(label)}, set = {toml_value(sets)} }},"

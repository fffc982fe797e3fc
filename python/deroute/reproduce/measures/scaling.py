"""Measures over the largest networks for a number of ports (thesis, section 2.2.1, figure 2-8).

Topologies are named as in `deroute topology --radix 64 --json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deroute.analysis import Estimate
from deroute.economics.comparison import wired
from deroute.economics.scaling import FAMILIES, Design, largest
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.paper import PaperError


def largest_hosts(evidence: Evidence, topology: str, radix: int) -> list[Estimate]:
    """Hosts of the largest network, by the rules of the topology."""
    return [Estimate(float(_largest(topology, radix).hosts))]


def largest_wired(evidence: Evidence, topology: str, radix: int) -> list[Estimate]:
    """Hosts of the largest network as the engine wires it, and the ports of its routers."""
    design = _largest(topology, radix)
    if design.topology is None:
        raise NotSettledError(f"the engine does not build {topology} networks")
    network = wired(design.topology, evidence.engine().topology)
    return [Estimate(float(value)) for value in (network.hosts, *sorted({*network.radix()}))]


def size(evidence: Evidence, topology: Mapping[str, Any]) -> list[Estimate]:
    """Hosts, routers and ports of a network as the engine wires it."""
    network = wired(topology, evidence.engine().topology)
    return [
        Estimate(float(count)) for count in (network.hosts, network.routers, network.radix()[1])
    ]


def routers_on_path(evidence: Evidence, topology: Mapping[str, Any]) -> list[Estimate]:
    """Routers on the longest of the shortest paths between hosts."""
    distances = wired(topology, evidence.engine().topology).distances()
    if distances is None or distances.routers is None:
        raise NotSettledError("the network is too large, or not connected")
    return [Estimate(float(distances.routers))]


def largest_ratio(
    evidence: Evidence, topology: str, over: str, radices: Sequence[int]
) -> list[Estimate]:
    """Hosts of a topology over those of another: the least ratio over radices, first to last.

    The two have the same diameter in links, else there is nothing to compare.
    """
    first, last = radices
    ratios = []
    for radix in range(first, last + 1):
        ours, theirs = _largest(topology, radix), _largest(over, radix)
        if ours.diameter != theirs.diameter:
            raise PaperError(f"{topology} and {over} have different diameters")
        ratios.append(ours.hosts / theirs.hosts)
    return [Estimate(min(ratios))]


def _largest(topology: str, radix: int) -> Design:
    if topology not in FAMILIES:
        raise PaperError(f"unknown topology {topology!r}; choose from: {', '.join(FAMILIES)}")
    design = largest(topology, radix)
    if design is None:
        raise NotSettledError(f"{radix} ports make no {topology}")
    return design


MEASURES = (largest_hosts, largest_wired, largest_ratio, size, routers_on_path)

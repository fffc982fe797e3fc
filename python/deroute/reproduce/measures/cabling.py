"""Measures over the cables of networks of the same size (McDonald et al. 1 and 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from deroute.analysis import Estimate
from deroute.economics import prices
from deroute.economics.comparison import beside, bill
from deroute.reproduce.evidence import Evidence
from deroute.reproduce.paper import PaperError


def copper_reach(evidence: Evidence, signalling: float) -> list[Estimate]:
    """Longest copper cable in metres at this signalling rate in GHz."""
    table = prices.read(None, signalling)
    copper = next(cable for cable in table.cable if cable.name == "DAC")
    return [Estimate(copper.reach(signalling))]


def cable_ratio(
    evidence: Evidence,
    what: str,
    *,
    width: int,
    over: str = "hyperx",
    signalling: float = 2.5,
    ports: int = 64,
    dimensions: int = 3,
    floor: Mapping[str, float | int] | None = None,
) -> list[Estimate]:
    """`cost`, `cables` or `metres` per host of the Dragonfly over the HyperX or a `fat_tree`.

    `width` of each dimension of the HyperX gives the size; `floor` changes entries of the plan.
    """
    table = prices.read(None, signalling)
    table = table.model_copy(update={"floor": table.floor.model_copy(update=dict(floor or {}))})
    bills = [
        asdict(bill(network, table))
        for network in beside(width, dimensions, ports, evidence.engine().topology, over)
    ]
    if what not in bills[0]:
        raise PaperError(f"unknown quantity {what!r}; choose from: {', '.join(bills[0])}")
    return [Estimate(bills[0][what] / bills[1][what])]


MEASURES = (copper_reach, cable_ratio)

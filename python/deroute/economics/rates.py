"""Rates of links in Gb/s, by a spec that the engine has accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deroute.spec import microseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.economics.network import Network

_BYTES = {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9} | {
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_GIGABITS = {"": 1e-9, "k": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_RATE = re.compile(r"([0-9.]+)\s*([kMGT]?)(b/s|bit/s|bps|B/s)")
_AMOUNT = re.compile(r"([0-9.]+)\s*([A-Za-z]+)")


def full(units: Mapping[str, str]) -> float:
    """A phit a cycle: what links have that name no rate of their own."""
    if "link_rate" in units:
        return of_link(units["link_rate"], 1.0)
    size = _AMOUNT.fullmatch(units.get("phit", "25 B").strip())
    assert size is not None
    cycle_ns = 1000 * microseconds(units.get("cycle", "1 ns"), 1.0)
    return float(size[1]) * _BYTES[size[2]] * 8 / cycle_ns


def of_link(rate: str | None, most: float) -> float:
    """A rate as a link has it: an absolute one, or a share of the most; that if there is none."""
    if rate is None:
        return most
    if found := _RATE.fullmatch(rate.strip()):
        return float(found[1]) * _GIGABITS[found[2]] * (8 if found[3] == "B/s" else 1)
    if rate.endswith("%"):
        return float(rate.removesuffix("%")) / 100 * most
    above, below = rate.split("/")
    return int(above) / int(below) * most


def of_cables(network: Network, spec: Mapping[str, Any]) -> NDArray[np.float64]:
    """Of every cable, in the order of `floor.cables`: those to hosts, then those of routers."""
    wiring, asked = network.wiring, spec["network"]
    most = full(spec.get("units", {}))
    host = of_link(asked.get("nic", {}).get("link", {}).get("rate"), most)
    rates = np.full(wiring.link_class.shape, most)
    for index, name in enumerate(wiring.class_names):
        link = asked["links"].get(name, {})
        rates[wiring.link_class == index] = of_link(link.get("rate"), most)
    slowed = np.zeros_like(rates, dtype=np.bool_)
    for slow in asked.get("slow_links", []):
        one, other = slow["routers"]
        # Of parallel links the first that is not slowed yet.
        port = np.flatnonzero((wiring.peer_router[one] == other) & ~slowed[one])[0]
        for end in ((one, port), (other, wiring.peer_port[one, port])):
            rates[end] = of_link(slow["rate"], most)
            slowed[end] = True
    return np.concatenate([np.full(network.hosts, host), rates[network.link_ends()]])

"""How many rules a switch has: by closed form, and by making them (thesis 4.3.1 and 4.3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deroute.errors import InputError
from deroute.tables.addresses import ADDRESSINGS
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric
from deroute.tables.rules import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Most switches that are looked at, evenly spread; fewer in networks of many hosts, so that flat
#: tables have some `_MOST_ENTRIES` together.
MOST_SWITCHES = 1024
_MOST_ENTRIES, _FEWEST_SWITCHES = 8_000_000, 8


@dataclass(frozen=True, slots=True)
class Shape:
    """What the closed forms know of a network: equation 4-1, and the ports of a switch."""

    #: G, S and I.
    groups: int
    switches: int
    hosts: int
    #: Ports of a switch with hosts that lead somewhere.
    ports: int
    #: Whether groups that are reached over one port have numbers that a pattern may not fit.
    scattered: bool

    @classmethod
    def of(cls, fabric: Fabric) -> Shape:
        """Of a wired network."""
        ports = fabric.ports_used(int(fabric.access[0]))
        places = (fabric.groups, fabric.switches_per_group, fabric.hosts_per_switch)
        return cls(*places, ports, fabric.name == "dragonfly")

    def rules(self, addressing: str) -> tuple[int, int]:
        """Fewest and most rules of a switch with hosts, for minimal routing."""
        if addressing not in ADDRESSINGS:
            raise InputError.of(f"unknown addressing {addressing!r}", "addressing", ADDRESSINGS)
        switches = self.groups * self.switches
        grouped = (self.groups - 1) + (self.switches - 1) + self.hosts
        match addressing:
            case "flat":
                return (switches * self.hosts,) * 2
            case "per-switch":
                return (switches - 1 + self.hosts,) * 2
            case "per-group":
                return grouped, grouped
        if self.scattered:
            # One rule more for each other switch of the group, behind which groups are.
            return min(grouped, self.ports + self.switches - 1), grouped
        return self.ports, self.ports


@dataclass(frozen=True, slots=True)
class Range:
    """Rules of several switches."""

    switches: int
    fewest: int
    most: int
    mean: float

    @classmethod
    def of(cls, counts: list[int]) -> Range | None:
        """None without switches."""
        if not counts:
            return None
        return cls(len(counts), min(counts), max(counts), math.fsum(counts) / len(counts))


@dataclass(frozen=True, slots=True)
class Size:
    """Tables of a network with one addressing."""

    addressing: str
    #: Fewest and most by the closed form; None with parallel links, of which it knows nothing.
    closed: tuple[int, int] | None
    #: Switches with hosts, and the others.
    access: Range
    transit: Range | None
    #: The largest table.
    memory: Memory

    @property
    def looked_at(self) -> int:
        """Switches whose tables were made."""
        return self.access.switches + (self.transit.switches if self.transit else 0)


def chosen(fabric: Fabric, most: int = MOST_SWITCHES) -> NDArray[np.int64]:
    """Switches to look at: all, or so many of them."""
    bearable = max(_FEWEST_SWITCHES, _MOST_ENTRIES // fabric.hosts)
    count = min(most, bearable, fabric.routers)
    spread: NDArray[np.int64] = np.arange(count) * fabric.routers // count
    # One with hosts is always among them.
    return np.unique(np.append(spread, fabric.access[0]))


def size(compiler: Compiler, most: int = MOST_SWITCHES) -> Size:
    """Count the rules of the switches, or of so many of them."""
    fabric = compiler.fabric
    memories = {int(router): compiler.memory(int(router)) for router in chosen(fabric, most)}
    hosts = set(fabric.access.tolist())
    access = Range.of([each.entries for router, each in memories.items() if router in hosts])
    transit = Range.of([each.entries for router, each in memories.items() if router not in hosts])
    assert access is not None
    largest = max(memories.values(), key=lambda memory: (memory.entries, memory.key_bits))
    closed = None if fabric.trunked else Shape.of(fabric).rules(compiler.addressing)
    return Size(compiler.addressing, closed, access, transit, largest)


def fields(compiler: Compiler) -> list[dict[str, Any]]:
    """The fields of the addresses, as JSON has them."""
    return [
        {"name": field.name, "values": field.size, "bits": field.bits, "shift": field.shift}
        for field in compiler.layout.fields
    ]

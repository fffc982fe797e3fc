"""A wired topology in numbers: size, radix, distances, bisection, links.

Everything is counted from the wiring that the engine builds, nothing from formulas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deroute.wiring import HOST_PORT, Tree, Wiring

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Distances between more routers than this would take gigabytes; they are left out.
MOST_ROUTERS = 40_000

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Network:
    """A topology as it was asked for and as it was wired."""

    name: str
    parameters: Mapping[str, Any]
    wiring: Wiring

    @classmethod
    def of(cls, spec: Mapping[str, Any], arrays: Mapping[str, Any]) -> Network:
        """From a spec and what the engine's `topology` returns for it."""
        (name, parameters), *_ = spec["network"]["topology"].items()
        return cls(name, parameters, Wiring.of(arrays))

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return len(self.wiring.router_of_host)

    @property
    def routers(self) -> int:
        """Number of routers, those without hosts included."""
        return len(self.wiring.peer_router)

    @property
    def hosts_of_router(self) -> NDArray[np.int64]:
        """Number of hosts of each router."""
        counts: NDArray[np.int64] = np.bincount(self.wiring.router_of_host, minlength=self.routers)
        return counts

    def ports(self) -> NDArray[np.int64]:
        """Ports of each router that lead somewhere."""
        used: NDArray[np.int64] = (self.wiring.link_class != -1).sum(axis=1)
        return used

    def radix(self) -> tuple[int, int]:
        """Fewest and most ports of a router that lead somewhere."""
        used = self.ports()
        return int(used.min()), int(used.max())

    def link_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Router and port at one end of each link between routers."""
        wiring = self.wiring
        router, port = np.nonzero(wiring.link_class >= 0)
        peer, back = wiring.peer_router[router, port], wiring.peer_port[router, port]
        once = (router < peer) | ((router == peer) & (port < back))
        return router[once], port[once]

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Both routers and the class of each link between routers, every link once."""
        ends = self.link_ends()
        peer, kind = self.wiring.peer_router[ends], self.wiring.link_class[ends]
        return ends[0], peer.astype(np.int64), kind.astype(np.int64)

    def links_by_class(self) -> dict[str, int]:
        """Number of links of each class, those to hosts included; a link is both directions."""
        counts = {"host": int((self.wiring.link_class == HOST_PORT).sum())}
        kinds = self.links()[2]
        for index, name in enumerate(self.wiring.class_names):
            counts[name] = int((kinds == index).sum())
        return counts

    def packing(self) -> Packing:
        """Routers that belong into one rack if it is large enough, and what belongs into one row.

        A group of a Dragonfly (thesis 2.2.1: short wires inside a group); the first dimension of a
        HyperX in a rack and the first two in a row (McDonald et al. 3.1: each dimension can fit a
        packaging domain); the two lower levels of a fat tree. Else single routers.
        """
        number = np.arange(self.routers)
        match self.name:
            case "dragonfly":
                size = int(self.parameters["a"])
                return Packing(size, number // size, number % size)
            case "hyperx":
                size, row = (int(width) for width in [*self.parameters["widths"], 1][:2])
                return Packing(size, number // size, number % size, row)
        tree = self.wiring.tree
        if tree is None or len(tree.children) < 2:
            return Packing(1, number, np.zeros_like(number))
        # Between subtrees are runs of the switches above them, which are parted alike.
        size, low = tree.block(2), tree.level <= 2
        begins = np.append(True, low[1:] != low[:-1])
        place = (number - np.maximum.accumulate(np.where(begins, number, 0))) % size
        return Packing(size, np.cumsum(place == 0) - 1, place)

    def cuts(self) -> dict[str, NDArray[np.bool_]]:
        """Natural cuts into halves: which routers are on the one side."""
        number = np.arange(self.routers)
        if self.name == "dragonfly":
            size = int(self.parameters["a"])
            groups = self.routers // size
            return {f"{groups // 2} of {groups} groups": number // size < groups // 2}
        if self.name == "hyperx":
            cuts, step = {}, 1
            for place, width in enumerate(self.parameters["widths"], start=1):
                name = f"dimension {place} at {width // 2} of {width}"
                cuts[name] = number // step % width < width // 2
                step *= width
            return cuts
        cuts = {} if self.wiring.tree is None else _below(self.wiring.tree)
        return cuts or {"half of the routers by number": number < self.routers // 2}

    def bisection(self) -> Bisection | None:
        """Narrowest of the natural cuts, by links per host; None if none parts the hosts."""
        router, peer, _ = self.links()
        found = []
        for name, side in self.cuts().items():
            crossing = int((side[router] != side[peer]).sum())
            inside = int(self.hosts_of_router[side].sum())
            smaller = min(inside, self.hosts - inside)
            if smaller:
                found.append(Bisection(name, crossing, crossing / smaller))
        return min(found, key=lambda cut: cut.per_host, default=None)

    def distances(self) -> Distances | None:
        """Distances between routers that have hosts; None for more than `MOST_ROUTERS`."""
        return None if self.routers > MOST_ROUTERS else _distances(self)


def _below(tree: Tree) -> dict[str, NDArray[np.bool_]]:
    """Halves of the subtrees below each level of a fat tree, the highest first."""
    cuts = {}
    for level in range(len(tree.children) - 1, 0, -1):
        count = math.prod(tree.children[level:])
        side = np.zeros(len(tree.level), dtype=np.bool_)
        for lower in range(1, level + 1):
            # In their order: those of one subtree after those of another.
            switches = np.flatnonzero(tree.level == lower)
            side[switches[: len(switches) // count * (count // 2)]] = True
        if count > 1:
            cuts[f"{count // 2} of {count} subtrees of level {level}"] = side
    return cuts


@dataclass(frozen=True, slots=True)
class Packing:
    """What belongs together: units of routers, in their order."""

    #: Routers of a unit, or fewer.
    size: int
    #: Of each router, its unit and its place there.
    unit: NDArray[np.int64]
    place: NDArray[np.int64]
    #: Units that belong into one row.
    row: int = 1


@dataclass(frozen=True, slots=True)
class Bisection:
    """A cut of the network into halves."""

    cut: str
    #: Links from one side to the other, whatever their rates.
    links: int
    #: Over the hosts of the smaller side.
    per_host: float


@dataclass(frozen=True, slots=True)
class Distances:
    """Lengths of shortest paths between routers that have hosts."""

    #: Largest, in links between routers (as the thesis counts); None if some are not connected.
    links: int | None
    #: Mean in links between the routers of two different hosts, every pair alike. A shortest path
    #: of a Dragonfly may take two global links, which minimal routing (thesis 2.3.1) does not.
    mean: float | None

    @property
    def routers(self) -> int | None:
        """Largest, in routers on the way (as McDonald et al. count)."""
        return None if self.links is None else self.links + 1


def _distances(network: Network) -> Distances:
    """Breadth-first search from all routers at once, one bit per pair."""
    wiring, hosts = network.wiring, network.hosts_of_router
    linked = wiring.link_class >= 0
    peers = np.where(linked, wiring.peer_router, np.arange(network.routers)[:, None])
    columns = [peers[:, port] for port in np.flatnonzero(linked.any(axis=0))]
    reached = np.packbits(np.eye(network.routers, dtype=np.bool_), axis=1)
    remaining = network.hosts**2 - _pairs(reached, hosts)
    longest, total = 0, 0
    while remaining:
        wider = reached.copy()
        for column in columns:
            np.bitwise_or(wider, reached[column], out=wider)
        found = _pairs(wider & ~reached, hosts)
        if not found and np.array_equal(wider, reached):
            return Distances(None, None)
        longest += 1
        total += longest * found
        remaining -= found
        reached = wider
    pairs = network.hosts * (network.hosts - 1)
    return Distances(longest, total / pairs if pairs else 0.0)


def _pairs(bits: NDArray[np.uint8], hosts: NDArray[np.int64]) -> int:
    """Ordered pairs of hosts whose routers are set, in rows and columns."""
    total = 0
    for start in range(0, len(bits), _CHUNK):
        rows = np.unpackbits(bits[start : start + _CHUNK], axis=1, count=len(bits))
        total += int(hosts[start : start + _CHUNK] @ (rows @ hosts))
    return total

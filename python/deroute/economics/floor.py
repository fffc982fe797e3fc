"""From wiring to cables: where routers stand, how long cables are, what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deroute.economics.network import Network
from deroute.economics.prices import ROUNDING, Floor, Prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Upper ends of the classes of length, in metres.
BINS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)


@dataclass(frozen=True, slots=True)
class Plan:
    """Rack and place of every router."""

    rack: NDArray[np.int64]
    racks: int
    rows: int
    racks_per_row: int
    #: Of the centres of the routers' racks, in metres: along the row, and across the rows.
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def place(network: Network, floor: Floor) -> Plan:
    """Fill racks with routers in their order, and rows with racks, so that the floor is square.

    Hosts share the rack of their router. What belongs together (`Network.packing`) is not torn
    apart if it fits into a rack; rows hold whole planes of a HyperX, whole groups of a Dragonfly,
    and whole subtrees of the two lower levels of a fat tree.
    """
    packing = network.packing()
    per_rack = max(1, floor.hosts_per_rack // max(1, int(network.hosts_of_router.max())))
    if packing.size > per_rack:
        rack = _racks(packing.unit, packing.place, packing.size, per_rack)
    else:
        whole, part = np.divmod(packing.unit, packing.row)
        rack = _racks(whole, part, packing.row, per_rack // packing.size)
    # Beside the last switches of an upper level places may be left for no rack.
    places, racks = int(rack.max()) + 1, len(np.unique(rack))
    together = int(rack[packing.unit < packing.row].max()) + 1
    square = math.sqrt(places * floor.row_pitch_m / floor.rack_pitch_m)
    per_row = min(places, max(1, round(square / together)) * together)
    row, column = np.divmod(rack, per_row)
    x = column.astype(np.float64) * floor.rack_pitch_m
    y = row.astype(np.float64) * floor.row_pitch_m
    return Plan(rack, racks, math.ceil(places / per_row), per_row, x, y)


def _racks(
    whole: NDArray[np.int64], part: NDArray[np.int64], parts: int, room: int
) -> NDArray[np.int64]:
    """Racks with room for so many parts: several wholes in one, or several for each whole."""
    if parts > room:
        return whole * math.ceil(parts / room) + part // room
    return whole // (room // parts)


@dataclass(frozen=True, slots=True)
class Cables:
    """Every cable of a network, those to hosts included."""

    #: Link classes, "host" first.
    classes: tuple[str, ...]
    #: Index into `classes`.
    kind: NDArray[np.int64]
    #: In metres.
    lengths: NDArray[np.float64]

    def histogram(self) -> list[tuple[float, NDArray[np.int64]]]:
        """Upper end of each class of length in metres, and its cables by link class."""
        ends = np.array([*BINS, math.inf])
        bins = np.searchsorted(ends, self.lengths - ROUNDING)
        rows = []
        for index in np.unique(bins):
            counts = np.bincount(self.kind[bins == index], minlength=len(self.classes))
            rows.append((float(ends[index]), counts))
        return rows


def cables(network: Network, plan: Plan, floor: Floor) -> Cables:
    """Cables with their lengths (McDonald et al., section 3.1: every cable is calculated).

    Inside a rack one fixed length; else the Manhattan distance of the racks' centres, plus slack.
    """
    router, peer, kind = network.links()
    distance = np.abs(plan.x[router] - plan.x[peer]) + np.abs(plan.y[router] - plan.y[peer])
    same = plan.rack[router] == plan.rack[peer]
    between = np.where(same, floor.inside_rack_m, distance + floor.slack_m)
    return Cables(
        classes=("host", *network.wiring.class_names),
        kind=np.concatenate([np.zeros(network.hosts, dtype=np.int64), kind + 1]),
        lengths=np.concatenate([np.full(network.hosts, floor.inside_rack_m), between]),
    )


@dataclass(frozen=True, slots=True)
class Share:
    """The cables of one technology."""

    name: str
    title: str
    cables: int
    metres: float
    #: In the currency of the prices.
    cost: float


def cost(found: Cables, prices: Prices, rates_gbps: NDArray[np.float64] | float) -> list[Share]:
    """Cables, metres and cost by technology, for cables of these rates in Gb/s."""
    choice = prices.choose(found.lengths)
    paid = choice.price * rates_gbps
    shares = []
    for index, technology in enumerate(prices.cable):
        mine = choice.technology == index
        shares.append(
            Share(
                name=technology.name,
                title=technology.title,
                cables=int(mine.sum()),
                metres=float(found.lengths[mine].sum()),
                cost=float(paid[mine].sum()),
            )
        )
    return shares

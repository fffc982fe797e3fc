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
    apart if it fits into a rack; rows hold whole planes of a HyperX and whole groups of a
    Dragonfly.
    """
    together, plane = network.packing()
    per_rack = max(1, floor.hosts_per_rack // max(1, int(network.hosts_of_router.max())))
    router = np.arange(network.routers)
    if together <= per_rack:
        rack = router // (per_rack // together * together)
    else:
        rack = router // together * math.ceil(together / per_rack) + router % together // per_rack
    racks = int(rack.max()) + 1
    unit = int(rack[min(plane, network.routers) - 1]) + 1
    square = math.sqrt(racks * floor.row_pitch_m / floor.rack_pitch_m)
    per_row = min(racks, max(1, round(square / unit)) * unit)
    row, column = np.divmod(rack, per_row)
    x = column.astype(np.float64) * floor.rack_pitch_m
    y = row.astype(np.float64) * floor.row_pitch_m
    return Plan(rack, racks, math.ceil(racks / per_row), per_row, x, y)


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


def cost(found: Cables, prices: Prices, rate_gbps: float) -> list[Share]:
    """Cables, metres and cost by technology, for links of this rate in Gb/s."""
    choice = prices.choose(found.lengths)
    shares = []
    for index, technology in enumerate(prices.cable):
        mine = choice.technology == index
        shares.append(
            Share(
                name=technology.name,
                title=technology.title,
                cables=int(mine.sum()),
                metres=float(found.lengths[mine].sum()),
                cost=float(choice.price[mine].sum()) * rate_gbps,
            )
        )
    return shares

"""The largest network of each topology that routers with k ports make.

Sources: M. Benito's thesis (2020), section 2.2.1 with figure 2-8 and section 4.3.1 with table 4-2;
McDonald et al. (SC 2019), section 3.1 with figure 2. The two count diameters differently: the
thesis in links between routers, McDonald et al. in routers on the way, which is one more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

#: Least relative bisection of a HyperX at which the sizes of McDonald et al., section 3.1, result.
BISECTION = 0.5


@dataclass(frozen=True, slots=True)
class Design:
    """One network of a family."""

    #: Its parameters in words.
    shape: str
    #: Ports of a router that are used.
    ports: int
    hosts: int
    routers: int
    #: Hosts of a router that has any.
    hosts_per_access_router: int
    #: Largest distance between routers that have hosts, in links.
    diameter: int
    #: Bandwidth of the narrowest natural cut into halves, per host of a half, in host links.
    bisection: float
    #: `network.topology` of a spec; None where the engine does not build it.
    topology: Mapping[str, Any] | None = None

    @property
    def hosts_per_router(self) -> float:
        """Hosts over routers, those without hosts included (thesis, table 4-2)."""
        return self.hosts / self.routers


@dataclass(frozen=True, slots=True)
class Family:
    """Networks that differ in size only."""

    title: str
    source: str
    #: Largest network for a number of ports and a least relative bisection; None if there is none.
    largest: Callable[[int, float], Design | None]


def dragonfly(radix: int, _: float = BISECTION) -> Design | None:
    """Balanced Dragonfly, a = 2p = 2h, with all its a*h + 1 groups: 4h - 1 ports (thesis 2.2.1).

    The natural cut parts the groups in halves.
    """
    h = (radix + 1) // 4
    if h < 1:
        return None
    shape = f"p = {h}, a = {2 * h}, h = {h}"
    design = _groups(shape, 2 * h, h, ports=4 * h - 1, diameter=3)
    return replace(design, topology={"dragonfly": {"p": h, "a": 2 * h, "h": h}})


def dragonfly_of_hyperx(radix: int, _: float = BISECTION) -> Design | None:
    """Dragonfly of diameter 5: groups are 2-D HyperX of h x h routers, p = h (thesis 2.2.1).

    It has 4h - 2 ports. The thesis gives its size for 64 ports only; this rule yields that size.
    """
    h = (radix + 2) // 4
    if h < 2:
        return None
    shape = f"groups of {h} x {h}, p = h = {h}"
    return _groups(shape, h * h, h, ports=4 * h - 2, diameter=5)


def _groups(shape: str, a: int, h: int, ports: int, diameter: int) -> Design:
    groups = a * h + 1
    bisection = (groups - groups // 2) / (a * h)
    return Design(shape, ports, a * h * groups, a * groups, h, diameter, bisection)


def flattened_butterfly(dimensions: int, radix: int, _: float = BISECTION) -> Design | None:
    """Lattice of equal widths S, all-to-all in each dimension, with S hosts a router (thesis 2.2).

    It has S + n(S - 1) ports.
    """
    width = (radix + dimensions) // (dimensions + 1)
    return None if width < 2 else _lattice([width] * dimensions, width)


def hyperx(dimensions: int, radix: int, bisection: float = BISECTION) -> Design | None:
    """Lattice of any widths S_d and T hosts a router with the most hosts (McDonald et al. 3.1).

    T + sum(S_d - 1) ports; no dimension has less than the given relative bisection S_d / (2 T)
    (Ahn et al., "HyperX", SC 2009). For every T, the most equal widths are best.
    """
    best: Design | None = None
    for hosts in range(1, radix):
        total = radix - hosts + dimensions
        narrow, more = divmod(total, dimensions)
        if narrow < 2 or narrow < 2 * bisection * hosts:
            break
        design = _lattice([narrow + 1] * more + [narrow] * (dimensions - more), hosts)
        if best is None or design.hosts > best.hosts:
            best = design
    return best


def _lattice(widths: list[int], hosts: int) -> Design:
    routers = math.prod(widths)
    return Design(
        shape=f"{' x '.join(map(str, widths))}, {hosts} hosts each",
        ports=hosts + sum(width - 1 for width in widths),
        hosts=hosts * routers,
        routers=routers,
        hosts_per_access_router=hosts,
        diameter=len(widths),
        bisection=min(widths) / (2 * hosts),
        topology={"hyperx": {"widths": widths, "hosts": hosts}},
    )


def folded_clos(levels: int, radix: int, _: float = BISECTION) -> Design | None:
    """Folded Clos (fat tree) of full bandwidth: 2 (k/2)^levels hosts (thesis 4.3, table 4-2).

    An odd port stays unused. Up to the top and down again: 2 (levels - 1) links.
    """
    half = radix // 2
    if half < 2:
        return None
    hosts = 2 * half**levels
    return Design(
        shape=f"{levels} levels, {half} hosts per access router",
        ports=2 * half,
        hosts=hosts,
        routers=hosts * (2 * levels - 1) // (2 * half),
        hosts_per_access_router=half,
        diameter=2 * (levels - 1),
        bisection=1.0,
        topology={"rlft": {"ports": 2 * half, "stages": levels}},
    )


_THESIS, _SC19 = "thesis 2.2.1, figure 2-8", "McDonald et al. 3.1, figure 2"

#: Every family, by its name in claims and in JSON.
FAMILIES: Mapping[str, Family] = {
    "fb2": Family("Flattened Butterfly 2-D", "thesis table 4-2", partial(flattened_butterfly, 2)),
    "hyperx2": Family("HyperX 2-D", _SC19, partial(hyperx, 2)),
    "clos3": Family("folded Clos, 3 levels", _THESIS, partial(folded_clos, 3)),
    "fb3": Family("Flattened Butterfly 3-D", _THESIS, partial(flattened_butterfly, 3)),
    "hyperx3": Family("HyperX 3-D", _SC19, partial(hyperx, 3)),
    "dragonfly": Family("Dragonfly", _THESIS, dragonfly),
    "fb4": Family("Flattened Butterfly 4-D", _THESIS, partial(flattened_butterfly, 4)),
    "hyperx4": Family("HyperX 4-D", _SC19, partial(hyperx, 4)),
    "fb5": Family("Flattened Butterfly 5-D", _THESIS, partial(flattened_butterfly, 5)),
    "dragonfly5": Family("Dragonfly of 2-D HyperX groups", _THESIS, dragonfly_of_hyperx),
}


def largest(family: str, radix: int, bisection: float = BISECTION) -> Design | None:
    """Largest network of a family from routers with `radix` ports; None if there is none.

    `bisection` is the least relative bisection; it bounds HyperX only, the others fix their own.
    """
    return FAMILIES[family].largest(radix, bisection)

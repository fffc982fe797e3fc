"""Measures over the engine's wiring of a Dragonfly.

`h` selects the balanced, maximum-size Dragonfly with p = h, a = 2h (thesis 2.2.1); everything is
counted from the wired network, nothing from the formulas that the claims state.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from deroute.analysis import Estimate
from deroute.reproduce.evidence import Evidence
from deroute.wiring import HOST_PORT, Wiring


def hosts(evidence: Evidence, h: int) -> list[Estimate]:
    """Hosts of the network."""
    return [Estimate(float(len(_wiring(evidence, h).router_of_host)))]


def routers(evidence: Evidence, h: int) -> list[Estimate]:
    """Routers of the network."""
    return [Estimate(float(len(_wiring(evidence, h).peer_router)))]


def groups(evidence: Evidence, h: int) -> list[Estimate]:
    """Groups: sets of routers that local links connect."""
    wiring = _wiring(evidence, h)
    return [Estimate(len(wiring.peer_router) / _group_size(wiring))]


def radix(evidence: Evidence, h: int) -> list[Estimate]:
    """Ports of a router that lead somewhere; every router has the same."""
    used = (_wiring(evidence, h).link_class != -1).sum(axis=1)
    return [Estimate(float(count)) for count in np.unique(used)]


def group_ports(evidence: Evidence, h: int) -> list[Estimate]:
    """Host links and global links of a group."""
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    counts = [
        _per_group(wiring.link_class == HOST_PORT, size),
        _per_group(wiring.ports("global"), size),
    ]
    return [Estimate(float(value)) for count in counts for value in np.unique(count)]


def group_radix(evidence: Evidence, h: int) -> list[Estimate]:
    """Ports of a group seen as one router."""
    return [Estimate(sum(port.mean for port in group_ports(evidence, h)))]


def balance(evidence: Evidence, h: int) -> list[Estimate]:
    """Routers per group over hosts per router, and over global links per router."""
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    per_router = [
        (wiring.link_class == HOST_PORT).sum(axis=1).mean(),
        wiring.ports("global").sum(axis=1).mean(),
    ]
    return [Estimate(size / float(count)) for count in per_router]


def diameter(evidence: Evidence, h: int) -> list[Estimate]:
    """Largest distance between two routers, in links (breadth-first search)."""
    wiring = _wiring(evidence, h)
    count = len(wiring.peer_router)
    reached = np.eye(count, dtype=bool)
    rows, ports = np.nonzero(wiring.link_class >= 0)
    adjacent = np.zeros((count, count), dtype=np.float32)
    adjacent[rows, wiring.peer_router[rows, ports]] = 1
    steps = 0
    while not reached.all():
        wider = reached | (reached.astype(np.float32) @ adjacent > 0)
        if (wider == reached).all():
            return [Estimate(float("inf"))]
        reached, steps = wider, steps + 1
    return [Estimate(float(steps))]


def minimal_paths(evidence: Evidence, h: int) -> list[Estimate]:
    """Least and most minimal paths between routers of two groups: the links between the groups.

    A minimal path takes at most one local link on each side of the global link, and inside a group
    any two routers share exactly one local link, so that only the global link can be a choice.
    """
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    local = wiring.ports("local")
    pairs = _group_links(wiring, size)
    count = len(pairs)
    between = pairs[~np.eye(count, dtype=bool)]
    complete = bool((local.sum(axis=1) == size - 1).all())
    extremes = (between.min(), between.max()) if complete else (0, 0)
    return [Estimate(float(value)) for value in extremes]


def palmtree_mismatches(evidence: Evidence, h: int) -> list[Estimate]:
    """Global links that deviate from the palmtree arrangement of thesis 2.2.1.

    Port k of router i of group g leads to group g - (i*h + k + 1) and lands on router a - 1 - i.
    """
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    router, _, group, peer = _global_links(wiring, size)
    total = len(wiring.peer_router) // size
    index = np.arange(len(router)) % h
    expected_group = (group - ((router % size) * h + index + 1)) % total
    expected_router = size - 1 - router % size
    wrong = (peer // size != expected_group) | (peer % size != expected_router)
    return [Estimate(float(wrong.sum()))]


def rotation_mismatches(evidence: Evidence, h: int) -> list[Estimate]:
    """Global links that do not move along when every group number grows by one."""
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    _, _, _, peer = _global_links(wiring, size)
    total = len(wiring.peer_router) // size
    by_group = peer.reshape(total, -1)
    moved = (by_group // size + 1) % total * size + by_group % size
    return [Estimate(float((np.roll(by_group, -1, axis=0) != moved).sum()))]


def owners(evidence: Evidence, h: int) -> list[Estimate]:
    """Routers (index in their group) that own the links to the next h groups, over all groups."""
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    router, _, group, peer = _global_links(wiring, size)
    total = len(wiring.peer_router) // size
    ahead = (peer // size - group) % total
    chosen = np.unique(router[(ahead >= 1) & (ahead <= h)] % size)
    return [Estimate(float(index)) for index in chosen]


def neighbour_links(evidence: Evidence, h: int, offset: int) -> list[Estimate]:
    """How many of an arrival router's h flows of ADV+offset go on over its local links.

    Flows that arrive over the h global links of one router leave the group towards `offset` groups
    further; the result lists, per owner router in descending order, the flows that share the local
    link to it (thesis 6.1.2.2), as it is for most arrival routers: where the group's own place in
    the order of the groups interrupts the sequence, the flows part differently.
    """
    wiring = _wiring(evidence, h)
    size = _group_size(wiring)
    router, _, group, peer = _global_links(wiring, size)
    total = len(wiring.peer_router) // size
    owner = np.full((total, total), -1)
    owner[group, peer // size] = router % size
    counts: Counter[tuple[int, ...]] = Counter()
    for arrival in range(size):
        sources = (peer // size)[router == arrival]
        targets = [int(owner[0, (source + offset) % total]) for source in sources]
        if arrival not in targets and -1 not in targets:
            shares = np.sort(np.unique(targets, return_counts=True)[1])[::-1]
            counts[tuple(shares.tolist())] += 1
    return [Estimate(float(value)) for value in counts.most_common(1)[0][0]]


def _wiring(evidence: Evidence, h: int) -> Wiring:
    return evidence.wiring(evidence.spec(h=h))


def _group_size(wiring: Wiring) -> int:
    return int(wiring.ports("local").sum(axis=1).max()) + 1


def _per_group(mask: np.ndarray, size: int) -> np.ndarray:
    counts: np.ndarray = mask.sum(axis=1).reshape(-1, size).sum(axis=1)
    return counts


def _group_links(wiring: Wiring, size: int) -> np.ndarray:
    _, _, group, peer = _global_links(wiring, size)
    total = len(wiring.peer_router) // size
    links = np.zeros((total, total), dtype=int)
    np.add.at(links, (group, peer // size), 1)
    return links


def _global_links(
    wiring: Wiring, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Router, port, group and peer router of every global port, in order of router and port."""
    router, port = np.nonzero(wiring.ports("global"))
    return router, port, router // size, wiring.peer_router[router, port]


MEASURES = (
    hosts,
    routers,
    groups,
    radix,
    group_ports,
    group_radix,
    balance,
    diameter,
    minimal_paths,
    palmtree_mismatches,
    rotation_mismatches,
    owners,
    neighbour_links,
)

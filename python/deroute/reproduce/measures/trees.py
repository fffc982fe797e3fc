"""Measures over fat trees: sizes, paths, and the destinations that are routed through a port.

`routing` is a label of the paper's routings, `topology` replaces that of its base spec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deroute.analysis import Estimate
from deroute.economics.comparison import wired
from deroute.errors import SimulationError
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.wiring import HOST_PORT, Tree

#: Phits that wait behind a port while some other one is empty, but fewer than any buffer holds.
_SOME = 1


def port_destinations(
    evidence: Evidence,
    routing: str,
    column: str,
    topology: Mapping[str, Any] | None = None,
) -> list[Estimate]:
    """Mean over the ports of a level of the destinations that are routed through a port.

    `column` is "S1U" for the ports that lead up from level 1, "S3D" for those down from level 3,
    "EU" for those of the hosts. What the routing does is asked of the engine's implementation: with
    each port in turn the only one with an empty queue.
    """
    paths = {} if topology is None else {"network__topology": topology}
    return [Estimate(float(_counts(evidence, routing, column, _SOME, paths).mean()))]


def trigger_credits(
    evidence: Evidence, routing: str, otherwise: str, topology: Mapping[str, Any], buffer: int
) -> list[Estimate]:
    """Share of the credits of a queue below which a routing leaves the ports of another one.

    The most of `buffer` phits that may be free on all ports but one, which is empty, so that more
    destinations are routed through the ports up from level 1 than with the routing `otherwise`.
    """
    link = {"latency": 1, "vcs": 1, "buffer": buffer}
    paths = {
        "network__topology": topology,
        "network__links": {"level1": link, "level2": link},
        "network__nic__injection_queue": buffer,
    }
    usual = _destinations_up(evidence, otherwise, 0, paths)
    # Between these lies the least that has to wait: `stays` is too little, `leaves` is enough.
    stays, leaves = 0, buffer
    if _destinations_up(evidence, routing, leaves, paths) <= usual:
        raise NotSettledError(f"{routing} does not leave the ports of {otherwise}")
    while leaves - stays > 1:
        waiting = (stays + leaves) // 2
        if _destinations_up(evidence, routing, waiting, paths) > usual:
            leaves = waiting
        else:
            stays = waiting
    return [Estimate((buffer - leaves) / buffer)]


def paths_between(evidence: Evidence, topology: Mapping[str, Any]) -> list[Estimate]:
    """Most shortest paths between two hosts: their product over the levels, by the wiring."""
    tree = _tree(evidence, topology)
    ways = [p * q for p, q in zip(tree.parents[1:], tree.parallel[1:], strict=True)]
    down = list(tree.parallel[1:])
    return [Estimate(float(np.prod([*ways, *down])))]


def subtrees(evidence: Evidence, topology: Mapping[str, Any]) -> list[Estimate]:
    """Hosts below a switch of level 2, and how many such groups there are."""
    tree = _tree(evidence, topology)
    size = int(np.prod(tree.children[:2]))
    return [Estimate(float(size)), Estimate(float(np.prod(tree.children)) / size)]


def hot_residues(evidence: Evidence, hosts: list[int], leaf: int, size: int) -> list[Estimate]:
    """Hosts modulo 3, their switches modulo 3, and their thirds of the network."""
    values = [host % 3 for host in hosts]
    values += [host // leaf % 3 for host in hosts]
    values += [host * 3 // size for host in hosts]
    return [Estimate(float(value)) for value in values]


def classes(evidence: Evidence, scheme: str, source: int, hosts: Sequence[int]) -> list[Estimate]:
    """VC that a packet from a host takes to each of some others, under a scheme by its label."""
    paths = {
        path.replace(".", "__"): value for path, value in evidence.values["scheme"][scheme].items()
    }
    spec = evidence.spec(**paths)
    hops = (evidence.engine().path(spec, source, host, 1)[0] for host in hosts)
    return [Estimate(float(vc)) for _, _, vc in hops]


def tree_is_acyclic(
    evidence: Evidence, topology: Mapping[str, Any], routing: str
) -> list[Estimate]:
    """1 if an overloaded run with one VC finds no cycle among the channel dependencies, else 0."""
    spec = evidence.spec(
        routing=routing,
        network__topology=topology,
        run={"seed": 1, "warmup": 20_000, "measure": 20_000},
        checks={"dependencies": True},
    )
    try:
        evidence.engine().simulate(spec)
    except SimulationError:
        return [Estimate(0.0)]
    return [Estimate(1.0)]


def ring_gets_stuck(evidence: Evidence, routing: str, vcs: int) -> list[Estimate]:
    """1 if four routers in a ring, each sending to the one after the next, get stuck, else 0."""
    flows = [
        {"sources": {"hosts": [host]}, "destinations": {"any": [(host + 2) % 4]}}
        for host in range(4)
    ]
    ring = {"edges": [[0, 1], [1, 2], [2, 3], [3, 0]], "hosts": 1, "hop_vcs": vcs}
    spec = evidence.spec(
        network__topology={"graph": ring},
        network__links={"link": {"latency": 10, "vcs": vcs, "buffer": 20}},
        routing=routing,
        traffic={
            "load": 1.0,
            "packet_size": 10,
            "pattern": "uniform",
            "hotspots": flows,
        },
        run={"seed": 1, "warmup": 1000, "measure": 30_000},
        checks={"watchdog": 2000},
    )
    try:
        evidence.engine().simulate(spec)
    except SimulationError:
        return [Estimate(1.0)]
    return [Estimate(0.0)]


def _destinations_up(
    evidence: Evidence, routing: str, waiting: int, paths: Mapping[str, Any]
) -> float:
    """Mean over the ports up from level 1, while so many phits wait on all of them but one."""
    return float(_counts(evidence, routing, "S1U", waiting, paths).mean())


def _tree(evidence: Evidence, topology: Mapping[str, Any]) -> Tree:
    tree = wired(topology, evidence.engine().topology).wiring.tree
    if tree is None:
        raise NotSettledError("the topology is no fat tree")
    return tree


def _counts(
    evidence: Evidence,
    routing: str,
    column: str,
    waiting: int,
    paths: Mapping[str, Any],
) -> NDArray[Any]:
    spec = evidence.spec(routing=routing, **paths)
    wiring = evidence.wiring(spec)
    if wiring.tree is None:
        raise NotSettledError("the topology is no fat tree")
    counts = evidence.destinations(spec, waiting)
    if column == "EU":
        # A host sends to all that packets arrive at, but not to itself.
        arrived = counts[wiring.link_class == HOST_PORT].sum()
        return np.array([arrived - 1])
    level, up = int(column[1]), column[2] == "U"
    # Hosts, or children, have the first ports.
    down = wiring.tree.children[level - 1] * wiring.tree.parallel[level - 1]
    mine = counts[wiring.tree.level == level]
    used = (wiring.link_class != -1)[wiring.tree.level == level]
    ports = slice(down, None) if up else slice(0, down)
    chosen: NDArray[Any] = mine[:, ports][used[:, ports]]
    return chosen


MEASURES = (
    port_destinations,
    trigger_credits,
    paths_between,
    subtrees,
    hot_residues,
    classes,
    tree_is_acyclic,
    ring_gets_stuck,
)

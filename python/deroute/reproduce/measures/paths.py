"""Measures over the paths that single packets take through the empty network, and over VCs.

`routing` is a label of the paper's routings; `h` a balanced Dragonfly; `packets` how many random
pairs of hosts are traced, each with its own seed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deroute.analysis import Estimate
from deroute.errors import SimulationError, SpecError
from deroute.reproduce.evidence import Evidence

# More VCs than any routing asks for, and a buffer that holds any packet.
_MANY = 12
_BUFFER = 200


def longest_path(
    evidence: Evidence, routing: str, h: int = 2, packets: int = 2000
) -> list[Estimate]:
    """Most router-to-router hops of the traced packets."""
    return [Estimate(float(max(map(len, _forms(evidence, routing, h, packets)))))]


def detour(
    evidence: Evidence, routing: str, widths: Sequence[int], packets: int = 2000
) -> list[Estimate]:
    """Most hops of the traced packets in a HyperX, over those of its longest shortest path."""
    topology = {"hyperx": {"widths": list(widths), "hosts": 2}}
    spec = evidence.spec(routing=routing, network__topology=topology)
    engine, wiring = evidence.engine(), evidence.wiring(spec)
    hops = (
        sum(wiring.link_class[router, port] >= 0 for router, port, _ in engine.path(spec, *pair))
        for pair in _pairs(len(wiring.router_of_host), packets)
    )
    return [Estimate(float(max(hops)) / len(widths))]


def paths_outside(
    evidence: Evidence, routing: str, pattern: str, h: int = 2, packets: int = 2000
) -> list[Estimate]:
    """Traced packets whose hops, one letter per link class, do not match the pattern."""
    allowed = re.compile(pattern)
    forms = _forms(evidence, routing, h, packets)
    return [Estimate(float(sum(allowed.fullmatch(form) is None for form in forms)))]


def degenerate_over_expected(
    evidence: Evidence, routing: str, minimal: str, h: int = 2, packets: int = 20000
) -> list[Estimate]:
    """How often a packet takes its minimal path as one leg, over how often it should.

    It should when its intermediate router, drawn uniformly from all routers, is the source or the
    destination router: 2 of all, for pairs of different routers. A detour through another router of
    the minimal path uses the same links, but starts its second leg on later VCs, so whole steps are
    compared. The interval is that of a Poisson count.
    """
    engine, straight = evidence.engine(), evidence.spec(h=h, routing=minimal)
    spec, wiring = evidence.spec(h=h, routing=routing), evidence.wiring(straight)
    seen = pairs = 0
    for source, target, seed in _pairs(len(wiring.router_of_host), packets):
        if wiring.router_of_host[source] != wiring.router_of_host[target]:
            pair = (source, target, seed)
            pairs += 1
            seen += list(engine.path(spec, *pair)) == list(engine.path(straight, *pair))
    expected = pairs * 2 / len(wiring.peer_router)
    return [Estimate(seen / expected, 1.96 * math.sqrt(max(seen, 1)) / expected)]


def vcs_needed(evidence: Evidence, routing: str, h: int = 2) -> list[Estimate]:
    """Fewest local and fewest global VCs with which the engine builds the routing."""
    needed = []
    for scarce in ("local", "global"):
        counts = (
            count
            for count in range(1, _MANY)
            if _builds(evidence, routing, {"local": _MANY, "global": _MANY, scarce: count}, h)
        )
        needed.append(Estimate(float(next(counts, _MANY))))
    return needed


def vcs_per_link(evidence: Evidence, routing: str, widths: Sequence[int]) -> list[Estimate]:
    """Fewest VCs of all links of a HyperX with which the engine builds the routing."""
    topology = {"hyperx": {"widths": list(widths), "hosts": 2}}
    classes = [f"dim{place + 1}" for place in range(len(widths))]
    counts = (
        count
        for count in range(1, _MANY)
        if _builds(evidence, routing, dict.fromkeys(classes, count), topology=topology)
    )
    return [Estimate(float(next(counts, _MANY)))]


def acyclic(
    evidence: Evidence, routing: str, h: int = 2, load: float = 1.0, cycles: int = 5000
) -> list[Estimate]:
    """1 if an overloaded run finds no cycle among the channel dependencies that it saw, else 0."""
    spec = evidence.spec(
        h=h,
        routing=routing,
        traffic__load=load,
        traffic__pattern={"adversarial": {"offset": 1}},
        run={"seed": 1, "warmup": cycles, "measure": cycles},
        checks={"dependencies": True},
    )
    try:
        evidence.engine().simulate(spec)
    except SimulationError:
        return [Estimate(0.0)]
    return [Estimate(1.0)]


def _builds(
    evidence: Evidence,
    routing: str,
    vcs: Mapping[str, int],
    h: int | None = None,
    topology: Mapping[str, Any] | None = None,
) -> bool:
    links: dict[str, Any] = {
        f"network__links__{name}": {"latency": 10, "vcs": count, "buffer": _BUFFER}
        for name, count in vcs.items()
    }
    if topology is not None:
        links["network__topology"] = topology
    try:
        evidence.engine().check(evidence.spec(h=h, routing=routing, **links))
    except SpecError as error:
        if error.path.endswith(".vcs"):
            return False
        raise
    return True


def _pairs(hosts: int, packets: int) -> Iterator[tuple[int, int, int]]:
    """Random pairs of different hosts, each with its own seed."""
    random = np.random.default_rng(1)
    for seed in range(packets):
        source, target = random.choice(hosts, 2, replace=False).tolist()
        yield source, target, seed


def _forms(evidence: Evidence, routing: str, h: int, packets: int) -> Iterator[str]:
    """Paths of random packets: one letter per link, that of its class."""
    engine, spec = evidence.engine(), evidence.spec(h=h, routing=routing)
    wiring = evidence.wiring(spec)
    letters = [name[0] for name in wiring.class_names]
    for pair in _pairs(len(wiring.router_of_host), packets):
        classes = [wiring.link_class[router, port] for router, port, _ in engine.path(spec, *pair)]
        yield "".join(letters[each] for each in classes if each >= 0)


MEASURES = (
    longest_path,
    detour,
    paths_outside,
    degenerate_over_expected,
    vcs_needed,
    vcs_per_link,
    acyclic,
)

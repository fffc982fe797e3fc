"""Measures over the paths that single packets take through the empty network, and over VCs.

`routing` is a label of the paper's routings; `h` a balanced Dragonfly; `packets` how many random
pairs of hosts are traced, each with its own seed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from deroute.analysis import Estimate
from deroute.errors import SimulationError, SpecError
from deroute.reproduce.evidence import Evidence, Hop

# More VCs than any routing of a Dragonfly asks for, and a buffer that holds any packet.
_MANY = 12
_BUFFER = 200


def longest_path(
    evidence: Evidence, routing: str, h: int = 2, packets: int = 2000
) -> list[Estimate]:
    """Most router-to-router hops of the traced packets."""
    forms = [form for form, _, _ in _traces(evidence, routing, h, packets)]
    return [Estimate(float(max(map(len, forms))))]


def paths_outside(
    evidence: Evidence, routing: str, pattern: str, h: int = 2, packets: int = 2000
) -> list[Estimate]:
    """Traced packets whose hops, one letter per link class, do not match the pattern."""
    allowed = re.compile(pattern)
    forms = (form for form, _, _ in _traces(evidence, routing, h, packets))
    return [Estimate(float(sum(allowed.fullmatch(form) is None for form in forms)))]


def degenerate_over_expected(
    evidence: Evidence, routing: str, minimal: str, h: int = 2, packets: int = 5000
) -> list[Estimate]:
    """How often a packet to another group takes its minimal path, over how often it should.

    It should when its intermediate router, drawn uniformly outside the source group, lies on the
    minimal path: the destination router, or the one on which the global link lands. The interval is
    that of a Poisson count.
    """
    engine, straight = evidence.engine(), evidence.spec(h=h, routing=minimal)
    wiring = evidence.wiring(straight)
    group = int(wiring.ports("local").sum(axis=1).max()) + 1
    outside = len(wiring.peer_router) - group
    seen, expected = 0, 0.0
    for _, links, (source, target, seed) in _traces(evidence, routing, h, packets):
        home = wiring.router_of_host[source] // group
        if wiring.router_of_host[target] // group != home:
            reference = _links(engine.path(straight, source, target, seed), wiring.link_class)
            visited = [wiring.peer_router[link] for link in reference]
            expected += sum(router // group != home for router in visited) / outside
            seen += links == reference
    return [Estimate(seen / expected, 1.96 * math.sqrt(max(seen, 1)) / expected)]


def vcs_needed(evidence: Evidence, routing: str, h: int = 2) -> list[Estimate]:
    """Fewest local and fewest global VCs with which the engine builds the routing."""
    needed = []
    for scarce in ("local", "global"):
        counts = (
            count
            for count in range(1, _MANY)
            if _builds(evidence, routing, h, {"local": _MANY, "global": _MANY} | {scarce: count})
        )
        needed.append(Estimate(float(next(counts, _MANY))))
    return needed


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


def _builds(evidence: Evidence, routing: str, h: int, vcs: dict[str, int]) -> bool:
    links: dict[str, Any] = {
        f"network__links__{name}": {"latency": 10, "vcs": count, "buffer": _BUFFER}
        for name, count in vcs.items()
    }
    try:
        evidence.engine().check(evidence.spec(h=h, routing=routing, **links))
    except SpecError as error:
        if error.path.endswith(".vcs"):
            return False
        raise
    return True


def _traces(
    evidence: Evidence, routing: str, h: int, packets: int
) -> Iterator[tuple[str, list[tuple[int, int]], tuple[int, int, int]]]:
    """Letters of the link classes, links, and (source, target, seed) of random packets."""
    engine, spec = evidence.engine(), evidence.spec(h=h, routing=routing)
    wiring = evidence.wiring(spec)
    letters = [name[0] for name in wiring.class_names]
    random = np.random.default_rng(1)
    for seed in range(packets):
        source, target = random.choice(len(wiring.router_of_host), 2, replace=False).tolist()
        links = _links(engine.path(spec, source, target, seed), wiring.link_class)
        form = "".join(letters[wiring.link_class[link]] for link in links)
        yield form, links, (source, target, seed)


def _links(hops: Any, link_class: np.ndarray) -> list[tuple[int, int]]:
    """Router and port of the steps that cross a link between routers."""
    steps: list[Hop] = [tuple(hop) for hop in hops]
    return [(router, port) for router, port, _ in steps if link_class[router, port] >= 0]


MEASURES = (longest_path, paths_outside, degenerate_over_expected, vcs_needed, acyclic)

"""A second, independent Dragonfly in plain Python: wiring, paths and VC needs for the tests."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from deroute.errors import SimulationError
from deroute.spec import spec_error

#: VCs that each routing needs on local and global links.
NEEDS = {"minimal": (2, 1), "valiant": (4, 2)}


class FakeEngine:
    """Has the functions of the engine that geometry claims use."""

    def topology(self, spec: str) -> dict[str, Any]:
        """Palmtree wiring: hosts first, then local ports, then global ports."""
        p, a, h = _size(json.loads(spec))
        groups, radix = a * h + 1, p + a - 1 + h
        peer_router = np.full((groups * a, radix), -1, dtype=np.int32)
        peer_port = peer_router.copy()
        link_class = np.full_like(peer_router, -2)
        for router in range(groups * a):
            group, index = divmod(router, a)
            for port in range(p, p + a - 1):
                other = _local_peer(index, port - p)
                peer_router[router, port] = group * a + other
                peer_port[router, port] = p + (index if index < other else index - 1)
                link_class[router, port] = 0
            for port in range(h):
                far = (group - (index * h + port + 1)) % groups
                peer_router[router, p + a - 1 + port] = far * a + a - 1 - index
                peer_port[router, p + a - 1 + port] = p + a - 1 + h - 1 - port
                link_class[router, p + a - 1 + port] = 1
        return {
            "router_of_host": np.repeat(np.arange(groups * a, dtype=np.int32), p),
            "peer_router": peer_router,
            "peer_port": peer_port,
            "link_class": link_class,
            "class_names": ["local", "global"],
        }

    def path(self, spec: str, source: int, target: int, seed: int) -> list[tuple[int, int, int]]:
        """Minimal path, or two through a random router, the second on later VCs."""
        tree = json.loads(spec)
        p, a, h = _size(tree)
        wiring = self.topology(spec)
        here, end = source // p, target // p
        steps: list[tuple[int, int, int]] = []
        vc = 0
        if "valiant" in tree["routing"]:
            root = random.Random(seed).randrange(a * (a * h + 1))
            if root not in (here, end):
                steps += _minimal(wiring, here, root, (p, a))
                here, vc = root, 1
        rest = [(router, port, vc) for router, port, _ in _minimal(wiring, here, end, (p, a))]
        return [*steps, *rest, (end, target % p, 0)]

    def check(self, spec: str) -> object:
        """Refuse too few VCs."""
        tree = json.loads(spec)
        needs = NEEDS[next(iter(tree["routing"]))]
        for name, need in zip(("local", "global"), needs, strict=True):
            if tree["network"]["links"][name]["vcs"] < need:
                raise spec_error(f"network.links.{name}.vcs", f"needs {need}")
        return None

    def simulate(self, spec: str) -> object:
        """Pretend that VLB finds a cycle."""
        if "valiant" in json.loads(spec)["routing"]:
            raise SimulationError("deadlock")
        return None


def _size(tree: dict[str, Any]) -> tuple[int, int, int]:
    size = tree["network"]["topology"]["dragonfly"]
    return size["p"], size["a"], size["h"]


def _local_peer(index: int, port: int) -> int:
    return port if port < index else port + 1


def _minimal(
    wiring: dict[str, Any], here: int, end: int, size: tuple[int, int]
) -> list[tuple[int, int, int]]:
    p, a = size
    steps = []
    while here != end:
        group, index = divmod(here, a)
        goal = end % a
        if end // a != group:
            routers = range(group * a, (group + 1) * a)
            exits = [
                (router, port)
                for router in routers
                for port in np.flatnonzero(wiring["link_class"][router] == 1).tolist()
                if wiring["peer_router"][router, port] // a == end // a
            ]
            owner, port = exits[0]
            if owner == here:
                steps.append((here, port, 0))
                here = int(wiring["peer_router"][here, port])
                continue
            goal = owner % a
        port = p + (goal if goal < index else goal - 1)
        steps.append((here, port, 0))
        here = group * a + goal
    return steps

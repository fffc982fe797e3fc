"""Congestion trees in time, as the page plays them on the drawing of the network."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from deroute.economics.network import Network
    from deroute.records import CongestionSeries
    from deroute.report.network import Drawing
    from deroute.results import Outcome

#: Samples of a run that are played, at most.
MOST_FRAMES = 120
#: Trees that have a colour of their own: those that held most.
COLOURED = 4


def largest_root(outcome: Outcome) -> int:
    """The router at which the tree begins that held most in a sample; 0 without any tree."""
    assert outcome.congestion is not None
    roots = outcome.congestion.roots
    return int(roots[np.argmax(roots[:, 8]), 1]) if len(roots) else 0


def cost(samples: CongestionSeries) -> int:
    """Numbers that its frames take, about."""
    frames = len(samples.trees)
    share = min(1.0, MOST_FRAMES / max(frames, 1))
    return int(share * (8 * frames + 4 * len(samples.roots) + 3 * len(samples.members)))


def play(outcome: Outcome, network: Network, drawing: Drawing) -> dict[str, Any]:
    """Frames of a run: what each sample holds, its roots, lines and hosts within the trees.

    A line is `[from, to, tree, phits, bend]`, of dots of the drawing; a root `[dot, tree, phits]`;
    a host whose injection queue is in a tree, or a dot with such a buffer, `[which, tree]`. Trees
    are numbered by what they held in all samples; from `COLOURED` on they are alike.
    """
    samples = outcome.congestion
    assert samples is not None
    count = len(samples.trees)
    chosen = np.unique(np.linspace(0, count - 1, min(count, MOST_FRAMES)).round().astype(int))
    ranks = _ranks(samples)
    rank = [ranks[int(router), int(port)] for _, router, port, *_ in samples.roots]
    frames = _Frames(network, drawing, bool(len(drawing.hosts)))
    owner = samples.members[:, 0].astype(int)
    sample_of_member = samples.roots[owner, 0] if len(owner) else owner
    shown = []
    for index in chosen:
        of_sample = np.flatnonzero(samples.roots[:, 0] == index)
        members = samples.members[sample_of_member == index].tolist()
        shown.append(
            {
                "us": round(float(samples.cycles[index]) * outcome.cycle_ns / 1000, 6),
                "trees": int(samples.trees[index]),
                "depth": int(samples.depth[index]),
                "queues": int(samples.hosts[index]),
                "held": int(samples.held[index]),
                "queued": int(samples.queued[index]),
                "roots": frames.roots([(samples.roots[each], rank[each]) for each in of_sample]),
                **frames.members([(each, rank[each[0]]) for each in members]),
            }
        )
    return {
        "frames": shown,
        "every": len(chosen) == count,
        "members": bool(len(samples.members)) or not len(samples.roots),
        "names": [_name(samples, network, root) for root in list(ranks)[:COLOURED]],
        "others": len(ranks) > COLOURED,
        "thickest": max((line[3] for frame in shown for line in frame["lines"]), default=1),
    }


def _ranks(samples: CongestionSeries) -> dict[tuple[int, int], int]:
    """Place of each tree, by its root, among all by what they held."""
    held: Counter[tuple[int, int]] = Counter()
    for _, router, port, *_, phits in samples.roots:
        held[int(router), int(port)] += int(phits)
    return {root: place for place, (root, _) in enumerate(held.most_common())}


def _name(samples: CongestionSeries, network: Network, root: tuple[int, int]) -> str:
    """A root by where it leads."""
    router, port = root
    rows = samples.roots[(samples.roots[:, 1] == router) & (samples.roots[:, 2] == port)]
    host = int(rows[0, 3])
    if host >= 0:
        return f"router {router} to host {host}"
    return f"router {router} to {int(network.wiring.peer_router[router, port])}"


class _Frames:
    """Buffers of a network as parts of its drawing."""

    def __init__(self, network: Network, drawing: Drawing, with_hosts: bool) -> None:
        self.dots, self.peers = drawing.dot_of_router, network.wiring.peer_router
        self.classes, self.class_names = network.wiring.link_class, network.wiring.class_names
        self.bends = drawing.bends
        self.hosts = network.wiring.host_ports() if with_hosts else {}

    def roots(self, roots: list[tuple[Any, int]]) -> list[list[int]]:
        """Dots at which trees begin, the largest first."""
        known = [
            [int(self.dots[root[1]]), min(rank, COLOURED), int(root[8])] for root, rank in roots
        ]
        return sorted((each for each in known if each[0] >= 0), key=lambda each: each[1:2])

    def members(self, members: list[tuple[Any, int]]) -> dict[str, Any]:
        """Lines, hosts and dots, each as the largest tree there; and how much is elsewhere."""
        lines: dict[tuple[int, int], list[Any]] = {}
        hosts: dict[int, int] = {}
        dots: dict[int, int] = {}
        elsewhere = 0
        counted: set[tuple[int, int, int]] = set()
        for (_, router, port, vc, _, phits), rank in members:
            dot, tree = int(self.dots[router]), min(rank, COLOURED)
            peer = int(self.peers[router, port])
            if dot < 0:
                elsewhere += 1
                continue
            dots[dot] = min(tree, dots.get(dot, tree))
            start = int(self.dots[peer]) if peer >= 0 else -1
            if peer < 0:
                host = self.hosts.get((router, port))
                if host is not None:
                    hosts[host] = min(tree, hosts.get(host, tree))
            elif start >= 0 and start != dot:
                bend = self.bends[self.class_names[self.classes[router, port]]]
                line = lines.setdefault((start, dot), [start, dot, tree, 0, bend])
                line[2] = min(tree, line[2])
                # A buffer may be in several trees.
                line[3] += 0 if (router, port, vc) in counted else phits
                counted.add((router, port, vc))
        return {
            "lines": list(lines.values()),
            "hosts": [list(each) for each in hosts.items()],
            "dots": [list(each) for each in dots.items()],
            "elsewhere": elsewhere,
        }

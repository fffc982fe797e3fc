"""Measures over lossless Ethernet: single hosts and streams, references, paths up a tree.

`of` names the experiment of the item; `where` gives the labels of the points.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from deroute import analysis, reference
from deroute.analysis import Estimate
from deroute.economics.comparison import wired
from deroute.errors import SpecError
from deroute.reproduce.evidence import Evidence, Hop, NotSettledError
from deroute.reproduce.measures.runs import Labels, _outcomes, _rows
from deroute.wiring import HOST_PORT

#: Seeds with which a pair of hosts is traced.
_TRIES = 8


def host_load(evidence: Evidence, of: str, where: Labels, host: int) -> list[Estimate]:
    """Load that one host receives, in phits per cycle."""
    found = _outcomes(evidence.of(of), where)
    return [analysis.estimate([outcome.arrays.accepted_by_host[host] for outcome in found])]


def load_swing(evidence: Evidence, of: str, where: Labels, packet: int) -> list[Estimate]:
    """Standard deviation over the bins of the series of what is received, in phits per cycle.

    `packet` are the phits of a packet, all of which are as large; bins before the measurement and
    the last one, which may be shorter, do not count.
    """

    def swing(outcome: Any) -> float:
        series = outcome.series
        if series is None:
            raise NotSettledError("the runs have no time series")
        packets = series.by_delivery.packets[max(-series.start, 0) // series.width : -1]
        return float(np.std(packets * packet / series.width, ddof=1))

    return [analysis.estimate([swing(outcome) for outcome in _outcomes(evidence.of(of), where)])]


def host_load_ratio(
    evidence: Evidence, of: str, where: Labels, over: Labels, host: int
) -> list[Estimate]:
    """Load that one host receives, over the same of another point."""
    (above,), (below,) = (host_load(evidence, of, labels, host) for labels in (where, over))
    return [analysis.ratio(above, below)]


def host_megabytes(evidence: Evidence, of: str, where: Labels, host: int) -> list[Estimate]:
    """What one host receives, in MB/s."""
    (load,) = host_load(evidence, of, where, host)
    outcome = _outcomes(evidence.of(of), where)[0]
    return [load.scaled(1000 * outcome.phit_bytes / outcome.cycle_ns)]


def host_gigabits(evidence: Evidence, of: str, where: Labels, host: int) -> list[Estimate]:
    """What one host receives, in Gb/s."""
    (megabytes,) = host_megabytes(evidence, of, where, host)
    return [megabytes.scaled(8 / 1000)]


def reference_load(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Accepted load of the reference of a point, in phits per host and cycle."""
    found = _rows(evidence.of(of), where)
    return [analysis.estimate((found["load.accepted"] / found[reference.ACCEPTED]).to_numpy())]


def relative_along(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """Accepted load over that of the reference, at every label of an axis."""
    found = _rows(evidence.of(of), where)
    return [
        _relative(evidence, of, {**where, axis: label})
        for label in found[axis].unique(maintain_order=True)
    ]


def largest_loss(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """By how many percent a point accepts less than its reference, at worst along an axis."""
    worst = min(relative_along(evidence, of, where, axis), key=lambda each: each.mean)
    return [Estimate(100 * (1 - worst.mean), 100 * worst.ci95, worst.runs)]


def stream_along(
    evidence: Evidence, of: str, where: Labels, along: tuple[str, str], expected: Sequence[float]
) -> list[Estimate]:
    """Accepted load of a stream per sending host along an axis, less what is expected there.

    `along` names the stream and the axis.
    """
    stream, axis = along
    column = f"streams.{stream}.load.accepted"
    loads = [
        analysis.estimate(_rows(evidence.of(of), {**where, axis: label})[column].to_numpy())
        for label in _rows(evidence.of(of), where)[axis].unique().sort()
    ]
    return [
        Estimate(load.mean - value, load.ci95, load.runs)
        for load, value in zip(loads, expected, strict=True)
    ]


def stream_attempted(
    evidence: Evidence, of: str, where: Labels, stream: str, hosts: int
) -> list[Estimate]:
    """What the hosts of a stream attempt to send together, in phits per cycle."""
    column = f"streams.{stream}.load.attempted"
    return [analysis.estimate(_rows(evidence.of(of), where)[column].to_numpy()).scaled(hosts)]


def victims_share(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """What the victims of a hot spot get of what they get in calm, mean over their destinations.

    The destinations are given, and no sample: the interval is that between the seeds.
    """
    found = _rows(evidence.of(of), where)
    places = [name for name in evidence.of(of).axes if name not in ("phase", *where)]
    loads = found.pivot("phase", index=places, values="streams.victim.load.accepted")
    shares = loads.with_columns(share=pl.col("hot") / pl.col("calm"))
    if shares["share"].null_count():
        raise NotSettledError("victims without a result, in calm or beside the hot spot")
    by_seed = shares.group_by(analysis.SEED).agg(pl.col("share").mean())
    return [analysis.estimate(by_seed["share"].to_numpy())]


def victims_advantage(evidence: Evidence, of: str, where: Labels, over: Labels) -> list[Estimate]:
    """`victims_share` over that under another routing."""
    (above,), (below,) = (victims_share(evidence, of, labels) for labels in (where, over))
    return [analysis.ratio(above, below)]


def queue_ratio(
    evidence: Evidence, of: str, where: Labels, ports: list[list[int]], beside: list[list[int]]
) -> list[Estimate]:
    """Mean phits in the queues of some outputs, over those of others; both as router and port."""
    ratios = []
    for outcome in _outcomes(evidence.of(of), where):
        if outcome.queues is None:
            raise NotSettledError("the points have no samples of queues")
        places = outcome.queues.places_to_polars().to_dicts()
        means = outcome.queues.phits.mean(axis=0)
        above, below = (
            sum(
                float(mean)
                for place, mean in zip(places, means, strict=True)
                if place["side"] == "output" and [place["router"], place["port"]] in chosen
            )
            for chosen in (ports, beside)
        )
        ratios.append(above / below)
    return [analysis.estimate(ratios)]


def rates(evidence: Evidence, experiment: str) -> list[Estimate]:
    """Rates of the slow links of an experiment, as shares of a phit a cycle, and their sum."""
    links = evidence.of(experiment).specs[0]["network"]["slow_links"]
    shares = [float(link["rate"].removesuffix("%")) / 100 for link in links]
    return [Estimate(share) for share in (*shares, math.fsum(shares))]


def setting(evidence: Evidence, routing: str, path: str, times: float = 1.0) -> list[Estimate]:
    """A number in the spec of a named routing, which the engine takes, without its unit."""
    spec = evidence.spec(routing=routing)
    evidence.engine().check(spec)
    found = functools.reduce(lambda table, key: table[key], path.split("."), json.loads(spec))
    return [Estimate(times * float(str(found).split()[0]))]


def tree_size(evidence: Evidence, topology: Mapping[str, Any]) -> list[Estimate]:
    """Hosts and switches of a topology, counted from its wiring."""
    wiring = wired(topology, evidence.engine().topology).wiring
    return [Estimate(float(len(part))) for part in (wiring.router_of_host, wiring.peer_router)]


def most_classes(evidence: Evidence) -> list[Estimate]:
    """Most classes of service that the network of the paper can have, each with its own VC."""
    count = 0
    for classes in range(1, 65):
        links = {
            name: {**link, "vcs": classes}
            for name, link in evidence.base["network"]["links"].items()
        }
        try:
            evidence.engine().check(
                evidence.spec(network__classes={"count": classes}, network__links=links)
            )
        except SpecError:
            break
        count = classes
    return [Estimate(float(count))]


def parents(
    evidence: Evidence, topology: Mapping[str, Any], routing: str, source: int, destination: int
) -> list[Estimate]:
    """Which parent a packet takes at every level on its way up, from 0."""
    links = evidence.base["network"]["links"]
    levels = range(1, int(topology["kary_tree"]["levels"]))
    spec = evidence.spec(
        routing=routing,
        network__topology=topology,
        network__links={f"level{level}": links[f"level{level}"] for level in levels},
    )
    return [
        Estimate(float(port - children))
        for _, port, children in _climb(evidence, spec, (source, destination, 1))
    ]


def further_paths(evidence: Evidence, routing: str, pairs: int) -> list[Estimate]:
    """Different paths of random pairs of hosts, tried several times, less one for each pair."""
    spec, rng = evidence.spec(routing=routing), np.random.default_rng(1)
    hosts, extra = len(evidence.wiring(spec).router_of_host), 0
    for _ in range(pairs):
        source, target = rng.choice(hosts, 2, replace=False).tolist()
        tries = range(1, _TRIES + 1)
        found = {tuple(evidence.engine().path(spec, source, target, seed)) for seed in tries}
        extra += len(found) - 1
    return [Estimate(float(extra))]


def share_of_link(evidence: Evidence, routing: str, router: int, port: int) -> list[Estimate]:
    """Of all pairs whose path goes up at a switch, the fraction that takes one of its ports."""
    spec = evidence.spec(routing=routing)
    hosts = range(len(evidence.wiring(spec).router_of_host))
    taken = [
        out
        for source, target in product(hosts, hosts)
        if source != target
        for at, out, _ in _climb(evidence, spec, (source, target, 1))
        if at == router
    ]
    return [Estimate(taken.count(port) / len(taken))]


def _climb(evidence: Evidence, spec: str, packet: Hop) -> Iterator[Hop]:
    """Switches that a packet leaves upwards, its port there, and the ports to children."""
    wiring = evidence.wiring(spec)
    tree = wiring.tree
    assert tree is not None
    for router, port, _ in evidence.engine().path(spec, *packet):
        children = tree.children[tree.level[router] - 1] * tree.parallel[tree.level[router] - 1]
        if port >= children and wiring.link_class[router, port] != HOST_PORT:
            yield router, port, children


def _relative(evidence: Evidence, of: str, where: Labels) -> Estimate:
    found = _rows(evidence.of(of), where)
    inside = float(found[reference.ACCEPTED_CI95][0])
    return analysis.estimate(found[reference.ACCEPTED].to_numpy(), inside)


MEASURES = (
    host_load,
    host_load_ratio,
    load_swing,
    host_megabytes,
    host_gigabits,
    reference_load,
    relative_along,
    largest_loss,
    stream_along,
    stream_attempted,
    victims_share,
    victims_advantage,
    queue_ratio,
    rates,
    setting,
    tree_size,
    most_classes,
    parents,
    further_paths,
    share_of_link,
)

"""A made-up study with the shape of real results: no engine, no files, exact expectations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from deroute.figures import Study
from deroute.jobs import WorkloadOutcome
from deroute.queues import PauseSeries, QueueSeries
from deroute.rates import RateSeries
from deroute.records import AgentSeries, CongestionSeries

KINDS = ("minimal", "lgl", "lg-", "-gl", "-g-")
#: Per routing: zero-load latency in cycles, saturation load, share of minimal packets.
ROUTINGS: dict[str, tuple[float, float, float]] = {
    "MIN": (530.0, 0.95, 1.0),
    "VLB -g-": (690.0, 0.46, 0.0),
    "VLB lg-": (785.0, 0.42, 0.0),
    "VLB -gl": (865.0, 0.49, 0.0),
    "VLB lgl": (955.0, 0.48, 0.0),
    "UGAL": (560.0, 0.62, 0.6),
    "PB": (570.0, 0.66, 0.55),
}
ROUTERS, GROUPS = 12, 5


def outcome(routing: str, load: float, noise: np.random.Generator, *, series: bool = False) -> Any:
    """Outcome-like object: an M/D/1-shaped latency up to a hard saturation load."""
    base, limit, minimal = ROUTINGS[routing]
    saturated = load > limit
    accepted = min(load, limit) * (1 + 0.002 * noise.standard_normal())
    latency = base + (3000 if saturated else 40 * load / (limit * 1.02 - load))
    latency *= 1 + 0.004 * noise.standard_normal()
    by_router = np.full(ROUTERS * GROUPS, accepted)
    by_router[ROUTERS - 1 :: ROUTERS] *= 0.4 if routing == "PB" else 0.97
    shares = np.zeros(len(KINDS))
    shares[0] = minimal * (1 - 0.5 * load)
    shares[1] = 1 - shares[0]
    packets = np.tile((shares * 1000).astype(np.uint32), (ROUTERS * GROUPS, 1))
    return SimpleNamespace(
        verdict=SimpleNamespace(state="saturated" if saturated else "steady", reasons=[]),
        cycle_ns=1.0,
        phit_bytes=10.0,
        size=SimpleNamespace(hosts=6 * ROUTERS * GROUPS),
        measured_from=10_000,
        measured_cycles=20_000,
        load=SimpleNamespace(
            offered=load,
            attempted=load,
            injected=accepted,
            accepted=accepted,
            accepted_ci95=0.002,
        ),
        latency=SimpleNamespace(mean=latency, ci95=5.0),
        paths=[
            SimpleNamespace(kind=kind, share=share)
            for kind, share in zip(KINDS, shares, strict=True)
        ],
        arrays=SimpleNamespace(
            injected_by_router=by_router, paths_by_router=packets, path_kinds=list(KINDS)
        ),
        workload=_workload(base, latency, load),
        series=_series(base, minimal, noise) if series else None,
        agents=_agents(load, noise) if series else None,
        congestion=_congestion(load) if series else None,
        streams=_streams(load) if series else [],
        queues=_queues(load) if series else None,
        rates=_rates(load) if series else None,
        pauses=_pauses() if series else None,
    )


def _workload(base: float, latency: float, load: float) -> WorkloadOutcome:
    """Two jobs; the second one takes longer."""
    zero = {"mean": latency, "min": int(base), "max": 9_000, "percentiles": []}
    messages = {"sent": 9, "received": 9, "phits": 90, "packets": 18}
    messages |= {"resequenced": 3, "resequenced_share": 1 / 6, "resequencing_buffer_max": 20}
    rest = {"ranks": 4, "finished": load < 0.9, "start": 0, "iterations": 2, "compute_mean": 50.0}
    jobs = [
        rest
        | {"name": name, "time": time, "iteration_mean": time / 2}
        | {"communication_mean": time - 50.0, "communication_max": time - 50}
        | {"messages": messages | {"latency": zero | {"histogram_error": 0.01}}}
        | {"flows": _flows(base, load) if name == "second" else None}
        for name, time in (("first", int(10 * base)), ("second", int(20 * base)))
    ]
    return WorkloadOutcome.model_validate({"makespan": int(20 * base), "jobs": jobs})


def _flows(base: float, load: float) -> dict[str, Any]:
    """Small and large flows; of the large ones some have not ended at high loads."""
    figures = {"mean": base, "p50": base, "p99": 4 * base, "max": 5 * base}
    slowed = {"mean": 1 + load, "p50": 1 + load, "p99": 4 * (1 + load), "max": 9.0}
    both = {"time": figures, "slowdown": slowed, "flows": 50, "unfinished": 0}
    late = {"unfinished": 3 if load >= 0.5 else 0}
    bins = [both | {"above": 0, "up_to": 1000}, both | {"above": 1000} | late]
    return both | {"flows": 100, "bins": bins} | late


def _series(base: float, minimal: float, noise: np.random.Generator) -> Any:
    bins, before, width = 60, 10, 100
    time = np.arange(bins) - before
    rise = 1 - np.exp(-np.maximum(time, 0) / 8)
    packets = np.full(bins, 200)
    packets[0] = 0
    latency = base * (1 + 0.5 * rise) + 8 * noise.standard_normal(bins)
    columns = SimpleNamespace(
        packets=packets,
        phits=packets * 10,
        latency_sum=packets * latency,
        nonminimal=packets * rise * (1 - minimal * 0.2),
    )
    return SimpleNamespace(
        start=-before * width, width=width, by_generation=columns, by_delivery=columns
    )


def _agents(load: float, noise: np.random.Generator) -> AgentSeries:
    """A level that rises from 1 to 2, later in routers with a higher number, and two counters."""
    samples, before = 40, 10
    rises = before + np.arange(ROUTERS) + noise.integers(0, 3)
    level = 1.0 + (np.arange(samples)[:, np.newaxis] >= rises)
    counters = load * np.arange(1, samples + 1)[:, np.newaxis] * np.ones(ROUTERS)
    values = np.stack([level, counters, 2 * counters], axis=2)
    names = ["level", "IL-1", "IL+1"]
    return AgentSeries(-before * 100, 100, names, list(range(ROUTERS)), values, values.mean(axis=1))


def _congestion(load: float) -> CongestionSeries:
    """A tree that grows by a buffer and an injection queue with every sample, and a small one."""
    samples = 5
    count = np.arange(samples, dtype=np.uint32)
    # Sample, root and its host, depth, routers, buffers, injection queues, phits.
    roots = [(n, 0, 0, 0, n, n + 1, n, n, 100 * n) for n in range(1, samples)]
    roots.append((samples - 1, 3, 2, -1, 1, 2, 1, 0, 10))
    # Row of `roots`, router, port, VC, level, phits.
    last = samples - 2
    members = [(last, n + 1, 1, 0, 1, 60) for n in range(last)] + [(last, 2, 0, 0, 1, 40)]
    members.append((samples - 1, 4, 1, 0, 1, 10))
    held = (100 * count).astype(np.uint64)
    queued = (held + 100 * load).astype(np.uint64)
    return CongestionSeries(
        start=-200,
        width=100,
        trees=np.minimum(count, 1),
        depth=count,
        buffers=count,
        hosts=count,
        queued=queued,
        held=held,
        blocked=held // 2,
        roots=np.array(roots, dtype=np.int64),
        members=np.array(members, dtype=np.uint32),
    )


def _streams(load: float) -> list[Any]:
    """A victim that is accepted half of what it offers, and culprits that are accepted all."""
    return [
        SimpleNamespace(name=name, link_share=SimpleNamespace(offered=load, accepted=share * load))
        for name, share in (("victim", 0.5), ("culprits", 1.0))
    ]


def _queues(load: float) -> QueueSeries:
    """A sawtooth between XON and XOFF, and an empty queue at an output."""
    samples = np.arange(50)
    tooth = (400 + 600 * load * np.abs(samples % 10 - 5) / 5).astype(np.uint32)
    places = [(0, 0, 0, 0, 0, 1200, 900, 500), (0, 0, 0, 1, 0, -1, -1, -1)]
    phits = np.stack([tooth, np.zeros(50, dtype=np.uint32)], axis=1)
    return QueueSeries(-100, 10, np.array(places, dtype=np.int64), phits)


def _rates(load: float) -> RateSeries:
    """A host that is cut again and again, and one of its flows that is never."""
    samples = np.arange(50)
    tooth = 1 - load * (samples % 10) / 20
    flows = np.array([(0, -1), (0, 3)], dtype=np.int64)
    rates = np.stack([tooth, np.ones(50)], axis=1)
    return RateSeries(-100, 10, flows, rates, 600 * rates)


def _pauses() -> PauseSeries:
    """Two hosts and a link between routers, which loses packets."""
    rows = [
        (-1, -1, 0, 0, 0, 0, 2, 10, 5, 4_000, 900, 100, 0, 0, 0),
        (-1, -1, 1, 0, 1, 0, 2, 0, 0, 0, 90, 0, 0, 0, 0),
        (0, 1, 1, 1, -1, 0, 0, 8, 4, 9_000, 1000, 200, 3, 30, 2),
    ]
    # Of 10 cycles: a host is silent in every other one, one never is, a link always is.
    bins = np.arange(50)
    paused = np.stack([bins % 2 * 10, bins * 0, bins * 0 + 10], axis=1).astype(np.uint32)
    return PauseSeries(-100, 10, np.array(rows, dtype=np.int64), paused)


def study(
    routings: tuple[str, ...] = tuple(ROUTINGS),
    traffics: tuple[str, ...] = ("UN", "ADV+1", "ADVC"),
    loads: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    seeds: tuple[int, ...] = (1, 2, 3),
    *,
    series: bool = False,
) -> Study:
    """A finished experiment over routing, traffic, load and seed."""
    noise = np.random.default_rng(7)
    rows: list[dict[str, object]] = []
    outcomes = []
    for traffic in traffics:
        for routing in routings:
            for load in loads:
                for seed in seeds:
                    point = outcome(routing, load, noise, series=series)
                    outcomes.append(point)
                    rows.append(
                        {"traffic": traffic, "routing": routing, "load": load, "seed": seed}
                        | scalars(point)
                    )
    axes = {"traffic": traffics, "routing": routings, "load": loads, "seed": seeds}
    specs = [spec(p=1, a=2, h=2)] * len(rows)
    return Study(axes, pl.DataFrame(rows), outcomes, "0.0.0-test", ROUTERS, specs=specs)


def spec(**dragonfly: int) -> dict[str, Any]:
    """A spec that the engine can wire: a Dragonfly."""
    link = {"latency": 1, "vcs": 2, "buffer": 10}
    network = {"topology": {"dragonfly": dragonfly}, "links": {"local": link, "global": link}}
    switch = {"input_queued": {"pipeline": 1}}
    traffic = {"load": 0.1, "packet_size": 1, "pattern": "uniform"}
    run = {"warmup": 10, "measure": 10}
    return {
        "network": network | {"switch": switch},
        "routing": {"minimal": {}},
        "traffic": traffic,
        "run": run,
    }


def scalars(point: Any) -> dict[str, object]:
    """The scalar columns of a result frame that analysis and figures read."""
    return {
        "verdict.state": point.verdict.state,
        "cycle_ns": point.cycle_ns,
        "measured_from": point.measured_from,
        "measured_cycles": point.measured_cycles,
        "load.offered": point.load.offered,
        "load.attempted": point.load.attempted,
        "load.accepted": point.load.accepted,
        "load.accepted_ci95": point.load.accepted_ci95,
        "latency.mean": point.latency.mean,
        "latency.ci95": point.latency.ci95,
    }

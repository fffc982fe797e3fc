"""Measures of QCN-Switch: the probabilities of its ports, and shares of packets in time.

`of` and `where` as in `runs`. Times are in microseconds since the measurement began, and a window
is `[from, to]`. Probabilities, in percent, come from `probes.agents`: those of the routers of one
group, with finer samples than notifications or rises are apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deroute import analysis
from deroute.analysis import Estimate
from deroute.figures.transient import trace
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures.jackknife import jackknife
from deroute.reproduce.measures.runs import Labels, _outcomes


def least_factor(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Least factor by which any probability changed from a sample to the next."""
    return [_over_runs(evidence, of, where, _least_factor)]


def largest_rise(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Most points by which any probability rose from a sample to the next."""
    return [_over_runs(evidence, of, where, _largest_rise)]


def least_probability(evidence: Evidence, of: str, where: Labels, last: bool) -> list[Estimate]:
    """Least probability that a port of the last router of the group had, or of all others."""

    def least(outcome: Any) -> float:
        _, table = _probabilities(outcome)
        return float((table[:, -1] if last else table[:, :-1]).min())

    return [_over_runs(evidence, of, where, least)]


def worst_port_mean(evidence: Evidence, of: str, where: Labels, from_us: float) -> list[Estimate]:
    """Mean from a time on of the least probability of each router of the group but the last."""

    def mean(outcome: Any) -> float:
        times, table = _probabilities(outcome)
        return float(table[times >= from_us, :-1].min(axis=2).mean())

    return [_over_runs(evidence, of, where, mean)]


def nonminimal_percent(
    evidence: Evidence, of: str, where: Labels, window_us: Sequence[float]
) -> list[Estimate]:
    """How many percent of the packets generated in a window took a non-minimal path."""

    def percent(outcome: Any) -> float:
        series = outcome.series
        if series is None:
            raise NotSettledError("the points have no time series")
        columns = series.by_generation
        cycles = series.start + series.width * np.arange(len(columns.packets))
        times = cycles * outcome.cycle_ns / 1000
        chosen = (times >= window_us[0]) & (times < window_us[1])
        packets = np.asarray(columns.packets, dtype=float)[chosen].sum()
        return float(100 * np.asarray(columns.nonminimal)[chosen].sum() / packets)

    return [_over_runs(evidence, of, where, percent)]


def nonminimal_apart(
    evidence: Evidence, of: str, where: Labels, over: Labels, window_us: Sequence[float]
) -> list[Estimate]:
    """By how many points the shares of two points in a window differ."""
    (mine,), (other,) = (
        nonminimal_percent(evidence, of, labels, window_us) for labels in (where, over)
    )
    return [replace(apart := analysis.difference(mine, other), mean=abs(apart.mean))]


def fallen_us(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    change_us: float,
    settled_us: Sequence[float],
    over: Labels | None = None,
) -> list[Estimate]:
    """Time after a change until the latency has come down from its peak, as the eye judges it.

    That is until it stays within a tenth of the height of the peak above its new steady value.
    With `over` it is the ratio to the time of other points.
    """

    def fallen(outcomes: Sequence[Any]) -> float:
        line = trace(outcomes, "generation")
        times, latency = line.time_us, line.latency_ns.mean
        settled = (times >= settled_us[0]) & (times < settled_us[1])
        after = (times > change_us) & (times < settled_us[1])
        above = latency - float(np.nanmean(latency[settled]))
        late = times[after & (above > 0.1 * float(np.nanmax(above[after])))]
        return float(late.max()) + float(np.diff(times[:2])[0]) / 2 - change_us

    def ratio(mine: Sequence[Any], other: Sequence[Any]) -> float:
        return fallen(mine) / fallen(other)

    if over is None:
        return [jackknife(evidence.of(of), [where], fallen)]
    return [jackknife(evidence.of(of), [where, over], ratio)]


def changes_until(
    evidence: Evidence, of: str, where: Labels, from_us: float, percent: float
) -> list[Estimate]:
    """How often a probability changes, from a time on, until it is first below so many percent.

    The mean over the ports of which that is true, and that were at 100% at that time.
    """

    def changes(outcome: Any) -> float:
        times, table = _probabilities(outcome)
        table = table[times >= from_us].reshape(np.count_nonzero(times >= from_us), -1)
        table = table[:, (table[0] >= 100) & (table.min(axis=0) < percent)]
        if not table.size:
            raise NotSettledError(f"no port comes below {percent}%")
        first = np.argmax(table < percent, axis=0)
        changed = np.diff(table, axis=0) != 0
        return float(np.mean([changed[:end, port].sum() for port, end in enumerate(first)]))

    return [_over_runs(evidence, of, where, changes)]


def told_per_sample(evidence: Evidence, of: str, where: Labels, packets: int) -> list[Estimate]:
    """Notifications for 100 packets through queues that are too long, with so many to a sample."""

    def told(outcome: Any) -> float:
        queues = outcome.notifications.queues
        congested = sum(queue.congested for queue in queues)
        return float(100 * sum(queue.sent for queue in queues) / congested / packets)

    return [_over_runs(evidence, of, where, told)]


def _over_runs(evidence: Evidence, of: str, where: Labels, one: Any) -> Estimate:
    return analysis.estimate([one(outcome) for outcome in _outcomes(evidence.of(of), where)])


def _least_factor(outcome: Any) -> float:
    _, table = _probabilities(outcome)
    before, after = table[:-1], table[1:]
    return float((after[before > 0] / before[before > 0]).min())


def _largest_rise(outcome: Any) -> float:
    _, table = _probabilities(outcome)
    return float(np.diff(table, axis=0).max())


def _probabilities(outcome: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times in us of the samples, and probabilities by sample, router of the group, and port."""
    agents = outcome.agents
    if agents is None:
        raise NotSettledError("the points have no state of the agents (probes.agents)")
    values = np.asarray(agents.values, dtype=float)
    values = values.reshape(-1, len(agents.routers), len(agents.names))
    times = agents.start + np.arange(len(values)) * agents.width
    ports = [
        column
        for column, name in enumerate(agents.names)
        if name.removeprefix("probability_").isdigit()
    ]
    return times * outcome.cycle_ns / 1000, values[:, :, ports]


MEASURES = (
    least_factor,
    largest_rise,
    least_probability,
    worst_port_mean,
    nonminimal_percent,
    nonminimal_apart,
    fallen_us,
    changes_until,
    told_per_sample,
)

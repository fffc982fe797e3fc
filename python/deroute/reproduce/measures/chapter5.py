"""Measures of thesis chapter 5: whole curves of ACOR, reactions to changes, levels of routers.

`of` and `where` as in `runs`. Times are in microseconds since the measurement began, and a window
is `[from, to]`. Levels come from `probes.agents`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deroute import analysis
from deroute.analysis import AnalysisError, Estimate
from deroute.figures.transient import trace
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures.chapter6 import peak_ns, settled_after_us, settled_ns
from deroute.reproduce.measures.jackknife import jackknife
from deroute.reproduce.measures.runs import Labels, _outcomes

Window = Sequence[float]


def window_saving(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    under: Labels,
    window_us: Window,
    under_us: Window = (),
    by: str = "generation",
) -> list[Estimate]:
    """How many percent the latency of a window lies below that of another point, or window."""

    def saving(mine: Sequence[Any], other: Sequence[Any]) -> float:
        latency = settled_ns(other, under_us or window_us, by)
        return 100 * (1 - settled_ns(mine, window_us, by) / latency)

    return [jackknife(evidence.of(of), [where, under], saving)]


def response_surplus_us(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    over: Labels,
    change_us: float,
    settled_us: Window,
    by: str = "generation",
) -> list[Estimate]:
    """How much later than that of another point the latency is settled after a change."""

    def later(mine: Sequence[Any], other: Sequence[Any]) -> float:
        first, then = (
            settled_after_us(trace(outcomes, by), change_us, settled_us)
            for outcomes in (other, mine)
        )
        return then - first

    return [jackknife(evidence.of(of), [where, over], later)]


def peak_ratio(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    over: Labels,
    window_us: Window,
    by: str = "generation",
) -> list[Estimate]:
    """Highest latency of a bin of a window over that of another point."""

    def ratio(mine: Sequence[Any], other: Sequence[Any]) -> float:
        return peak_ns(mine, window_us, by) / peak_ns(other, window_us, by)

    return [jackknife(evidence.of(of), [where, over], ratio)]


def saving_along(
    evidence: Evidence,
    of: str,
    where: Labels,
    under: Labels,
    *,
    axis: str,
    labels: Sequence[Any],
    pick: str = "all",
) -> list[Estimate]:
    """How many percent the latency lies below that of another point, at labels of an axis.

    `pick` keeps `all`, the `least`, the `most`, or the `mean` over the labels.
    """
    frame = evidence.of(of).frame
    savings = []
    for label in labels:
        mine, other = (
            analysis.mean_latency(analysis.where(frame, {**each, axis: label}))
            for each in (where, under)
        )
        savings.append(analysis.percent_below(mine, other))
    match pick:
        case "all":
            return savings
        case "least":
            return [min(savings, key=lambda each: each.mean)]
        case "most":
            return [max(savings, key=lambda each: each.mean)]
    mean = sum(each.mean for each in savings) / len(savings)
    half = math.hypot(*(each.ci95 for each in savings)) / len(savings)
    return [Estimate(mean, half, savings[0].runs)]


def latency_over_best(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    axis: str,
    best_of: Sequence[Any],
    along: str = "load",
    labels: Sequence[Any] = (),
) -> list[Estimate]:
    """Latency over the lowest of the others of `best_of` on an axis, at labels of the axis `along`.

    Saturated points have no latency: they are no candidates, and an error where asked for. Of a
    point that is in `best_of` itself it is 1 where no other one has a latency.
    """
    frame = evidence.of(of).frame
    ratios = []
    for label in labels or analysis.where(frame, where)[along].unique().sort().to_list():
        mine = analysis.mean_latency(analysis.where(frame, {**where, along: label}))
        others = []
        for candidate in best_of:
            if candidate == where.get(axis):
                continue
            try:
                point = analysis.where(frame, {**where, along: label, axis: candidate})
                others.append(analysis.mean_latency(point))
            except AnalysisError:
                continue
        if others:
            ratios.append(analysis.ratio(mine, min(others, key=lambda each: each.mean)))
        elif where.get(axis) in best_of:
            ratios.append(Estimate(1.0))
        else:
            raise NotSettledError(f"all of {list(best_of)} are saturated at {along} = {label}")
    return ratios


def accepted_spread(
    evidence: Evidence, of: str, where: Labels, axis: str, labels: Sequence[Any]
) -> list[Estimate]:
    """Largest minus smallest accepted load over labels of an axis, in phits per host and cycle."""
    frame = evidence.of(of).frame
    loads = [
        analysis.accepted_load(analysis.where(frame, {**where, axis: label})) for label in labels
    ]
    high, low = (pick(loads, key=lambda each: each.mean) for pick in (max, min))
    return [analysis.difference(high, low)]


def path_mix_distance(evidence: Evidence, of: str, where: Labels, over: Labels) -> list[Estimate]:
    """Fraction of the packets that would have to change their kind of path to get another mix."""

    def distance(mine: Sequence[Any], other: Sequence[Any]) -> float:
        mix, reference = _mix(mine), _mix(other)
        return sum(abs(mix[kind] - reference[kind]) for kind in {*mix, *reference}) / 2

    return [jackknife(evidence.of(of), [where, over], distance)]


def level_reached_us(
    evidence: Evidence, of: str, where: Labels, change_us: float, level: int
) -> list[Estimate]:
    """Time after a change until every router of the group that is watched is at a level."""

    def one(outcome: Any) -> float:
        times, levels = _levels(outcome)
        for time, here in zip(times, levels, strict=True):
            if time >= change_us and (here == level).all():
                return float(time - change_us)
        return math.inf

    return [_over_runs(evidence, of, where, one)]


def highest_level(
    evidence: Evidence, of: str, where: Labels, window_us: Window = (-math.inf, math.inf)
) -> list[Estimate]:
    """Highest level of any router of the group that is watched, in a window."""

    def one(outcome: Any) -> float:
        times, levels = _levels(outcome)
        return float(levels[(times >= window_us[0]) & (times <= window_us[1])].max())

    return [_over_runs(evidence, of, where, one)]


def _over_runs(evidence: Evidence, of: str, where: Labels, one: Callable[[Any], float]) -> Estimate:
    return analysis.estimate([one(outcome) for outcome in _outcomes(evidence.of(of), where)])


def _mix(outcomes: Sequence[Any]) -> Counter[str]:
    """Mean share of each kind of path."""
    shares: Counter[str] = Counter()
    for outcome in outcomes:
        shares.update({str(path.kind): path.share / len(outcomes) for path in outcome.paths})
    return shares


def _levels(outcome: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times in us of the samples, and the level of every router of the group by sample."""
    agents = outcome.agents
    if agents is None:
        raise NotSettledError("the points have no state of the agents (probes.agents)")
    values = np.asarray(agents.values, dtype=float)
    values = values.reshape(-1, len(agents.routers), len(agents.names))
    times = agents.start + np.arange(len(values)) * agents.width
    return times * outcome.cycle_ns / 1000, values[:, :, list(agents.names).index("level")]


MEASURES = (
    window_saving,
    response_surplus_us,
    peak_ratio,
    saving_along,
    latency_over_best,
    accepted_spread,
    path_mix_distance,
    level_reached_us,
    highest_level,
)

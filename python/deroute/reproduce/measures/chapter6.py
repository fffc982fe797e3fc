"""Measures of thesis chapter 6: loss in overload, fairness, reactions to changes.

Times are in microseconds since the measurement began.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deroute import analysis
from deroute.analysis import Estimate
from deroute.figures.transient import Trace, trace
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures.jackknife import jackknife
from deroute.reproduce.measures.runs import Labels, _grouped, _outcomes, _profile, _rows

#: A new steady latency is reached for good when no window deviates from it by more than this.
_SETTLED = 0.1


def below_peak(evidence: Evidence, of: str, where: Labels, load: float) -> list[Estimate]:
    """How much less is accepted at a load than at the best load, in phits per host and cycle."""
    rows = _rows(evidence.of(of), where)
    best, then = analysis.max_accepted(rows), analysis.accepted_load(rows, load=load)
    return [analysis.difference(best, then)]


def of_peak(evidence: Evidence, of: str, where: Labels, load: float) -> list[Estimate]:
    """Accepted load at an offered load over that at the best load."""
    rows = _rows(evidence.of(of), where)
    return [analysis.ratio(analysis.accepted_load(rows, load=load), analysis.max_accepted(rows))]


def peak(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Largest accepted load of a curve, in phits per host and cycle."""
    return [analysis.max_accepted(_rows(evidence.of(of), where))]


def saturation_steps(
    evidence: Evidence, of: str, where: Labels, axis: str, labels: Sequence[Any]
) -> list[Estimate]:
    """How much earlier each curve along an axis saturates than the one before it."""
    runs = evidence.of(of)
    loads = [analysis.saturation(_rows(runs, {**where, axis: label})).load for label in labels]
    return [analysis.difference(first, then) for first, then in pairwise(loads)]


def mirrored_difference(
    evidence: Evidence, of: str, where: Labels, axis: str, below: int
) -> list[Estimate]:
    """Accepted load at a label minus that at its negative, for every label below a bound."""
    rows = _rows(evidence.of(of), where)
    labels = {int(label) for label in rows[axis].to_list()}
    values = []
    for label in sorted(each for each in labels if 0 < each < below and -each in labels):
        ahead, behind = (analysis.accepted_load(rows, **{axis: at}) for at in (label, -label))
        values.append(analysis.difference(ahead, behind))
    return values


def accepted_range(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """Largest minus least accepted load along an axis, in phits per host and cycle."""
    rows = _rows(evidence.of(of), where)
    known = sorted(_each(rows, axis, analysis.accepted_load), key=lambda load: load.mean)
    return [analysis.difference(known[-1], known[0])]


def latency_range(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """Largest over least latency along an axis."""
    rows = _rows(evidence.of(of), where)
    known = sorted(_each(rows, axis, analysis.mean_latency), key=lambda latency: latency.mean)
    return [analysis.ratio(known[-1], known[0])]


def accepted_over_best(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """Accepted load of a point over the best of all others along an axis."""
    mine, others = _apart(evidence, of, where, axis)
    known = _each(others, axis, analysis.accepted_load)
    best = max(known, key=lambda load: load.mean)
    return [analysis.ratio(analysis.accepted_load(mine), best)]


def latency_saving_best(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """How many percent the latency of a point lies below the least of all others along an axis.

    Others that are saturated have no latency.
    """
    mine, others = _apart(evidence, of, where, axis)
    known = []
    for label in others[axis].unique(maintain_order=True):
        rows = analysis.where(others, {axis: label})
        if analysis.state_over_seeds(rows) != "saturated":
            known.append(analysis.mean_latency(rows))
    if not known:
        raise NotSettledError(f"no other point along {axis!r} keeps up")
    best = min(known, key=lambda latency: latency.mean)
    return [analysis.percent_below(analysis.mean_latency(mine), best)]


def router_surplus(
    evidence: Evidence, of: str, where: Labels, over: Labels, router: int
) -> list[Estimate]:
    """Injected load of a router over its group's mean, minus the same at another point."""
    runs = evidence.of(of)
    mine, other = (_profile(runs, labels).relative(router) for labels in (where, over))
    return [analysis.difference(mine, other)]


def router_spread(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Largest minus least injected load of the routers of a group, in phits per host and cycle."""
    runs = evidence.of(of)
    per_group = _grouped(runs)
    return [jackknife(runs, [where], lambda outcomes: _spread(outcomes, per_group))]


def spread_growth(evidence: Evidence, of: str, where: Labels, over: Labels) -> list[Estimate]:
    """How much wider the routers of a group lie apart at one point than at another."""
    runs = evidence.of(of)
    per_group = _grouped(runs)

    def growth(wide: Sequence[Any], narrow: Sequence[Any]) -> float:
        return _spread(wide, per_group) - _spread(narrow, per_group)

    return [jackknife(runs, [where, over], growth)]


def detour_share(
    evidence: Evidence, of: str, where: Labels, kinds: Sequence[str], routers: Sequence[int]
) -> list[Estimate]:
    """Share of these path kinds among the non-minimal packets of each of these routers."""
    runs = evidence.of(of)
    per_group = _grouped(runs)
    shares = []
    for outcome in _outcomes(runs, where):
        names = [str(kind) for kind in outcome.arrays.path_kinds]
        mix = analysis.path_shares_by_router([outcome], per_group).mean
        detours = np.maximum(1 - mix[:, names.index("minimal")], 1e-12)
        chosen = mix[:, [names.index(kind) for kind in kinds]].sum(axis=1)
        shares.append((chosen / detours)[list(routers)])
    return [analysis.estimate(each) for each in np.transpose(shares)]


def settled_latency(
    evidence: Evidence, of: str, where: Labels, window_us: Sequence[float], by: str = "generation"
) -> list[Estimate]:
    """Mean latency in ns within a window of time."""
    one = partial(settled_ns, window_us=window_us, by=by)
    return [jackknife(evidence.of(of), [where], one)]


def settled_ratio(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    over: Labels,
    window_us: Sequence[float],
    by: str = "generation",
) -> list[Estimate]:
    """Mean latency of one point over that of another within a window of time."""

    def ratio(mine: Sequence[Any], other: Sequence[Any]) -> float:
        return settled_ns(mine, window_us, by) / settled_ns(other, window_us, by)

    return [jackknife(evidence.of(of), [where, over], ratio)]


def transient_peak(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    change_us: float,
    settled_us: Sequence[float],
    by: str = "generation",
) -> list[Estimate]:
    """Highest latency of a bin after a change of the traffic over the new steady latency."""

    def peak(outcomes: Sequence[Any]) -> float:
        highest = peak_ns(outcomes, (change_us, settled_us[1]), by)
        return highest / settled_ns(outcomes, settled_us, by)

    return [jackknife(evidence.of(of), [where], peak)]


def response_us(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    change_us: float,
    settled_us: Sequence[float],
    by: str = "generation",
    mean_us: float = 0.0,
) -> list[Estimate]:
    """Time after a change until the latency stays within 10% of its new steady value.

    If it never does before the steady value is taken, the time up to there: a lower bound. Times
    of which no packet has arrived are not steady, and no part of that value. With `mean_us` it is
    the latency of as long a time around each moment.
    """

    def response(outcomes: Sequence[Any]) -> float:
        return settled_after_us(trace(outcomes, by), change_us, settled_us, mean_us)

    return [jackknife(evidence.of(of), [where], response)]


def settled_ns(outcomes: Sequence[Any], window_us: Sequence[float], by: str) -> float:
    """Mean latency in ns of the seeds of a point within a window of time."""
    return float(np.nanmean(_window(trace(outcomes, by), window_us)))


def peak_ns(outcomes: Sequence[Any], window_us: Sequence[float], by: str) -> float:
    """Highest latency of a bin, in ns, of the seeds of a point within a window of time."""
    return float(np.nanmax(_window(trace(outcomes, by), window_us)))


def settled_after_us(
    line: Trace, change_us: float, settled_us: Sequence[float], mean_us: float = 0.0
) -> float:
    """Time after a change until a latency is settled, see `response_us`."""
    times, latency = line.time_us, line.latency_ns.mean
    settled = latency[(times >= settled_us[0]) & (times < settled_us[1])]
    if np.isnan(settled).all():
        raise NotSettledError("no packet has arrived in the time whose latency is the steady one")
    after = (times > change_us) & (times < settled_us[1])
    width = float(np.diff(times[:2])[0])
    window = np.full(max(round(mean_us / width), 1), 1.0)
    window /= len(window)
    times, latency = (np.convolve(each[after], window, "valid") for each in (times, latency))
    late = times[~(np.abs(latency / np.nanmean(settled) - 1) <= _SETTLED)]
    return float(late.max()) + width / 2 - change_us if late.size else 0.0


def _spread(outcomes: Sequence[Any], per_group: int) -> float:
    means = analysis.injected_by_router(outcomes, per_group).mean
    return float(means.max() - means.min())


def _each(rows: pl.DataFrame, axis: str, measure: Callable[..., Estimate]) -> list[Estimate]:
    labels = rows[axis].unique(maintain_order=True).to_list()
    return [measure(rows, **{axis: label}) for label in labels]


def _apart(
    evidence: Evidence, of: str, where: Labels, axis: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of a point, and those of all others along an axis."""
    runs = evidence.of(of)
    rest = {name: label for name, label in where.items() if name != axis}
    others = _rows(runs, rest).filter(pl.col(axis).cast(pl.String) != str(where[axis]))
    return _rows(runs, where), others


def _window(line: Trace, window_us: Sequence[float]) -> NDArray[np.float64]:
    """The latency of the bins within a window."""
    inside = (line.time_us > window_us[0]) & (line.time_us < window_us[1])
    if not inside.any():
        raise NotSettledError(f"no time series between {window_us[0]} and {window_us[1]} us")
    return line.latency_ns.mean[inside]


MEASURES = (
    below_peak,
    of_peak,
    peak,
    saturation_steps,
    mirrored_difference,
    accepted_range,
    latency_range,
    accepted_over_best,
    latency_saving_best,
    router_surplus,
    router_spread,
    spread_growth,
    detour_share,
    settled_latency,
    settled_ratio,
    transient_peak,
    response_us,
)

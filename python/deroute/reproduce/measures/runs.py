"""Measures over the results of simulations.

`of` names the experiment of the item; `where` gives the labels of the points. An axis that is left
out must be the seed, or have one label only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from deroute import analysis
from deroute.analysis import Estimate
from deroute.figures.flow import course
from deroute.figures.study import ROW, Study
from deroute.reproduce.evidence import Evidence, NotSettledError

Labels = Mapping[str, Any]

# Columns whose interval inside a run is known.
_WITHIN = {"latency.mean": "latency.ci95", "load.accepted": "load.accepted_ci95"}


def accepted(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Accepted load in phits per host and cycle."""
    return [analysis.accepted_load(_rows(evidence.of(of), where))]


def accepted_ratio(evidence: Evidence, of: str, where: Labels, over: Labels) -> list[Estimate]:
    """Accepted load of one point over that of another, as `scalar_ratio`."""
    return scalar_ratio(evidence, of, where, over, "load.accepted")


def accepted_along(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """Accepted load of every point along an axis, in ascending order of its labels."""
    rows = _rows(evidence.of(of), where)
    return [estimate for _, estimate in _along(rows, axis)]


def accepted_from(
    evidence: Evidence, of: str, where: Labels, from_us: float, less: Labels | None = None
) -> list[Estimate]:
    """Accepted load in phits per host and cycle from a time on, less that of another point."""
    late = _late(evidence.of(of), where, from_us)
    if less is None:
        return [late]
    return [analysis.difference(late, _late(evidence.of(of), less, from_us))]


def fraction_of_bound(
    evidence: Evidence, of: str, where: Labels, axis: str, bounds: Sequence[float]
) -> list[Estimate]:
    """Accepted load over its bound along an integer axis: `bounds` starts at labels 1 and -1."""
    rows = _rows(evidence.of(of), where)
    return [load.scaled(1 / bounds[abs(int(label)) - 1]) for label, load in _along(rows, axis)]


def least_over_bound(
    evidence: Evidence, of: str, where: Labels, axis: str, bounds: Sequence[float]
) -> list[Estimate]:
    """Injected load of the worst router of the group over the bound, along an integer axis.

    A channel that is full throttles the routers whose packets use it; others may inject more.
    """
    runs = evidence.of(of)
    labels = _rows(runs, where)[axis].unique().sort().to_list()
    profiles = [(label, _profile(runs, {**where, axis: label})) for label in labels]
    return [profile.least().scaled(1 / bounds[int(label) - 1]) for label, profile in profiles]


def accepted_surplus(
    evidence: Evidence, of: str, where: Labels, over: Labels, axis: str
) -> list[Estimate]:
    """Accepted load minus that of a reference, in phits per host and cycle, along an axis."""
    runs = evidence.of(of)
    pairs = zip(_along(_rows(runs, where), axis), _along(_rows(runs, over), axis), strict=True)
    return [analysis.difference(mine, other) for (_, mine), (_, other) in pairs]


def saturation(
    evidence: Evidence, of: str, where: Labels, *, first: bool = False
) -> list[Estimate]:
    """Saturation load in phits per host and cycle, see `analysis.saturation`.

    With `first` the curve ends at the first load of which less than 98% are accepted, whatever
    higher loads do, as figures end their curves there.
    """
    return [_saturation(_rows(evidence.of(of), where), first)]


def saturation_ratio(
    evidence: Evidence, of: str, where: Labels, over: Labels, *, first: bool = False
) -> list[Estimate]:
    """Saturation load of a curve over that of another; `first` as in `saturation`."""
    rows = (_rows(evidence.of(of), labels) for labels in (where, over))
    above, below = (_saturation(curve, first) for curve in rows)
    return [analysis.ratio(above, below)]


def latency(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Mean latency in ns of a point that is not saturated."""
    return [analysis.mean_latency(_rows(evidence.of(of), where))]


def latency_saving(evidence: Evidence, of: str, where: Labels, under: Labels) -> list[Estimate]:
    """How many percent the latency of a point lies below that of another."""
    runs = evidence.of(of)
    mine, other = (analysis.mean_latency(_rows(runs, labels)) for labels in (where, under))
    return [analysis.percent_below(mine, other)]


def scalar(evidence: Evidence, of: str, where: Labels, column: str) -> list[Estimate]:
    """A column of the result frame as it is."""
    rows = _rows(evidence.of(of), where)
    within = _WITHIN.get(column)
    inside = math.nan if within is None else float(rows[within][0])
    return [analysis.estimate(rows[column].to_numpy(), inside)]


def scalar_ratio(
    evidence: Evidence, of: str, where: Labels, over: Labels, column: str
) -> list[Estimate]:
    """A column of the result frame over the same of another point.

    Points with the same seeds, several of them, are compared seed by seed.
    """
    mine, other = (_rows(evidence.of(of), labels).sort("seed") for labels in (where, over))
    if mine.height > 1 and mine["seed"].equals(other["seed"]):
        return [analysis.estimate((mine[column] / other[column]).to_numpy())]
    above, below = (scalar(evidence, of, labels, column)[0] for labels in (where, over))
    return [analysis.ratio(above, below)]


def packet_phits(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Mean size of the delivered packets, in phits (cycles on a link)."""
    rows = _rows(evidence.of(of), where)
    phits = rows["load.accepted"] * rows["size.hosts"] * rows["measured_cycles"]
    return [analysis.estimate((phits / rows["packets.measured"]).to_numpy())]


def path_share(evidence: Evidence, of: str, where: Labels, kind: str) -> list[Estimate]:
    """Fraction of the packets whose path is of this kind."""
    shares = [
        sum(path.share for path in outcome.paths if str(path.kind) == kind)
        for outcome in _outcomes(evidence.of(of), where)
    ]
    return [analysis.estimate(shares)]


def router_over_mean(evidence: Evidence, of: str, where: Labels, router: int) -> list[Estimate]:
    """Injected load of a router of the group over the group's mean."""
    return [_profile(evidence.of(of), where).relative(router)]


def router_along(
    evidence: Evidence, of: str, where: Labels, axis: str, router: int
) -> list[Estimate]:
    """Injected load of a router of the group over the group's mean, at every label of an axis."""
    runs = evidence.of(of)
    labels = _rows(runs, where)[axis].unique(maintain_order=True).to_list()
    return [_profile(runs, {**where, axis: label}).relative(router) for label in labels]


def router_path_share(
    evidence: Evidence, of: str, where: Labels, kind: str, router: int
) -> list[Estimate]:
    """Fraction of the packets of a router of the group whose path is of this kind."""
    runs = evidence.of(of)
    per_group, shares = _grouped(runs), []
    for outcome in _outcomes(runs, where):
        column = outcome.arrays.path_kinds.index(kind)
        packets = np.asarray(outcome.arrays.paths_by_router, dtype=float)
        packets = packets[router::per_group].sum(axis=0)
        shares.append(packets[column] / max(packets.sum(), 1))
    return [analysis.estimate(shares)]


def least_injected(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Injected load of the worst router of the group, in phits per host and cycle."""
    return [_profile(evidence.of(of), where).least()]


def least_over_mean(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Injected load of the worst router of the group over the group's mean."""
    profile = _profile(evidence.of(of), where)
    return [profile.relative(int(np.argmin(profile.mean)))]


def adversarial_share(
    evidence: Evidence, of: str, where: Labels, hosts_per_group: int
) -> list[Estimate]:
    """Share of ADV+1 in a mix with UN, from the use of the global links under minimal routing.

    One link per group, the busiest, carries all ADV+1 packets of the group and the UN packets to
    the same group: its load is `hosts * load * (share + (1 - share) * hosts / (all - 1))`. The
    points need `probes.links`.
    """
    shares = []
    for outcome in _outcomes(evidence.of(of), where):
        use = np.sort(np.asarray(outcome.arrays.link_use))
        groups = outcome.size.hosts // hosts_per_group
        uniform = hosts_per_group / (outcome.size.hosts - 1)
        per_load = float(use[-groups:].mean()) / (hosts_per_group * outcome.load.accepted)
        shares.append((per_load - uniform) / (1 - uniform))
    return [analysis.estimate(shares)]


def _rows(runs: Study, where: Labels) -> pl.DataFrame:
    if runs.frame.is_empty():
        raise NotSettledError("no point is finished")
    return analysis.where(runs.frame, where)


def _saturation(curve: pl.DataFrame, first: bool) -> Estimate:
    if first:
        accepted = _along(curve, "load.offered")
        behind = [load for load, of in accepted if of.mean < analysis.KEEPS_UP * load]
        curve = curve.filter(pl.col("load.offered") <= min(behind, default=math.inf))
    return analysis.saturation(curve).load


def _along(rows: pl.DataFrame, axis: str) -> list[tuple[Any, Estimate]]:
    labels = rows[axis].unique().sort().to_list()
    return [(label, analysis.accepted_load(rows, **{axis: label})) for label in labels]


def _outcomes(runs: Study, where: Labels) -> list[Any]:
    numbered = replace(runs, frame=runs.frame.with_row_index(ROW))
    return runs.outcomes_of(_rows(numbered, where))


def _late(runs: Study, where: Labels, from_us: float) -> Estimate:
    outcomes = _outcomes(runs, where)
    if any(outcome.series is None for outcome in outcomes):
        raise NotSettledError("the points have no time series")
    times, loads = course(outcomes)
    if not (times >= from_us).any():
        raise NotSettledError(f"no time series after {from_us} us")
    return analysis.estimate([load[times >= from_us].mean() for load in loads.per_run])


def _grouped(runs: Study) -> int:
    """Routers per group."""
    if runs.routers_per_group is None:
        raise NotSettledError("the topology has no groups of routers")
    return runs.routers_per_group


def _profile(runs: Study, where: Labels) -> analysis.Profile:
    return analysis.injected_by_router(_outcomes(runs, where), _grouped(runs))


MEASURES = (
    accepted,
    accepted_ratio,
    accepted_along,
    accepted_from,
    fraction_of_bound,
    least_over_bound,
    accepted_surplus,
    saturation,
    saturation_ratio,
    latency,
    latency_saving,
    scalar,
    scalar_ratio,
    packet_phits,
    path_share,
    router_over_mean,
    router_along,
    router_path_share,
    least_injected,
    least_over_mean,
    adversarial_share,
)

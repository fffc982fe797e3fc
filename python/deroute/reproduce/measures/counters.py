"""Measures of the counters of routing agents (thesis chapter 6).

Counters come from `probes.agents`: `G+1` is the counter of the group one ahead, `IL-1` that of the
local links one router back. They are averaged over the routers of the network and over the samples
of the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deroute import analysis
from deroute.analysis import Estimate
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures.runs import Labels, _outcomes, _rows

Floats = NDArray[np.float64]

#: Counters of two curves have parted where one exceeds the other by this part.
_APART = 0.05


def counter(evidence: Evidence, of: str, where: Labels, name: str) -> list[Estimate]:
    """Mean value of a counter."""
    return [_counter(evidence, of, where, name)]


def counter_ratio(
    evidence: Evidence, of: str, where: Labels, *, name: str, over: Labels, over_name: str = ""
) -> list[Estimate]:
    """Mean value of a counter over that of the same or another one at another point."""
    below = _counter(evidence, of, over, over_name or name)
    return [analysis.ratio(_counter(evidence, of, where, name), below)]


def counter_reaches(
    evidence: Evidence, of: str, where: Labels, name: str, level: float
) -> list[Estimate]:
    """Load at which a counter reaches a level, if it grows as the load does (phits/host/cycle)."""
    value = _counter(evidence, of, where, name)
    offered = float(_rows(evidence.of(of), where)["load.offered"].mean())  # type: ignore[arg-type]
    return [analysis.ratio(Estimate(level * offered, 0.0), value)]


def parting_load(
    evidence: Evidence, of: str, where: Labels, over: Labels, name: str
) -> list[Estimate]:
    """Load from which on a counter grows faster than that of another curve (phits/host/cycle).

    Between the last measured load at which it exceeds the other by no more than 5% and the next.
    """
    (below, above), _ = _parting(evidence, of, where, over, name)
    return [_between(below, above)]


def parting_counter(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    over: Labels,
    name: str,
    axis: str = "",
    labels: Sequence[Any] = (),
) -> list[Estimate]:
    """The counter of another curve where one grows faster from there on, as in `parting_load`.

    For every label along an axis, if there is one.
    """
    curves = [{axis: label} for label in labels] or [{}]
    partings = [_parting(evidence, of, {**where, **at}, {**over, **at}, name) for at in curves]
    return [_between(below, above) for _, (below, above) in partings]


def counters(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """How many counters of groups and of local links a router has."""
    (outcome, *_) = _outcomes(evidence.of(of), where)
    names = _agents(outcome).names
    kinds = [sum(name.startswith(kind) for name in names) for kind in ("G", "IL")]
    return [Estimate(float(kind)) for kind in kinds]


def local_counter_error(evidence: Evidence, of: str, where: Labels, h: int) -> list[Estimate]:
    """Largest deviation of any `IL` from its sum over the `G` of the same sample (equation 6-2)."""
    worst = 0.0
    for outcome in _outcomes(evidence.of(of), where):
        values = _samples(outcome)
        for k in (sign * size for size in range(1, h + 1) for sign in (1, -1)):
            expected = sum(
                (h - abs(j)) / h * values[_group(abs(k) * h + j, -k, h)] for j in range(1 - h, h)
            )
            error = np.abs(values[f"IL{k:+d}"] - expected).max()
            worst = max(worst, float(error))
    return [Estimate(worst)]


def offsets_per_counter(evidence: Evidence, of: str, where: Labels, h: int) -> list[Estimate]:
    """Fewest and most `G` on which an `IL` depends, by regression over all samples and routers."""
    (outcome, *_) = _outcomes(evidence.of(of), where)
    values = _samples(outcome)
    groups = [name for name in values if name.startswith("G")]
    table = np.stack([values[name].ravel() for name in groups], axis=1)
    counts = []
    for name in values:
        if name.startswith("IL"):
            weights, _, rank, _ = np.linalg.lstsq(table, values[name].ravel(), rcond=None)
            if rank < len(groups):
                raise NotSettledError("the samples do not tell the counters of the groups apart")
            counts.append(int((np.abs(weights) > 0.5 / h).sum()))
    return [Estimate(float(min(counts))), Estimate(float(max(counts)))]


def extension_error(
    evidence: Evidence, of: str, where: Labels, *, axis: str, parts: Sequence[str], weight: float
) -> list[Estimate]:
    """Largest deviation of an extended counter from its parts (equation 6-1) over all samples.

    `parts` are the labels of the injected, the stored and the extended counters. The points must
    differ in nothing else, and their packets must take the same paths.
    """
    runs, samples = evidence.of(of), []
    for part in parts:
        found = [_samples(outcome) for outcome in _outcomes(runs, {**where, axis: part})]
        groups = [name for name in found[0] if name.startswith("G")]
        samples.append(np.stack([each[name] for each in found for name in groups]))
    injected, stored, extended = samples
    if not stored.any():
        raise NotSettledError("no packet was waiting in any sample")
    return [Estimate(float(np.abs(extended - injected - weight * stored).max()))]


def _counter(evidence: Evidence, of: str, where: Labels, name: str) -> Estimate:
    values = []
    for outcome in _outcomes(evidence.of(of), where):
        agents = _agents(outcome)
        table = np.asarray(agents.mean, dtype=float)
        values.append(float(table[:, list(agents.names).index(name)].mean()))
    return analysis.estimate(values)


def _parting(
    evidence: Evidence, of: str, where: Labels, over: Labels, name: str
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The loads around the parting of two curves, and the counter of the other one there."""
    loads = _rows(evidence.of(of), where)["load.offered"].unique().sort().to_list()
    known = []
    for load in loads:
        one, other = (
            _counter(evidence, of, {**labels, "load": load}, name).mean for labels in (where, over)
        )
        known.append((load, one / other, other))
    for (below, ratio, counter), (above, then, more) in reversed([*pairwise(known)]):
        if ratio <= 1 + _APART < then:
            return (below, above), (counter, more)
    raise NotSettledError(f"{name} parts nowhere between the loads that were measured")


def _between(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, (high - low) / 2)


def _agents(outcome: Any) -> Any:
    if outcome.agents is None:
        raise NotSettledError("the points have no `probes.agents`")
    return outcome.agents


def _samples(outcome: Any) -> Mapping[str, Floats]:
    """Every counter by name: its values by sample and router."""
    agents = _agents(outcome)
    table = np.asarray(agents.values, dtype=float)
    return {str(name): table[:, :, index] for index, name in enumerate(agents.names)}


def _group(offset: int, direction: int, h: int) -> str:
    """Name of the counter of a group, `offset` ahead (`direction` > 0) or behind."""
    groups = 2 * h * h + 1
    ahead = (offset if direction > 0 else -offset) % groups
    return f"G{ahead if ahead <= h * h else ahead - groups:+d}"


MEASURES = (
    counter,
    counter_ratio,
    counter_reaches,
    parting_load,
    parting_counter,
    counters,
    local_counter_error,
    offsets_per_counter,
    extension_error,
)

"""What a set of finished points says: means over seeds, saturation, fairness, comparisons.

Every function takes the frame of a result directory (one row per finished point, see
`deroute.frame`) or the outcomes beside it, and returns plain data. Loads are in phits per host and
cycle, latencies in nanoseconds, shares in percent where the name says so.

A point that is not steady never passes for a steady one: aggregated rows carry `state`, which is
decided over the seeds, and the latency of a saturated point, which only reflects how long the run
was, is left out where a latency is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from deroute import units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deroute.results import Outcome

#: A point keeps up when it accepts at least this fraction of its load.
KEEPS_UP = 0.98

#: Two labels that are numbers are the same when they differ by less than this.
SAME_LABEL = 1e-9

#: Column that only runs with a workload have.
MAKESPAN = "workload.makespan"

#: Axis that distinguishes repetitions of the same point.
SEED = "seed"

# 97.5% points of Student's t for 1 to 10 degrees of freedom.
_STUDENT_975 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
_NORMAL_975 = 1.959964


class AnalysisError(ValueError):
    """The results do not contain what was asked of them."""


def student_975(degrees: int) -> float:
    """97.5% point of Student's t, for two-sided 95% intervals.

    Tabulated up to 10 degrees of freedom, then the expansion in 1/degrees of Abramowitz and Stegun
    26.7.5, which is exact to four digits there.
    """
    if degrees < 1:
        raise AnalysisError(f"Student's t needs at least 1 degree of freedom, not {degrees}")
    if degrees <= len(_STUDENT_975):
        return _STUDENT_975[degrees - 1]
    z = _NORMAL_975
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / degrees + second / degrees**2 + third / degrees**3


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the half-width of its 95% confidence interval (NaN when unknown)."""

    mean: float
    ci95: float = math.nan
    runs: int = 1
    #: It is only a lower bound, or only an upper one.
    at_least: bool = False
    at_most: bool = False

    def __str__(self) -> str:
        bound = "at least " * self.at_least + "at most " * self.at_most
        if math.isnan(self.ci95):
            whole = float(self.mean).is_integer()
            return bound + (f"{self.mean:.0f}" if whole else f"{self.mean:.4g}")
        return f"{bound}{self.mean:.4g} ± {units.half_width(self.ci95)}"

    @property
    def interval(self) -> tuple[float, float]:
        """Least and most that the value may be; the mean where no interval is known."""
        half = 0.0 if math.isnan(self.ci95) else self.ci95
        least = -math.inf if self.at_most else self.mean - half
        return least, math.inf if self.at_least else self.mean + half

    def scaled(self, factor: float) -> Estimate:
        """The estimate in another unit; the factor is positive."""
        return replace(self, mean=self.mean * factor, ci95=self.ci95 * factor)


def estimate(values: ArrayLike, within: float = math.nan) -> Estimate:
    """Mean over independent runs, with Student's interval.

    A single run has no spread: its own interval may be given as `within`.
    """
    sample = np.asarray(values, dtype=float)
    if sample.size == 0:
        raise AnalysisError("no values to average")
    if sample.size == 1:
        return Estimate(float(sample[0]), within, 1)
    spread = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Estimate(float(sample.mean()), student_975(sample.size - 1) * spread, sample.size)


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """`above / below` of two independent estimates; relative errors add in squares."""
    if below.mean == 0:
        raise AnalysisError("a ratio to zero has no value")
    value = above.mean / below.mean
    half = math.hypot(above.ci95, value * below.ci95) / abs(below.mean)
    return _of_two(value, half, above, below)


def difference(more: Estimate, less: Estimate) -> Estimate:
    """`more - less` of two independent estimates; errors add in squares."""
    return _of_two(more.mean - less.mean, math.hypot(more.ci95, less.ci95), more, less)


def _of_two(mean: float, half: float, one: Estimate, other: Estimate) -> Estimate:
    """What grows with one estimate, and falls with another."""
    bounds = (one.at_least or other.at_most, one.at_most or other.at_least)
    return Estimate(mean, half, min(one.runs, other.runs), *bounds)


def percent_below(value: Estimate, reference: Estimate) -> Estimate:
    """How many percent `value` lies below `reference` (negative: above)."""
    part = ratio(value, reference)
    return Estimate(100 * (1 - part.mean), 100 * part.ci95, part.runs, part.at_most, part.at_least)


def where(frame: pl.DataFrame, labels: Mapping[str, object]) -> pl.DataFrame:
    """Rows whose axis labels are the given ones; an unknown axis or label is an error."""
    for axis, label in labels.items():
        if axis not in frame.columns:
            raise AnalysisError(f"there is no axis {axis!r}; axes and columns: {frame.columns}")
        column = frame[axis]
        known = column.unique(maintain_order=True).to_list()
        if isinstance(label, int | float) and column.dtype.is_numeric():
            frame = frame.filter((pl.col(axis) - label).abs() < SAME_LABEL)
        else:
            frame = frame.filter(pl.col(axis).cast(pl.String) == str(label))
        if frame.is_empty():
            raise AnalysisError(f"no point with {axis} = {label!r}; present: {known}")
    return frame


def worst_state(states: Sequence[str]) -> str:
    """State of what several runs were, or do, together: the one that says least of it."""
    for state in ("unfinished", "saturated", "not-converged", "completed"):
        if state in states:
            return state
    return "steady"


def state_over_seeds(runs: pl.DataFrame) -> str:
    """State of a point that several runs measured, which differ in their seeds.

    It is saturated if most of them are, or if one is and the share of the attempted load that they
    accept is below 0.98 by more than the interval between them; steady if most of them are and that
    share is not below 0.98; else not converged. One run has its own state, and so have runs with a
    workload: the one that says least.
    """
    states = runs["verdict.state"].to_list()
    if len(states) == 1 or MAKESPAN in runs.columns:
        return worst_state(states)
    share = share_of_attempted(runs)
    below = share.mean + share.ci95 < KEEPS_UP
    if _most(states, "saturated") or (below and "saturated" in states):
        return "saturated"
    steady = _most(states, "steady") and share.mean >= KEEPS_UP
    return "steady" if steady else "not-converged"


def share_of_attempted(runs: pl.DataFrame) -> Estimate:
    """Accepted load over what hosts attempted to send, over seeds."""
    attempted = np.maximum(runs["load.attempted"].to_numpy(), np.finfo(float).tiny)
    return estimate(runs["load.accepted"].to_numpy() / attempted)


def _most(states: Sequence[str], state: str) -> bool:
    return 2 * states.count(state) > len(states)


def other_states(runs: pl.DataFrame, state: str) -> str:
    """Which of the seeds have another verdict than their point: `1 of 3 saturated`."""
    states = runs["verdict.state"].to_list()
    others = [other for other in dict.fromkeys(states) if other != state]
    return ", ".join(f"{states.count(other)} of {len(states)} {other}" for other in others)


def over_seeds(
    frame: pl.DataFrame, by: Sequence[str], value: str, within: str | None = None
) -> pl.DataFrame:
    """One row per combination of the axes `by`, averaged over everything else.

    Columns: the axes, `mean` and `ci95` of the column `value`, `runs`, the `state` over the seeds,
    the `others` that some of them have, and whether they accept what is attempted (`keeps_up`).
    `within` names the column with the interval inside a run, which serves where there is only one.
    """
    rows = []
    for key, group in frame.group_by(list(by), maintain_order=True):
        inside = float(group[within][0]) if within is not None else math.nan
        point = estimate(group[value].to_numpy(), inside)
        state = state_over_seeds(group)
        rows.append(
            dict(zip(by, key, strict=True))
            | {
                "mean": point.mean,
                "ci95": point.ci95,
                "runs": point.runs,
                "state": state,
                "others": other_states(group, state),
                "keeps_up": state != "saturated" and share_of_attempted(group).mean >= KEEPS_UP,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def accepted_load(frame: pl.DataFrame, **labels: object) -> Estimate:
    """Accepted load of the point with these labels, in phits per host and cycle."""
    rows = where(frame, labels)
    return estimate(rows["load.accepted"].to_numpy(), float(rows["load.accepted_ci95"][0]))


def mean_latency(frame: pl.DataFrame, **labels: object) -> Estimate:
    """Mean latency in nanoseconds of a point that keeps up with its load."""
    rows = where(frame, labels)
    if state_over_seeds(rows) == "saturated":
        raise AnalysisError(f"the point {labels} is saturated: it has no latency")
    latency = (rows["latency.mean"] * rows["cycle_ns"]).to_numpy()
    return estimate(latency, float(rows["latency.ci95"][0] * rows["cycle_ns"][0]))


@dataclass(frozen=True, slots=True)
class Saturation:
    """Where a network stops keeping up."""

    #: Offered load at which accepted/offered falls through 0.98, by linear interpolation of that
    #: quotient between the two measured loads around it, above which it stays below; averaged over
    #: the seeds. A lower bound where a seed keeps up at the highest load, and hosts can send more.
    load: Estimate
    #: Largest measured load at which every seed kept up, or kept up at a higher one.
    kept_up_at: float
    #: Smallest measured load from which on none was accepted; None if there is none.
    fell_behind_at: float | None


def _falls_behind(offered: NDArray[np.float64], accepted: NDArray[np.float64]) -> tuple[int, float]:
    """Index of the load from which on none is accepted, and the interpolated saturation load."""
    quotient = accepted / offered
    kept_up = np.flatnonzero(quotient >= KEEPS_UP)
    first = int(kept_up[-1]) + 1 if kept_up.size else 0
    if first == len(offered):
        return first, float(offered[-1])
    if first == 0:
        return 0, float(accepted[0] / KEEPS_UP)
    low, high = first - 1, first
    part = (quotient[low] - KEEPS_UP) / (quotient[low] - quotient[high])
    return first, float(offered[low] + part * (offered[high] - offered[low]))


def saturation(frame: pl.DataFrame, **labels: object) -> Saturation:
    """Saturation point of the curve with these labels (all its loads, every seed alone)."""
    curve = where(frame, labels).sort("load.offered")
    keys = [SEED] if SEED in curve.columns else []
    runs = curve.partition_by(keys, maintain_order=True) if keys else [curve]
    loads, firsts, grid = [], [], curve["load.offered"].unique().sort().to_numpy()
    for run in runs:
        offered = run["load.offered"].to_numpy()
        if len(np.unique(offered)) != len(offered):
            raise AnalysisError(f"the labels {labels} select more than one curve")
        first, load = _falls_behind(offered, run["load.accepted"].to_numpy())
        loads.append(load)
        firsts.append(float(offered[first]) if first < len(offered) else math.inf)
    behind = min(firsts)
    below = grid[grid < behind]
    open_end = math.isinf(max(firsts)) and float(grid[-1]) < 1 - SAME_LABEL
    return Saturation(
        load=replace(estimate(loads), at_least=open_end),
        kept_up_at=float(below[-1]) if below.size else 0.0,
        fell_behind_at=None if math.isinf(behind) else behind,
    )


def max_accepted(frame: pl.DataFrame, **labels: object) -> Estimate:
    """Largest accepted load of a curve, in phits per host and cycle."""
    rows = over_seeds(where(frame, labels), ["load.offered"], "load.accepted", "load.accepted_ci95")
    best = rows.sort("mean").row(-1, named=True)
    return Estimate(best["mean"], best["ci95"], best["runs"])


@dataclass(frozen=True, slots=True)
class ZeroLoad:
    """Latency at the smallest load that was run: the closest thing to an empty network."""

    latency_ns: Estimate
    #: Offered load at which it was measured.
    load: float


def zero_load_latency(frame: pl.DataFrame, **labels: object) -> ZeroLoad:
    """Mean latency at the smallest measured load of a curve, in nanoseconds."""
    rows = where(frame, labels)
    load = float(np.min(rows["load.offered"].to_numpy()))
    least = rows.filter((pl.col("load.offered") - load).abs() < SAME_LABEL)
    return ZeroLoad(mean_latency(least), load)


@dataclass(frozen=True, slots=True)
class Profile:
    """A quantity per router of a group, with the runs that it is the mean of."""

    mean: NDArray[np.float64]
    ci95: NDArray[np.float64]
    per_run: Sequence[NDArray[np.float64]]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.per_run)

    def least(self) -> Estimate:
        """The smallest value of a router. Of routers that are alike it lies below their mean."""
        router = int(np.argmin(self.mean))
        return Estimate(float(self.mean[router]), float(self.ci95[router]), self.runs)

    def relative(self, router: int) -> Estimate:
        """The router's value over the mean of the whole group, run by run."""
        return estimate([values[router] / values.mean() for values in self.per_run])


def profile(per_run: Sequence[NDArray[np.float64]]) -> Profile:
    """Mean and interval over runs, element by element; one run has no interval."""
    if not per_run:
        raise AnalysisError("no values to average")
    sample = np.stack(per_run)
    runs = len(sample)
    if runs == 1:
        return Profile(sample[0], np.full(sample.shape[1:], math.nan), per_run)
    half = student_975(runs - 1) * sample.std(axis=0, ddof=1) / math.sqrt(runs)
    return Profile(sample.mean(axis=0), half, per_run)


def injected_by_router(
    outcomes: Sequence[Outcome], routers_per_group: int, group: int | None = None
) -> Profile:
    """Injected load of each router of a group, in phits per host and cycle.

    Averaged over all groups, which are alike under the patterns of thesis 3.2.2; `group` picks one,
    as the thesis' fairness figures do with group 0.
    """
    per_run = []
    for outcome in outcomes:
        by_group = np.asarray(outcome.arrays.injected_by_router).reshape(-1, routers_per_group)
        per_run.append(by_group.mean(axis=0) if group is None else by_group[group])
    return profile(per_run)


def path_shares_by_router(
    outcomes: Sequence[Outcome], routers_per_group: int, group: int | None = None
) -> Profile:
    """Share of each path kind among the packets of each router of a group, or over all groups.

    The last axis follows `outcome.arrays.path_kinds`; a router without packets has zeros.
    """
    per_run = []
    for outcome in outcomes:
        kinds = len(outcome.arrays.path_kinds)
        packets = np.asarray(outcome.arrays.paths_by_router, dtype=float)
        by_group = packets.reshape(-1, routers_per_group, kinds)
        total = by_group.sum(axis=0) if group is None else by_group[group]
        per_run.append(total / np.maximum(total.sum(axis=1, keepdims=True), 1))
    return profile(per_run)

"""Two ways to run a network beside each other: where they differ, and by how much.

A difference is that of an `other` series from a `reference`, in percent of the reference. Its
interval is that of a family: of all points of a series together, 95 of 100 such families have no
point at which equals seem to differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import polars as pl

from deroute import analysis
from deroute.analysis import Estimate
from deroute.reader import Label

#: Differences below so many percent do not matter, however well they are known.
LEAST_PERCENT = 1.0
#: Intervals of more percent leave open whether there is a difference.
_LARGE = 10.0
#: Chance that a series of equals seems to differ somewhere.
_CHANCE = 0.05
_GRID = 40_001


@dataclass(frozen=True, slots=True)
class Metric:
    """What is compared."""

    name: str
    #: Column, and that of its interval within a run.
    column: str
    within: str | None
    unit: str
    #: Whether it is a time in cycles, of which there are so many in a unit of so many ns.
    ns: float | None
    #: Points that are saturated have none.
    steady: bool

    def estimates(self, rows: pl.DataFrame, x: str | None) -> dict[Label | None, Point]:
        """What each point of a curve has, by its place on the axis."""
        by = [_ALL] if x is None else [x]
        frame = rows.with_columns(pl.lit(0).alias(_ALL)) if x is None else rows
        points = analysis.over_seeds(frame, by, self.column, self.within)
        scale = 1.0 if self.ns is None else float(rows["cycle_ns"][0]) / self.ns
        found = {}
        for row in points.iter_rows(named=True):
            # Percentiles are those of a histogram, whose bins have a width.
            half = math.hypot(row["ci95"], self._width(rows) * row["mean"])
            estimate = Estimate(row["mean"], half, row["runs"]).scaled(scale)
            place = None if x is None else row[x]
            found[place] = Point(estimate, row["state"], row["keeps_up"])
        return found

    def _width(self, rows: pl.DataFrame) -> float:
        return float(rows["latency.histogram_error"][0]) if self.name == "p99 latency" else 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve over all seeds."""

    value: Estimate
    state: str
    #: Whether it accepts what its hosts attempt to send.
    keeps_up: bool


_ALL = "all"
LATENCY = Metric("latency", "latency.mean", "latency.ci95", "ns", 1.0, steady=True)
TAIL = Metric("p99 latency", "latency.p99", None, "ns", 1.0, steady=True)
THROUGHPUT = Metric(
    "throughput", "load.accepted", "load.accepted_ci95", "phits/host/cycle", None, steady=False
)
TIME = Metric("time", analysis.MAKESPAN, None, "us", 1000.0, steady=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """How one point differs from its reference."""

    x: Label | None
    reference: Point
    other: Point
    #: Percent that the other lies above the reference, with the interval of the family; None where
    #: one of them has no such value, because it is saturated.
    percent: Estimate | None

    @property
    def matters(self) -> bool:
        """Whether it is known to be there, and large enough."""
        if self.percent is None or math.isnan(self.percent.ci95):
            return False
        size = abs(self.percent.mean)
        return size > self.percent.ci95 and size >= LEAST_PERCENT

    @property
    def sign(self) -> int:
        """1 for more, -1 for less, 0 where it does not matter."""
        if not self.matters or self.percent is None:
            return 0
        return 1 if self.percent.mean > 0 else -1


@dataclass(frozen=True, slots=True)
class Comparison:
    """A series beside its reference."""

    #: Labels on the axes that both have in common.
    labels: Mapping[str, Label]
    reference: str
    other: str
    x: str | None
    #: By the metric's name.
    differences: Mapping[str, Sequence[Difference]]
    #: Places on the axis that only one of them has.
    unmatched: Sequence[Label | None]

    @property
    def is_known(self) -> bool:
        """Whether there is a place that both have."""
        return any(self.differences.values())

    @property
    def verdict(self) -> str:
        """What is to be said of the series, in one sentence."""
        if not self.is_known:
            return f"no {self.x} is in both"
        parts = [_sentence(name, each, self.x) for name, each in self.differences.items()]
        return ", ".join(part for part in parts if part)


def compare(
    reference: pl.DataFrame,
    other: pl.DataFrame,
    x: str | None,
    *,
    names: tuple[str, str],
    labels: Mapping[str, Label] | None = None,
) -> Comparison:
    """Compare two curves: rows of one series each, of any number of seeds."""
    workload = analysis.MAKESPAN in reference.columns
    metrics = (TIME, LATENCY) if workload else (LATENCY, TAIL, THROUGHPUT)
    differences: dict[str, list[Difference]] = {}
    unmatched: dict[Label | None, None] = {}
    for metric in metrics:
        ones, others = metric.estimates(reference, x), metric.estimates(other, x)
        unmatched |= dict.fromkeys(place for place in (*ones, *others) if place not in ones)
        unmatched |= dict.fromkeys(place for place in ones if place not in others)
        pairs = [(place, ones[place], others[place]) for place in ones if place in others]
        differences[metric.name] = list(_differences(metric, pairs))
    return Comparison(labels or {}, *names, x, differences, list(unmatched))


def _differences(
    metric: Metric, pairs: Sequence[tuple[Label | None, Point, Point]]
) -> Iterator[Difference]:
    known = [_known(metric, one, other) for _, one, other in pairs]
    for (place, one, other), is_known in zip(pairs, known, strict=True):
        percent = _percent(one.value, other.value, sum(known)) if is_known else None
        yield Difference(place, one, other, percent)


def _known(metric: Metric, one: Point, other: Point) -> bool:
    if one.value.mean == 0 or not math.isfinite(one.value.mean + other.value.mean):
        return False
    if metric.steady:
        return "saturated" not in (one.state, other.state)
    if metric is THROUGHPUT:
        # Below saturation both accept what is attempted.
        return not (one.keeps_up and other.keeps_up)
    return "unfinished" not in (one.state, other.state)


def _percent(one: Estimate, other: Estimate, family: int) -> Estimate:
    """Percent that `other` lies above `one`, with an interval that holds for a family of points."""
    ratio = analysis.ratio(other, one)
    seeds = min(one.runs, other.runs)
    degrees = seeds - 1 if seeds > 1 else None
    wider = quantile(1 - _CHANCE / 2 / family, degrees) / quantile(1 - _CHANCE / 2, degrees)
    return Estimate(100 * (ratio.mean - 1), 100 * ratio.ci95 * wider, ratio.runs)


def quantile(chance: float, degrees: int | None) -> float:
    """Quantile of Student's t; of the normal distribution without a number of degrees."""
    if degrees is None:
        return NormalDist().inv_cdf(chance)
    # With t = sqrt(n) tan(a) the density is that of cos(a)^(n-1), which ends at a right angle; near
    # its ends, where far quantiles of few degrees lie, the grid is dense.
    angles = np.pi / 2 * np.sin(np.linspace(-np.pi / 2, np.pi / 2, _GRID))
    density = np.cos(angles) ** (degrees - 1)
    steps = np.diff(angles) * (density[1:] + density[:-1]) / 2
    total = np.concatenate([[0.0], np.cumsum(steps)])
    angle = float(np.interp(chance, total / total[-1], angles))
    return math.sqrt(degrees) * math.tan(angle)


def _sentence(name: str, differences: Sequence[Difference], x: str | None) -> str:
    """What a metric does along the axis."""
    if name == TAIL.name:  # It follows the mean, and has no interval within a run.
        return ""
    if name == THROUGHPUT.name:
        return _throughput(differences, x)
    known = [each for each in differences if each.percent is not None]
    if not known:
        return f"{name} cannot be compared: one of them is saturated or not at its end"
    if all(math.isnan(each.percent.ci95) for each in known if each.percent):
        return f"{name} has no interval to tell a difference by: run more seeds"
    regions = _regions(known)
    if not regions:
        sizes = (abs(each.percent.mean) + each.percent.ci95 for each in known if each.percent)
        within = max(size for size in sizes if not math.isnan(size))
        return _nothing(name, within)
    told = [f"{_size(region)} {name}{_where(region, differences, x)}" for region in regions]
    return ", ".join(told)


def _nothing(name: str, within: float) -> str:
    """That a difference of at most so many percent was not seen."""
    if within < _LARGE:
        return f"no difference in {name} (less than {_rounded(within)}%)"
    return f"whether {name} differs is open (up to {_rounded(within)}%): run longer, or more seeds"


def _regions(known: Sequence[Difference]) -> list[list[Difference]]:
    """Neighbouring points that differ in the same direction."""
    regions: list[list[Difference]] = []
    before = 0
    for each in known:
        if each.sign and each.sign == before:
            regions[-1].append(each)
        elif each.sign:
            regions.append([each])
        before = each.sign
    return regions


def _size(region: Sequence[Difference]) -> str:
    sizes = sorted(abs(each.percent.mean) for each in region if each.percent is not None)
    word = "more" if region[0].sign > 0 else "less"
    low, high = _rounded(sizes[0]), _rounded(sizes[-1])
    return f"{low}% {word}" if low == high else f"{low} to {high}% {word}"


def _rounded(percent: float) -> str:
    """Two digits that count, and all of a large number."""
    return f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"


def _where(region: Sequence[Difference], every: Sequence[Difference], x: str | None) -> str:
    """Where a region lies, among all points of both curves."""
    if x is None:
        return ""
    first, last = region[0].x, region[-1].x
    if len(region) == len(every) > 1:
        return f" at every {x}"
    if first == last:
        return f" at {x} {first}"
    if region[0] is every[0]:
        return f" up to {x} {last}"
    return f" from {x} {first} on" if region[-1] is every[-1] else f" from {x} {first} to {last}"


def _throughput(differences: Sequence[Difference], x: str | None) -> str:
    """That of the curves: the most that each of them accepts."""
    if all(each.reference.keeps_up and each.other.keeps_up for each in differences):
        return "neither saturates"
    if all(each.percent is None for each in differences):
        return "throughput cannot be compared: the reference accepts nothing"
    one = max((each.reference for each in differences), key=lambda point: point.value.mean)
    other = max((each.other for each in differences), key=lambda point: point.value.mean)
    change = _percent(one.value, other.value, 1)
    if math.isnan(change.ci95):
        return "throughput has no interval to tell a difference by: run more seeds"
    size = abs(change.mean)
    if size <= change.ci95 or size < LEAST_PERCENT:
        return _nothing("throughput", size + change.ci95)
    # One that still keeps up where it was looked at last can do more.
    best = other if change.mean > 0 else one
    least = "at least " if best.keeps_up else ""
    word = "more" if change.mean > 0 else "less"
    return f"{least}{_rounded(size)}% {word} throughput{_saturation(differences, x)}"


def _saturation(differences: Sequence[Difference], x: str | None) -> str:
    """From where on each of the two saturates, if that is not the same place."""
    if x is None:
        return ""
    ends = [
        next((point[1] for point in points if point[0].state == "saturated"), None)
        for points in (
            [(each.other, each.x) for each in differences],
            [(each.reference, each.x) for each in differences],
        )
    ]
    if ends[0] == ends[1]:
        return ""
    here, there = (f"at {x} {end}" if end is not None else "not at all" for end in ends)
    return f" (saturated {here}, the reference {there})"

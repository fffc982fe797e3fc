"""Seeds as needed: a point is repeated until the interval between its seeds is narrow enough.

The first `least` seeds of a point are always run, then half as many again, and so on, until the
half-widths of the 95% intervals are at most the stated shares of the means, or `most` seeds are
done. After how many it ends depends on the results of the seeds in their order alone: not on how
many are run at the same time, in which order they end, or whether the run was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from deroute import _engine, reference
from deroute.analysis import SEED, estimate, state_over_seeds
from deroute.experiment import Experiment, Point
from deroute.reader import Label, Seeds
from deroute.store import FILE, Store, Stored

_LATENCY, _ACCEPTED = "latency.mean", "load.accepted"
#: Scalars of a result that decide.
_COLUMNS = (_LATENCY, _ACCEPTED, "load.attempted", "verdict.state")

Row = Mapping[str, Any]


def wanted(experiment: Experiment, stored: Iterable[Stored]) -> list[Point]:
    """Points that are to be run as far as these results say, finished ones included."""
    if experiment.seeds is None:
        return experiment.points
    known = {each.key: _row(json.loads(each.outcome)) for each in stored}
    found = {
        point.key
        for group in _groups(experiment).values()
        for point in group[: _count(experiment.seeds, group, known)]
    }
    return [point for point in experiment.points if point.key in found]


def runs(experiment: Experiment, directory: Path) -> list[Point]:
    """The same with what they are compared with, for the results of a directory."""
    stored: list[Stored] = []
    if (directory / FILE).exists():
        with Store.open(directory) as store:
            stored = [each for each in store.points() if each.engine == _engine.VERSION]
    points = wanted(experiment, stored)
    return [*points, *reference.distinct(reference.references(experiment, points))]


def open_points(experiment: Experiment, frame: pl.DataFrame) -> int:
    """How many points have all their seeds, and intervals that are wider than asked for."""
    seeds = experiment.seeds
    if seeds is None or frame.is_empty():
        return 0
    axes = [axis for axis in experiment.axes if axis != SEED]
    groups = [rows for _, rows in frame.group_by(axes)] if axes else [frame]
    return sum(len(rows) == seeds.most and not _met(seeds, rows) for rows in groups)


def _groups(experiment: Experiment) -> dict[tuple[Label, ...], list[Point]]:
    """Points that differ in their seed only, in the order of their seeds."""
    found: dict[tuple[Label, ...], list[Point]] = {}
    for point in experiment.points:
        others = tuple(label for axis, label in point.labels.items() if axis != SEED)
        found.setdefault(others, []).append(point)
    return found


def _count(seeds: Seeds, group: Sequence[Point], known: Mapping[str, Row]) -> int:
    """How many of the first seeds are needed, as far as is known."""
    count = seeds.least
    while count < len(group):
        rows = [known[point.key] for point in group[:count] if point.key in known]
        if len(rows) < count or _met(seeds, pl.DataFrame(rows)):
            break
        count += max(1, count // 2)
    return count


def _met(seeds: Seeds, rows: pl.DataFrame) -> bool:
    """Whether the intervals are narrow enough; a saturated point has no latency."""
    asked = {_ACCEPTED: seeds.accepted}
    if state_over_seeds(rows) != "saturated":
        asked[_LATENCY] = seeds.latency
    for column, share in asked.items():
        found = estimate(rows[column].to_numpy())
        if share is not None and not found.ci95 <= share * found.mean:
            return False
    return True


def _row(outcome: Row) -> Row:
    """The scalars of a result that decide."""
    parts = (column.partition(".") for column in _COLUMNS)
    return {f"{part}.{name}": outcome[part][name] for part, _, name in parts}

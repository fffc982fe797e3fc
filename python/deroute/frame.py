"""The finished points of a result directory as one table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from deroute import _engine, reference, replications
from deroute.errors import InputError, Problem
from deroute.experiment import Experiment, Point
from deroute.results import Outcome
from deroute.store import FILE, Store, Stored, read_arrays

#: Column of the seed; an axis of this name, or `run.seed` of the spec.
SEED = "seed"
_DEFAULT_SEED = 1


@dataclass(frozen=True)
class Results:
    """Finished points of an experiment."""

    experiment: Experiment
    #: One row per finished point: a column per axis, `seed`, and the scalars of the outcome; with a
    #: reference also how it compares (`relative.accepted`, or `relative.slowdown` of a workload).
    frame: pl.DataFrame
    #: Outcomes of the rows, in their order. Arrays are read when they are asked for.
    outcomes: Sequence[Outcome]
    #: Versions of the engine that computed them.
    engine: str
    #: Points of the experiment; of seeds as needed those that are needed, as far as is known.
    points: Sequence[Point]
    #: Those that are not finished, and references.
    missing: Sequence[Point]
    #: Where they are.
    directory: Path
    #: Day (UTC) on which the newest point was finished; empty if none is.
    day: str


def load_results(directory: Path | str) -> Results:
    """Read a result directory, which may still be growing.

    Of a point that several versions of the engine have computed, the result of the present
    version is taken, else the newest.
    """
    directory = Path(directory)
    with Store.open(directory) as store:
        experiment = Experiment.from_document(store.experiment(), path=_copy(directory))
        stored = _newest(store.points())
    points = replications.wanted(experiment, stored.values())
    finished = [(point, stored[point.key]) for point in points if point.key in stored]
    compared = reference.references(experiment, points)
    wanted = [*points, *reference.distinct(compared)]
    missing = [point for point in wanted if point.key not in stored]
    outcomes = [_outcome(directory / FILE, row) for _, row in finished]
    others = {
        key: _outcome(directory / FILE, stored[other.key])
        for key, other in compared.items()
        if other.key in stored
    }
    rows = []
    for (point, _), outcome in zip(finished, outcomes, strict=True):
        row = labels(point) | outcome.scalars()
        if compared:
            row |= reference.relative(outcome, others.get(point.key))
        rows.append(row)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    engines = sorted({row.engine for _, row in finished}) or [_engine.VERSION]
    day = max((row.finished_at for _, row in finished), default="").partition(" ")[0]
    engine = " and ".join(engines)
    return Results(experiment, frame, outcomes, engine, points, missing, directory, day)


def _newest(points: Iterable[Stored]) -> dict[str, Stored]:
    chosen: dict[str, Stored] = {}
    for point in points:
        known = chosen.get(point.key)
        if known is None or known.engine != _engine.VERSION:
            chosen[point.key] = point
    return chosen


def labels(point: Point) -> dict[str, str | int | float]:
    """Labels of a point on the axes, and its seed."""
    found = dict(point.labels)
    if SEED not in found:
        found[SEED] = json.loads(point.canonical).get("run", {}).get("seed", _DEFAULT_SEED)
    return found


def _outcome(file: Path, row: Stored) -> Outcome:
    try:
        return Outcome.read(row.outcome, partial(read_arrays, file, row.key, row.engine))
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        message = f"the result of the point {row.key} cannot be read: {reason}; `deroute repair`"
        message += f" {file.parent} drops it, so that the next run computes it again"
        raise InputError([Problem(message, file=file)]) from error


def _copy(directory: Path) -> Path | None:
    file = directory / "experiment.toml"
    return file if file.exists() else None

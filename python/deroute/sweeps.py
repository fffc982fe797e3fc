"""A sweep from Python: a spec, its axes, and a frame of what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import polars as pl
from numpy.typing import NDArray
from rich.progress import Progress

from deroute import plan
from deroute.api import require_one
from deroute.errors import InputError, SimulationError
from deroute.executors import Done, Failed, Resources
from deroute.executors.local import LocalExecutor
from deroute.experiment import Experiment, Point
from deroute.frame import labels
from deroute.results import Outcome
from deroute.spec import plain

#: Values of an axis: those of one entry of the spec, or what each label sets.
Values = Sequence[Any] | NDArray[Any] | Mapping[str, Mapping[str, Any]]
_T = TypeVar("_T")


def sweep(
    spec: Mapping[str, Any],
    axes: Mapping[str, Values],
    *,
    jobs: int = 0,
    threads: int = 1,
    progress: bool = True,
) -> pl.DataFrame:
    """Simulate every combination of the axes; one row for each.

    An axis is a path of the spec with its values, or a name with labels and what they set::

        deroute.sweep(spec, {
            "routing": {"MIN": {"routing": {"minimal": {}}}, "UGAL": {"routing": {"ugal": {}}}},
            "traffic.load": [0.1, 0.2, 0.3],
            "run.seed": [1, 2, 3],
        })

    Columns are the axes, by the last part of their paths, `seed`, and the scalars of the outcomes
    (`Outcome.scalars`). Rows stand in the order of the axes, the last one varying fastest. `jobs`
    points run at once, as many as there are cores by default, each on so many `threads`;
    `progress` shows a bar. Nothing is kept but what is returned: an experiment file keeps its
    results. Raises `InputError` before anything runs, `SimulationError` for the first point that
    fails, and stops on Ctrl-C.
    """
    require_one(threads=threads)
    if jobs < 0:
        raise InputError.of(f"{jobs} is less than 0", "jobs")
    document = {"name": "sweep", "base": plain(spec), "axis": _axes(axes)}
    points = plan.check_experiment(Experiment.from_document(document)).points
    outcomes: dict[str, Outcome] = {}
    with Progress(transient=True, disable=not progress) as bar:
        task = bar.add_task("sweep", total=len(points))
        running = LocalExecutor(Resources(jobs, threads)).run(points)
        try:
            for event in running:
                if isinstance(event, Failed):
                    raise SimulationError(f"{event.point}: {event.message}")
                if isinstance(event, Done):
                    outcomes[event.point.key] = _outcome(event)
                    bar.advance(task)
        finally:
            running.close()
    return pl.DataFrame([_row(point, outcomes) for point in points], infer_schema_length=None)


def _outcome(event: Done) -> Outcome:
    arrays = event.arrays
    return Outcome.read(event.outcome, lambda: arrays)


def _row(point: Point, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    return labels(point) | outcomes[point.key].scalars()


def _axes(axes: Mapping[str, Values]) -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = []
    for name, values in axes.items():
        if isinstance(values, Mapping):
            named = [{"label": label, "set": plain(sets)} for label, sets in values.items()]
            tables.append({"name": name, "values": named})
        else:
            last = name.rpartition(".")[2]
            entries = plain({"values": list(values)})["values"]
            tables.append({"name": last, "path": name, "values": entries})
    return tables

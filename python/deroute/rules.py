"""What figures and the base of an experiment must be, beyond what their own readers check."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deroute.api import Footprint
from deroute.errors import DocumentPath, Problem, SpecError, parse_path
from deroute.experiment import NAME, Experiment, Label, Point
from deroute.figures import FigureTable
from deroute.spec import assign, in_order

#: Kinds of figures whose abscissa is a number.
_NUMERIC = ("latency", "throughput")
_NOTHING = object()


def figure_problems(experiment: Experiment, tables: Sequence[FigureTable]) -> Iterator[Problem]:
    """What would fail only when the figures are drawn, after everything has run."""
    axes = experiment.axes
    for index, table in enumerate(tables):
        place: DocumentPath = ("figure", index)
        if not NAME.fullmatch(table.name):
            message = f"{table.name!r} is not a name; it names files"
            yield experiment.problem((*place, "name"), message, [NAME.pattern])
        limit = table.options.get("y_max")
        if isinstance(limit, int | float) and not limit > 0:
            yield experiment.problem((*place, "y_max"), f"{limit} is not above 0")
        if table.kind in _NUMERIC and table.x in axes and not _numbers(axes[table.x]):
            numeric = [axis for axis in axes if axis != "seed" and _numbers(axes[axis])]
            steps = (*place, "x") if "x" in experiment.figures[index] else place
            message = f"the labels of {table.x!r} are not numbers"
            yield experiment.problem(steps, message, numeric)
        if table.kind == "transient":
            yield from _without_series(experiment, table, place)


def _numbers(labels: Sequence[Label]) -> bool:
    return not any(isinstance(label, str) for label in labels)


def _without_series(
    experiment: Experiment, table: FigureTable, place: DocumentPath
) -> Iterator[Problem]:
    drawn = [point for point in experiment.points if _is_drawn(point, table)]
    bare = [point for point in drawn if _entry(point.spec, ("probes", "series")) is _NOTHING]
    if bare:
        message = 'a transient figure needs `probes.series` in the spec, such as "100 ns"'
        note = f"missing in {len(bare)} of {len(drawn)} points, first {bare[0]}"
        yield experiment.problem((*place, "kind"), message, note=note if bare[0].labels else "")


def _is_drawn(point: Point, table: FigureTable) -> bool:
    return all(point.labels[axis] in labels for axis, labels in table.where.items())


def base_problems(experiment: Experiment) -> Iterator[Problem]:
    """Mistakes in entries of the base that the axes replace, so that no point has them.

    The base need not be possible as a whole. An entry is wrong if the engine refuses it in the
    base and, alone, in the first and in the last point as well.
    """
    base = experiment.base
    if _error(base) is None:
        return
    paths = {path: None for axis in experiment.sweep for v in axis.values for path in v.assignments}
    ends = [experiment.points[0], experiment.points[-1]]
    for path in paths:
        steps = parse_path(path)
        old = _entry(base, steps)
        if old is _NOTHING:
            continue
        errors = [_error(_with(point.spec, path, old)) for point in ends]
        first = errors[0]
        if first is None or any(e is None or e.path != first.path for e in errors):
            continue
        place = parse_path(first.path)
        if place[: len(steps)] == steps and _entry(base, place) is not _NOTHING:
            note = "every point replaces it"
            yield experiment.problem(("base", *place), first.message, first.choices, note)


def _error(spec: Mapping[str, Any]) -> SpecError | None:
    try:
        Footprint.of(in_order(spec))
    except SpecError as error:
        return error
    return None


def _with(spec: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(in_order(spec))
    assign(changed, path, value)
    return changed


def _entry(spec: Any, steps: DocumentPath) -> Any:
    for step in steps:
        if isinstance(spec, Mapping) and str(step) in spec:
            spec = spec[str(step)]
        elif isinstance(spec, list) and isinstance(step, int) and step < len(spec):
            spec = spec[step]
        else:
            return _NOTHING
    return spec

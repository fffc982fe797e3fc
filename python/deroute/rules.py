"""What figures and specs of an experiment must be, beyond what their own readers check."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deroute.api import Footprint
from deroute.errors import DocumentPath, InputError, Problem, SpecError, parse_path
from deroute.experiment import Experiment, Point
from deroute.figures import FigureTable
from deroute.figures.completion import SLOWED
from deroute.figures.distribution import LINKS
from deroute.figures.line import unknown
from deroute.figures.path_mix import ROUTER
from deroute.figures.throughput import RELATIVE
from deroute.groups import groups, routers_per_group
from deroute.reader import NAME, REFERENCES, Label
from deroute.spec import assign, cycle_ns, in_order, microseconds, spec_error

#: Kinds of figures whose abscissa is a number.
_NUMERIC = ("latency", "throughput", "line")
#: Kinds of figures that show a record in time, the probe that makes it, and an example of it.
_PROBES = {
    "transient": ("series", '"100 ns"'),
    "flow": ("series", '"100 ns"'),
    "agents": ("agents", '{ every = "100 ns" }'),
    "congestion": ("congestion", '{ every = "10 us" }'),
    "congestion-map": ("congestion.members", "true"),
    "congestion-hosts": ("congestion.members", "true"),
    "queues": ("queues", '{ every = "1 us", ports = { hosts = [0] } }'),
    "rates": ("rates", '{ every = "1 us", flows = { hosts = [0] } }'),
    "pauses": ("pauses", "true"),
    "paused": ("pauses", "true"),
}
#: Ends of an ordinate that can be drawn.
_LEAST_Y, _MOST_Y = 1e-9, 1e12
_NOTHING = object()
#: What the engine says of a table that names no alternative, or several.
_ONE = "must name exactly one alternative"
#: What stands in for an entry that is wrong, to see what else is; the first that is possible.
_STANDINS = (_NOTHING, 8, 1, "1 MB")
_DEFAULT_MEASURE = 60_000


def figure_problems(experiment: Experiment, tables: Mapping[int, FigureTable]) -> Iterator[Problem]:
    """What would fail only when the figures are drawn, after everything has run."""
    axes = experiment.axes
    for index, table in tables.items():
        place: DocumentPath = ("figure", index)
        if not NAME.fullmatch(table.name):
            message = f"{table.name!r} is not a name; it names files"
            yield experiment.problem((*place, "name"), message, [NAME.pattern])
        limit = table.options.get("y_max")
        if isinstance(limit, int | float) and not _LEAST_Y <= limit <= _MOST_Y:
            message = f"{limit} is not the end of an ordinate"
            allowed = [f"{_LEAST_Y:g} to {_MOST_Y:g}"]
            yield experiment.problem((*place, "y_max"), message, allowed)
        if table.kind in _NUMERIC and table.x in axes and not _numbers(axes[table.x]):
            numeric = [axis for axis in axes if axis != "seed" and _numbers(axes[axis])]
            steps = (*place, "x") if "x" in experiment.figures[index] else place
            message = f"the labels of {table.x!r} are not numbers"
            yield experiment.problem(steps, message, numeric)
        if table.kind in ("line", "heat-map"):
            yield from _without_column(experiment, table, place)
        if table.kind in _PROBES:
            yield from _without_probe(experiment, table, place, _PROBES[table.kind])
        if table.kind == "distribution" and table.options["of"] == LINKS:
            yield from _without_probe(experiment, table, place, ("links", "true"))
        if table.kind == "completion":
            yield from _without_workload(experiment, table, place)
        if table.kind == "streams":
            yield from _without_streams(experiment, table, place)
        if table.options.get("of") in (RELATIVE, SLOWED):
            yield from _without_reference(experiment, table, place)
        if table.kind == "path-mix" and table.x != ROUTER and "group" in experiment.figures[index]:
            message = 'only bars per router have a group: `x = "router"`'
            yield experiment.problem((*place, "group"), message)


def _numbers(labels: Sequence[Label]) -> bool:
    return not any(isinstance(label, str) for label in labels)


def _without_probe(
    experiment: Experiment, table: FigureTable, place: DocumentPath, needed: tuple[str, str]
) -> Iterator[Problem]:
    probe, example = needed
    drawn = [point for point in experiment.points if _is_drawn(point, table)]
    path = ("probes", *probe.split("."))
    bare = [point for point in drawn if _entry(point.spec, path) in (_NOTHING, False)]
    if bare:
        message = f"a figure of this kind needs `probes.{probe}` in the spec, such as {example}"
        note = f"missing in {len(bare)} of {len(drawn)} points, first {bare[0]}"
        yield experiment.problem((*place, "kind"), message, note=note if bare[0].labels else "")


def _without_column(
    experiment: Experiment, table: FigureTable, place: DocumentPath
) -> Iterator[Problem]:
    column = str(table.options["y"])
    meant = unknown(column)
    if meant is not None:
        message = f"the results have no number `{column}`"
        yield experiment.problem((*place, "y"), message, meant)


def _without_reference(
    experiment: Experiment, table: FigureTable, place: DocumentPath
) -> Iterator[Problem]:
    if experiment.reference is None:
        message = f"{table.options['of']!r} needs a `reference` in the file"
        choices = [f'reference = "{name}"' for name in REFERENCES]
        yield experiment.problem((*place, "of"), message, choices)
    if table.options.get("job") is not None:
        message = "a slowdown is that of the whole workload"
        yield experiment.problem((*place, "job"), message, ["nothing"])


def _without_streams(
    experiment: Experiment, table: FigureTable, place: DocumentPath
) -> Iterator[Problem]:
    for point in experiment.points:
        if _is_drawn(point, table) and _entry(point.spec, ("traffic", "stream")) in (_NOTHING, []):
            message = "a figure of this kind needs streams in the spec: `traffic.stream`"
            note = f"missing in {point}" if point.labels else ""
            yield experiment.problem((*place, "kind"), message, note=note)
            return


def _without_workload(
    experiment: Experiment, table: FigureTable, place: DocumentPath
) -> Iterator[Problem]:
    drawn = [point for point in experiment.points if _is_drawn(point, table)]
    job = table.options["job"]
    for point in drawn:
        names = job_names(point.spec)
        note = f"seen in {point}" if point.labels else ""
        if not names:
            message = "a figure of this kind needs a `workload` in the spec"
            yield experiment.problem((*place, "kind"), message, note=note)
            return
        if job is not None and job not in names:
            message = f"there is no job {job!r}"
            yield experiment.problem((*place, "job"), message, names, note)
            return


def job_names(spec: Mapping[str, Any]) -> list[str]:
    """Names of the jobs of a spec, as the engine gives them."""
    jobs = _entry(spec, ("workload", "jobs"))
    listed = enumerate(jobs, 1) if isinstance(jobs, list) else ()
    return [job.get("name", f"job{i}") for i, job in listed if isinstance(job, Mapping)]


def _is_drawn(point: Point, table: FigureTable) -> bool:
    return all(point.labels[axis] in labels for axis, labels in table.where.items())


def group_problems(experiment: Experiment, tables: Mapping[int, FigureTable]) -> Iterator[Problem]:
    """Figures of groups of routers that are not there. The engine accepts all specs."""
    specs = [point.spec for point in experiment.points]
    size = routers_per_group(specs)
    for index, table in tables.items():
        if table.kind != "fairness" and table.x != ROUTER:
            continue
        key = "x" if table.x == ROUTER else "kind"
        if size is None:
            message = "the topology has no groups of routers, or groups of different sizes"
            yield experiment.problem(("figure", index, key), message)
            continue
        group = table.options["group"]
        least = min(found.count for found in map(groups, specs) if found is not None)
        if isinstance(group, int) and not 0 <= group < least:
            message = f"there is no group {group}"
            place = ("figure", index, "group")
            yield experiment.problem(place, message, [f"0 to {least - 1}", '"all"'])


def seed_problems(experiment: Experiment) -> Iterator[Problem]:
    """Seeds as needed look at what synthetic traffic has."""
    if experiment.seeds and any("workload" in point.spec for point in experiment.points):
        message = "a workload has no accepted load to be known: how many seeds are needed is open"
        yield experiment.problem(("seeds",), message, ["an axis `seed`"])


def check_changes(spec: Mapping[str, Any]) -> None:
    """Refuse a change of the traffic, or a stream that starts, after the measurement; the engine
    accepts the spec.
    """
    if "workload" in spec:  # Nobody knows when it ends.
        return
    cycle = cycle_ns(spec)
    measure = spec.get("run", {}).get("measure", _DEFAULT_MEASURE)
    end = microseconds(measure, cycle)
    traffic = spec.get("traffic", {})
    for entries, key in (("then", "at"), ("stream", "start")):
        for index, entry in enumerate(traffic.get(entries, [])):
            if key in entry and microseconds(entry[key], cycle) > end * (1 - 1e-9):
                message = f"{entry[key]} is not before the end of the measurement ({measure})"
                raise spec_error(f"traffic.{entries}[{index}].{key}", message)


def kind(error: SpecError) -> str:
    """The message of a mistake, without the names that a point has where exactly one is wanted."""
    return _ONE if error.message.startswith(_ONE) else error.message


def alternatives(spec: Mapping[str, Any], error: SpecError) -> list[str]:
    """The names that a spec has where exactly one is wanted; none of any other mistake."""
    entry = _entry(spec, parse_path(error.path)) if error.message.startswith(_ONE) else None
    return list(entry) if isinstance(entry, Mapping) else []


def further_mistakes(spec: Mapping[str, Any], first: SpecError) -> Iterator[SpecError]:
    """What else the engine finds in a spec once its first mistake is set aside, and so on."""
    error, seen = first, {first.path}
    while True:
        found = [(trial, _error(trial)) for trial in _without(spec, error)]
        repaired = [(trial, next) for trial, next in found if next is None or next.path not in seen]
        left = {None if next is None else next.path for _, next in repaired}
        # What depends on the stand-in is no mistake of the spec.
        if len(left) != 1 or None in left:
            return
        spec, following = repaired[0]
        assert following is not None
        place = parse_path(following.path)
        if place != parse_path(error.path) and place == parse_path(error.path)[: len(place)]:
            # The table misses the entry that was set aside.
            return
        error = following
        seen.add(error.path)
        # Of a key that was misspelt, or left out on purpose above.
        if error.message != "is missing":
            yield error


def _without(spec: Mapping[str, Any], error: SpecError) -> Iterator[dict[str, Any]]:
    """The spec with stand-ins for the wrong entry."""
    *above, last = parse_path(error.path) or ("",)
    if error.message.startswith("unknown variant") and _named(spec, error):
        yield from _renamed(spec, error)
        return
    for standin in (*_STANDINS, *error.choices[:1]):
        trial: dict[str, Any] = json.loads(in_order(spec))
        if standin is not _NOTHING:
            try:
                assign(trial, error.path, standin)
            except InputError:
                return
            yield trial
            continue
        table = _entry(trial, tuple(above)) if above else trial
        if isinstance(table, dict) and table.pop(str(last), _NOTHING) is not _NOTHING:
            yield trial


def _named(spec: Mapping[str, Any], error: SpecError) -> bool:
    """Whether the wrong entry is the name of a table: what it may be depends on the table."""
    return isinstance(_entry(spec, parse_path(error.path)), Mapping)


def _renamed(spec: Mapping[str, Any], error: SpecError) -> Iterator[dict[str, Any]]:
    """The spec with the name that was probably meant; none if that is not clear."""
    meant = Problem(error.message, error.path, tuple(error.choices)).hint()
    if meant is None:
        return
    trial: dict[str, Any] = json.loads(in_order(spec))
    (parameters,) = _entry(trial, parse_path(error.path)).values()
    assign(trial, error.path, {meant: parameters})
    yield trial


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

"""Experiment files: one base spec, sweep axes, figures.

An experiment is the product of its axes, less the combinations under `[[skip]]`. Every point is a
complete spec with one label per axis. Reading an experiment checks the file's own rules; what the
specs say is checked by `deroute.plan`.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from deroute import errors, matrices
from deroute.errors import DocumentPath, InputError, Problem, parse_path
from deroute.files import read_document
from deroute.spec import Spec, assign, canonical, fingerprint

Label = str | int | float
_T = TypeVar("_T")

_KEYS = ("name", "title", "base", "axis", "skip", "figure")
_AXIS_KEYS = ("name", "path", "values", "range")
_VALUE_KEYS = ("label", "set")
_RANGE_KEYS = ("from", "to", "step")
#: What a name of files must be.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_AXIS_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KINDS: Mapping[type, str] = {dict: "table", list: "list", str: "text"}
_MOST_POINTS = 1_000_000
#: Columns of results and of their averages, which an axis would hide.
RESERVED = (
    *("row", "router", "mean", "ci95", "runs", "state"),
    *("cycle_ns", "phit_bytes", "measured_from", "measured_cycles"),
    *("hops_mean", "blocked_attempts_mean"),
)


@dataclass(frozen=True)
class Point:
    """One simulation: its labels on the axes and its complete spec."""

    labels: Mapping[str, Label]
    spec: Spec

    @cached_property
    def canonical(self) -> str:
        """The spec as canonical JSON."""
        return canonical(self.spec)

    @cached_property
    def key(self) -> str:
        """Name of the point in result stores: the hash of its canonical spec."""
        return fingerprint(self.canonical)

    def __str__(self) -> str:
        return " ".join(f"{axis}={label}" for axis, label in self.labels.items())


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an axis: what it is called, what it sets, where it stands in the file."""

    label: Label
    assignments: Mapping[str, Any]
    place: DocumentPath


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of the sweep."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Experiment:
    """A base spec and what is varied."""

    name: str
    title: str
    sweep: tuple[Axis, ...]
    #: Tables of `[[figure]]`, as in the file.
    figures: Sequence[Mapping[str, Any]]
    #: The document from which this was read.
    document: Mapping[str, Any]
    #: The file and its text, if it came from one.
    path: Path | None = None
    text: str | None = None

    @classmethod
    def load(cls, file: Path | str) -> Experiment:
        """Read an experiment file."""
        file = Path(file)
        document, text = read_document(file)
        return cls.from_document(document, path=file, text=text)

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], *, path: Path | None = None, text: str | None = None
    ) -> Experiment:
        """Read an experiment from its document (the parsed file)."""
        draft = cls.draft(document, path=path, text=text)
        if draft.problems:
            raise InputError(draft.problems)
        return draft.experiment

    @classmethod
    def draft(
        cls, document: Mapping[str, Any], *, path: Path | None = None, text: str | None = None
    ) -> Draft:
        """Read what can be read of an experiment, and say what is wrong with the rest."""
        reader = _Reader(document, path, text)
        reader.keys(document, (), _KEYS)
        name = reader.attempt(lambda: reader.text(document, (), "name", NAME)) or "?"
        title = reader.attempt(lambda: reader.text(document, (), "title", None, default=name))
        base = reader.attempt(lambda: reader.typed(document, (), "base", dict))
        before = len(reader.problems)
        sweep = tuple(reader.attempt(reader.axes) or ())
        count = math.prod(len(axis.values) for axis in sweep)
        if count > _MOST_POINTS:
            reader.report(("axis",), f"{count} points are more than {_MOST_POINTS}")
        axes_read = base is not None and len(reader.problems) == before
        figures = reader.attempt(lambda: reader.tables("figure")) or []
        experiment = cls(name, title or name, sweep, figures, document, path, text)
        before = len(reader.problems)
        if axes_read:
            reader.skips(experiment.axes)
        skips_read = axes_read and len(reader.problems) == before
        return Draft(experiment, tuple(reader.problems), axes_read, skips_read)

    @property
    def axes(self) -> dict[str, list[Label]]:
        """Labels of each axis, in the order of the file."""
        return {axis.name: [value.label for value in axis.values] for axis in self.sweep}

    @property
    def base(self) -> Spec:
        """The spec on which the axes act."""
        return copy.deepcopy(dict(self.document["base"]))

    @cached_property
    def points(self) -> list[Point]:
        """Every point, the last axis varying fastest."""
        return [self.point(values) for values in self._combinations()]

    def point(self, values: Sequence[Value]) -> Point:
        """The point with these values."""
        spec = self.base
        for value in values:
            for path, new in value.assignments.items():
                try:
                    assign(spec, path, copy.deepcopy(new))
                except InputError as error:
                    where = (*value.place, *self._set_steps(value, path))
                    message = error.problems[0].message
                    raise InputError([self.problem(where, message)]) from None
        labels = {axis.name: value.label for axis, value in zip(self.sweep, values, strict=False)}
        return Point(labels, spec)

    def problem(
        self, place: DocumentPath, message: str, choices: Sequence[str] = (), note: str = ""
    ) -> Problem:
        """A problem at a place of the document, or on the line of the file that was read there."""
        problem = errors.in_file(
            message, place, file=self.path, text=self.text, choices=choices, note=note
        )
        read = matrices.origin(self.document, place)
        return dataclasses.replace(problem, file=read[0], line=read[1]) if read else problem

    def origin(self, labels: Mapping[str, Label], spec_path: str) -> DocumentPath:
        """Where in the document the entry of a point's spec comes from."""
        wanted = parse_path(spec_path)
        for axis in reversed(self.sweep):
            if axis.name not in labels:
                continue
            value = next(value for value in axis.values if value.label == labels[axis.name])
            for path in reversed(list(value.assignments)):
                steps = parse_path(path)
                if wanted[: len(steps)] == steps:
                    rest = wanted[len(steps) :]
                    return (*value.place, *self._set_steps(value, path), *rest)
        return ("base", *wanted)

    def setter(self, labels: Mapping[str, Label], unknown: str) -> DocumentPath | None:
        """The `path` of an axis, or the key of a `set`, that names the unknown entry of a spec."""
        wanted = parse_path(unknown)
        for index, axis in enumerate(self.sweep):
            value = next((v for v in axis.values if v.label == labels.get(axis.name)), None)
            for path in value.assignments if value else ():
                if parse_path(path)[: len(wanted)] == wanted:
                    steps = self._set_steps(value, path) if value else ()
                    return (*value.place, *steps) if value and steps else ("axis", index, "path")
        return None

    def _set_steps(self, value: Value, path: str) -> DocumentPath:
        place: Any = self.document
        for step in value.place:
            place = place[step]
        return ("set", path) if isinstance(place, Mapping) and "set" in place else ()

    def _combinations(self) -> Iterator[tuple[Value, ...]]:
        skips = self.document.get("skip", [])
        names = [axis.name for axis in self.sweep]
        for values in itertools.product(*(axis.values for axis in self.sweep)):
            labels = dict(zip(names, (value.label for value in values), strict=True))
            if not any(_matches(skip, labels) for skip in skips):
                yield values


@dataclass(frozen=True, slots=True)
class Draft:
    """What could be read of an experiment."""

    experiment: Experiment
    problems: tuple[Problem, ...]
    #: Its base and all its axes could be; without them there are no figures.
    axes_read: bool
    #: And all its skips; without them there are no points.
    skips_read: bool


def _matches(skip: Mapping[str, Any], labels: Mapping[str, Label]) -> bool:
    return all(
        labels[axis] in wanted if isinstance(wanted, list) else labels[axis] == wanted
        for axis, wanted in skip.items()
    )


class _Reader:
    """Reads a document's own tables and says where they are wrong."""

    def __init__(self, document: Mapping[str, Any], path: Path | None, text: str | None) -> None:
        self.document, self.path, self.source = document, path, text
        self.problems: list[Problem] = []

    def attempt(self, read: Callable[[], _T]) -> _T | None:
        """What was read, or None and a problem more."""
        try:
            return read()
        except InputError as error:
            self.problems += error.problems
            return None

    def report(self, place: DocumentPath, message: str, choices: Sequence[object] = ()) -> None:
        self.problems += self.error(place, message, choices).problems

    def error(
        self, place: DocumentPath, message: str, choices: Sequence[object] = ()
    ) -> InputError:
        return InputError(
            [errors.in_file(message, place, file=self.path, text=self.source, choices=choices)]
        )

    def keys(self, table: Mapping[str, Any], place: DocumentPath, known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                self.report((*place, key), f"unknown key `{key}`", known)

    def typed(self, table: Mapping[str, Any], place: DocumentPath, key: str, kind: type) -> Any:
        what = _KINDS[kind]
        if key not in table:
            raise self.error((*place, key), f"is missing: a {what}")
        if not isinstance(table[key], kind):
            raise self.error((*place, key), f"{table[key]!r} is not a {what}")
        return table[key]

    def text(
        self,
        table: Mapping[str, Any],
        place: DocumentPath,
        key: str,
        pattern: re.Pattern[str] | None,
        default: str | None = None,
    ) -> str:
        if key not in table and default is not None:
            return default
        value: str = self.typed(table, place, key, str)
        if pattern is not None and not pattern.fullmatch(value):
            raise self.error((*place, key), f"{value!r} is not a name", [pattern.pattern])
        return value

    def tables(self, key: str) -> list[dict[str, Any]]:
        tables = self.document.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            raise self.error((key,), f"must be written as [[{key}]] tables")
        return tables

    def axes(self) -> list[Axis]:
        read: list[Axis] = []
        for index, table in enumerate(self.tables("axis")):
            place: DocumentPath = ("axis", index)
            self.keys(table, place, _AXIS_KEYS)
            name = self.attempt(functools.partial(self.axis_name, table, place, read))
            values = self.attempt(functools.partial(self.distinct_values, table, place))
            if name is not None and values is not None:
                read.append(Axis(name, values))
        return read

    def axis_name(
        self, table: Mapping[str, Any], place: DocumentPath, before: Sequence[Axis]
    ) -> str:
        name = self.text(table, place, "name", _AXIS_NAME)
        if name in (axis.name for axis in before):
            raise self.error((*place, "name"), f"the axis {name!r} exists already")
        if name in RESERVED:
            message = f"{name!r} is a column of the results: give the axis another name"
            raise self.error((*place, "name"), message)
        return name

    def distinct_values(self, table: Mapping[str, Any], place: DocumentPath) -> tuple[Value, ...]:
        values = tuple(self.values(table, place))
        for label, group in itertools.groupby(sorted(str(v.label) for v in values)):
            if len(list(group)) > 1:
                raise self.error(place, f"the label {label!r} occurs twice on this axis")
        return values

    def values(self, table: Mapping[str, Any], place: DocumentPath) -> Iterator[Value]:
        if ("values" in table) == ("range" in table):
            raise self.error(place, "an axis has either `values` or a `range`")
        path = self.text(table, place, "path", None) if "path" in table else None
        if path is not None:
            self.well_formed(path, (*place, "path"))
        if "range" in table:
            if path is None:
                raise self.error((*place, "path"), "is missing: what the range varies")
            for number in self.range(table, (*place, "range")):
                yield Value(number, {path: number}, (*place, "range"))
            return
        values = self.typed(table, place, "values", list)
        if not values:
            raise self.error((*place, "values"), "is empty")
        for index, value in enumerate(values):
            yield self.value(value, path, (*place, "values", index))

    def value(self, value: Any, path: str | None, place: DocumentPath) -> Value:
        if isinstance(value, dict):
            self.keys(value, place, _VALUE_KEYS)
            label = value.get("label")
            if not isinstance(label, str | int | float) or isinstance(label, bool):
                raise self.error((*place, "label"), "every table of values has a label")
            assignments = dict(self.typed(value, place, "set", dict))
            for key in assignments:
                self.well_formed(key, (*place, "set", key))
            return Value(label, assignments, place)
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise self.error(place, f"{value!r} is not a label: write {{ label, set }}")
        if path is None:
            message = "the axis has no `path`: give one, or write { label = ..., set = { ... } }"
            raise self.error(place, message)
        return Value(value, {path: value}, place)

    def well_formed(self, path: str, place: DocumentPath) -> None:
        if not errors.is_path(path):
            message = f"{path!r} is not a path such as traffic.load or traffic.then[0].load"
            raise self.error(place, message)

    def range(self, table: Mapping[str, Any], place: DocumentPath) -> Iterator[int | float]:
        bounds = self.typed(table, place[:-1], "range", dict)
        self.keys(bounds, place, _RANGE_KEYS)
        numbers = []
        for key in _RANGE_KEYS:
            number = bounds.get(key)
            if not isinstance(number, int | float) or isinstance(number, bool):
                raise self.error((*place, key), "must be a number: { from, to, step }")
            numbers.append(Decimal(str(number)))
        low, high, step = numbers
        if not all(number.is_finite() for number in numbers) or step <= 0 or high < low:
            raise self.error(place, "needs from <= to and step > 0")
        if (high - low) / step > _MOST_POINTS:
            raise self.error(place, f"has more than {_MOST_POINTS} values")
        whole = all(isinstance(bounds[key], int) for key in _RANGE_KEYS)
        for index in range(int((high - low) / step) + 1):
            number = low + index * step
            yield int(number) if whole else float(number)

    def skips(self, axes: Mapping[str, Sequence[Label]]) -> None:
        for index, table in enumerate(self.attempt(lambda: self.tables("skip")) or ()):
            if not table:
                self.report(("skip", index), "is empty: it would skip every point")
            for axis, wanted in table.items():
                place = ("skip", index, axis)
                if axis not in axes:
                    self.report(place, f"unknown axis `{axis}`", list(axes))
                    continue
                for label in wanted if isinstance(wanted, list) else [wanted]:
                    if label not in axes[axis]:
                        self.report(place, f"no label {label!r}", axes[axis])

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deroute import errors, matrices
from deroute.errors import DocumentPath, InputError, Problem, parse_path
from deroute.files import read_document
from deroute.reader import KEYS, MOST_POINTS, NAME, Axis, Label, Reader, Seeds, Value
from deroute.spec import Spec, assign, canonical, fingerprint, not_deep
from deroute.tables.files import in_dumps


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


@dataclass(frozen=True)
class Experiment:
    """A base spec and what is varied."""

    name: str
    title: str
    sweep: tuple[Axis, ...]
    #: Tables of `[[figure]]`, as in the file.
    figures: Sequence[Mapping[str, Any]]
    #: What every point is compared with: one of `REFERENCES`.
    reference: str | None
    #: The document from which this was read.
    document: Mapping[str, Any]
    #: The file and its text, if it came from one.
    path: Path | None = None
    text: str | None = None
    #: Only as many values of the axis `seed` are run as this takes; None: all of them.
    seeds: Seeds | None = None

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
        try:
            not_deep(document)
        except RecursionError as error:
            raise InputError([Problem(str(error), file=path)]) from error
        reader = Reader(document, path, text)
        reader.keys(document, (), KEYS)
        name = reader.attempt(lambda: reader.text(document, (), "name", NAME)) or "?"
        title = reader.attempt(lambda: reader.text(document, (), "title", None, default=name))
        base = reader.attempt(lambda: reader.typed(document, (), "base", dict))
        reference = reader.attempt(reader.reference)
        before = len(reader.problems)
        sweep = tuple(reader.attempt(reader.axes) or ())
        seeds = reader.attempt(functools.partial(reader.seeds, sweep))
        sweep += (seeds.axis,) if seeds else ()
        count = math.prod(len(axis.values) for axis in sweep)
        if count > MOST_POINTS:
            reader.report(("axis",), f"{count} points are more than {MOST_POINTS}")
        axes_read = base is not None and len(reader.problems) == before
        figures = reader.attempt(lambda: reader.tables("figure")) or []
        title = title or name
        experiment = cls(name, title, sweep, figures, reference, document, path, text, seeds)
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
        message = in_dumps(message, self.document, place)
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

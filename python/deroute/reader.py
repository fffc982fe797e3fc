"""Reading the tables of an experiment file that are the lab's own, and what is wrong with them."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from deroute import errors
from deroute.errors import DocumentPath, InputError, Problem, parse_path
from deroute.spec import canonical

Label = str | int | float
_T = TypeVar("_T")

KEYS = ("name", "title", "extends", "base", "reference", "seeds", "axis", "skip", "figure")
#: The axis of repetitions, and what it sets.
SEED, SEED_PATH = "seed", "run.seed"

_AXIS_KEYS = ("name", "path", "values", "range", "overrides")
_VALUE_KEYS = ("label", "set")
_RANGE_KEYS = ("from", "to", "step")
_SEEDS_KEYS = ("latency", "accepted", "least", "most")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
#: Seeds that are run before anything is known, and the most there can be.
_LEAST_SEEDS, _MOST_SEEDS = 5, 1000
#: What a name of files must be.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_AXIS_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KINDS: Mapping[type, str] = {dict: "table", list: "list", str: "text", bool: "true or false"}
MOST_POINTS = 1_000_000
#: What the points of an experiment can be compared with.
REFERENCES = ("ideal crossbar",)
#: Columns of results and of their averages, which an axis would hide.
RESERVED = (
    *("row", "router", "mean", "ci95", "runs", "state"),
    *("cycle_ns", "phit_bytes", "measured_from", "measured_cycles"),
    *("hops_mean", "blocked_attempts_mean"),
)


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


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds as needed: how narrow intervals between them have to be, and how many they may be."""

    #: Half-widths of the 95% intervals, as shares of the means; None of what does not count.
    latency: float | None
    accepted: float | None
    least: int
    most: int

    @property
    def axis(self) -> Axis:
        """All of them."""
        numbers = range(1, self.most + 1)
        return Axis(SEED, tuple(Value(each, {SEED_PATH: each}, ("seeds",)) for each in numbers))


class Reader:
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

    def reference(self) -> str | None:
        name = self.document.get("reference")
        if name is not None and name not in REFERENCES:
            raise self.error(("reference",), f"{name!r} is no reference", REFERENCES)
        return name

    def seeds(self, axes: Sequence[Axis]) -> Seeds | None:
        """`seeds`: they are an axis, of which only what is needed is run."""
        if "seeds" not in self.document:
            return None
        place: DocumentPath = ("seeds",)
        table = self.typed(self.document, (), "seeds", dict)
        self.keys(table, place, _SEEDS_KEYS)
        if any(axis.name == SEED for axis in axes):
            message = f"the axis {SEED!r} says which seeds there are: leave out one of the two"
            raise self.error(place, message)
        if "latency" not in table and "accepted" not in table:
            raise self.error(place, "says no precision", ['latency = "2%"', 'accepted = "1%"'])
        latency, accepted = self.share(table, "latency"), self.share(table, "accepted")
        least = self.count(table, "least", 2, _LEAST_SEEDS)
        return Seeds(latency, accepted, least, self.count(table, "most", least, None))

    def share(self, table: Mapping[str, Any], key: str) -> float | None:
        """A precision, such as `"2%"`, if there is one."""
        if key not in table:
            return None
        text = table[key]
        match = _PERCENT.fullmatch(text) if isinstance(text, str) else None
        found = float(match[1]) / 100 if match else 0.0
        if not 0 < found < 1:
            raise self.error(("seeds", key), f"{text!r} is no precision", ['such as "2%"'])
        return found

    def count(self, table: Mapping[str, Any], key: str, least: int, default: int | None) -> int:
        """A number of seeds."""
        found = table.get(key, default)
        allowed = [f"{least} to {_MOST_SEEDS}"]
        if found is None:
            raise self.error(("seeds", key), "is missing: a number of seeds", allowed)
        if type(found) is not int or not least <= found <= _MOST_SEEDS:
            raise self.error(("seeds", key), f"{found!r} is no such number of seeds", allowed)
        return found

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
            if name is None or values is None:
                continue
            axis = Axis(name, values)
            if name == SEED:
                self.attempt(functools.partial(self.repetitions, axis, place))
            self.attempt(functools.partial(self.apart, table, axis, place, read))
            read.append(axis)
        return read

    def repetitions(self, axis: Axis, place: DocumentPath) -> None:
        """Tables and figures average over this axis: its values must differ in their seed."""
        runs: dict[str, Value] = {}
        for value in axis.values:
            if SEED_PATH not in value.assignments:
                message = f"results are averaged over the axis {SEED!r}: it has to set {SEED_PATH}"
                raise self.error((*place, "name"), message)
            same = runs.setdefault(canonical(value.assignments), value)
            if same is not value:
                message = f"{same.label!r} and {value.label!r} are one and the same run"
                raise self.error(value.place, message)

    def apart(
        self, table: Mapping[str, Any], axis: Axis, place: DocumentPath, before: Sequence[Axis]
    ) -> None:
        """An axis undoes what one before it sets only if it says so."""
        if "overrides" in table and self.typed(table, place, "overrides", bool):
            return
        for other, value in [(each, value) for each in before for value in each.values]:
            for path in value.assignments:
                over = _over(axis, parse_path(path))
                if over is not None:
                    message = f"the axis {axis.name!r} sets {over}, and {other.name!r} sets {path}"
                    advice = "the later one wins; if that is meant, say `overrides = true` here"
                    raise self.error(place, f"{message}: {advice}")

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
        seen: dict[str, Value] = {}
        for value in values:
            same = seen.setdefault(_name(value.label), value)
            if same is not value:
                message = f"the label {value.label!r} occurs twice on this axis"
                raise self.error(value.place, message)
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
            self.finite(label, (*place, "label"))
            assignments = dict(self.typed(value, place, "set", dict))
            for key in assignments:
                self.well_formed(key, (*place, "set", key))
            return Value(label, assignments, place)
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise self.error(place, f"{value!r} is not a label: write {{ label, set }}")
        self.finite(value, place)
        if path is None:
            message = "the axis has no `path`: give one, or write { label = ..., set = { ... } }"
            raise self.error(place, message)
        return Value(value, {path: value}, place)

    def finite(self, label: Label, place: DocumentPath) -> None:
        if isinstance(label, float) and not math.isfinite(label):
            raise self.error(place, f"{label} is not a finite number")

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
        if (high - low) / step > MOST_POINTS:
            raise self.error(place, f"has more than {MOST_POINTS} values")
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
                labels = wanted if isinstance(wanted, list) else [wanted]
                if not labels:
                    self.report(place, "is empty: it skips nothing", axes[axis])
                for label in labels:
                    if label not in axes[axis]:
                        self.report(place, f"no label {label!r}", axes[axis])


def _name(label: Label) -> str:
    """The same for 1 and 1.0, and for the text of either."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _over(axis: Axis, path: DocumentPath) -> str | None:
    """What an axis sets that undoes an entry which was set before."""
    paths = (mine for value in axis.values for mine in value.assignments)
    return next((mine for mine in paths if parse_path(mine) == path[: len(parse_path(mine))]), None)

"""`deroute point`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from deroute import api, rules, units
from deroute.cli import app
from deroute.cli.bars import bar
from deroute.cli.cells import grid
from deroute.errors import InputError, Problem, SpecError, is_path
from deroute.experiment import Experiment
from deroute.reader import Value
from deroute.results import Outcome
from deroute.spec import assign

#: Units of results, by the first part of their names; times are given in cycles and ns.
_UNITS: Mapping[str, str] = {
    "cycle_ns": "ns",
    "phit_bytes": "B",
    "load": "phits/host/cycle",
}


def point(
    file: app.File,
    where: app.Where = [],
    assignments: app.Assignments = [],
    threads: Annotated[int, typer.Option(min=1, help="Threads inside the simulation.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result.")] = False,
) -> None:
    """Run one point of an experiment and print its result; nothing is kept.

    It is the base spec of the file, changed first by the labels under `--where` in the order of
    the axes, then by `--set`; an axis that is not named leaves the base as it is.

    - `deroute point experiments/demo.toml --set traffic.load=0.3 --json`
    - `deroute point experiments/demo.toml --where routing=PB --set 'run.measure="20 us"'`
    """
    experiment = Experiment.load(file)
    spec, labels = spec_of(experiment, where, assignments)
    try:
        with bar("Simulating") as told:
            outcome = api.simulate(spec, threads=threads, progress=told)
    except SpecError as error:
        mistakes = [error, *rules.further_mistakes(spec, error)]
        found = [problem(experiment, labels, assignments, each) for each in mistakes]
        raise InputError(found) from error
    if as_json:
        print(json.dumps(outcome.to_json()))
    else:
        app.out().print(_table(outcome))


def spec_of(
    experiment: Experiment, where: list[str], assignments: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The base spec with the labels of `--where` and the entries of `--set`; and the labels."""
    labels = app.labels(experiment, where)
    spec = experiment.base
    for axis in experiment.sweep:
        if axis.name in labels:
            chosen = next(value for value in axis.values if value.label == labels[axis.name])
            _apply(spec, chosen)
    set_entries(spec, assignments)
    return spec, labels


def problem(
    experiment: Experiment, labels: dict[str, Any], assignments: list[str], error: SpecError
) -> Problem:
    """A mistake of the spec: with its line, unless `--set` makes it."""
    if any(error.path.startswith(path) for path in app.pairs(assignments, "--set")):
        return Problem(error.message, error.path, tuple(error.choices))
    place = experiment.origin(labels, error.path)
    # Axes that leave the base as it is.
    left = ", ".join(axis for axis in experiment.axes if axis not in labels)
    note = f"the base without labels of: {left} (--where AXIS=LABEL)" if left else ""
    return experiment.problem(place, error.message, error.choices, note)


def set_entries(spec: dict[str, Any], assignments: list[str]) -> None:
    """Set the entries of `--set` in a spec."""
    for path, text in app.pairs(assignments, "--set").items():
        if not is_path(path):
            raise InputError.of(f"{path!r} is not a path such as traffic.load", "--set")
        assign(spec, path, _value(text))


def _apply(spec: dict[str, Any], value: Value) -> None:
    for path, new in value.assignments.items():
        assign(spec, path, new)


def _value(text: str) -> Any:
    """A TOML value; what is none is a text, so that quotes are not needed."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _table(outcome: Outcome) -> Table:
    rows = []
    for name, value in outcome.scalars().items():
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        unit = "" if value is None else _unit(name, value, outcome.cycle_ns)
        rows.append((name, shown, unit))
    return grid(rows)


def _unit(name: str, value: object, cycle_ns: float) -> str:
    if units.is_time(name) and isinstance(value, int | float):
        return f"cycles = {value * cycle_ns:.6g} ns"
    return "" if name.startswith("verdict.") else _UNITS.get(name.partition(".")[0], "")

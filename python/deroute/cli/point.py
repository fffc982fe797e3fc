"""`deroute point`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from deroute import api
from deroute.cli import app
from deroute.errors import InputError, SpecError, is_path
from deroute.experiment import Experiment, Value
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
        with Progress(console=app.err(), transient=True) as bar:
            task = bar.add_task("simulating")
            outcome = api.simulate(
                spec,
                threads=threads,
                progress=lambda cycle, of: bar.update(task, completed=cycle, total=of),
            )
    except SpecError as error:
        if any(error.path.startswith(path) for path in app.pairs(assignments, "--set")):
            raise
        place = experiment.origin(labels, error.path)
        raise InputError([experiment.problem(place, error.message, error.choices)]) from error
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
    table = Table.grid(padding=(0, 2))
    for name, value in outcome.scalars().items():
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        table.add_row(name, shown, "" if value is None else _unit(name, value, outcome.cycle_ns))
    return table


def _is_job_time(name: str) -> bool:
    """Whether a scalar of a workload is a time."""
    times = ["makespan", "start", "time", "iteration_mean", "compute_mean"]
    times += ["communication_mean", "communication_max"]
    ends = name.endswith(tuple(f".{time}" for time in times))
    inside = ".latency." in name and not name.endswith(".histogram_error")
    return name.startswith("workload.") and (ends or inside)


_WITHOUT_UNIT = (
    "latency.histogram_error",
    "latency.correlation_times",
    "verdict.state",
    "verdict.reasons",
)


def _unit(name: str, value: object, cycle_ns: float) -> str:
    if name in _WITHOUT_UNIT:
        return ""
    group = name.partition(".")[0]
    time = group in ("latency", "measured_from", "measured_cycles") or _is_job_time(name)
    if time and isinstance(value, int | float):
        return f"cycles = {value * cycle_ns:.6g} ns"
    return _UNITS.get(group, "")

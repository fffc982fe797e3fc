"""The network of a file, for commands that run nothing: its spec, and its wiring."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deroute import _engine
from deroute.cli import app
from deroute.cli.point import problem, set_entries, spec_of
from deroute.errors import InputError, SpecError, in_file, parse_path
from deroute.experiment import Experiment
from deroute.spec import in_order, read_toml
from deroute.tables.files import in_dumps


def spec_in(file: Path, where: list[str], assignments: list[str]) -> dict[str, Any]:
    """The spec of an experiment, as `deroute point` takes it, or of a file that is a spec."""
    document, _ = read_toml(file)
    if "base" in document or "network" not in document:
        return spec_of(Experiment.load(file), where, assignments)[0]
    if where:
        raise InputError.of(f"{file} is a spec: it has no axes", "--where")
    set_entries(document, assignments)
    return document


def wire(
    spec: Mapping[str, Any], file: Path, where: list[str], assignments: list[str]
) -> Mapping[str, Any]:
    """The engine's wiring; mistakes of the file get its lines."""
    try:
        return _engine.topology(in_order(spec))
    except SpecError as error:
        if any(error.path.startswith(path) for path in app.pairs(assignments, "--set")):
            raise
        document, text = read_toml(file)
        if "base" in document:
            experiment = Experiment.load(file)
            found = problem(experiment, app.labels(experiment, where), assignments, error)
        else:
            steps = parse_path(error.path)
            message = in_dumps(error.message, spec, steps)
            found = in_file(message, steps, file=file, text=text, choices=error.choices)
        raise InputError([found]) from error

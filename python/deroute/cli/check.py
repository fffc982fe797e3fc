"""`deroute check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deroute import plan, runner
from deroute.cli import app
from deroute.executors.local import cores
from deroute.experiment import Experiment


def check(
    file: app.File,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Result directory; default: runs/NAME.")
    ] = None,
    probe: Annotated[
        bool, typer.Option(help="Run a few points for a second to estimate the time.")
    ] = True,
) -> None:
    """Check an experiment file: everything in it, before anything runs.

    Says how many points it has and how many are done, how much memory they need, and about how
    long they will take.

    - `deroute check experiments/demo.toml`
    """
    checked = plan.check_file(file)
    experiment = checked.experiment
    where = directory or runner.default_directory(experiment)
    todo = runner.unfinished(checked.points, where)
    jobs = min(cores(), len(checked.points))
    rows = {
        "points": _points(experiment, len(checked.points), len(todo)),
        "memory": f"{app.megabytes(checked.footprint.fixed_bytes)} per point empty, at most "
        f"{app.megabytes(checked.footprint.worst_bytes)}; {jobs} at a time",
        "figures": ", ".join(str(figure["name"]) for figure in experiment.figures) or "none",
        "results": str(where),
    }
    if probe and todo:
        with app.err().status("Estimating the time"):
            seconds = plan.estimate_seconds(todo, jobs)
        rows["time"] = f"about {app.duration(seconds)} on {jobs} cores"
    table = Table.grid(padding=(0, 2))
    for name, text in rows.items():
        table.add_row(name, text)
    app.out().print(f"{file}: valid")
    app.out().print(table)


def _points(experiment: Experiment, total: int, todo: int) -> str:
    shape = " x ".join(f"{len(labels)} {axis}" for axis, labels in experiment.axes.items())
    skipped = " less skipped ones" if experiment.document.get("skip") else ""
    done = "none done" if todo == total else f"{total - todo} done, {todo} to run"
    return f"{total} ({shape}{skipped}); {done}" if shape else f"{total}; {done}"

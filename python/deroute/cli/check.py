"""`deroute check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deroute import cost, plan, replications, runner
from deroute.api import Footprint
from deroute.cli import app
from deroute.cli.bars import bar
from deroute.cli.cells import grid
from deroute.experiment import Experiment
from deroute.machine import cores
from deroute.reader import SEED, Seeds


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

    Says how many points it has and how many are done, how much memory they need, about how long
    they will take, and which VCs and buffers the file leaves to the engine. Warns of a warm-up that
    is short beside round trips and buffers.

    - `deroute check experiments/demo.toml`
    """
    with bar("Checking the points") as told:
        checked = plan.check_file(file, told)
    experiment = checked.experiment
    where = directory or runner.default_directory(experiment)
    runner.check_directory(experiment, where)
    seeds = experiment.seeds
    runs = replications.runs(experiment, where) if seeds else checked.runs
    todo = runner.unfinished(runs, where)
    jobs = min(cores(), len(runs))
    own = {point.key for point in checked.points}
    points = [point for point in runs if point.key in own]
    left = sum(point.key in own for point in todo)
    rows = {"points": _points(experiment, len(points), left)}
    if seeds:
        rows["seeds"] = _seeds(seeds)
    if checked.references:
        others = len(runs) - len(points)
        done = others - len(todo) + left
        rows["reference"] = f"{others} more points; {_state(done, len(todo) - left)}"
    rows |= {
        "memory": _memory(checked.footprint, jobs),
        "figures": ", ".join(str(figure["name"]) for figure in experiment.figures) or "none",
        "results": str(where),
    }
    if checked.footprint.file_bytes:
        rows["disk"] = f"{app.megabytes(checked.footprint.file_bytes)} per point, temporary"
    if checked.footprint.flows:
        rows["flows"] = f"up to {checked.footprint.flows} in a point"
    if probe and todo:
        with app.err().status("Estimating the time"):
            seconds = cost.estimate_seconds(todo, checked.weights, jobs)
        drawing = cost.FIGURE_SECONDS * len(experiment.figures)
        rows["time"] = f"about {app.duration(seconds + drawing)} on {jobs} cores"
        rows["time"] += " for the seeds of which that is known" if seeds else ""
        rows["time"] += f", {app.duration(drawing)} of it for figures" if drawing else ""
    if checked.footprint.filled:
        rows["filled in"] = _filled(checked.footprint.filled)
    app.out().print(f"{file}: valid", markup=False, soft_wrap=True)
    app.out().print(grid(rows.items()))
    app.warn([*checked.warnings, *cost.large(checked.footprint, jobs)])


def _memory(footprint: Footprint, jobs: int) -> str:
    """Of the largest point: what is likely, and what is possible."""
    flowing, saturated = footprint.flowing_bytes, footprint.saturated_bytes
    text = f"about {app.megabytes(flowing)} per point"
    if saturated > flowing:
        text += f" while the network keeps up, {app.megabytes(saturated)} beyond saturation"
    return f"{text}; at most {app.megabytes(footprint.worst_bytes)}; {jobs} at a time"


def _filled(entries: Sequence[tuple[str, int]]) -> str:
    """What the points leave to the engine, each entry once with its least and greatest value."""
    values: dict[str, list[int]] = {}
    for path, value in entries:
        values.setdefault(path, []).append(value)
    texts = []
    for path, found in values.items():
        first, last = min(found), max(found)
        number = f"{first}" if first == last else f"{first} to {last}"
        texts.append(f"{path} = {number}{'' if path.endswith('.vcs') else ' phits'}")
    return "\n".join(texts)


def _points(experiment: Experiment, total: int, todo: int) -> str:
    counts = {axis: str(len(labels)) for axis, labels in experiment.axes.items()}
    if experiment.seeds:
        counts[SEED] = f"{experiment.seeds.least} to {experiment.seeds.most}"
    shape = " x ".join(f"{count} {axis}" for axis, count in counts.items())
    skipped = " less skipped ones" if experiment.document.get("skip") else ""
    done = _state(total - todo, todo)
    return f"{total} ({shape}{skipped}); {done}" if shape else f"{total}; {done}"


def _seeds(seeds: Seeds) -> str:
    """When a point has enough of them."""
    parts = {"latency": seeds.latency, "accepted load": seeds.accepted}
    asked = [f"{100 * share:g}% of the {name}" for name, share in parts.items() if share]
    shares = " and ".join(asked)
    return f"until their intervals are within {shares}; {seeds.least} to {seeds.most} a point"


def _state(done: int, todo: int) -> str:
    return f"{done} done, {todo} to run" if done else "none done"

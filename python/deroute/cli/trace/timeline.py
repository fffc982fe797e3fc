"""`deroute trace timeline`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.errors import InputError
from deroute.frame import load_results
from deroute.trace import events
from deroute.writing import blaming, whole


def timeline(
    directory: app.Directory,
    to: Annotated[Path, typer.Option(metavar="FILE", help="JSON file.")],
    where: app.Pairs = [],
) -> None:
    """Write when each rank of a simulated job did what, for Perfetto and chrome://tracing.

    The job needs `timeline = true`. Of several points `--where` names one.

    - `deroute trace timeline runs/heat --to heat.json --where seed=1`
    """
    results = load_results(directory)
    labels = app.labels(results.experiment, where)
    missing = {point.key for point in results.missing}
    points = [point for point in results.points if point.key not in missing]
    chosen = [
        outcome
        for point, outcome in zip(points, results.outcomes, strict=True)
        if labels.items() <= point.labels.items()
    ]
    if len(chosen) != 1:
        axes = [axis for axis in results.experiment.axes if axis not in labels]
        raise InputError.of(f"names {len(chosen)} finished points, not one", "--where", axes)
    with blaming("--to", to), whole(to) as draft, draft.open("w", encoding="utf-8") as out:
        count = events.write(chosen[0], out)
        if count == 0:
            message = f"no job in {directory} keeps its timeline"
            raise InputError.of(message, "DIR", ["`timeline = true` of a job"])
    print(f"{to}: {count} activities; open it in Perfetto or chrome://tracing")

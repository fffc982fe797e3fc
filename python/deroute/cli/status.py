"""`deroute status`."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from deroute import checkpoints, lock
from deroute.cli import app
from deroute.executors import slurm
from deroute.frame import load_results

#: Seconds between two looks.
_LOOK = 5.0


def status(
    directory: app.Directory,
    follow: Annotated[
        bool, typer.Option("--follow", help="Look again until nothing is under way.")
    ] = False,
) -> None:
    """Say how far a run has come that another terminal, or nobody, is watching.

    Counts the points that are finished and those that are not, and says whether a run is going on
    here and what its jobs under Slurm do. Results that these have left and that no `deroute run`
    has taken yet are counted as waiting: the same `deroute run` takes them. Points that take more
    than a minute are kept on their way: the same `deroute run` goes on from there.

    - `deroute status runs/demo --follow`
    """
    while True:
        going = _tell(directory)
        if not follow or not going:
            return
        time.sleep(_LOOK)


def _tell(directory: Path) -> bool:
    """One line; says whether anything is under way."""
    results = load_results(directory)
    done, left = len(results.outcomes), len(results.missing)
    parts = [f"{done} of {done + left} points are finished"]
    folder = directory / slurm.FOLDER
    kept = checkpoints.kept(directory) + checkpoints.kept(folder)
    if kept:
        size = sum(file.stat().st_size for file in kept) / 1e6
        points = "1 point is" if len(kept) == 1 else f"{len(kept)} points are"
        parts.append(f"{points} kept on the way ({size:,.1f} MB)")
    waiting = len(list((folder / slurm.RESULTS).glob("[0-9a-f]*.npz")))
    if waiting:
        parts.append(f"{waiting} more wait to be taken by `deroute run`")
    jobs = slurm.under_way(folder)
    counts = Counter(state for job in jobs for state in slurm.states(job))
    if counts:
        told = ", ".join(f"{count} {state.lower()}" for state, count in counts.most_common())
        parts.append(f"jobs under Slurm: {told}")
    held = lock.is_held(directory)
    parts.append("a run is going on" if held else "no run is watching")
    print("; ".join(parts), flush=True)
    return held or bool(counts)

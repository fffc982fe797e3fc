"""`deroute merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute import figures, shards
from deroute.cli.plot import plot_directory
from deroute.frame import load_results
from deroute.store import FILE


def merge(
    sources: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Result directories of one experiment.")
    ],
    directory: Annotated[
        Path, typer.Option("--dir", help="Where all results go; made if there is none.")
    ],
) -> None:
    """Put the results of several directories into one, and draw the figures.

    They are the parts that `deroute run --shard` has made, whole or not. What they have in common
    is kept once.

    - `deroute merge runs/demo.*-of-16 --dir runs/demo`
    """
    merged = shards.merge(sources, directory)
    results = load_results(directory)
    done, left = len(results.outcomes), len(results.missing)
    print(f"{merged.added} results added, {merged.known} were there")
    print(f"results: {directory / FILE} ({done} points, {left} are not finished)")
    if results.experiment.figures and done:
        for path in plot_directory(directory, figures.FORMATS):
            print(f"figure: {path}")

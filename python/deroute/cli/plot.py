"""`deroute plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from deroute import figures
from deroute.cli import app
from deroute.cli.bars import bar
from deroute.errors import InputError
from deroute.figures import FigureError
from deroute.figures.study import Study
from deroute.frame import Results, load_results
from deroute.groups import routers_per_group
from deroute.spec import microseconds
from deroute.telling import counted
from deroute.writing import blaming


def plot(
    directory: app.Directory,
    formats: Annotated[
        list[str],
        typer.Option("--format", help=f"{', '.join(figures.FORMATS)}; may be repeated."),
    ] = list(figures.FORMATS),
    names: Annotated[
        list[str], typer.Option("--figure", metavar="NAME", help="Only this one; may be repeated.")
    ] = [],
    style: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Style file of matplotlib.")
    ] = None,
) -> None:
    """Draw the figures of an experiment from the points that are finished.

    - `deroute plot runs/demo`
    - `deroute plot runs/demo --format svg --format pdf`
    - `deroute plot runs/demo --figure latency`
    - `deroute plot runs/demo --style journal.mplstyle`
    """
    for path in plot_directory(directory, _split(formats), _split(names), style, option="DIR"):
        print(f"figure: {path}")


def plot_directory(
    directory: Path,
    formats: Sequence[str],
    names: Sequence[str] = (),
    style: Path | None = None,
    *,
    option: str = "--dir",
) -> list[Path]:
    """Draw the figures of a result directory into it, all or those named; returns the files.

    `option` is the one that names the directory.
    """
    results = load_results(directory)
    drawn = study(results)
    files = []
    try:
        tables = figures.read_figures(results.experiment.figures, results.experiment.axes)
        chosen = figures.choose(tables, names)
        with bar("Drawing the figures") as told:
            for table in counted(chosen, told):
                with blaming(option, directory):
                    files += figures.draw(drawn, table, directory / table.name, formats, style)
    except FigureError as error:
        raise InputError.of(error.message, error.path, error.choices) from error
    return files


def _split(texts: Sequence[str]) -> list[str]:
    """Options that may be repeated, or listed with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def study(results: Results) -> Study:
    """Results as the figures want them."""
    missing = {point.key for point in results.missing}
    finished = [point for point in results.points if point.key not in missing]
    return Study(
        axes=results.experiment.axes,
        frame=results.frame,
        outcomes=results.outcomes,
        engine=results.engine,
        routers_per_group=routers_per_group(point.spec for point in results.points),
        title=results.experiment.title,
        changes_us=[
            _changes_us(point.spec, outcome.cycle_ns)
            for point, outcome in zip(finished, results.outcomes, strict=True)
        ],
        specs=[point.spec for point in finished],
        day=results.day,
    )


def _changes_us(spec: Mapping[str, Any], cycle_ns: float) -> list[float]:
    """When the traffic of a point changes, in microseconds since the measurement began."""
    traffic = spec.get("traffic", {})
    times = [change["at"] for change in traffic.get("then", [])]
    streams = traffic.get("stream", [])
    times += [stream[key] for stream in streams for key in ("start", "stop") if key in stream]
    return [microseconds(time, cycle_ns) for time in times]

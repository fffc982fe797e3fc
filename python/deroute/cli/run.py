"""`deroute run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from deroute import figures, plan
from deroute.cli import app
from deroute.cli.bars import bar
from deroute.cli.execution import Address, ExecutorName, Jobs, Place, Slurm, Threads, simulate
from deroute.cli.plot import plot_directory
from deroute.errors import InputError
from deroute.executors import Resources
from deroute.runner import Report, default_directory
from deroute.shards import Shard
from deroute.store import FILE


def run(
    file: app.File,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Result directory; default: runs/NAME.")
    ] = None,
    jobs: Jobs = 0,
    threads: Threads = 1,
    executor: ExecutorName = "local",
    address: Address = None,
    options: Slurm = [],
    part: Annotated[
        str | None,
        typer.Option("--shard", help="A part of the points, such as 3/16; see `deroute merge`."),
    ] = None,
) -> None:
    """Run an experiment, or what is left of it, and draw its figures.

    Every finished point is kept at once, and one that takes long about every minute on its way.
    Interrupt with Ctrl-C at any time: the same command continues where it stopped.

    - `deroute run experiments/demo.toml`
    - `deroute run experiments/dragonfly-h6.toml --jobs 8 --dir runs/night`
    - `deroute run FILE --executor dask --address tcp://head:8786`
    - `deroute run FILE --executor slurm --jobs 40 --slurm partition=short --slurm time=120`
    - `deroute run FILE --shard 3/16`, then `deroute merge runs/NAME.*-of-16 --dir runs/NAME`
    """
    shard = None if part is None else Shard.parse(part)
    place = Place(
        executor, Resources(jobs, threads, address, options=app.pairs(options, "--slurm"))
    )
    with bar("Checking the points") as told:
        checked = plan.check_file(file, told)
    if shard is not None and checked.experiment.seeds is not None:
        message = "how many seeds are needed is found one after the other, and in one place"
        raise InputError.of(message, "--shard", ["an axis `seed` in place of `seeds`"])
    where = directory or default_directory(checked.experiment)
    if shard is not None:
        where = directory or where.with_name(f"{where.name}.{shard}")
        checked = checked.part(shard.of_points(checked.runs, checked.weights))
    report = simulate(checked, where, place)
    _finish(report, where, bool(checked.experiment.figures) and shard is None)


def _finish(report: Report, where: Path, draw: bool) -> None:
    console = app.err()
    for failure in report.failed[:5]:
        console.print(f"[bold red]failed:[/] {escape(str(failure.point))}", soft_wrap=True)
        console.print(f"  {escape(failure.message)}", soft_wrap=True)
    print(f"results: {where / FILE} ({report.total - report.left} points)")
    if draw and report.left < report.total:
        for path in plot_directory(where, formats=figures.FORMATS):
            print(f"figure: {path}")
    if report.failed:
        console.print(f"{len(report.failed)} points failed; run again to try only those")
        raise typer.Exit(app.FAILED)

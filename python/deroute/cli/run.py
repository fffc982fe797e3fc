"""`deroute run`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from deroute import executors, figures, plan, runner
from deroute.cli import app
from deroute.cli.plot import plot_directory
from deroute.executors import Event, Resources, Running
from deroute.experiment import Point
from deroute.runner import Report
from deroute.store import FILE

#: Between two lines of a log.
_REPORT_SECONDS = 30.0


def run(
    file: app.File,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Result directory; default: runs/NAME.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="Points simulated at the same time; 0: one per core.")
    ] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads inside each point.")] = 1,
    executor: Annotated[
        str, typer.Option(help=f"Where: {', '.join(executors.CATALOGUE)}.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Scheduler of the dask executor: tcp://host:8786.")
    ] = None,
) -> None:
    """Run an experiment, or what is left of it, and draw its figures.

    Every finished point is kept at once. Interrupt with Ctrl-C at any time: the same command
    continues where it stopped.

    - `deroute run experiments/demo.toml`
    - `deroute run experiments/dragonfly-h6.toml --jobs 8 --dir runs/night`
    - `deroute run FILE --executor dask --address tcp://head:8786`
    """
    executors.known(executor)
    checked = plan.check_file(file)
    experiment = checked.experiment
    where = directory or runner.default_directory(experiment)
    todo = runner.unfinished(checked.points, where)
    report = Report(total=len(checked.points), kept=len(checked.points) - len(todo))
    if report.kept:
        app.err().print(f"{report.kept} of {report.total} points were done before")
    pool = executors.make(executor, Resources(jobs, threads, address))
    try:
        with _Bar(experiment.name, todo) as watch:
            runner.run_points(experiment, todo, where, pool, report=report, watch=watch)
    except KeyboardInterrupt as error:
        app.err().print(
            f"Stopped with {report.done} points done and {report.left} to do; everything done is"
            f" in {where / FILE}.\nContinue with the same command."
        )
        raise typer.Exit(app.interrupted(error)) from None
    _finish(report, where, bool(experiment.figures))


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


class _Bar:
    """A progress bar over all points; each counts by its expected cost."""

    def __init__(self, name: str, points: Sequence[Point]) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[done]}/{task.fields[points]} points"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=app.err(),
            disable=not points,
        )
        self._weights = {point.key: plan.weight(point) for point in points}
        self._seen: dict[str, float] = {}
        self._task = self._progress.add_task(
            name, total=sum(self._weights.values()), done=0, points=len(points)
        )
        self._done = 0
        # With the first event: what goes wrong before it leaves no empty bar.
        self._started = False
        self._reported = time.monotonic()

    def __enter__(self) -> Callable[[Event], None]:
        return self._update

    def __exit__(self, *_: object) -> None:
        if self._started:
            self._progress.stop()

    def _update(self, event: Event) -> None:
        if not self._started:
            self._started = True
            self._progress.start()
        key = event.point.key
        fraction = event.fraction if isinstance(event, Running) else 1.0
        self._done += not isinstance(event, Running)
        step = (fraction - self._seen.get(key, 0.0)) * self._weights[key]
        self._seen[key] = fraction
        self._progress.update(self._task, advance=step, done=self._done)
        if not self._progress.console.is_terminal:
            self._report()

    def _report(self) -> None:
        """A line now and then, where a bar cannot be drawn."""
        if time.monotonic() - self._reported < _REPORT_SECONDS:
            return
        self._reported = time.monotonic()
        task = self._progress.tasks[0]
        left = "" if task.time_remaining is None else f", {app.duration(task.time_remaining)} left"
        self._progress.console.print(f"{self._done}/{len(self._weights)} points{left}")

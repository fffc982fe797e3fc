"""What commands that simulate points share: options, the bar, what is said when they stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from deroute import cost, executors, plan, replications, runner
from deroute.cli import app
from deroute.cli.bars import Log
from deroute.errors import InputError
from deroute.executors import Event, Resources, Running, slurm
from deroute.experiment import Point
from deroute.runner import Report
from deroute.store import FILE

Jobs = Annotated[
    int, typer.Option(min=0, help="Points simulated at the same time; 0: one per core.")
]
Threads = Annotated[int, typer.Option(min=1, help="Threads inside each point.")]
ExecutorName = Annotated[str, typer.Option(help=f"Where: {', '.join(executors.CATALOGUE)}.")]
Address = Annotated[
    str | None, typer.Option(help="Scheduler of the dask executor: tcp://host:8786.")
]
Slurm = Annotated[
    list[str],
    typer.Option(
        "--slurm",
        metavar="KEY=VALUE",
        help=f"Options of the slurm executor: {', '.join(slurm.OPTIONS)}; time in minutes.",
    ),
]


@dataclass(frozen=True)
class Place:
    """Where points are simulated.

    Raises `InputError` if there is no such executor, or for what belongs to another one.
    """

    executor: str
    resources: Resources

    def __post_init__(self) -> None:
        executors.known(self.executor)
        for option, executor, given in (
            ("--address", "dask", self.resources.address is not None),
            ("--slurm", "slurm", bool(self.resources.options)),
        ):
            if given and self.executor != executor:
                raise InputError.of(f"belongs to --executor {executor}", option)


def simulate(checked: plan.Checked, directory: Path, place: Place) -> Report:
    """Simulate the points of an experiment that have no result in `directory`, the longest first;
    with seeds as needed again and again, until no point needs more.
    """
    report, several = Report(total=0, kept=0), checked.experiment.seeds is not None
    while True:
        runs = replications.runs(checked.experiment, directory) if several else checked.runs
        todo = runner.unfinished(runs, directory)
        report.total = len(runs)
        if report.done:
            if not todo or report.failed:
                return report
            app.err().print(f"{checked.experiment.name}: {len(todo)} more seeds are needed")
        else:
            report.kept = len(runs) - len(todo)
        _simulate(checked, todo, directory, place, report)
        if not several or not todo or report.failed:
            return report


def _simulate(
    checked: plan.Checked, todo: list[Point], directory: Path, place: Place, report: Report
) -> None:
    """Simulate points of an experiment."""
    name = checked.experiment.name
    if report.kept and not report.done:
        app.err().print(f"{name}: {report.kept} of {report.total} points were done before")
    pool = executors.make(place.executor, replace(place.resources, directory=directory))
    if todo and place.executor == "local":
        app.warn(cost.large(checked.footprint, min(pool.jobs, len(todo))))
    # What takes long begins early, so that nothing long is left at the end.
    todo = sorted(todo, key=lambda point: -checked.weights[point.key])
    drawing = cost.FIGURE_SECONDS * len(checked.experiment.figures)
    pace = cost.Pace({point.key: checked.weights[point.key] for point in todo}, after=drawing)
    try:
        with _Bar(name, len(todo), pace) as watch:
            runner.run_points(checked.experiment, todo, directory, pool, report=report, watch=watch)
    except KeyboardInterrupt as error:
        app.err().print(
            f"Stopped with {report.total - report.left} points done and {report.left} to do;"
            f" everything done is in {directory / FILE}.\nContinue with the same command.",
            markup=False,
        )
        raise typer.Exit(app.interrupted(error)) from None


class _Bar:
    """A progress bar over all points; each counts by its expected cost."""

    def __init__(self, name: str, points: int, pace: cost.Pace) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[done]}/{task.fields[points]} points"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=app.err(),
            disable=not points,
        )
        self._pace, self._points = pace, points
        self._task = self._progress.add_task(name, total=1.0, done=0, points=points, left="")
        self._done = 0
        # With the first event: what goes wrong before it leaves no empty bar.
        self._started = False
        self._log = Log(self._progress.console)

    def __enter__(self) -> Callable[[Event], None]:
        return self._update

    def __exit__(self, *_: object) -> None:
        if self._started:
            self._progress.stop()

    def _update(self, event: Event) -> None:
        if not self._started:
            self._started = True
            self._progress.start()
        running = isinstance(event, Running)
        self._pace.come(event.point.key, event.fraction if isinstance(event, Running) else 1.0)
        self._done += not running
        # Of the points: a finished bar stands beside figures that are drawn.
        seconds = None if self._done == self._points else self._pace.left
        left = "" if seconds is None else f"{app.duration(seconds)} left"
        self._progress.update(self._task, completed=self._pace.fraction, done=self._done, left=left)
        self._log.say(f"{self._done}/{self._points} points, {left}".rstrip(", "))

"""What commands that simulate points share: options, the bar, what is said when they stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from deroute import executors, plan, runner
from deroute.cli import app
from deroute.executors import Event, Resources, Running
from deroute.experiment import Point
from deroute.runner import Report
from deroute.store import FILE

#: Between two lines of a log.
_REPORT_SECONDS = 30.0

Jobs = Annotated[
    int, typer.Option(min=0, help="Points simulated at the same time; 0: one per core.")
]
Threads = Annotated[int, typer.Option(min=1, help="Threads inside each point.")]
ExecutorName = Annotated[str, typer.Option(help=f"Where: {', '.join(executors.CATALOGUE)}.")]
Address = Annotated[
    str | None, typer.Option(help="Scheduler of the dask executor: tcp://host:8786.")
]


@dataclass(frozen=True)
class Place:
    """Where points are simulated. Raises `InputError` if there is no such executor."""

    executor: str
    resources: Resources

    def __post_init__(self) -> None:
        executors.known(self.executor)


def simulate(checked: plan.Checked, directory: Path, place: Place) -> Report:
    """Simulate the points of an experiment that have no result in `directory`."""
    name = checked.experiment.name
    todo = runner.unfinished(checked.points, directory)
    report = Report(total=len(checked.points), kept=len(checked.points) - len(todo))
    if report.kept:
        app.err().print(f"{name}: {report.kept} of {report.total} points were done before")
    pool = executors.make(place.executor, place.resources)
    try:
        with _Bar(name, todo) as watch:
            runner.run_points(checked.experiment, todo, directory, pool, report=report, watch=watch)
    except KeyboardInterrupt as error:
        app.err().print(
            f"Stopped with {report.done} points done and {report.left} to do; everything done is"
            f" in {directory / FILE}.\nContinue with the same command."
        )
        raise typer.Exit(app.interrupted(error)) from None
    return report


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

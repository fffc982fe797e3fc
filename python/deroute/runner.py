"""Running an experiment: what is left to do, and keeping each result as it comes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from deroute import _engine, checkpoints
from deroute.errors import InputError
from deroute.executors import Done, Event, Executor, Failed, Running
from deroute.experiment import Experiment, Point
from deroute.store import FILE, Store, Stored
from deroute.writing import whole

#: Copy of the experiment file in the result directory.
COPY = "experiment.toml"


@dataclass(slots=True)
class Report:
    """What became of the points."""

    total: int
    kept: int
    done: int = 0
    failed: list[Failed] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Points without a result."""
        return self.total - self.kept - self.done


def default_directory(experiment: Experiment) -> Path:
    """Where results go unless the user says otherwise."""
    return Path("runs") / experiment.name


def finished(directory: Path) -> dict[str, float]:
    """Keys of the points that this version of the engine has finished: wall time of each, in s."""
    if not (directory / FILE).exists():
        return {}
    with Store.open(directory) as store:
        return store.finished(_engine.VERSION)


def unfinished(points: Sequence[Point], directory: Path) -> list[Point]:
    """Points that this version of the engine has not finished."""
    known = finished(directory)
    return [point for point in points if point.key not in known]


def check_directory(experiment: Experiment, directory: Path) -> None:
    """Refuse a directory that has results of another experiment."""
    if (directory / FILE).exists():
        with Store.open(directory) as store:
            _same(experiment, directory, store)


def _same(experiment: Experiment, directory: Path, store: Store) -> None:
    if store.name() not in (None, experiment.name):
        message = f"{directory} has results of {store.name()!r}, not of {experiment.name!r}"
        raise InputError.of(f"{message}: name another folder", "--dir")


def run_points(
    experiment: Experiment,
    points: Sequence[Point],
    directory: Path,
    executor: Executor,
    *,
    report: Report,
    watch: Callable[[Event], None],
) -> None:
    """Simulate `points`, keep every result at once, tell `watch`; `report` counts as it goes."""
    with Store.open(directory, create=True) as store:
        _same(experiment, directory, store)
        store.set_experiment(experiment.document)
        if experiment.path is not None:
            _copy(experiment.path, directory / COPY)
        # A run that has ended just now may have finished some of them.
        known = store.finished(_engine.VERSION)
        todo = [point for point in points if point.key not in known]
        report.kept += len(points) - len(todo)
        before = report.done
        try:
            with closing(executor.run(todo)) as events:
                for event in events:
                    if isinstance(event, Done):
                        store.put(_stored(event), event.arrays)
                        report.done += 1
                    elif isinstance(event, Failed):
                        report.failed.append(event)
                    if not isinstance(event, Running):
                        checkpoints.drop(checkpoints.place(directory, event.point.key))
                    watch(event)
        except KeyboardInterrupt:
            # It may have come when a result was kept, and not counted yet.
            known = store.finished(_engine.VERSION)
            report.done = before + sum(point.key in known for point in todo)
            raise


def _stored(event: Done) -> Stored:
    point = event.point
    return Stored(point.key, _engine.VERSION, point.canonical, event.outcome, event.seconds)


def _copy(source: Path, target: Path) -> None:
    if not target.exists() or not source.samefile(target):
        with whole(target) as draft:
            shutil.copyfile(source, draft)

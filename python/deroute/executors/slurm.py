"""On a cluster under Slurm: an array of jobs, submitted through submitit.

Every job simulates some of the points, one after the other, and leaves each result in a file of its
own on the shared file system. Whoever submitted them takes the files into the store; if nobody
does, because the terminal was closed, the jobs go on, and the same command takes what is there,
waits for what is under way, and submits what is neither. A job that its time limit cuts is put into
the queue again, leaves out what it has done, and goes on from the checkpoint of a long point.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deroute import _engine, checkpoints
from deroute.errors import InputError, SimulationError, SpecError
from deroute.executors.base import Done, Event, Failed, Resources
from deroute.experiment import Point
from deroute.results import RawArrays
from deroute.writing import whole

#: In a result directory: results, the jobs under way, and what they print.
FOLDER, RESULTS, JOBS, LOGS = "slurm", "results", "jobs.json", "logs"
#: Jobs of an array, at the most, unless `--jobs` says otherwise.
_MOST_JOBS = 64
#: Seconds between two looks, and between two questions to Slurm.
_LOOK, _ASK = 0.5, 5.0
#: Times that a job may reach its time limit.
_MOST_LIMITS = 10_000
#: Minutes that a job may take, unless `--slurm time=` says otherwise.
_MINUTES = 60
#: Options that a user may give, by their names in submitit; the time is in minutes.
OPTIONS: Mapping[str, str] = {
    "partition": "partition",
    "time": "time",
    "account": "account",
    "qos": "qos",
    "constraint": "constraint",
    "mem": "mem",
    "parallel": "array_parallelism",
}
_NUMBERS = ("time", "parallel")


@dataclass(frozen=True)
class Chunk:
    """What one job does."""

    #: Keys and specs of its points.
    points: Sequence[tuple[str, str]]
    folder: Path
    threads: int
    version: str

    def __call__(self) -> None:
        """Simulate what has no result yet."""
        if self.version != _engine.VERSION:
            message = f"the node has engine {_engine.VERSION}, not {self.version}"
            raise RuntimeError(message)
        for key, spec in self.points:
            if _result(self.folder, key).exists() or _failure(self.folder, key).exists():
                continue
            begin, kept = time.perf_counter(), checkpoints.place(self.folder, key)
            try:
                outcome, arrays = checkpoints.simulate(spec, self.threads, None, kept)
            except (SimulationError, SpecError) as error:
                with whole(_failure(self.folder, key)) as draft:
                    draft.write_text(str(error), encoding="utf-8")
            else:
                _keep(_result(self.folder, key), outcome, arrays, time.perf_counter() - begin)
            checkpoints.drop(kept)

    def checkpoint(self) -> Any:
        """The time limit is near: the same again, later."""
        return importlib.import_module("submitit").helpers.DelayedSubmission(self)


class SlurmExecutor:
    """Jobs under Slurm, and the files that they leave."""

    def __init__(self, resources: Resources) -> None:
        """Read the options."""
        if resources.directory is None:
            raise InputError.of("needs a result directory", "--executor slurm")
        self._folder = resources.directory.absolute() / FOLDER
        self._threads, self._jobs = resources.threads, resources.jobs or _MOST_JOBS
        self._options = _options(resources.options)
        try:
            self._submitit: Any = importlib.import_module("submitit")
        except ImportError as error:
            message = "needs `pip install deroute[slurm]`"
            raise InputError.of(message, "--executor slurm") from error

    @property
    def jobs(self) -> int:
        """Points simulated at the same time, at the most."""
        return self._jobs

    def run(self, points: Sequence[Point]) -> Generator[Event]:
        """Take results that are there, and submit the points that no job has."""
        left = {point.key: point for point in points}
        for name in (RESULTS, LOGS):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        # Before what is there is taken: a job that ends in between has left everything.
        jobs = {job: keys for job, keys in under_way(self._folder).items() if keys & left.keys()}
        yield from self._take(left)
        taken = set().union(*jobs.values()) if jobs else set()
        fresh = [point for key, point in left.items() if key not in taken]
        while left:
            if fresh:
                jobs[self._submit(fresh)] = {point.key for point in fresh}
                _remember(self._folder, jobs)
            before = len(left)
            yield from self._wait(left, jobs)
            # Cut by a limit before it could be queued again: so is what it had left, if it did any.
            again = len(left) < before and any(cut(job) for job in jobs)
            fresh, jobs = list(left.values()), {}
            if not again:
                yield from self._lost(left)

    def _wait(self, left: dict[str, Point], jobs: Mapping[str, object]) -> Iterator[Event]:
        """Take results until there are all, or until no job is left."""
        asked = time.monotonic()
        while left:
            time.sleep(_LOOK)
            yield from self._take(left)
            if time.monotonic() - asked < _ASK:
                continue
            asked = time.monotonic()
            if not any(states(job) for job in jobs):
                # What they have left since the last look.
                yield from self._take(left)
                return

    def _submit(self, points: Sequence[Point]) -> str:
        """Submit an array of jobs; returns its number."""
        logs = self._folder / LOGS
        try:
            executor = self._submitit.SlurmExecutor(folder=logs, max_num_timeout=_MOST_LIMITS)
        except RuntimeError as error:
            raise InputError.of(f"there is no Slurm here: {error}", "--executor slurm") from error
        executor.update_parameters(
            job_name="deroute",
            cpus_per_task=self._threads,
            # Before the limit; Slurm may be a minute early.
            signal_delay_s=min(90, 15 * int(self._options["time"])),
            **self._options,
        )
        count = min(self._jobs, len(points))
        parts = [points[number::count] for number in range(count)]
        chunks = [
            Chunk(
                [(point.key, point.canonical) for point in part],
                self._folder,
                self._threads,
                _engine.VERSION,
            )
            for part in parts
        ]
        try:
            with executor.batch():
                jobs = [executor.submit(chunk) for chunk in chunks]
        except (OSError, RuntimeError) as error:
            message = f"the jobs could not be submitted: {error}".rstrip(": ")
            raise InputError.of(message, "--executor slurm") from error
        return str(jobs[0].job_id).partition("_")[0]

    def _take(self, left: dict[str, Point]) -> Iterator[Event]:
        """Results that are there. Files go when their results are kept."""
        for file in sorted((self._folder / RESULTS).glob("[0-9a-f]*.*")):
            key, kind = file.stem, file.suffix
            point = left.get(key)
            if point is None or kind not in (".npz", ".txt"):
                continue
            del left[key]
            if kind == ".txt":
                yield Failed(point, file.read_text(encoding="utf-8"))
            else:
                outcome, arrays, seconds = _read(file)
                yield Done(point, outcome, arrays, seconds)
            file.unlink(missing_ok=True)

    def _lost(self, left: dict[str, Point]) -> Iterator[Event]:
        logs = self._folder / LOGS
        for point in left.values():
            yield Failed(point, f"its job under Slurm has ended without a result; see {logs}")
        left.clear()


def under_way(folder: Path) -> dict[str, set[str]]:
    """Keys of the points that each job has which is still known to Slurm."""
    try:
        jobs = json.loads((folder / JOBS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {job: set(keys) for job, keys in jobs.items() if states(job)}


def _remember(folder: Path, jobs: Mapping[str, set[str]]) -> None:
    with whole(folder / JOBS) as draft:
        draft.write_text(json.dumps({job: sorted(keys) for job, keys in jobs.items()}))


def cut(job: str) -> bool:
    """Whether Slurm has ended a job of an array, as far as it still knows."""
    return bool(states(job, "--states=TIMEOUT,PREEMPTED,NODE_FAIL"))


def states(job: str, *options: str) -> list[str]:
    """States of the jobs of an array: of those that wait or run, unless `options` say otherwise."""
    command = ["squeue", "--noheader", "--array", f"--jobs={job}", "--format=%T", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "Invalid job id" not in done.stderr:
        # Slurm does not answer just now: nothing has ended for all that is known.
        return ["UNKNOWN"]
    return done.stdout.split()


def _options(given: Mapping[str, str]) -> dict[str, str | int]:
    found: dict[str, str | int] = {"time": _MINUTES}
    for key, text in given.items():
        if key not in OPTIONS:
            raise InputError.of(f"unknown option {key!r}", "--slurm", OPTIONS)
        if key in _NUMBERS and not (text.isdigit() and int(text) > 0):
            raise InputError.of(f"{text!r} is no number", "--slurm", [f"{key}=60"])
        found[OPTIONS[key]] = int(text) if key in _NUMBERS else text
    return found


def _result(folder: Path, key: str) -> Path:
    return folder / RESULTS / f"{key}.npz"


def _failure(folder: Path, key: str) -> Path:
    return folder / RESULTS / f"{key}.txt"


def _keep(file: Path, outcome: str, arrays: RawArrays, seconds: float) -> None:
    named: dict[str, Any] = {f"array.{name}": array for name, array in arrays.items()}
    text = np.frombuffer(outcome.encode(), dtype=np.uint8)
    with whole(file) as draft, draft.open("wb") as stream:
        np.savez(stream, allow_pickle=False, outcome=text, seconds=seconds, **named)


def _read(file: Path) -> tuple[str, RawArrays, float]:
    with np.load(file, allow_pickle=False) as archive:
        arrays = {
            name.removeprefix("array."): archive[name]
            for name in archive.files
            if name.startswith("array.")
        }
        return archive["outcome"].tobytes().decode(), arrays, float(archive["seconds"])

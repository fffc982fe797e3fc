"""The slurm executor beside a Slurm that is imagined; `tools/slurm_cluster.py` has a real one."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from deroute import _engine, executors, runner
from deroute.cli import app
from deroute.executors import Done, Failed, Resources, slurm
from deroute.experiment import Experiment
from deroute.lock import exclusive
from deroute.store import Store


class Cluster:
    """Takes jobs, and runs them when a test says so."""

    def __init__(self) -> None:
        self.jobs: dict[str, slurm.Chunk] = {}
        self.given: dict[str, Any] = {}
        self.at_once = True
        self.array = 6
        #: Jobs reach their limits after one point.
        self.cut = False

    def SlurmExecutor(self, **_: Any) -> Cluster:
        return self

    def update_parameters(self, **given: Any) -> None:
        self.given = given

    @contextmanager
    def batch(self) -> Iterator[None]:
        self.array += 1
        yield

    def submit(self, chunk: slurm.Chunk) -> SimpleNamespace:
        name = f"{self.array}_{len(self.jobs)}"
        self.jobs[name] = chunk
        if self.at_once:
            self.end(name)
        return SimpleNamespace(job_id=name)

    def end(self, name: str) -> None:
        chunk = self.jobs.pop(name)
        dataclasses.replace(chunk, points=chunk.points[: 1 if self.cut else None])()

    def states(self, job: str, *options: str) -> list[str]:
        if options:
            return ["TIMEOUT"] if self.cut else []
        return ["RUNNING" for name in self.jobs if name.startswith(f"{job}_")]


def interrupt(_: float) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setitem(sys.modules, "submitit", found)
    monkeypatch.setattr(slurm, "states", found.states)
    monkeypatch.setattr(slurm, "_LOOK", 0.001)
    monkeypatch.setattr(slurm, "_ASK", 0.0)
    return found


def outcomes(directory: Path) -> dict[str, tuple[str, bytes]]:
    with Store.open(directory) as store:
        return {each.key: (each.outcome, each.arrays) for each in store.records()}


def test_jobs_leave_what_a_local_run_has(
    cluster: Cluster, experiment_file: Path, tmp_path: Path
) -> None:
    call = CliRunner().invoke
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    assert call(app, ["run", str(experiment_file), "--dir", here]).exit_code == 0
    options = ["--executor", "slurm", "--jobs", "3", "--slurm", "partition=p", "--slurm", "time=9"]
    done = call(app, ["run", str(experiment_file), "--dir", there, *options])
    assert done.exit_code == 0, done.output
    assert outcomes(tmp_path / "here") == outcomes(tmp_path / "there")
    assert cluster.given["partition"] == "p"
    assert cluster.given["time"] == 9
    assert cluster.given["signal_delay_s"] == 90
    results = tmp_path / "there" / slurm.FOLDER / slurm.RESULTS
    assert list(results.iterdir()) == []


def test_what_a_closed_terminal_left_is_taken(
    cluster: Cluster, experiment_file: Path, tmp_path: Path
) -> None:
    experiment = Experiment.load(experiment_file)
    points = experiment.points
    pool = executors.make("slurm", Resources(directory=tmp_path))
    cluster.at_once = False
    events = pool.run(points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slurm, "time", SimpleNamespace(monotonic=time.monotonic, sleep=interrupt))
        with pytest.raises(KeyboardInterrupt):
            next(events)
    assert len(cluster.jobs) == len(points)
    for name in list(cluster.jobs)[:3]:
        cluster.end(name)
    (job,) = slurm.under_way(tmp_path / slurm.FOLDER)
    with Store.open(tmp_path, create=True) as store:
        store.set_experiment(experiment.document)
    told = CliRunner().invoke(app, ["status", str(tmp_path)]).output
    assert "0 of 8 points are finished; 3 more wait to be taken" in told.replace("\n", " ")
    assert "no run is watching" in told
    # Another one submits nothing again.
    again = executors.make("slurm", Resources(directory=tmp_path)).run(points)
    taken = [next(again) for _ in range(3)]
    for name in list(cluster.jobs):
        cluster.end(name)
    taken += again
    assert all(isinstance(event, Done) for event in taken)
    assert {event.point.key for event in taken} == {point.key for point in points}
    assert slurm.under_way(tmp_path / slurm.FOLDER) == {}
    assert job == "7"


def test_jobs_that_die_and_points_that_cannot_be_are_told(
    cluster: Cluster, experiment_file: Path, tmp_path: Path
) -> None:
    good, *_, lost = Experiment.load(experiment_file).points
    bad = type(good)({"routing": "?"}, good.spec | {"routing": {"nonsense": {}}})
    pool = executors.make("slurm", Resources(directory=tmp_path, jobs=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "end", cluster.jobs.pop)
        (event,) = pool.run([lost])
    assert isinstance(event, Failed)
    assert "has ended without a result" in event.message
    found = {event.point.key: event for event in pool.run([good, bad])}
    assert isinstance(found[good.key], Done)
    assert isinstance(found[bad.key], Failed)
    assert "nonsense" in found[bad.key].message  # type: ignore[union-attr]


def test_what_a_limit_cuts_is_submitted_again(
    cluster: Cluster, experiment_file: Path, tmp_path: Path
) -> None:
    points = Experiment.load(experiment_file).points
    cluster.cut = True
    events = list(executors.make("slurm", Resources(directory=tmp_path, jobs=3)).run(points))
    assert [type(event) for event in events] == [Done] * len(points)
    # Arrays of three jobs, each of which does one point.
    assert cluster.array == 6 + 3


def test_another_engine_on_a_node_is_refused(tmp_path: Path) -> None:
    chunk = slurm.Chunk([], tmp_path, 1, "0.0")
    with pytest.raises(RuntimeError, match=f"engine {_engine.VERSION}, not 0.0"):
        chunk()


@pytest.mark.parametrize(
    ("option", "word"),
    [("tim=3", "unknown option"), ("time=soon", "no number"), ("parallel=0", "no number")],
)
def test_options_that_slurm_does_not_have_are_refused(
    option: str, word: str, experiment_file: Path, tmp_path: Path
) -> None:
    arguments = ["run", str(experiment_file), "--dir", str(tmp_path / "x")]
    done = CliRunner().invoke(app, [*arguments, "--executor", "slurm", "--slurm", option])
    assert done.exit_code == 2
    assert word in done.output


def test_what_sbatch_says_is_told(
    experiment_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit")
    for name, text in {
        "srun": "",
        "sbatch": "echo 'sbatch: error: no such account' >&2; exit 1",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    arguments = ["run", str(experiment_file), "--dir", str(tmp_path / "x"), "--executor", "slurm"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    said = (
        "error: --executor slurm: the jobs could not be submitted: sbatch: error: no such account"
    )
    assert said in done.output


def test_status_says_whether_somebody_watches(experiment_file: Path, tmp_path: Path) -> None:
    call = CliRunner().invoke
    where = tmp_path / "out"
    assert call(app, ["run", str(experiment_file), "--dir", str(where)]).exit_code == 0
    told = call(app, ["status", str(where), "--follow"]).output
    assert "8 of 8 points are finished; no run is watching" in told
    with exclusive(where):
        assert "a run is going on" in call(app, ["status", str(where)]).output
    assert runner.unfinished(Experiment.load(experiment_file).points, where) == []

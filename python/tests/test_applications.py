"""Every command of the guide to applications is run, one after the other."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import deroute
from conftest import ROOT
from deroute.cli import app
from deroute.experiment import Experiment
from deroute.plan import check_experiment
from deroute.trace.text import CALLS

APPLICATIONS = ROOT / "experiments" / "applications"
TEXT = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
#: Open MPI is run by any user, with more ranks than there are cores.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def test_every_command_of_the_guide_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [name for name in ("mpicc", "mpirun") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not tested: the guide to applications, for want of {', '.join(missing)}")
    shutil.copytree(APPLICATIONS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name, value in OPEN_MPI.items():
        monkeypatch.setenv(name, value)
    commands = "".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)).splitlines()
    assert len(commands) > 5
    for command in commands:
        program, *arguments = shlex.split(command)
        if program == "deroute":
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"{command}: {result.output}"
        else:
            subprocess.run([program, *arguments], check=True)
    figures = [f"runs/heat/{name}.png" for name in ("slowdown", "gantt", "ranks")]
    for written in ("matrix.png", "timeline.png", *figures, "heat.json"):
        assert (tmp_path / written).stat().st_size > 1000
    assert (tmp_path / "runs/rails/bus-bandwidth.png").stat().st_size > 1000
    results = deroute.load_results("runs/heat")
    assert results.missing == []
    assert results.frame["relative.slowdown"].min() >= 1


def test_lammps_waits_for_a_slow_link() -> None:
    experiment = Experiment.load(APPLICATIONS / "lammps-slow-link.toml")
    assert len(check_experiment(experiment).points) == 27
    times = {}
    for point in experiment.points:
        if point.labels["routing"] == "D-mod-K" and point.labels["seed"] == 1:
            workload = deroute.simulate(point.spec).workload
            assert workload is not None
            assert workload.jobs[0].messages.sent == workload.jobs[0].messages.received == 10_422
            times[point.labels["link"]] = workload.makespan
    assert times["1"] < times["1/3"] < times["1/10"]


def test_a_training_step_of_the_command_is_one_of_the_experiment(tmp_path: Path) -> None:
    text = (APPLICATIONS / "train-70b.toml").read_text(encoding="utf-8")
    (command,) = re.findall(r"^#     deroute (.*)$", text, re.MULTILINE)
    few = ["--set", "micro_batches=1", "--model-set", "layers=4"]
    arguments = shlex.split(command.replace("--to train-70b", f"--to {tmp_path / 'train-70b'}"))
    assert CliRunner().invoke(app, [*arguments, *few]).exit_code == 0
    (tmp_path / "train-70b.toml").write_text(text)
    experiment = Experiment.load(tmp_path / "train-70b.toml")
    check_experiment(experiment)
    outcome = deroute.simulate(next(iter(experiment.points)).spec)
    assert outcome.verdict.state == "completed"


def test_every_call_is_described() -> None:
    described = set(re.findall(r"`(\w+)`", TEXT.partition("## The format")[2]))
    assert {call for call in CALLS if call not in described} == {
        call for call in CALLS if call[0] == "i" and call[1:] in described
    } - {"isend", "issend", "irsend", "ibsend", "irecv"}


def test_ft_and_is_end_when_the_guide_says() -> None:
    rows = re.findall(r"^\| (FT|IS) \| [\d.]+ \| ([\d.]+) \| ([\d.]+) \|$", TEXT, re.MULTILINE)
    said = {
        (program, sends): float(ms)
        for program, *times in rows
        for sends, ms in zip(("buffered", "rendezvous"), times, strict=True)
    }
    assert len(said) == 4
    for point in Experiment.load(APPLICATIONS / "beside-smpi.toml").points:
        outcome = deroute.simulate(point.spec)
        makespan_ms = outcome.workload.makespan * 10e-6
        assert round(makespan_ms, 3) == said[point.labels["program"], point.labels["sends"]]

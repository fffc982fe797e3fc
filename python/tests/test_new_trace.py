"""From a trace to a slowdown in two commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import deroute
from conftest import ROOT
from deroute import scaffold
from deroute.cli import app
from deroute.experiment import Experiment
from deroute.plan import check_experiment

TRACES = ROOT / "crates/deroute/tests/data/traces"


def new(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["new", *map(str, arguments)])


def test_two_commands_go_from_a_trace_to_a_slowdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for rank in range(4):
        sent = f"5 0 sendrecv {(rank + 1) % 4} 90000 0 {(rank - 1) % 4} 90000 0 0"
        text = f"mpi-trace 1\nrank {rank} of 4\n{sent}\n9 0 allreduce 0 8\n0 0 finalize\n"
        Path("ring").mkdir(exist_ok=True)
        Path(f"ring/rank{rank}.txt").write_text(text)
    result = new("mine.toml", "--trace", "ring")
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, ["run", "mine.toml"])
    assert result.exit_code == 0, result.output
    results = deroute.load_results("runs/mine")
    assert results.missing == []
    assert len(results.frame) == 4
    assert 1 <= results.frame["relative.slowdown"].min() <= results.frame["relative.slowdown"].max()
    assert results.frame["relative.slowdown"].max() < 3
    assert Path("runs/mine/slowdown.png").stat().st_size > 1000
    assert Path("runs/mine/gantt.png").stat().st_size > 1000


@pytest.mark.parametrize("topology", scaffold.KINDS)
@pytest.mark.parametrize(
    "trace", ["mpi-trace/lammps-melt-16.tar.gz", "goal/incast.goal", "ti/npb-is-A-16.tar.gz"]
)
def test_what_is_written_can_be_run(topology: str, trace: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    result = new(file, "--trace", TRACES / trace, "--topology", topology, "--hosts", 20)
    assert result.exit_code == 0, result.output
    check_experiment(Experiment.load(file))


def test_what_cannot_be_replayed_is_told(tmp_path: Path) -> None:
    layers = tmp_path / "layers.txt"
    layers.write_text("X model_parallel_NPU_group: 1 ep: 1 pp: 1 all_gpus: 4\n0\n")
    file = tmp_path / "mine.toml"
    assert "deroute trace convert" in new(file, "--trace", layers).output
    lammps = TRACES / "mpi-trace/lammps-melt-16.tar.gz"
    assert "less than the 16 ranks" in new(file, "--trace", lammps, "--hosts", 8).output
    assert "does not route" in new(file, "--trace", lammps, "--routing", "ugal").output
    assert "No such file" in new(file, "--trace", tmp_path / "nothing").output
    assert not file.exists()

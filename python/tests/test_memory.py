"""What a point needs of memory: predicted, and told in time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from deroute import machine
from deroute.api import Footprint
from deroute.cost import large
from test_cli import call
from test_presets import write


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
def test_the_prediction_is_what_points_take() -> None:
    """Below and beyond saturation, within 30%."""
    command = [sys.executable, str(ROOT / "tools" / "memory.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "below" in done.stdout
    assert "beyond" in done.stdout


def test_more_memory_than_there_is_is_told() -> None:
    small, queues = Footprint(1, 10**6, 10**8, 10**11), Footprint(1, 10**9, 73 * 10**9, None)
    assert not large(small, 4, 10**9)
    (problem,) = large(queues, 2, 23 * 10**9)
    assert problem.message == (
        "2 points at a time need about 146.1 GB beyond saturation, and this machine has 23.0 GB"
    )
    (problem,) = large(Footprint(1, 30 * 10**9, 40 * 10**9, None), 1, 23 * 10**9)
    assert problem.message == "a point needs about 30.1 GB, and this machine has 23.0 GB"


def test_check_warns_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deroute.cost.memory", lambda: 10**5)
    file = write(tmp_path, "mine.toml", 'name = "mine"\nextends = "dragonfly-5256"\n')
    output = call("check", file, "--no-probe").output
    assert "warning: a point needs" in output
    assert "--jobs" in output


def test_a_control_group_has_no_more_than_those_around_it(tmp_path: Path) -> None:
    root, member = tmp_path / "cgroup", tmp_path / "member"
    member.write_text("4:memory,cpu:/old/group\n1:name=systemd:/none\n0::/user/session\n")
    folders = ("memory/old/group", "memory/old", "user/session", "user")
    assert set(machine.groups(root, member)) == {
        root,
        root / "memory",
        *(root / folder for folder in folders),
    }
    (root / "user/session").mkdir(parents=True)
    (root / "user/session/memory.max").write_text("max\n")
    (root / "user/memory.max").write_text("1000000\n")
    assert machine.memory(root, member) == 1_000_000
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < machine.memory() <= there

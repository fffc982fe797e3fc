"""Measurements of `tools/` that take minutes to hours, as short as they can be: they still run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
SHORT = ["--seeds", "2", "--jobs", "1"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("coverage", ["h=2 MIN UN 0.3", "--warmup", "500", "--measure", "500"]),
        ("stopping", ["h=2 MIN UN 0.3", "--long", "2", "--most", "4000"]),
        ("stopping", ["h=2 MIN ADV+1 0.3", "--long", "2", "--most", "4000"]),
        ("knees", ["MIN ADV+1", "--most", "1000"]),
    ],
)
def test_a_measurement_runs(tool: str, arguments: list[str]) -> None:
    command = [sys.executable, str(TOOLS / f"{tool}.py"), *arguments, *SHORT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) > 1
    assert all(line.startswith(arguments[0]) for line in told[1:])


def test_an_unknown_point_is_told_what_there_is() -> None:
    for tool in ("coverage", "stopping", "knees"):
        command = [sys.executable, str(TOOLS / f"{tool}.py"), "UN"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "unknown: UN; there are\n" in done.stderr

"""Every command of the guide to applications is run, one after the other."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from deroute.cli import app
from deroute.trace.text import CALLS

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
    shutil.copytree(ROOT / "experiments" / "applications", tmp_path, dirs_exist_ok=True)
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
    assert (tmp_path / "matrix.png").stat().st_size > 1000


def test_every_call_is_described() -> None:
    described = set(re.findall(r"`(\w+)`", TEXT.partition("## The format")[2]))
    assert {call for call in CALLS if call not in described} == {
        call for call in CALLS if call[0] == "i" and call[1:] in described
    } - {"isend", "issend", "irsend", "irecv"}

"""Programs recorded under the MPIs of this machine: every call, as the program made it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deroute.cli import app
from deroute.trace import recorder

PROGRAMS = Path(__file__).parent / "programs"
#: Launchers, with what they need to start four ranks on a small machine, as any user.
LAUNCHERS = {
    "mpich": ("mpirun.mpich",),
    "openmpi": ("mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"),
}
#: Rank 1 of 4 of `calls.c`, without times.
CALLS = """\
comm 0 0,1,2,3
comm 5 1
irecv -1 512 -1 0 0
irecv 0 64 6 0 1
isend 2 64 5 0 2
isend 2 64 6 0 3
wait 0<0,5,64 1<0,6,64 2 3
sendrecv 2 12 7 0 12 7 0 <0,7,12
sendrecv 2 4 8 0 4 8 0 <0,8,4
irecv -2 4 8 0 4
wait 4
nothing
nothing
irecv 0 16 9 0 5
isend 2 16 9 0 6
wait 6
test 5<0,9,16
irecv 0 16 9 0 7
isend 2 16 9 0 8
wait 8
test 7<0,9,16
nothing
nothing
newcomm
comm 11 3,1
newcomm
comm 15 3,1
bcast 11 3 20
allreduce 15 16
ssend 3 9 1 11
freecomm 15
barrier 0
reduce 0 1 12
allgather 0 4
alltoall 0 2
alltoallv 0 4,4,4,4
gather 0 0 4
scatterv 0 0 4
iallreduce 0 32 9
ibarrier 0 10
waitany 10
waitany 9
allreduce 5 4
freecomm 11
finalize
"""
#: Rank 1 of 4 of `ring.f90`.
RING = """\
comm 0 0,1,2,3
comm 5 1
irecv 0 512 3 0 0
isend 2 80 3 0 1
wait 0<0,3,80 1
sendrecv 2 4 4 0 4 4 0 <0,4,4
allreduce 0 16
newcomm
comm 9 1,3
bcast 9 1 12
alltoallv 0 4,4,4,4
newcomm
comm 12 0,1,2,3
recv -1 7 5 12 <0,5,7
freecomm 9
finalize
"""


def needs(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not tested: the recorder, for want of {', '.join(missing)}")


def words(file: Path) -> str:
    """Lines without the times, and finished waits in the order of their requests."""
    head, rank, *lines = file.read_text().splitlines()
    assert (head, rank) == ("mpi-trace 1", "rank 1 of 4")
    kept = [line if line.startswith("comm") else line.split(" ", 2)[2] for line in lines]
    waits = iter(sorted(line for line in kept if line.startswith("waitany")))
    return "".join((next(waits) if line.startswith("waitany") else line) + "\n" for line in kept)


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_every_call_of_a_program_is_written_down(kind: str, tmp_path: Path) -> None:
    needs(f"mpicc.{kind}", f"mpirun.{kind}")
    program = tmp_path / "calls"
    source = PROGRAMS / "calls.c"
    subprocess.run([f"mpicc.{kind}", "-w", "-o", program, source], check=True)
    start = [*LAUNCHERS[kind], "-np", "4", str(program)]
    trace = tmp_path / "trace"
    result = CliRunner().invoke(app, ["trace", "record", "--to", str(trace), "--", *start])
    assert result.exit_code == 0, result.output
    assert "4 ranks" in result.stdout
    assert words(trace / "rank1.txt") == CALLS


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_fortran_programs_are_recorded_too(kind: str, tmp_path: Path) -> None:
    needs("gfortran", f"mpif90.{kind}", f"mpicc.{kind}", f"mpirun.{kind}")
    program = tmp_path / "ring"
    source = PROGRAMS / "ring.f90"
    subprocess.run([f"mpif90.{kind}", "-w", "-o", program, source], check=True, cwd=tmp_path)
    start = [*LAUNCHERS[kind], "-np", "4", str(program)]
    recorder.record(start, tmp_path / "trace", None)
    assert words(tmp_path / "trace" / "rank1.txt") == RING


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "nowhere-mpirun", "./app"], "there is no program `nowhere-mpirun`"),
        (["--to", "FULL", "--", "true"], "is not empty"),
        (["--compiler", "nowhere-cc", "--", "true"], "no `nowhere-cc`"),
        (["--compiler", "false", "--", "true"], "`false` cannot build the recorder"),
    ],
)
def test_what_cannot_be_recorded_is_said(arguments: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    given = [str(tmp_path / "full") if part == "FULL" else part for part in arguments]
    result = CliRunner().invoke(app, ["trace", "record", "--to", str(tmp_path / "to"), *given])
    assert result.exit_code == 2
    assert words in result.output

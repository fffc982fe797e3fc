"""Records the MPI calls of a program with a library that stands before the machine's MPI.

The library is built when it is needed, with the MPI compiler of the machine, from the C files of
this folder: it has the C and the Fortran names of the calls, calls their namesakes of the profiling
interface, and writes a text file per rank.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deroute.errors import InputError, SimulationError

SOURCES = sorted(Path(__file__).parent.glob("*.c"))
_FLAGS = ("-std=gnu11", "-O2", "-shared", "-fPIC")
#: Lines that are read from the end of a file to see how it ends.
_TAIL = 4096


@dataclass(frozen=True)
class Recorded:
    """A trace that has been recorded."""

    folder: Path
    ranks: int
    #: What the program called and the trace does not hold, with the number of calls of all ranks.
    missing: dict[str, int]


def record(command: Sequence[str], folder: Path, compiler: str | None) -> Recorded:
    """Run a command, and write what its MPI programs call into a folder.

    Raises `InputError` if the recorder cannot be built or the command not be found, and
    `SimulationError` if the program fails or no rank was recorded.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError.of(f"{folder} is not empty", "--to")
    if not command:
        raise InputError.of("there is no command to run, e.g. -- mpirun -np 4 ./app", "COMMAND")
    if shutil.which(command[0]) is None:
        raise InputError.of(f"there is no program `{command[0]}`", "COMMAND")
    chosen = compiler or compiler_for(command[0])
    with tempfile.TemporaryDirectory(prefix="deroute-") as place:
        library = build(chosen, Path(place))
        folder.mkdir(parents=True, exist_ok=True)
        loaded = [str(library), *filter(None, [os.environ.get("LD_PRELOAD")])]
        told = {"LD_PRELOAD": ":".join(loaded), "DEROUTE_TRACE": str(folder.resolve())}
        done = subprocess.run(command, env={**os.environ, **told}, check=False)
    if done.returncode:
        raise SimulationError(f"`{command[0]}` ended with code {done.returncode}")
    return _looked_at(folder, chosen)


def compiler_for(launcher: str) -> str:
    """The MPI compiler that belongs to a launcher: `mpicc.mpich` to `mpirun.mpich`."""
    _, dot, kind = Path(launcher).name.partition(".")
    sibling = f"mpicc{dot}{kind}"
    return sibling if shutil.which(sibling) else "mpicc"


def build(compiler: str, place: Path) -> Path:
    """Build the library that stands before MPI. Raises `InputError` if that is not possible."""
    library = place / "libderoute-record.so"
    command = [compiler, *_FLAGS, "-o", str(library), *map(str, SOURCES), "-ldl", "-lpthread"]
    if shutil.which(compiler) is None:
        wanted = "an MPI with its compiler is needed, such as libopenmpi-dev or libmpich-dev"
        raise InputError.of(f"there is no `{compiler}`: {wanted}", "--compiler")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        raise InputError.of(f"`{compiler}` cannot build the recorder: {lines[0]}", "--compiler")
    return library


def _looked_at(folder: Path, compiler: str) -> Recorded:
    """What has been recorded: all ranks, each to its end."""
    files = sorted(folder.glob("rank*.txt"))
    if not files:
        raise SimulationError(
            f"no rank was recorded: the program must use the MPI of `{compiler}` as a shared"
            " library, and call MPI_Init"
        )
    heads = [file.open(encoding="ascii").readlines(200) for file in files]
    sizes = {int(found[1]) for head in heads if (found := re.search(r"of (\d+)", "".join(head)))}
    ranks = max(sizes)
    absent = [rank for rank in range(ranks) if not (folder / f"rank{rank}.txt").exists()]
    if absent:
        raise SimulationError(f"{folder}: there is nothing of rank {absent[0]} of {ranks}")
    missing: dict[str, int] = {}
    for file in files:
        end = _end(file)
        if not re.search(r"^\d+ \d+ finalize$", end, re.MULTILINE):
            raise SimulationError(f"{file}: the rank did not come to MPI_Finalize")
        for calls, name in re.findall(r"^# (\d+) calls of (\w+) are", end, re.MULTILINE):
            missing[name] = missing.get(name, 0) + int(calls)
    return Recorded(folder, ranks, missing)


def _end(file: Path) -> str:
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL))
        return stream.read().decode("ascii", "replace")

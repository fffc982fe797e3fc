"""`deroute trace record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.errors import Problem
from deroute.trace import recorder


def record(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="What starts the program, after --.")
    ],
    to: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the trace, a file for each rank.")
    ] = Path("trace"),
    compiler: Annotated[
        str | None, typer.Option(help="MPI compiler; else `mpicc`, or the one of the launcher.")
    ] = None,
) -> None:
    """Record the MPI calls of a program, C or Fortran, as a trace.

    A library is built with the MPI compiler of this machine and loaded before the program, which
    needs no change. Between calls the time on the CPU counts, so that more ranks than cores do no
    harm.

    - `deroute trace record -- mpirun -np 16 ./app`
    - `deroute trace record --to melt -- mpirun.mpich -np 64 lmp -in in.melt`
    """
    found = recorder.record(command, to, compiler)
    app.out().print(f"{found.folder}: {found.ranks} ranks", markup=False, soft_wrap=True)
    app.warn(
        [
            Problem(f"{calls:,} calls of {name} are not in the trace: they cannot be replayed")
            for name, calls in sorted(found.missing.items())
        ]
    )

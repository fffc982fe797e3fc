"""`deroute trace convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.cli.trace.opening import Groups, open_trace
from deroute.cli.trace.output import FORMATS, put
from deroute.errors import InputError
from deroute.trace import chakra, goal
from deroute.trace.time_independent import FLOPS


def convert(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="Trace: file, folder, archive.")],
    to: Annotated[Path, typer.Option(metavar="PATH", help="Folder, or file of a GOAL graph.")],
    into: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "goal",
    flops: Annotated[
        float | None,
        typer.Option(
            help=f"In a second, where a trace counts operations: {FLOPS:g} of SimGrid's; "
            "Chakra's that have no duration need it."
        ),
    ] = None,
    groups: Groups = None,
) -> None:
    """Write a trace in another format.

    In GOAL, collectives are rounds of messages, and communicators are tags.

    - `deroute trace convert melt --to melt.goal`
    - `deroute trace convert stage --groups stage/groups.json --flops 4e14 --to step.goal`
    - `deroute trace convert npb-cg-A-16.tar.gz --flops 4e9 --into mpi-trace --to cg`
    """
    name, opened = open_trace(trace, None, flops, groups, timed=True)
    if name == goal.NAME:
        raise InputError.of(f"{trace} is a graph, which no other format holds", "TRACE")
    app.out().print(put(opened, to, into), markup=False, soft_wrap=True)
    if isinstance(opened, chakra.ChakraTrace):
        for note in opened.notes():
            app.err().print(note, markup=False, soft_wrap=True)

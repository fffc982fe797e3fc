"""`deroute trace convert`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.cli.trace.output import FORMATS, put
from deroute.errors import InputError
from deroute.trace import chakra, formats, goal, time_independent
from deroute.trace.places import Place
from deroute.trace.time_independent import FLOPS

_COUNTING = (time_independent.NAME, chakra.NAME)


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
    groups: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Groups of a Chakra trace (JSON).")
    ] = None,
) -> None:
    """Write a trace in another format.

    In GOAL, collectives are rounds of messages, and communicators are tags.

    - `deroute trace convert melt --to melt.goal`
    - `deroute trace convert stage --groups stage/groups.json --flops 4e14 --to step.goal`
    - `deroute trace convert npb-cg-A-16.tar.gz --flops 4e9 --into mpi-trace --to cg`
    """
    name, opened = formats.open_trace(trace)
    if flops is not None and (name not in _COUNTING or not 0 < flops < math.inf):
        formats_with = " and ".join(_COUNTING)
        raise InputError.of(f"{flops:g} is above 0, of {formats_with} only", "--flops")
    if groups is not None and name != chakra.NAME:
        raise InputError.of(f"belong to {chakra.NAME}", "--groups")
    if name == chakra.NAME:
        opened = chakra.ChakraTrace(Place(trace), groups, flops, timed=True)
    elif name == goal.NAME:
        raise InputError.of(f"{trace} is a graph, which no other format holds", "TRACE")
    elif flops is not None:
        opened = time_independent.TimeIndependentTrace(Place(trace), flops)
    app.out().print(put(opened, to, into), markup=False, soft_wrap=True)
    if isinstance(opened, chakra.ChakraTrace):
        for note in opened.notes():
            app.err().print(note, markup=False, soft_wrap=True)

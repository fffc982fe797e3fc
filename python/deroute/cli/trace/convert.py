"""`deroute trace convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.cli.trace.output import FORMATS, put
from deroute.errors import InputError
from deroute.trace import formats
from deroute.trace.places import Place
from deroute.trace.time_independent import FLOPS, NAME, TimeIndependentTrace


def convert(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="Trace: file, folder, archive.")],
    to: Annotated[Path, typer.Option(metavar="PATH", help="Folder, or file of a GOAL graph.")],
    into: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "goal",
    flops: Annotated[
        float | None, typer.Option(help=f"In a second, of time-independent traces; else {FLOPS:g}.")
    ] = None,
) -> None:
    """Write a trace in another format.

    In GOAL, collectives are rounds of messages, and communicators are tags.

    - `deroute trace convert melt --to melt.goal`
    - `deroute trace convert npb-cg-A-16.tar.gz --flops 4e9 --into mpi-trace --to cg`
    """
    name, opened = formats.open_trace(trace)
    if not formats.CATALOGUE[name].in_order:
        raise InputError.of(f"{trace} is a graph, which no other format holds", "TRACE")
    if flops is not None:
        if name != NAME or not flops > 0:
            raise InputError.of(f"{flops:g} is above 0, of {NAME} traces only", "--flops")
        opened = TimeIndependentTrace(Place(trace), flops)
    app.out().print(put(opened, to, into), markup=False, soft_wrap=True)

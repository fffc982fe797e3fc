"""Opens traces for the commands, with what their files do not say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from deroute.errors import InputError
from deroute.trace import chakra, formats, time_independent
from deroute.trace.ops import Trace
from deroute.trace.places import Place

_COUNTING = (time_independent.NAME, chakra.NAME)

Groups = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Groups of a Chakra trace (JSON).")
]


def open_trace(
    path: Path, form: str | None, flops: float | None, groups: Path | None, *, timed: bool = False
) -> tuple[str, Trace]:
    """The format of a trace, and the trace. With `timed` every computation has to take a time."""
    name, opened = formats.open_trace(path, form)
    if flops is not None and not 0 < flops < math.inf:
        raise InputError.of(f"{flops:g} is no number above 0", "--flops")
    if flops is not None and name not in _COUNTING:
        message = f"a trace of {name} counts no operations"
        raise InputError.of(message, "--flops", _COUNTING)
    if groups is not None and name != chakra.NAME:
        raise InputError.of(f"a trace of {name} has no such file", "--groups", [chakra.NAME])
    if name == chakra.NAME:
        opened = chakra.ChakraTrace(Place(path), groups, flops, timed=timed)
    elif flops is not None:
        opened = time_independent.TimeIndependentTrace(Place(path), flops)
    return name, opened

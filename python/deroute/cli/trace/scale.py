"""`deroute trace scale`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.cli.trace.output import put
from deroute.errors import InputError
from deroute.trace import formats, text
from deroute.trace.scaling import Scaled


def scale(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="Trace: file, folder, archive.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the new trace.")],
    compute: Annotated[
        str, typer.Option(metavar="FACTOR", help="Of the times between calls; 0: network alone.")
    ] = "1",
    size: Annotated[
        str, typer.Option("--bytes", metavar="FACTOR", help="Of all messages and collectives.")
    ] = "1",
) -> None:
    """Make computations and messages longer or shorter.

    Bytes are rounded up, and 0 stays 0. A factor is a number or a fraction, such as 1/3.

    - `deroute trace scale melt --to faster --compute 1/10`
    - `deroute trace scale melt --to larger --bytes 16`
    """
    name, opened = formats.open_trace(trace)
    if not formats.CATALOGUE[name].in_order:
        raise InputError.of(f"{trace} is a graph; a workload scales those as they run", "TRACE")
    scaled = Scaled(opened, _factor(compute, "--compute"), _factor(size, "--bytes"))
    app.out().print(put(scaled, to, text.NAME), markup=False, soft_wrap=True)


def _factor(given: str, option: str) -> Fraction:
    try:
        factor = Fraction(given)
    except (ValueError, ZeroDivisionError):
        factor = Fraction(-1)
    if not 0 <= factor <= 10**9:
        raise InputError.of(f"{given!r} is not a factor", option, ["0 to 1e9", "1/3"])
    return factor

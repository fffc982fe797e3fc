"""`deroute trace nas`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deroute.cli import app
from deroute.cli.trace.output import FORMATS, put
from deroute.errors import InputError
from deroute.trace import nas as benchmarks
from deroute.trace import text


def nas(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"One of {', '.join(benchmarks.CATALOGUE)}.")
    ],
    ranks: Annotated[int, typer.Option(help="Number of ranks.")],
    to: Annotated[Path, typer.Option(metavar="PATH", help="Folder, or file of a GOAL graph.")],
    letter: Annotated[str, typer.Option("--class", help="Size of the problem: S, W, A to E.")],
    iterations: Annotated[int | None, typer.Option(help="Instead of those of the class.")] = None,
    flops: Annotated[float, typer.Option(help="Operations of a rank in a second.")] = 1e9,
    into: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = text.NAME,
) -> None:
    """Write what a benchmark of the NAS suite sends, from its class and a number of ranks.

    BT and SP need a square number of ranks, the others a power of two.

    - `deroute trace nas cg --class A --ranks 16 --to cg-A-16`
    - `deroute trace nas ft --class C --ranks 128 --iterations 2 --to ft-C-128`
    """
    if name not in benchmarks.CATALOGUE:
        raise InputError.of(f"there is no benchmark {name!r}", "NAME", benchmarks.CATALOGUE)
    pattern = benchmarks.CATALOGUE[name]
    made = benchmarks.Benchmark.of(pattern, letter, ranks, iterations, flops)
    note = f"NAS {name} class {letter}, {made.iterations} iterations, {flops:g} flops a second"
    app.out().print(put(made, to, into, [note]), markup=False, soft_wrap=True)

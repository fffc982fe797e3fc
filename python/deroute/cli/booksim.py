"""`deroute convert booksim`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from deroute import booksim as files
from deroute.cli.examples import write_new


def booksim(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Configuration file of BookSim 2.")],
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it to this file, not to the screen.")
    ] = None,
) -> None:
    """Convert a configuration file of BookSim 2 into an experiment file.

    What changes a result and has no counterpart is an error with its line: flattened butterflies
    and fat trees on a floor plan, meshes and tori, wormhole switching, requests and replies,
    speed-ups. Allocators are Deroute's, whichever the file names.

    - `deroute convert booksim dragonfly.cfg --to dragonfly.toml`
    """
    text = files.text(files.convert(file, to))
    if to is None:
        print(text, end="")
        return
    write_new(to, text, "--to")
    print(f"written: {to}; next: deroute check {shlex.quote(str(to))}")

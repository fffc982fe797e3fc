"""`deroute examples`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from deroute import data, presets
from deroute.cli import app
from deroute.errors import InputError
from deroute.writing import absent, blaming, whole


def examples(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show this one; without it, list all.")
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Write it to NAME.toml instead of showing it.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it to this file instead.")
    ] = None,
) -> None:
    """List, show or copy the experiment files that come with Deroute.

    Wherever a command wants an experiment file, the name of an example does as well.

    - `deroute examples`
    - `deroute examples demo`
    - `deroute examples demo --copy`
    - `deroute run first`
    """
    if name is None:
        if copy or to is not None:
            raise InputError.of("is missing: which example?", "NAME", list(data.examples()))
        _list()
        return
    text = data.text_of(data.example(name))
    if not copy and to is None:
        print(text, end="")
        return
    file = to or Path(f"{name}.toml")
    write_new(file, text, "--copy" if to is None else "--to")
    print(f"written: {file}")


def write_new(file: Path, text: str, option: str) -> None:
    """Write a file that must not be there yet, and that this option names."""
    absent(file, option)
    with blaming(option, file), whole(file) as draft:
        draft.write_text(text, encoding="utf-8")


def _list() -> None:
    table = Table.grid(padding=(0, 2))
    for name, file in data.examples().items():
        table.add_row(name, escape(data.title(file)))
    console = app.out()
    console.print("Examples, for `deroute run NAME` or `deroute examples NAME --copy`:")
    console.print(table)
    console.print("Networks, for `extends = NAME` in an experiment file:")
    console.print("  " + ", ".join(presets.names()))
    console.print("Papers, for `deroute reproduce PAPER`:")
    console.print("  " + ", ".join(folder.parent.name for folder in _papers()))


def _papers() -> list[Path]:
    return sorted(data.PAPERS.glob("*/paper.toml"))

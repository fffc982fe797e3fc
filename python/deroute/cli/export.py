"""`deroute export`."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from deroute.cli import app
from deroute.errors import InputError
from deroute.frame import load_results
from deroute.writing import blaming, named, whole

#: Every format, by the suffix of its files.
FORMATS: Mapping[str, Callable[[pl.DataFrame, io.BytesIO], None]] = {
    "parquet": lambda frame, stream: frame.write_parquet(stream),
    "csv": lambda frame, stream: frame.write_csv(stream),
}


def export(
    directory: app.Directory,
    formats: Annotated[
        list[str], typer.Option("--format", help=f"{' or '.join(FORMATS)}; may be repeated.")
    ] = list(FORMATS),
    to: Annotated[
        Path | None,
        typer.Option(help="File; its suffix is that of the format. Default: DIR/results."),
    ] = None,
) -> None:
    """Write the results of an experiment as Parquet and CSV: one row per finished point.

    - `deroute export runs/demo`
    - `deroute export runs/demo --format csv --to tables/demo`
    """
    for form in formats:
        if form not in FORMATS:
            raise InputError.of(f"unknown format {form!r}", "--format", FORMATS)
    frame = load_results(directory).frame
    stem = to or directory / "results"
    with blaming("--to", stem):
        named(stem)
    if stem.suffix.removeprefix(".") in FORMATS:
        stem = stem.with_suffix("")
    for form in formats:
        file = stem.with_name(f"{stem.name}.{form}")
        # polars says in its own way what goes wrong with a file.
        content = io.BytesIO()
        FORMATS[form](frame, content)
        with blaming("--to", file), whole(file) as draft:
            draft.write_bytes(content.getbuffer())
        print(f"{file}: {frame.height} points, {frame.width} columns")

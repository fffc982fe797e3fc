"""`deroute export`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from deroute.cli import app
from deroute.errors import InputError
from deroute.frame import load_results
from deroute.writing import whole

#: Every format, by the suffix of its files.
FORMATS: Mapping[str, Callable[[pl.DataFrame, Path], None]] = {
    "parquet": lambda frame, file: frame.write_parquet(file),
    "csv": lambda frame, file: frame.write_csv(file),
}


def export(
    directory: app.Directory,
    formats: Annotated[
        list[str], typer.Option("--format", help=f"{' or '.join(FORMATS)}; may be repeated.")
    ] = list(FORMATS),
    to: Annotated[
        Path | None, typer.Option(help="File without suffix; default: DIR/results.")
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
    for form in formats:
        file = stem.with_name(f"{stem.name}.{form}")
        try:
            with whole(file) as draft:
                FORMATS[form](frame, draft)
        except OSError as error:
            raise InputError.of(f"cannot write {file}: {error}", "--to") from error
        print(f"{file}: {frame.height} points, {frame.width} columns")

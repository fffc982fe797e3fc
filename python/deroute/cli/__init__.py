"""The `deroute` command: one file per command, one line each in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from deroute.cli import app as _app
from deroute.cli import (
    check,
    compare,
    export,
    plot,
    point,
    repair,
    report,
    reproduce,
    run,
    schema,
    show,
    streams,
    tables,
    topology,
)

#: Every command, in the order of `deroute --help`.
COMMANDS: Sequence[Callable[..., Any]] = (
    check.check,
    run.run,
    show.show,
    plot.plot,
    export.export,
    report.report,
    compare.compare,
    repair.repair,
    point.point,
    topology.topology,
    tables.tables,
    schema.schema,
    reproduce.reproduce,
)

app = _app.build(COMMANDS)


def main() -> None:
    """Entry point of the `deroute` command."""
    streams.open_all()
    app(prog_name="deroute")

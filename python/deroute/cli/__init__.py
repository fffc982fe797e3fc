"""The `deroute` command: one file per command, one line each in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deroute.cli import app as _app
from deroute.cli import (
    booksim,
    check,
    compare,
    examples,
    export,
    merge,
    new,
    plot,
    point,
    repair,
    report,
    reproduce,
    run,
    saturation,
    schema,
    show,
    status,
    streams,
    tables,
    topology,
)
from deroute.cli.trace import convert, info, nas, record, scale, timeline, transformer

#: Every command, in the order of `deroute --help`.
COMMANDS: Sequence[Callable[..., Any]] = (
    examples.examples,
    new.new,
    check.check,
    run.run,
    saturation.saturation,
    merge.merge,
    status.status,
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

#: Commands of commands, with what they are about.
GROUPS: Mapping[str, tuple[str, Sequence[Callable[..., Any]]]] = {
    "convert": ("Read the files of other simulators.", (booksim.booksim,)),
    "trace": (
        "Record, describe and change what programs do.",
        (
            record.record,
            info.info,
            convert.convert,
            scale.scale,
            nas.nas,
            transformer.transformer,
            timeline.timeline,
        ),
    ),
}

app = _app.build(COMMANDS, GROUPS)


def main() -> None:
    """The `deroute` command."""
    streams.open_all()
    app(prog_name="deroute")

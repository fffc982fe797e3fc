"""`deroute trace info`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from deroute.cli import app
from deroute.cli.bars import bar
from deroute.cli.trace.opening import Groups, open_trace
from deroute.errors import InputError
from deroute.trace import chakra, formats, picture
from deroute.trace.free import FreeNetwork, Run
from deroute.trace.sizes import bytes_text, ms
from deroute.trace.statistics import Summary, summary
from deroute.trace.time_independent import FLOPS
from deroute.writing import blaming

_SHOWN = 5


def info(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="Trace: file, folder, archive.")],
    form: Annotated[
        str | None, typer.Option("--format", help=f"One of {', '.join(formats.CATALOGUE)}.")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of who sends how much to whom.")
    ] = None,
    timeline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of when which rank computes.")
    ] = None,
    flops: Annotated[
        float | None,
        typer.Option(
            help=f"In a second, where a trace counts operations: {FLOPS:g} of SimGrid's; "
            "Chakra's that have no duration take no time without."
        ),
    ] = None,
    groups: Groups = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is in a trace: ranks, messages, sizes, collectives, and what bounds its time.

    The critical path is that on a network which takes no time: no replay is faster. Messages of
    collectives depend on their algorithms and are not counted, but they are in the picture.

    - `deroute trace info lammps-melt-16.tar.gz --matrix melt.png --timeline melt.svg`
    - `deroute trace info npb-ft-W-16.tar.gz --flops 4e9`
    - `deroute trace info trace --json`
    """
    for option, file in (("--matrix", matrix), ("--timeline", timeline)):
        try:
            picture.formats(file or Path("none.png"))
        except ValueError as error:
            raise InputError.of(str(error), option) from None
    name, opened = open_trace(trace, form, flops, groups)
    with bar("Ranks") as told:
        found = summary(opened, told)
    run = None
    if formats.CATALOGUE[name].in_order:
        with bar("Calls on a free network") as told:
            run = FreeNetwork(opened).run(found.calls, told)
    result = _result(name, found, run)
    if as_json:
        print(json.dumps(result))
    else:
        _print(result)
    if isinstance(opened, chakra.ChakraTrace):
        for note in opened.notes():
            app.err().print(note, markup=False, soft_wrap=True)
    if matrix is not None:
        with blaming("--matrix", matrix):
            written = picture.draw(found, matrix, trace.name)
        app.err().print(f"{written}", markup=False, soft_wrap=True)
    if timeline is not None and run is None:
        raise InputError.of(f"{trace} is a graph: only a replay says when", "--timeline")
    if timeline is not None and run is not None:
        with bar("Calls for the timeline") as told:
            course = picture.course(opened, run, found.calls, told)
        with blaming("--timeline", timeline):
            written = picture.draw_timeline(opened.ranks, run, course, timeline, trace.name)
        app.err().print(f"{written}", markup=False, soft_wrap=True)


def _result(name: str, found: Summary, run: Run | None) -> dict[str, Any]:
    """Everything that is printed, as JSON has it."""
    free = None
    if run is not None:
        on_path: Counter[int] = Counter()
        for rank, begin, end in run.path:
            on_path[rank] += end - begin
        free = {
            "ns": run.ns,
            "changes_of_rank": len(run.path) - 1,
            "ranks_on_path": len(on_path),
            "ns_of_ranks": [[rank, ns] for rank, ns in on_path.most_common(_SHOWN)],
        }
    return {
        "format": name,
        "ranks": found.ranks,
        "calls": found.calls,
        "communicators": found.communicators,
        "messages": found.messages,
        "bytes": found.bytes,
        "sizes": sorted(found.sizes.items()),
        "collectives": {
            kind: {"calls": calls, "bytes": size}
            for kind, (calls, size) in sorted(found.collectives.items())
        },
        "compute_ns": {
            "least": min(found.compute_ns),
            "mean": sum(found.compute_ns) / found.ranks,
            "most": max(found.compute_ns),
        },
        "unmatched": [
            {**dict(zip(("from", "to", "tag", "communicator"), channel, strict=True)), "more": more}
            for channel, more in sorted(found.unmatched.items())
        ],
        "open_receives": found.open_receives,
        "free_network": free,
    }


def _print(result: Mapping[str, Any]) -> None:
    console = app.out()
    facts = Table.grid(padding=(0, 2))
    compute = result["compute_ns"]
    facts.add_row("trace", result["format"])
    facts.add_row("ranks", f"{result['ranks']:,}")
    facts.add_row("calls", f"{result['calls']:,}, on {result['communicators']:,} communicators")
    facts.add_row("messages", f"{result['messages']:,} with {bytes_text(result['bytes'])}")
    facts.add_row(
        "computing",
        f"{ms(compute['least'])} to {ms(compute['most'])} of a rank, mean {ms(compute['mean'])}",
    )
    free = result["free_network"]
    if free is None:
        facts.add_row("critical path", "of graphs: only by a replay")
    else:
        most = ", ".join(f"{rank} ({ms(ns)})" for rank, ns in free["ns_of_ranks"])
        facts.add_row("free network", ms(free["ns"]))
        facts.add_row(
            "critical path",
            f"{free['changes_of_rank']:,} changes between {free['ranks_on_path']:,} ranks;"
            f" longest on rank {most}",
        )
    facts.add_row("unmatched", _unmatched(result))
    console.print(facts)
    if result["sizes"]:
        console.print()
        console.print(_sizes(result["sizes"], result["messages"]))
    if result["collectives"]:
        console.print()
        table = Table(box=None, header_style="bold")
        for column in ("collective", "calls", "bytes"):
            table.add_column(column, justify="left" if column == "collective" else "right")
        for kind, counts in result["collectives"].items():
            table.add_row(escape(kind), f"{counts['calls']:,}", bytes_text(counts["bytes"]))
        console.print(table)


def _unmatched(result: Mapping[str, Any]) -> str:
    """Channels on which more is sent than received, or less."""
    channels = result["unmatched"]
    told = [
        f"{abs(one['more'])} {'sent' if one['more'] > 0 else 'wanted'} more from {one['from']} to"
        f" {one['to']} with tag {one['tag']} in communicator {one['communicator']}"
        for one in channels[:_SHOWN]
    ]
    if len(channels) > _SHOWN:
        told.append(f"and on {len(channels) - _SHOWN} more channels")
    if result["open_receives"]:
        told.append(f"{result['open_receives']:,} receives of whatever comes")
    return "; ".join(told) or "nothing"


def _sizes(sizes: Sequence[tuple[int, int]], messages: int) -> Table:
    """Messages by powers of four of their bytes."""
    classes: Counter[int] = Counter()
    for size, count in sizes:
        classes[(size.bit_length() + 1) // 2 if size else -1] += count
    table = Table(box=None, header_style="bold")
    table.add_column("bytes")
    table.add_column("messages", justify="right")
    table.add_column("")
    for power, count in sorted(classes.items()):
        name = "0" if power < 0 else f"below {bytes_text(4**power)}"
        table.add_row(name, f"{count:,}", "#" * max(1, round(40 * count / messages)))
    return table

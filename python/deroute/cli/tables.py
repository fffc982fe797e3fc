"""`deroute tables`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from deroute.cli import app
from deroute.cli.bars import bar
from deroute.cli.networks import spec_in, wire
from deroute.errors import InputError
from deroute.tables import dmp, openflow, p4, rows, sizes, ternary
from deroute.tables.addresses import ADDRESSINGS
from deroute.tables.asked import routing_of
from deroute.tables.compiler import ROUTINGS, Compiler
from deroute.tables.fabric import Fabric
from deroute.telling import Told
from deroute.writing import blaming, empty


def tables(
    file: Annotated[Path, app.SPEC],
    where: app.Where = [],
    assignments: app.Assignments = [],
    routing: Annotated[
        str | None,
        typer.Option(help=f"Instead of the file's: {', '.join(ROUTINGS)}."),
    ] = None,
    addressing: Annotated[
        str, typer.Option(help=f"Of what is written: {', '.join(ADDRESSINGS)}.")
    ] = ADDRESSINGS[-1],
    openflow_to: Annotated[
        Path | None,
        typer.Option("--openflow", metavar="DIR", help="Flows for Open vSwitch, and a script."),
    ] = None,
    with_dmp: Annotated[
        bool, typer.Option("--dmp", help="With --openflow: hosts may ask for their addresses.")
    ] = False,
    p4_to: Annotated[
        Path | None, typer.Option("--p4", metavar="DIR", help="Entries for P4Runtime, as JSON.")
    ] = None,
    csv_to: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="All rules, one a line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count the forwarding rules of every switch, and write them for real switches.

    Hosts are addressed one by one (flat), by switch, by group and switch, or so that rules can be
    merged (compact).

    - `deroute tables experiments/dragonfly-h6.toml --set 'routing={minimal={}}'`
    - `deroute tables experiments/fat-tree.toml --routing ecmp --openflow flows`
    - `deroute tables experiments/demo.toml --routing mar-bp --csv rules.csv`
    """
    spec = spec_in(file, where, assignments)
    # The engine says what is wrong with a spec before anything of it is looked at.
    with app.err().status("Building the network"):
        arrays = wire(spec, file, where, assignments)
        fabric = Fabric.of(spec["network"]["topology"], arrays)
    if with_dmp and openflow_to is None:
        raise InputError.of("belongs to --openflow", "--dmp")
    for option, folder in (("--openflow", openflow_to), ("--p4", p4_to)):
        if folder is not None:
            empty(folder, option)
    name = routing or routing_of(spec)
    compiler = Compiler(fabric, name, addressing)
    with app.err().status("Counting the rules"):
        result = _result(compiler)
    if as_json:
        print(json.dumps(result))
    else:
        _print(result)
    more = _answers(compiler) if with_dmp else _nothing
    _write(
        compiler,
        openflow_to,
        "--openflow",
        lambda to, told: _files(openflow.write(compiler, to, more, told), to),
    )
    _write(compiler, p4_to, "--p4", lambda to, told: _files(p4.write(compiler, to, told), to))
    _write(
        compiler,
        csv_to,
        "--csv",
        lambda to, told: f"{to}: {rows.write(compiler, to, told):,} rules",
    )


def _answers(compiler: Compiler) -> Callable[[int], list[str]]:
    """Flows of the Dynamic MAC Protocol, by router."""
    return lambda router: [rule.flow() for rule in dmp.rules(compiler, router)]


def _nothing(_: int) -> list[str]:
    return []


def _write(
    compiler: Compiler, to: Path | None, option: str, write: Callable[[Path, Told], str]
) -> None:
    """Write the tables in one form, and say where to standard error."""
    if to is None:
        return
    with blaming(option, to), bar(f"Switches of {option}") as told:
        said = write(to, told)
    app.err().print(f"{said} ({compiler.addressing})", markup=False, soft_wrap=True)


def _files(written: list[Path], to: Path) -> str:
    return f"{to}: {len(written):,} files"


def _result(compiler: Compiler) -> dict[str, Any]:
    """Everything that is printed, as JSON has it."""
    fabric = compiler.fabric
    return {
        "topology": fabric.name,
        "routing": compiler.routing,
        "hosts": fabric.hosts,
        "routers": fabric.routers,
        "groups": fabric.groups,
        "switches_per_group": fabric.switches_per_group,
        "hosts_per_switch": fabric.hosts_per_switch,
        "addressings": {each: _sizes(fabric, compiler.routing, each) for each in ADDRESSINGS},
    }


def _sizes(fabric: Fabric, routing: str, addressing: str) -> dict[str, Any]:
    """Counts of one addressing; with `compact` also those of the greedy method."""
    compiler = Compiler(fabric, routing, addressing)
    try:
        found = sizes.size(compiler)
    except InputError as error:
        return {"fields": sizes.fields(compiler), "impossible": error.problems[0].message}
    result = {
        "fields": sizes.fields(compiler),
        "closed_form": found.closed and {"fewest": found.closed[0], "most": found.closed[1]},
        "access": asdict(found.access),
        "transit": None if found.transit is None else asdict(found.transit),
        "largest": asdict(found.memory),
    }
    if addressing == "compact":
        greedy = sizes.size(Compiler(fabric, routing, addressing, ternary.greedy))
        result["greedy"] = asdict(greedy.access)
    return result


def _print(result: Mapping[str, Any]) -> None:
    console = app.out()
    facts = Table.grid(padding=(0, 2))
    places = "{groups:,} groups of {switches_per_group:,} switches with {hosts_per_switch} hosts"
    facts.add_row("topology", f"{result['topology']}: {places.format(**result)}")
    facts.add_row("routing", result["routing"])
    for name, found in result["addressings"].items():
        parts = ", ".join("{bits} bits of {name}".format(**field) for field in found["fields"])
        facts.add_row(f"{name} address", f"0x02, then in its lowest bits: {parts}")
    console.print(facts)
    console.print()
    console.print(_counts(result))
    for name, found in result["addressings"].items():
        if "impossible" in found:
            console.print(f"{name}: {found['impossible']}", markup=False)
    counted = [found for found in result["addressings"].values() if "access" in found]
    # As many of all addressings; none has tables where no field tells the way.
    for found in counted[-1:]:
        greedy, seen = found.get("greedy"), found["access"]
        if greedy and greedy["mean"] != seen["mean"]:
            said = f"{_range(greedy)} rules of a switch with hosts"
            console.print(f"compact, merged greedily: {said}")
        switches = result["groups"] * result["switches_per_group"]
        if seen["switches"] < switches:
            console.print(f"Looked at: {seen['switches']:,} of {switches:,} switches with hosts.")


def _counts(result: Mapping[str, Any]) -> Table:
    title = "Rules of a switch (the closed form is that of minimal routing)"
    shown = Table(box=None, header_style="bold", title=title, title_justify="left")
    shown.add_column("addresses")
    columns = ("closed form", "with hosts", "without", "key bits", "TCAM bits", "CAM bits")
    for name in columns:
        shown.add_column(name, justify="right", no_wrap=True)
    for name, found in result["addressings"].items():
        if "impossible" in found:
            shown.add_row(name, "-", "-", "-")
            continue
        memory = found["largest"]
        cam = memory["cam_bits"]
        shown.add_row(
            name,
            _range(found["closed_form"]) if found["closed_form"] else "-",
            _range(found["access"]),
            "" if found["transit"] is None else _range(found["transit"]),
            f"{memory['key_bits']}",
            f"{memory['tcam_bits']:,}",
            "" if cam is None else f"{cam:,}",
        )
    return shown


def _range(counts: Mapping[str, Any]) -> str:
    """`34 to 89`, or one number."""
    few, most = counts["fewest"], counts["most"]
    return f"{few:,}" if few == most else f"{few:,} to {most:,}"

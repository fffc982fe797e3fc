"""`deroute new`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deroute import replaying, scaffold
from deroute.cli.examples import write_new
from deroute.errors import InputError
from deroute.writing import absent


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    topology: Annotated[
        str | None, typer.Option(help=f"{', '.join(scaffold.KINDS)}; asked for when absent.")
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(help="At least so many hosts; asked for when absent.")
    ] = None,
    routing: Annotated[
        str | None, typer.Option(help="Routings between commas; asked for when absent.")
    ] = None,
    traffic: Annotated[
        str | None, typer.Option(help="Patterns between commas; asked for when absent.")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="TRACE", help="Replay it, by default on a fat tree; asks nothing."),
    ] = None,
) -> None:
    """Write a commented experiment file, and ask what should be in it.

    - `deroute new mine.toml`
    - `deroute new mine.toml --topology dragonfly --hosts 1000`
    - `deroute new mine.toml --topology fat-tree --hosts 500 --routing ecmp --traffic uniform`
    - `deroute new mine.toml --trace lammps-melt-16.tar.gz`
    """
    absent(file, "FILE")
    if trace is not None:
        _replay(file, trace, topology or "fat-tree", hosts, routing)
        return
    if topology is None:
        for name, kind in scaffold.KINDS.items():
            print(f"  {name:<10}  {kind.summary}")
        topology = str(typer.prompt("Topology", default="dragonfly"))
    scaffold.design(topology, 2)
    if hosts is None:
        hosts = int(typer.prompt("Hosts, at least", default=500, type=int))
    found = scaffold.design(topology, hosts)
    print(f"The smallest with {hosts} hosts has {found.hosts:,}: {found.shape}")
    usual = scaffold.KINDS[topology].usual
    routings = _several("Routings", routing, scaffold.routings(topology), usual)
    patterns = _several("Traffic", traffic, scaffold.patterns(topology, hosts), ["uniform"])
    write_new(file, scaffold.experiment(file, topology, hosts, routings, patterns), "FILE")
    print(f"written: {file}; next: deroute check {shlex.quote(str(file))}")


def _replay(file: Path, trace: Path, topology: str, hosts: int | None, routing: str | None) -> None:
    """Write a file that replays a trace."""
    scaffold.design(topology, 2)
    given = routing or ",".join(scaffold.KINDS[topology].usual)
    names = _several("Routings", given, [], [])
    write_new(file, replaying.experiment(trace, file, topology, hosts, names), "FILE")
    print(f"written: {file}; next: deroute run {shlex.quote(str(file))}")


def _several(
    what: str, given: str | None, choices: Sequence[str], usual: Sequence[str]
) -> list[str]:
    """Names between commas: those given, or asked for."""
    if given is None:
        print(f"  {', '.join(choices)}")
        given = str(typer.prompt(f"{what}, between commas", default=",".join(usual)))
    names = [name.strip() for name in given.split(",") if name.strip()]
    if not names:
        raise InputError.of("is empty", f"--{what.lower().rstrip('s')}", choices)
    return list(dict.fromkeys(names))

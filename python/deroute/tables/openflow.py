"""Tables for Open vSwitch: a file of flows for every switch, and a script that builds the bridges.

Ports of OpenFlow are counted from 1: port 0 of a switch is port 1 there. A rule with a condition is
written without it, as Open vSwitch has none, with a cookie that says what it would be: who watches
the port deletes the flow while the condition does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric
from deroute.tables.rules import CONDITIONS, Condition, Rule, Table
from deroute.telling import Told, nobody
from deroute.wiring import HOST_PORT, UNUSED
from deroute.writing import whole_folder

SCRIPT = "build.sh"

_HEAD = """\
#!/bin/sh
# Builds {count} bridges with their links and loads their flows into a running Open vSwitch.
# DATAPATH: netdev (default, in user space), system (the kernel's), dummy (for tests).
# HOST_PORTS: type of the ports for hosts; internal by default.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
datapath=${{DATAPATH:-netdev}}
host=${{HOST_PORTS:-internal}}
"""


def port(number: int) -> int:
    """The number that OpenFlow gives a port."""
    return number + 1


def cookie(condition: Condition) -> int:
    """Cookie of the flows that depend on a condition."""
    return (CONDITIONS.index(condition.kind) + 1) << 32 | port(condition.port)


def condition_of(number: int) -> Condition | None:
    """The condition that a cookie says; None if it says none."""
    kind, out = divmod(number, 1 << 32)
    return Condition(CONDITIONS[kind - 1], out - 1) if 0 < kind <= len(CONDITIONS) else None


def flow(rule: Rule, group: int = 1) -> str:
    """A rule as `ovs-ofctl add-flows` reads it; `group` chooses among several ports."""
    parts = [f"priority={rule.priority}"]
    if rule.condition is not None:
        parts.append(f"cookie={cookie(rule.condition):#x}")
    if rule.in_port is not None:
        parts.append(f"in_port={port(rule.in_port)}")
    if rule.destination is not None:
        parts.append(f"dl_dst={rule.destination}")
    if rule.source is not None:
        parts.append(f"dl_src={rule.source}")
    out = f"output:{port(rule.ports[0])}" if len(rule.ports) == 1 else f"group:{group}"
    return f"{','.join(parts)},actions={out}"


def groups(table: Table) -> dict[tuple[int, ...], int]:
    """Numbers of the sets of ports among which a hash chooses."""
    sets = dict.fromkeys(rule.ports for rule in table.rules if len(rule.ports) > 1)
    return {ports: number for number, ports in enumerate(sets, start=1)}


def flows(table: Table) -> Iterator[str]:
    """The rules of a switch, a line each."""
    known = groups(table)
    for rule in table.rules:
        yield flow(rule, known.get(rule.ports, 0))


def group_lines(table: Table) -> Iterator[str]:
    """The sets of ports as `ovs-ofctl add-groups` reads them; a hash of the addresses chooses."""
    for ports, number in groups(table).items():
        method = "selection_method=hash,fields(eth_src,eth_dst)"
        buckets = ",".join(f"bucket=output:{port(each)}" for each in ports)
        yield f"group_id={number},type=select,{method},{buckets}"


def bridge(router: int) -> str:
    """Name of the bridge of a switch."""
    return f"s{router}"


def interface(router: int, number: int) -> str:
    """Name of the interface of a port."""
    return f"{bridge(router)}-p{port(number)}"


def write(
    compiler: Compiler,
    folder: Path,
    more: Callable[[int], Iterable[str]] = lambda _: (),
    told: Told = nobody,
) -> list[Path]:
    """Write the flows of every switch, with `more` than its rules, and the script."""
    fabric = compiler.fabric
    with whole_folder(folder) as draft:
        lines = [_HEAD.format(count=fabric.routers)]
        for table in compiler.tables(told):
            lines += [_bridge(fabric, table.router), *_tables(table, draft, more)]
        script = draft / SCRIPT
        script.write_text("".join(lines), encoding="utf-8")
        script.chmod(0o755)
        return sorted(folder / file.name for file in draft.iterdir())


def _tables(table: Table, draft: Path, more: Callable[[int], Iterable[str]]) -> Iterator[str]:
    """Write the flows and groups of a switch; the commands that load them."""
    name, sets = bridge(table.router), list(group_lines(table))
    if sets:
        text = "".join(f"{line}\n" for line in sets)
        (draft / f"{name}.groups").write_text(text, encoding="utf-8")
        yield f'ovs-ofctl -O OpenFlow15 add-groups {name} "$here/{name}.groups"\n'
    text = "".join(f"{line}\n" for line in (*flows(table), *more(table.router)))
    (draft / f"{name}.flows").write_text(text, encoding="utf-8")
    yield f'ovs-ofctl -O OpenFlow15 add-flows {name} "$here/{name}.flows"\n'


def _bridge(fabric: Fabric, router: int) -> str:
    """The command that makes a bridge with all its ports, once for every port on it."""
    name = bridge(router)
    steps = [
        f"--may-exist add-br {name}",
        f'set bridge {name} datapath_type="$datapath" fail_mode=secure'
        " protocols=OpenFlow10,OpenFlow13,OpenFlow15",
    ]
    for number, kind in enumerate(fabric.wiring.link_class[router].tolist()):
        if kind == UNUSED:
            continue
        mine = interface(router, number)
        what = 'type="$host"'
        if kind != HOST_PORT:
            peer = int(fabric.wiring.peer_router[router, number])
            other = interface(peer, int(fabric.wiring.peer_port[router, number]))
            what = f"type=patch options:peer={other}"
        steps.append(
            f"--may-exist add-port {name} {mine}"
            f" -- set interface {mine} {what} ofport_request={port(number)}"
        )
    return "ovs-vsctl " + " \\\n  -- ".join(steps) + "\n"

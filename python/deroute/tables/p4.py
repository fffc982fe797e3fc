"""Tables for a P4Runtime control plane, as JSON: what to write into the table of every switch.

A data plane that takes them has one table, `ingress.forward`, with ternary keys. A condition is a
key, too: a bitmap over ports that the pipeline fills in before, with a one where a port is not
paused, or where the number drawn for the packet does not exceed the probability of the port.
Keys that are left out match anything; ports are counted from 0, as in a spec.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deroute.tables.addresses import MAC_BITS
from deroute.tables.compiler import Compiler
from deroute.tables.openflow import bridge
from deroute.tables.rules import Rule, Table
from deroute.telling import Told, nobody
from deroute.writing import whole_folder

TABLE = "ingress.forward"


#: Bits of a port in the usual pipeline.
_PORT_BITS = 9


def entry(rule: Rule, port_bits: int = _PORT_BITS) -> dict[str, Any]:
    """A rule as a table entry, of a switch whose ports are numbers of so many bits."""
    match: dict[str, Any] = {}
    if rule.in_port is not None:
        match["standard_metadata.ingress_port"] = _ternary(
            rule.in_port, (1 << port_bits) - 1, port_bits
        )
    for key, pattern in (("dst_addr", rule.destination), ("src_addr", rule.source)):
        if pattern is not None:
            match[f"hdr.ethernet.{key}"] = _ternary(pattern.value, pattern.mask, MAC_BITS)
    if rule.condition is not None:
        bit = 1 << rule.condition.port
        match[f"meta.{rule.condition.kind.replace('-', '_')}"] = _ternary(
            bit, bit, 1 + rule.condition.port
        )
    one = len(rule.ports) == 1
    return {
        "table": TABLE,
        "priority": rule.priority,
        "match": match,
        "action": {"name": "ingress.send", "params": {"port": rule.ports[0]}}
        if one
        else {"name": "ingress.spread", "params": {"ports": list(rule.ports)}},
    }


def document(table: Table, ports: int) -> dict[str, Any]:
    """All entries of a switch with so many ports."""
    bits = max(_PORT_BITS, (ports - 1).bit_length())
    return {"switch": table.router, "entries": [entry(rule, bits) for rule in table.rules]}


def write(compiler: Compiler, folder: Path, told: Told = nobody) -> list[Path]:
    """Write the entries of every switch."""
    written, ports = [], compiler.fabric.wiring.link_class.shape[1]
    with whole_folder(folder) as draft:
        for table in compiler.tables(told):
            name = f"{bridge(table.router)}.json"
            text = json.dumps(document(table, ports), indent=1)
            (draft / name).write_text(text + "\n", encoding="utf-8")
            written.append(folder / name)
    return written


def _ternary(value: int, mask: int, bits: int) -> dict[str, str]:
    """A ternary key in hexadecimal, with all its digits."""
    digits = -(-bits // 4)
    return {"value": f"0x{value:0{digits}x}", "mask": f"0x{mask:0{digits}x}"}

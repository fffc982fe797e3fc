"""Tables as rows of CSV: one rule a line, those of the highest priority of a router first."""

from __future__ import annotations

import csv
from pathlib import Path

from deroute.tables.addresses import Pattern, mac
from deroute.tables.compiler import Compiler
from deroute.tables.rules import Rule
from deroute.telling import Told, nobody
from deroute.writing import whole

COLUMNS = (
    "router",
    "in_port",
    "destination",
    "destination_mask",
    "source",
    "source_mask",
    "priority",
    "condition",
    "condition_port",
    "ports",
)


def row(router: int, rule: Rule) -> list[str]:
    """Cells of a rule, empty for what it does not look at; blanks between several ports."""
    condition = rule.condition
    return [
        str(router),
        "" if rule.in_port is None else str(rule.in_port),
        *_cells(rule.destination),
        *_cells(rule.source),
        str(rule.priority),
        "" if condition is None else condition.kind,
        "" if condition is None else str(condition.port),
        " ".join(str(port) for port in rule.ports),
    ]


def write(compiler: Compiler, file: Path, told: Told = nobody) -> int:
    """Write the rules of all switches; how many they are."""
    count = 0
    with whole(file) as draft, draft.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for table in compiler.tables(told):
            writer.writerows(row(table.router, rule) for rule in table.rules)
            count += len(table.rules)
    return count


def _cells(pattern: Pattern | None) -> tuple[str, str]:
    return ("", "") if pattern is None else (mac(pattern.value), mac(pattern.mask))

"""Forwarding tables from files, as `routing.table` takes them.

CSV as `rows` writes it, Parquet with the same columns, or a folder of dumps of Open vSwitch: for
each switch N `sN.flows`, what `ovs-ofctl dump-flows sN` prints, and `sN.groups`, what
`ovs-ofctl dump-groups sN` prints, if flows name groups.
"""

from __future__ import annotations

import base64
import io
import re
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from deroute.errors import DocumentPath
from deroute.tables import rows
from deroute.tables.addresses import Pattern, parse_mac
from deroute.tables.openflow import condition_of
from deroute.tables.rules import Rule

#: What the engine is given as it is; more is compressed.
_PLAIN = 1 << 20
_CHUNK = 1 << 20

_DUMP = re.compile(r"s(\d+)\.flows")
_GROUP = re.compile(r"group_id=(\d+),type=select\b.*?,(bucket=.*)")
_OUTPUT = re.compile(r"(?:actions=)?output:(\d+)")
#: What a dump says of a flow that is no match.
_ASIDE = {
    *("cookie", "duration", "table", "n_packets", "n_bytes", "priority"),
    *("idle_age", "hard_age", "idle_timeout", "hard_timeout", "reset_counts"),
}
#: Priority of a flow that names none.
_PRIORITY = 32768
#: Frames of the Dynamic MAC Protocol, which no packet of the engine is.
_DMP = "dl_type=0x88b5"
#: Where the engine finds a rule that is wrong.
_LINE = re.compile(r"\bline (\d+)")


class Dumped(str):
    """Rules from dumps, a line each below a heading, that know where in a dump they stand."""

    #: Dumps, with the number of rules before their own.
    dumps: list[tuple[int, Path]]
    #: Line of each rule in its dump.
    lines: array[int]

    def __deepcopy__(self, _: Any) -> Dumped:
        return self

    def place(self, line: int) -> str:
        """Where the rule on a line stands."""
        rule = line - 2
        if not 0 <= rule < len(self.lines):
            return f"line {line}"
        _, dump = self.dumps[bisect_right(self.dumps, rule, key=lambda each: each[0]) - 1]
        return f"line {self.lines[rule]} of {dump}"


def in_dumps(message: str, document: Any, place: DocumentPath) -> str:
    """A message about an entry of a document; if it is rules from dumps, with their lines there."""
    with suppress(KeyError, IndexError, TypeError):
        for step in place:
            document = document[step]
    if not isinstance(document, Dumped):
        return message
    return _LINE.sub(lambda found: document.place(int(found[1])), message)


def read(file: Path) -> dict[str, str]:
    """`rules` of a file, or `packed` ones. Raises `ValueError` with what is wrong."""
    if file.is_dir():
        return _dumps(file)
    match file.suffix.lower():
        case ".csv":
            with file.open("rb") as stream:
                return _given(stream)
        case ".parquet":
            return _given(_parquet(file))
    raise ValueError("is neither CSV, nor Parquet, nor a folder of dumps of Open vSwitch")


def _given(stream: io.BufferedIOBase) -> dict[str, str]:
    """Text as it is, or what gzip makes of it; however long it is, no more than that is kept."""
    first = stream.read(_PLAIN)
    if len(first) < _PLAIN:
        return {"rules": first.decode("utf-8-sig").replace("\r\n", "\n")}
    packer = zlib.compressobj(level=6, wbits=31)
    packed = io.BytesIO()
    chunk = first.removeprefix(b"\xef\xbb\xbf")
    while chunk:
        packed.write(packer.compress(chunk))
        chunk = stream.read(_CHUNK)
    packed.write(packer.flush())
    return {"packed": base64.b64encode(packed.getbuffer()).decode("ascii")}


def _parquet(file: Path) -> io.BytesIO:
    """The columns of a file as CSV, the rules of a router after one another."""
    try:
        frame = pl.read_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"is no Parquet: {error}") from error
    text = io.BytesIO()
    known = [name for name in frame.columns if name == "router"]
    frame.sort(known, maintain_order=True).write_csv(text) if known else frame.write_csv(text)
    text.seek(0)
    return text


def _dumps(folder: Path) -> dict[str, str]:
    """Dumps of all switches as `read` gives them."""
    files = {}
    for each in folder.iterdir():
        if name := _DUMP.fullmatch(each.name):
            files[int(name[1])] = each
    if not files:
        raise ValueError("has no dump: a file sN.flows for each switch N")
    text = io.StringIO()
    text.write(",".join(rows.COLUMNS) + "\n")
    dumps, lines = [], array("L")
    for router, file in sorted(files.items()):
        groups = file.with_suffix(".groups")
        sets = dict(_groups(groups)) if groups.exists() else {}
        dumps.append((len(lines), file))
        for line, rule in _flows(file, sets):
            text.write(",".join(rows.row(router, rule)) + "\n")
            lines.append(line)
    found: dict[str, str] = {}
    for key, given in _given(io.BytesIO(text.getvalue().encode())).items():
        dumped = Dumped(given)
        dumped.dumps, dumped.lines = dumps, lines
        found[key] = dumped
    return found


def _groups(file: Path) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Ports among which a group chooses."""
    for line in file.read_text(encoding="utf-8").splitlines():
        found = _GROUP.search(line)
        if found:
            yield int(found[1]), tuple(int(port) - 1 for port in _OUTPUT.findall(found[2]))


def _flows(file: Path, groups: Mapping[int, tuple[int, ...]]) -> Iterator[tuple[int, Rule]]:
    """The rules in a dump and their lines, in the order in which they stand there."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        # The heading of an answer, and flows of another protocol.
        if "actions=" not in line or _DMP in line:
            continue
        try:
            yield number, _rule(line.strip(), groups)
        except (ValueError, KeyError) as error:
            said = error if isinstance(error, ValueError) else f"no group {error} in the dump"
            raise ValueError(f"{file.name}, line {number}: {said}: {line.strip()}") from None


def _rule(line: str, groups: Mapping[int, tuple[int, ...]]) -> Rule:
    """The rule of a flow."""
    head, _, action = line.partition("actions=")
    words = [word.partition("=") for word in head.replace(",", " ").split()]
    fields = {name: value for name, _, value in words}
    unknown = set(fields) - _ASIDE - {"in_port", "dl_dst", "dl_src"}
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))} is nothing that a table looks at")
    in_port = fields.get("in_port")
    return Rule(
        priority=int(fields.get("priority", _PRIORITY)),
        ports=_ports(action.strip(), groups),
        destination=_pattern(fields.get("dl_dst")),
        source=_pattern(fields.get("dl_src")),
        in_port=None if in_port is None else _port(in_port),
        condition=condition_of(int(fields.get("cookie", "0"), 0)),
    )


def _ports(action: str, groups: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    kind, _, number = action.partition(":")
    match kind:
        case "output":
            return (_port(number),)
        case "group":
            return groups[int(number)]
    raise ValueError(f"the action {action!r} is none of a table")


def _port(text: str) -> int:
    """A port as it is counted here."""
    if not text.isdecimal():
        raise ValueError(f"{text!r} is no number of a port")
    return int(text) - 1


def _pattern(text: str | None) -> Pattern | None:
    if text is None:
        return None
    value, _, mask = text.partition("/")
    return Pattern(parse_mac(value), parse_mac(mask) if mask else (1 << 48) - 1)

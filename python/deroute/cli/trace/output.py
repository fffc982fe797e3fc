"""Writes traces for the commands that make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deroute.cli.bars import bar
from deroute.errors import InputError
from deroute.telling import Told
from deroute.trace import chakra, goal, goal_binary, text, writing
from deroute.trace.ops import Trace
from deroute.writing import absent, blaming, empty, whole

#: What traces are written as.
FORMATS = (goal.NAME, text.NAME)
_GRAPHS = (chakra.ChakraTrace, goal_binary.GoalBinaryTrace)


def put(trace: Trace, to: Path, form: str, notes: Sequence[str] = ()) -> str:
    """Write a trace to a folder, or to a file if it is GOAL; what has been written, in words."""
    if form not in FORMATS:
        raise InputError.of(f"there is no format {form!r} to write", "--into", FORMATS)
    if form == text.NAME and isinstance(trace, _GRAPHS):
        raise InputError.of("graphs become graphs", "--into", [goal.NAME])
    refuse = empty if form == text.NAME else absent
    refuse(to, "--to")
    with blaming("--to", to), bar("Ranks") as told:
        if form == text.NAME:
            writing.write(trace, to, notes, told)
        else:
            _write_graph(trace, to, notes, told)
    return f"{to}: {trace.ranks:,} ranks, {form}"


def _write_graph(trace: Trace, to: Path, notes: Sequence[str], told: Told) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with whole(to) as draft, draft.open("w", encoding="ascii") as out:
        if isinstance(trace, chakra.ChakraTrace):
            chakra.write(trace, out, notes, told)
        elif isinstance(trace, goal_binary.GoalBinaryTrace):
            goal_binary.write(trace, out, notes, told)
        else:
            goal.write(trace, out, notes, told)

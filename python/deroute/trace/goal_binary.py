"""GOAL as LogGOPSim compiles it: the same graphs, 39 bytes a node, little-endian.

u64 cookie, u32 ranks, u8 most cpu, u8 most nic; for each rank u64 start and u64 end of its block,
counted from the end of the cookie. A block: u32 nodes, u32 roots and their offsets; the nodes (u32
what it needs, u8 kind, u32 peer, u64 size, u32 tag, u8 cpu, u8 nic, twice u32 number and u32 first
index of the nodes that need its end, and its beginning); u32 indices of those.

Source: Hoefler, Schneider and Lumsdaine 2010; the files that its compiler writes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn, TextIO

from deroute.telling import Told, counted, nobody
from deroute.trace import places
from deroute.trace.ops import ANY, Compute, Listed, Op, Program, Receive, Send
from deroute.trace.places import Place, data, refuse

NAME = "goal-binary"
HEAD = re.compile("\x7f\x10\0{6}.*", re.DOTALL)
_COOKIE, _HEADER, _BLOCK = struct.Struct("<Q"), struct.Struct("<IBB"), struct.Struct("<QQ")
_COUNTS = struct.Struct("<II")
_NODE = struct.Struct("<IBIQIBBIIII")
_INDEX = struct.Struct("<I")
_ANY = 0xFFFF_FFFF


class Node(NamedTuple):
    """A node: what it does, and the nodes that need its end, and its beginning."""

    op: Op
    cpu: int
    ends: Sequence[int]
    begins: Sequence[int]


class GoalBinaryTrace:
    """A file, which is kept as it is."""

    def __init__(self, place: Place) -> None:
        (self._file,) = place.files()
        self._data = data(self._file)
        count, _, _ = self._unpack(_HEADER, _COOKIE.size)
        if not 0 < count <= places.MOST_RANKS:
            self._refuse(8, f"{count} ranks; there may be 1 to {places.MOST_RANKS:,}")
        self._ranks = count
        first = _COOKIE.size + _HEADER.size
        self._blocks = [
            self._unpack(_BLOCK, first + rank * _BLOCK.size)[0] for rank in range(count)
        ]

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self._ranks

    def program(self, rank: int) -> Program:
        """The nodes of a rank, which need not stand in the order in which they run."""
        return Listed(node.op for node in self.nodes(rank))

    def nodes(self, rank: int) -> Iterator[Node]:
        """The graph of a rank. Raises `InputError` with the byte where something is wrong."""
        at = _COOKIE.size + self._blocks[rank]
        count, roots = self._unpack(_COUNTS, at)
        first = at + _COUNTS.size + _INDEX.size * roots
        indices = first + _NODE.size * count
        for number in range(count):
            place = first + _NODE.size * number
            _, kind, peer, size, tag, cpu, _, *links = self._unpack(_NODE, place)
            needing = [
                [self._index(indices, start + each, count) for each in range(many)]
                for many, start in (links[:2], links[2:])
                if self._possible(many, place)
            ]
            yield Node(self._op(place, kind, (peer, size, tag)), cpu, *needing)

    def _possible(self, many: int, place: int) -> bool:
        if _INDEX.size * many > len(self._data):
            self._refuse(place, f"{many} nodes need a node")
        return True

    def _index(self, indices: int, number: int, count: int) -> int:
        (index,) = self._unpack(_INDEX, indices + _INDEX.size * number)
        if index >= count:
            self._refuse(indices, f"there is no node {index}: there are {count}")
        return int(index)

    def _op(self, place: int, kind: int, message: tuple[int, int, int]) -> Op:
        peer, size, tag = message
        if kind == 3:
            return Compute(size)
        if kind not in (1, 2):
            self._refuse(place, f"{kind} is no kind of node")
        anybody = kind == 2 and peer == _ANY
        if not anybody and peer >= self._ranks:
            self._refuse(place, f"there is no rank {peer} among {self._ranks}")
        tag = ANY if tag == _ANY else tag
        return Send(peer, size, tag) if kind == 1 else Receive(ANY if anybody else peer, size, tag)

    def _unpack(self, form: struct.Struct, at: int) -> tuple[int, ...]:
        if at + form.size > len(self._data):
            self._refuse(len(self._data), "the file ends here")
        return form.unpack_from(self._data, at)

    def _refuse(self, at: int, message: str) -> NoReturn:
        refuse(f"byte {at}: {message}", self._file)


def write(
    trace: GoalBinaryTrace, out: TextIO, notes: Sequence[str] = (), told: Told = nobody
) -> None:
    """Write the graphs as text; nodes are labelled in their order."""
    out.write(f"num_ranks {trace.ranks}\n")
    out.writelines(f"// {note}\n" for note in notes)
    for rank in counted(range(trace.ranks), told):
        out.write(f"\nrank {rank} {{\n")
        edges = []
        for number, node in enumerate(trace.nodes(rank), 1):
            out.write(f"l{number}: {_statement(node.op)} cpu {node.cpu}\n")
            edges += [f"l{other + 1} requires l{number}\n" for other in node.ends]
            edges += [f"l{other + 1} irequires l{number}\n" for other in node.begins]
        out.writelines(edges)
        out.write("}\n")


def _statement(op: Op) -> str:
    match op:
        case Send():
            return f"send {op.bytes}b to {op.peer} tag {op.tag}"
        case Receive():
            return f"recv {op.bytes}b from {op.peer} tag {op.tag}"
        case Compute():
            return f"calc {op.ns}"
        case _:
            raise TypeError(op)

"""Graphs of Chakra, a file `PREFIX.R.et` for each rank, as astra-sim and STAGE write them.

A node begins when all that it depends on has ended. What a computation takes is its duration; where
that is 0, its operations at a rate that is given; without one it is refused, or takes no time, as
the notes say. Groups of collectives are in a file of their own: `{"NAME": [ranks], ...}`; a
collective without a name is of all ranks. The bytes of an all-gather are those of a member, all
others those of the whole buffer, as in astra-sim.

Those who observe a program (PyTorch) leave things out: a collective without a `comm_type` is the
call around it, a computation; what a node needs and is not in the file has ended before.

Source: Sridharan and others, Chakra: Advancing Performance Benchmarking and Co-design using
Standardized Execution Traces (2023), and its `et_def.proto`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TextIO

from deroute.telling import Told, counted, nobody
from deroute.trace import rounds, wire
from deroute.trace.goal import NOTHING
from deroute.trace.ops import (
    ROOTED,
    WORLD,
    Collective,
    Communicator,
    Compute,
    Listed,
    Op,
    Program,
)
from deroute.trace.ops import Receive as Wanted
from deroute.trace.ops import Send as Sent
from deroute.trace.places import Place, data, refuse

NAME = "chakra"
FILES = re.compile(r".*\.(\d{1,7})\.et(\.gz)?")
#: Also those whose rank is not known.
ENDS = re.compile(r".*\.et(\.gz)?")
#: Kinds of nodes; the others do nothing here.
_LOAD, _STORE, _COMPUTE, _SEND, _RECEIVE, _COLLECTIVE = range(2, 8)
_KINDS = (
    *("allreduce", "reduce", "allgather", "gather", "scatter", "bcast", "alltoall"),
    *("reduce_scatter_block", "reduce_scatter_block", "barrier"),
)
#: Fields of attributes: zigzag numbers, and others whose eight or four bytes are no decimals.
_ZIGZAG, _WHOLE = (15, 17), (19, 21, 23, 25)
_COLLECTIVES = 1 << 24


@dataclass
class Node:
    """A node of a graph."""

    number: int = 0
    kind: int = 0
    needs: list[int] = field(default_factory=list)
    duration_us: int = 0
    attributes: dict[str, float | str] = field(default_factory=dict)
    #: Byte of the file.
    place: int = 0


class ChakraTrace:
    """A folder or archive with a graph for each rank."""

    def __init__(
        self,
        place: Place,
        groups: Path | None = None,
        flops: float | None = None,
        *,
        timed: bool = False,
    ) -> None:
        self._place, self._flops, self._timed = place, flops, timed
        self._files: dict[int, Path] = {}
        for file in place.files():
            found = FILES.fullmatch(file.name)
            if found is None:
                continue
            if int(found[1]) in self._files:
                refuse(f"is rank {found[1]} as {self._files[int(found[1])].name} is", file)
            self._files[int(found[1])] = file
        if not self._files:
            refuse("has no graph PREFIX.R.et, where R is its rank", place.path)
        for rank in range(len(self._files)):
            if rank not in self._files:
                refuse(f"has nothing of rank {rank} of {len(self._files)}", place.path)
        #: Needs of each rank that name no node of its file, once it has been read.
        self.absent: dict[int, int] = {}
        #: Nodes of each rank that only count operations, where nobody says how fast these are.
        self.untimed: dict[int, set[int]] = {}
        self.groups = {} if groups is None else _groups(groups, self.ranks)

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self._files)

    def program(self, rank: int) -> Program:
        """Nodes in the order of the file, which need not be that in which they run."""
        return Listed(self._ops(rank))

    def _ops(self, rank: int) -> Iterator[Op]:
        for name, members in self.groups.items():
            if rank in members:
                yield Communicator(self.comm(name), tuple(members))
        for node in self.nodes(rank):
            yield from self.op(rank, node)

    def comm(self, name: str) -> int:
        """The communicator of a group."""
        return WORLD if name not in self.groups else 1 + list(self.groups).index(name)

    def members(self, comm: int) -> Sequence[int]:
        """Who is in a communicator."""
        return range(self.ranks) if comm == WORLD else list(self.groups.values())[comm - 1]

    def nodes(self, rank: int) -> Iterator[Node]:
        """The graph of a rank. Raises `InputError` with the byte where something is wrong."""
        file = self._files[rank]
        content, at = data(file), 0
        seen: set[int] = set()
        needs: Counter[int] = Counter()
        try:
            # A rank that does nothing may have an empty file.
            size, at = wire.varint(content, at) if content else (0, 0)
            at += size
            while at < len(content):
                place = at
                size, at = wire.varint(content, at)
                if at + size > len(content):
                    raise wire.WireError("the file ends within a node", 0)
                node = _node(content[at : at + size], place)
                at += size
                if node.number in seen:
                    raise wire.WireError(f"there are two nodes {node.number}", 0)
                seen.add(node.number)
                needs.update(node.needs)
                yield node
        except wire.WireError as error:
            refuse(f"byte {at + error.place}: {error}", file)
        self.absent[rank] = sum(times for need, times in needs.items() if need not in seen)

    def notes(self) -> Sequence[str]:
        """What is to be known of what was read."""
        absent = sum(self.absent.values())
        untimed = sum(map(len, self.untimed.values()))
        needs = f"{absent:,} needs name nodes that are not there: taken as ended"
        counts = f"{untimed:,} computations only count operations: they take no time without flops"
        return [needs] * (absent > 0) + [counts] * (untimed > 0)

    def _refuse(self, rank: int, node: Node, message: str) -> NoReturn:
        refuse(f"byte {node.place}: node {node.number}: {message}", self._files[rank])

    def _number(self, rank: int, node: Node, key: str, most: int) -> int:
        value = node.attributes.get(key, 0)
        if not isinstance(value, str) and 0 <= value <= most:
            return int(value)
        return self._refuse(rank, node, f"{key} {value} is not from 0 to {most}")

    def op(self, rank: int, node: Node) -> Iterator[Op]:
        """What a node does, if anything."""

        def number(key: str, most: int = 10**18) -> int:
            return self._number(rank, node, key, most)

        last = self.ranks - 1
        around = node.kind == _COLLECTIVE and "comm_type" not in node.attributes
        if node.kind in (_LOAD, _STORE, _COMPUTE) or around:
            yield Compute(1000 * node.duration_us or self._counted(rank, node, number("num_ops")))
        elif node.kind == _SEND:
            tag = number("comm_tag", _COLLECTIVES - 1)
            yield Sent(number("comm_dst", last), number("comm_size"), tag)
        elif node.kind == _RECEIVE:
            tag = number("comm_tag", _COLLECTIVES - 1)
            yield Wanted(number("comm_src", last), number("comm_size"), tag)
        elif node.kind == _COLLECTIVE:
            yield self._collective(rank, node, number("comm_size"))

    def _counted(self, rank: int, node: Node, operations: int) -> int:
        """The ns that so many operations take."""
        if self._flops:
            return round(1e9 * operations / self._flops)
        if operations and self._timed:
            message = "operations take no time that is known: `--flops` is missing"
            self._refuse(rank, node, message)
        if operations:
            self.untimed.setdefault(rank, set()).add(node.number)
        return 0

    def _collective(self, rank: int, node: Node, size: int) -> Collective:
        kind = _KINDS[self._number(rank, node, "comm_type", len(_KINDS) - 1)]
        name = str(node.attributes.get("pg_name", ""))
        if name and not self.groups:
            message = f"group {name!r}: groups are in a file of their own: `--groups` is missing"
            self._refuse(rank, node, message)
        if name and name not in self.groups:
            self._refuse(rank, node, f"there is no group {name!r}")
        comm = self.comm(name)
        members = self.members(comm)
        if rank not in members:
            self._refuse(rank, node, f"rank {rank} is not in group {name!r}")
        root = self._root(rank, node, members) if kind in ROOTED else None
        if kind in ("alltoall", "reduce_scatter_block", "gather", "scatter"):
            size = -(-size // len(members))
        return Collective(kind, comm, root, () if kind == "barrier" else (size,))

    def _root(self, rank: int, node: Node, members: Sequence[int]) -> int:
        if "root" not in node.attributes:
            return members[0]
        root = self._number(rank, node, "root", self.ranks - 1)
        if root not in members:
            self._refuse(rank, node, f"root {root} is not in the group")
        return root


def _node(content: bytes, place: int) -> Node:
    node = Node(place=place)
    for one in wire.fields(content):
        if isinstance(one.value, int):
            match one.number:
                case 1:
                    node.number = one.value
                case 3:
                    node.kind = one.value
                case 7:
                    node.duration_us = one.value
        if one.number in (4, 5):
            node.needs += wire.numbers(one)
        elif one.number == 10 and isinstance(one.value, bytes):
            name, value = _attribute(one.value)
            node.attributes[name] = value
    return node


def _attribute(content: bytes) -> tuple[str, float | str]:
    """A name and a value, whatever kind of number that is."""
    name, value = "", 0.0
    found: float | str = value
    for one in wire.fields(content):
        if one.number == 1 and isinstance(one.value, bytes):
            name = one.value.decode("utf-8", "replace")
        elif isinstance(one.value, int):
            decode = wire.zigzag if one.number in _ZIGZAG else wire.signed
            found = decode(one.value)
        elif one.kind == wire.BYTES:
            found = one.value.decode("utf-8", "replace")
        elif one.number in _WHOLE:
            found = int.from_bytes(one.value, "little", signed=one.number > 21)
        else:
            found = wire.real(one.value)
    return name, found


def _groups(file: Path, ranks: int) -> Mapping[str, Sequence[int]]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        refuse(f"cannot be read: {error}", file)
    if not isinstance(found, dict):
        refuse("is no table of groups", file)
    for name, members in found.items():
        whole = isinstance(members, list) and all(isinstance(one, int) for one in members)
        if not whole or not members or len(set(members)) < len(members):
            refuse(f"group {name!r} is no list of different ranks", file)
        if not 0 <= min(members) <= max(members) < ranks:
            refuse(f"group {name!r} has ranks that are not below {ranks}", file)
    return found


def write(trace: ChakraTrace, out: TextIO, notes: Sequence[str] = (), told: Told = nobody) -> None:
    """Write the graphs as GOAL: nodes keep their numbers, collectives are rounds of messages."""
    out.write(f"num_ranks {trace.ranks}\n")
    out.writelines(f"// {note}\n" for note in notes)
    for rank in counted(range(trace.ranks), told):
        out.write(f"\nrank {rank} {{\n")
        _write_rank(trace, rank, out)
        out.write("}\n")


def _write_rank(trace: ChakraTrace, rank: int, out: TextIO) -> None:
    #: Labels with which nodes begin; they end with `nNUMBER`.
    begins: dict[int, list[str]] = {}
    edges: list[tuple[int, int]] = []
    sequence: dict[int, int] = {}
    for node in trace.nodes(rank):
        label = f"n{node.number}"
        begins[node.number] = [label]
        edges += [(node.number, need) for need in node.needs]
        done = next(trace.op(rank, node), None)
        match done:
            case Sent():
                out.write(f"{label}: send {done.bytes}b to {done.peer} tag {done.tag}\n")
            case Wanted():
                out.write(f"{label}: recv {done.bytes}b from {done.peer} tag {done.tag}\n")
            case Collective():
                number = sequence[done.comm] = sequence.get(done.comm, -1) + 1
                tag = _COLLECTIVES + 256 * done.comm + number % 256
                begins[node.number] = _write_rounds(trace, rank, done, (label, tag), out)
            case Compute():
                cpu = 1 if node.attributes.get("is_cpu_op") else 0
                out.write(f"{label}: calc {done.ns} cpu {cpu}\n")
            case None:
                out.write(f"{label}: {NOTHING}\n")
            case _:
                raise TypeError(done)
    for number, need in edges:
        if need not in begins:
            continue
        out.writelines(f"{label} requires n{need}\n" for label in begins[number])


def _write_rounds(
    trace: ChakraTrace, rank: int, op: Collective, named: tuple[str, int], out: TextIO
) -> list[str]:
    """Messages of a collective, one round after the other; the labels of the first."""
    (label, tag), members = named, trace.members(op.comm)
    me = members.index(rank)
    root = None if op.root is None else members.index(op.root)
    begins: list[str] = []
    before: list[str] = []
    count = 0
    for one in rounds.rounds(op.kind, me, len(members), root, [op.bytes] * len(members)):
        made = []
        for way, peer, size in (
            *(("send", peer, size) for peer, size in one.sends),
            *(("recv", peer, size) for peer, size in one.receives),
        ):
            count += 1
            made.append(f"{label}m{count}")
            link = "to" if way == "send" else "from"
            out.write(f"{made[-1]}: {way} {size}b {link} {members[peer]} tag {tag}\n")
            out.writelines(f"{made[-1]} requires {need}\n" for need in before)
        begins, before = begins or made, made
    out.write(f"{label}: {NOTHING}\n")
    out.writelines(f"{label} requires {need}\n" for need in before)
    return begins or [label]

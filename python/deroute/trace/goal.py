"""Traces as graphs: GOAL, the text form of LogGOPSim (Hoefler, Schneider, Lumsdaine, 2010).

Read statement by statement; what requires what is checked for its labels, and the order of a rank
is not that of its statements: sums are exact, a run is for the engine. Written from programs: what
a rank waits for is required by what comes after, collectives are written as rounds of messages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from deroute.telling import Told, counted, nobody, part
from deroute.trace import rounds
from deroute.trace.ops import (
    ANY,
    NOBODY,
    WORLD,
    Came,
    Collective,
    Communicator,
    Compute,
    Exchange,
    Op,
    Program,
    Receive,
    Send,
    Trace,
    Wait,
    received,
)
from deroute.trace.places import Place, lines, ranks, refuse

NAME = "goal"
#: What takes no time waits for no processor: it has one of its own.
NOTHING = "calc 0 cpu 2"
_HEAD = re.compile(r"num_ranks (\d{1,18})")
_BLOCK = re.compile(r"rank (\d{1,7}) \{")
_LABEL = "[a-zA-Z][a-zA-Z0-9_]*"
_STATEMENT = re.compile(
    rf"(?:(?P<label>{_LABEL}): ?)?"
    r"(?:(?P<way>send|recv) (?P<size>\d{1,18})b (?:to|from) (?P<peer>-?\d{1,9})"
    r"(?: tag (?P<tag>-?\d{1,10}))?|calc (?P<ns>\d{1,18}))"
    r"(?: cpu \d{1,3})?(?: nic \d{1,3})?"
)
_EDGE = re.compile(rf"({_LABEL}) i?requires ({_LABEL})")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
#: Tags of collectives begin here: 256 of each communicator, in turn.
_COLLECTIVES = 1 << 24


class GoalTrace:
    """A GOAL file, read as ranks are asked for; only blocks before their turn are kept."""

    def __init__(self, place: Place) -> None:
        (self._file,) = place.files()
        head = next((found for _, found in _statements(self._file)), "")
        found = _HEAD.fullmatch(head)
        if found is None:
            refuse("does not begin with `num_ranks N`", self._file, 1)
        self._ranks = ranks(found[1], self._file, 1)
        self._blocks: Iterator[tuple[int, Iterator[Op]]] = iter(())
        #: Statements of ranks that have not been asked for so far.
        self._kept: dict[int, list[Op]] = {}

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self._ranks

    def program(self, rank: int) -> Program:
        """The statements of a rank. Ranks that are asked for in order are read in one go."""
        if rank == 0:
            self._blocks, self._kept = self._read(), {}
        return _Block(self._block(rank), self._file)

    def _block(self, rank: int) -> Iterator[Op]:
        # The last rank reads to the end of the file, to find what is wrong there.
        last = rank + 1 == self._ranks
        kept = self._kept.pop(rank, None)
        yield from kept or ()
        if kept is not None and not last:
            return
        for found, ops in self._blocks:
            if found != rank:
                self._kept[found] = list(ops)
                continue
            yield from ops
            if not last:
                return

    def _read(self) -> Iterator[tuple[int, Iterator[Op]]]:
        """Ranks and what they do, in the order of the file."""
        begun: set[int] = set()
        statements = _statements(self._file)
        for line, text in statements:
            found = _BLOCK.fullmatch(text)
            if found is None and _HEAD.fullmatch(text):
                continue
            if found is None or int(found[1]) >= self._ranks:
                message = f"{text!r} begins no block of a rank below {self._ranks}"
                refuse(message, self._file, line)
            rank = int(found[1])
            if rank in begun:
                refuse(f"there is a block of rank {rank} already", self._file, line)
            begun.add(rank)
            yield rank, self._ops(rank, statements)

    def _ops(self, rank: int, statements: Iterator[tuple[int, str]]) -> Iterator[Op]:
        """What stands in a block, to its end."""
        labels: set[str] = set()
        for line, text in statements:
            if text == "}":
                return
            op = self._statement(text, labels, line)
            if op is not None:
                yield op
        refuse(f"the file ends within rank {rank}", self._file)

    def _statement(self, text: str, labels: set[str], line: int) -> Op | None:
        edge = _EDGE.fullmatch(text)
        if edge is not None:
            for label in edge.groups():
                if label not in labels:
                    refuse(f"there is no label `{label}` above", self._file, line)
            return None
        found = _STATEMENT.fullmatch(text)
        if found is None:
            refuse(f"{text!r} is no statement", self._file, line)
        if found["label"] in labels:
            refuse(f"there is a label `{found['label']}` already", self._file, line)
        if found["label"]:
            labels.add(found["label"])
        if found["ns"] is not None:
            return Compute(int(found["ns"]))
        peer, tag = int(found["peer"]), int(found["tag"] or 0)
        least = ANY if found["way"] == "recv" else 0
        if not least <= peer < self._ranks:
            refuse(f"there is no rank {peer} among {self._ranks}", self._file, line)
        kind = Send if found["way"] == "send" else Receive
        return kind(peer, int(found["size"]), tag)


class _Block:
    """Statements of a rank."""

    line: int | None = None

    def __init__(self, ops: Iterator[Op], file: Path) -> None:
        self._ops = ops
        self.file: Path | None = file

    def __iter__(self) -> Iterator[Op]:
        return self

    def __next__(self) -> Op:
        return next(self._ops)


def _statements(file: Path) -> Iterator[tuple[int, str]]:
    """Lines with something on them, in single blanks, without comments."""
    within = False
    for number, line in enumerate(lines(file), 1):
        text = line
        if within:
            _, within_end, text = text.partition("*/")
            if not within_end:
                continue
            within = False
        text = _COMMENT.sub(" ", text)
        if "/*" in text:
            text, within = text.partition("/*")[0], True
        text = " ".join(text.split())
        if text:
            yield number, text


class _Channels:
    """Tags for what GOAL has no communicators for; the same on all ranks."""

    def __init__(self) -> None:
        self._messages: dict[tuple[int, int], int] = {}
        self._comms: dict[Communicator, int] = {}

    def message(self, comm: int, tag: int) -> int:
        """Tag of messages: their own in the world, if it is small."""
        if comm == WORLD and 0 <= tag < _COLLECTIVES // 2:
            return tag
        count = _COLLECTIVES // 2 + len(self._messages)
        return self._messages.setdefault((comm, tag), count)

    def collective(self, comm: Communicator, number: int) -> int:
        """Tag of a collective."""
        index = self._comms.setdefault(comm, len(self._comms))
        return _COLLECTIVES + 256 * index + number % 256


def write(trace: Trace, out: TextIO, notes: Iterable[str] = (), told: Told = nobody) -> None:
    """Write a trace of programs as graphs."""
    out.write(f"num_ranks {trace.ranks}\n")
    out.writelines(f"// {note}\n" for note in notes)
    channels = _Channels()
    lists = _listed_sizes(trace, part(told, 0, 2))
    for rank in counted(range(trace.ranks), part(told, 1, 2)):
        out.write(f"\nrank {rank} {{\n")
        writer = _Writer(trace, rank, channels, lists, out)
        program = trace.program(rank)
        for op in program:
            writer.write(op, program)
        out.write("}\n")


#: Bytes of the members of collectives where they differ, by communicator, number and rank.
_Sizes = dict[tuple[Communicator, int], dict[int, tuple[int, ...]]]


def _world(trace: Trace) -> dict[int, Communicator]:
    """What every rank knows from the beginning."""
    return {WORLD: Communicator(WORLD, tuple(range(trace.ranks)))}


def _listed_sizes(trace: Trace, told: Told) -> _Sizes:
    """What others send or have, where a member cannot know it from its own line."""
    found: _Sizes = defaultdict(dict)
    for rank in counted(range(trace.ranks), told):
        comms = _world(trace)
        numbers: dict[Communicator, int] = defaultdict(int)
        for op in trace.program(rank):
            if isinstance(op, Communicator):
                comms[op.comm] = op
            elif isinstance(op, Collective):
                comm = comms[op.comm]
                numbers[comm] += 1
                if op.kind in ("alltoallv", "gatherv", "scatterv"):
                    found[comm, numbers[comm]][rank] = op.bytes
    return found


class _Writer:
    """Writes one rank."""

    def __init__(
        self, trace: Trace, rank: int, channels: _Channels, lists: _Sizes, out: TextIO
    ) -> None:
        self.rank, self.channels, self.lists, self.out = rank, channels, lists, out
        self.received = received(trace, rank, lambda _: True)
        #: By what the rank calls them: other members make it another one.
        self.comms = _world(trace)
        self.numbers: dict[Communicator, int] = defaultdict(int)
        #: The label that ends each request.
        self.begun: dict[int, str] = {}
        self.count = 0
        #: What has to end before anything new begins.
        self.last: str | None = None

    def write(self, op: Op, program: Program) -> None:
        """Write an operation."""
        match op:
            case Compute():
                self.last = self._node(f"calc {op.ns}", [self.last])
            case Communicator():
                self.comms[op.comm] = op
            case Send():
                self._end(self._send(op), op.request)
            case Receive():
                came = op.came if op.request is None else next(self.received)
                self._end(self._receive(op, came), op.request)
            case Exchange():
                ends = [self._send(op.send), self._receive(op.receive, op.receive.came)]
                self.last = self._join([end for end in ends if end is not None])
            case Wait():
                known = [number for number, _ in op.requests if number in self.begun]
                self.last = self._join([self.begun.pop(number) for number in known])
            case Collective():
                self._collective(op, program)
            case _:
                pass

    def _node(self, text: str, needs: Iterable[str | None]) -> str:
        self.count += 1
        label = f"l{self.count}"
        self.out.write(f"{label}: {text}\n")
        for need in dict.fromkeys(needs):
            if need is not None:
                self.out.write(f"{label} requires {need}\n")
        return label

    def _join(self, ends: Sequence[str]) -> str | None:
        """What ends when all of these have."""
        needs = [self.last, *ends]
        return self._node(NOTHING, needs) if ends else self.last

    def _end(self, label: str | None, request: int | None) -> None:
        if label is None:
            return
        if request is None:
            self.last = label
        else:
            self.begun[request] = label

    def _send(self, op: Send) -> str | None:
        if op.peer == NOBODY:
            return None
        tag = self.channels.message(op.comm, op.tag)
        return self._node(f"send {op.bytes}b to {op.peer} tag {tag}", [self.last])

    def _receive(self, op: Receive, came: Came | None) -> str | None:
        source = op.peer if came is None else came.source
        if source == NOBODY:
            return None
        size = op.bytes if came is None else came.bytes
        given = op.tag if came is None else came.tag
        tag = ANY if given == ANY else self.channels.message(op.comm, given)
        return self._node(f"recv {size}b from {source} tag {tag}", [self.last])

    def _collective(self, op: Collective, program: Program) -> None:
        comm = self.comms[op.comm]
        members = comm.members
        self.numbers[comm] += 1
        number = self.numbers[comm]
        tag = self.channels.collective(comm, number)
        own = self.lists.get((comm, number), {})
        sizes = [own.get(member, op.bytes) for member in members]
        if any(len(size) != len(op.bytes) for size in sizes):
            refuse(f"{op.kind}: members have sizes that differ", program.file, program.line)
        root = None if op.root is None else members.index(op.root)
        before = self.last
        for one in rounds.rounds(op.kind, members.index(self.rank), len(members), root, sizes):
            nodes = [
                *(f"send {size}b to {members[peer]} tag {tag}" for peer, size in one.sends),
                *(f"recv {size}b from {members[peer]} tag {tag}" for peer, size in one.receives),
            ]
            ends = [self._node(node, [self.last]) for node in nodes]
            self.last = ends[0] if len(ends) == 1 else self._join(ends)
        if op.request is not None:
            if self.last is not None and self.last != before:
                self.begun[op.request] = self.last
            self.last = before

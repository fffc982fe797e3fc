"""Traces as text, `mpi-trace 1`: a file for each rank, a line for each call.

A line has the time on the CPU since the last call, the time within the call, both in ns, and the
call. How calls are written stands in `docs/applications.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from deroute.trace import places
from deroute.trace.ops import (
    ANY,
    COLLECTIVES,
    LISTED,
    NOBODY,
    ROOTED,
    WORLD,
    Came,
    Collective,
    Communicator,
    Compute,
    Exchange,
    Free,
    Op,
    Program,
    Receive,
    Send,
    Wait,
)
from deroute.trace.places import Place, lines, refuse

NAME = "mpi-trace"
HEAD = "mpi-trace 1"
_RANK = re.compile(r"rank (\d{1,18}) of (\d{1,18})")
_NUMBER = re.compile(r"-?\d{1,18}")
#: Calls that take time and do nothing that others notice.
_IDLE = ("nothing", "newcomm", "init", "probe", "iprobe", "finalize")


class TextTrace:
    """A trace in a folder or archive. Raises `InputError` if ranks are missing or there twice."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._files: dict[int, Path] = {}
        ranks: dict[int, Path] = {}
        for file in place.files():
            head = lines(file)
            if next(head, "").strip() != HEAD:
                continue
            found = _RANK.fullmatch(next(head, "").strip())
            if found is None or not int(found[1]) < int(found[2]):
                refuse("is not `rank R of N`", file, 2)
            rank, count = int(found[1]), places.ranks(found[2], file, 2)
            if rank in self._files:
                refuse(f"is rank {rank} as {self._files[rank].name} is", file, 2)
            ranks.setdefault(count, file)
            if len(ranks) > 1:
                other, last = next(iter(ranks.items()))
                refuse(f"has {count} ranks, {last.name} has {other}", file, 2)
            self._files[rank] = file
        if not ranks:
            refuse(f"has no file that begins with `{HEAD}`", place.path)
        (self._ranks,) = ranks
        for rank in range(self._ranks):
            if rank not in self._files:
                refuse(f"has nothing of rank {rank} of {self._ranks}", place.path)

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self._ranks

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""
        return TextProgram(self._files[rank], rank, self._ranks)


class TextProgram:
    """The calls in a file, checked as they are read."""

    def __init__(self, file: Path, rank: int, ranks: int) -> None:
        self.file: Path | None = file
        self.line: int | None = 0
        self.rank, self.ranks = rank, ranks
        #: Communicators, with their members.
        self.comms: dict[int, Sequence[int]] = {WORLD: range(ranks)}
        self.requests: set[int] = set()
        self._ops = self._read(file)

    def __iter__(self) -> Iterator[Op]:
        """Itself."""
        return self

    def __next__(self) -> Op:
        """The next operation."""
        return next(self._ops)

    def refuse(self, message: str) -> NoReturn:
        """Raise an error at this line."""
        refuse(message, self.file, self.line)

    def _read(self, file: Path) -> Iterator[Op]:
        ended = False
        for number, line in enumerate(lines(file), 1):
            self.line = number
            words = line.split()
            if number <= 2 or not words or words[0].startswith("#"):
                continue
            if ended:
                self.refuse("stands after `finalize`")
            if words[0] == "comm":
                yield self._communicator(words[1:])
                continue
            if len(words) < 3:
                self.refuse(f"{line!r} is not a time, a time and a call")
            ns = self.number(words[0], 0)
            self.number(words[1], 0)
            if ns:
                yield Compute(ns)
            word = words[2]
            if word in _IDLE:
                ended = word == "finalize"
                continue
            read = CALLS.get(word)
            if read is None:
                self.refuse(f"there is no call `{word}`")
            yield read(self, word, words[3:])
        if not ended:
            self.refuse("the file ends without `finalize`")

    def number(self, word: str, least: int = -2) -> int:
        """A number of at least so much."""
        if not _NUMBER.fullmatch(word) or int(word) < least:
            self.refuse(f"{word!r} is not a number of at least {least}")
        return int(word)

    def count(self, words: Sequence[str], *counts: int) -> None:
        """Check how many words there are."""
        if len(words) not in counts:
            wanted = " or ".join(map(str, counts))
            self.refuse(f"the call has {wanted} parts, here are {len(words)}")

    def peer(self, word: str, least: int = NOBODY) -> int:
        """A rank, or what stands for one."""
        rank = self.number(word, least)
        if rank >= self.ranks:
            self.refuse(f"there is no rank {rank} among {self.ranks}")
        return rank

    def comm(self, word: str) -> int:
        """A communicator that this rank knows."""
        comm = self.number(word, WORLD)
        if comm not in self.comms:
            self.refuse(f"there is no communicator {comm}")
        return comm

    def begun(self, word: str) -> int:
        """A new request."""
        request = self.number(word, 0)
        if request in self.requests:
            self.refuse(f"request {request} has not ended yet")
        self.requests.add(request)
        return request

    def _communicator(self, words: Sequence[str]) -> Communicator:
        self.count(words, 2)
        comm = self.number(words[0], WORLD)
        members = tuple(self.peer(word, 0) for word in words[1].split(","))
        if len(set(members)) < len(members) or self.rank not in members:
            self.refuse("members stand there once each, this rank among them")
        self.comms[comm] = members
        return Communicator(comm, members)


def came(program: TextProgram, word: str) -> Came:
    """`<SOURCE,TAG,BYTES`."""
    parts = word.removeprefix("<").split(",")
    if not word.startswith("<") or len(parts) != 3:
        program.refuse(f"{word!r} is not <SOURCE,TAG,BYTES")
    return Came(program.peer(parts[0]), program.number(parts[1]), program.number(parts[2], 0))


def _send(program: TextProgram, word: str, words: Sequence[str]) -> Send:
    begins, mode = word.startswith("i"), word.removeprefix("i").removesuffix("send")
    program.count(words, 4 + begins)
    peer, size, tag = program.peer(words[0]), program.number(words[1], 0), program.number(words[2])
    if peer == ANY:
        program.refuse("a message is sent to somebody")
    comm = program.comm(words[3])
    return Send(peer, size, tag, comm, program.begun(words[4]) if begins else None, mode)


def _receive(program: TextProgram, word: str, words: Sequence[str]) -> Receive:
    begins = word.startswith("i")
    program.count(words, *((5,) if begins else (4, 5)))
    peer, size, tag = program.peer(words[0]), program.number(words[1], 0), program.number(words[2])
    comm = program.comm(words[3])
    if begins:
        return Receive(peer, size, tag, comm, program.begun(words[4]))
    got = came(program, words[4]) if len(words) == 5 else None
    return Receive(peer, size, tag, comm, None, got)


def _exchange(program: TextProgram, _: str, words: Sequence[str]) -> Exchange:
    program.count(words, 7, 8)
    sent = _send(program, "send", [*words[:3], words[6]])
    return Exchange(sent, _receive(program, "recv", words[3:]))


def _wait(program: TextProgram, word: str, words: Sequence[str]) -> Wait:
    ended: list[tuple[int, Came | None]] = []
    for part in words:
        number, sign, rest = part.partition("<")
        request = program.number(number, 0)
        if request not in program.requests:
            program.refuse(f"request {request} was not begun")
        program.requests.remove(request)
        ended.append((request, came(program, sign + rest) if sign else None))
    return Wait(tuple(ended), word)


def _collective(program: TextProgram, word: str, words: Sequence[str]) -> Collective:
    kind = word if word in COLLECTIVES else word.removeprefix("i")
    begins = kind != word
    parts = 1 + (kind != "barrier") + (kind in ROOTED)
    program.count(words, parts + begins)
    comm = program.comm(words[0])
    root = program.peer(words[1], 0) if kind in ROOTED else None
    sizes: tuple[int, ...] = ()
    if kind in LISTED:
        sizes = tuple(program.number(part, 0) for part in words[1].split(","))
        if len(sizes) != len(program.comms[comm]):
            program.refuse(f"{len(sizes)} sizes for {len(program.comms[comm])} members")
    elif kind != "barrier":
        sizes = (program.number(words[parts - 1], 0),)
    if root is not None and root not in program.comms[comm]:
        program.refuse(f"rank {root} is not in communicator {comm}")
    return Collective(kind, comm, root, sizes, program.begun(words[parts]) if begins else None)


def _free(program: TextProgram, _: str, words: Sequence[str]) -> Free:
    program.count(words, 1)
    comm = program.comm(words[0])
    del program.comms[comm]
    return Free(comm)


#: How each call is read.
CALLS: Mapping[str, Callable[[TextProgram, str, Sequence[str]], Op]] = {
    **dict.fromkeys(
        ("send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend"), _send
    ),
    **dict.fromkeys(("recv", "irecv"), _receive),
    "sendrecv": _exchange,
    **dict.fromkeys(("wait", "waitany", "test"), _wait),
    **dict.fromkeys(COLLECTIVES, _collective),
    **dict.fromkeys((f"i{kind}" for kind in COLLECTIVES), _collective),
    "freecomm": _free,
}

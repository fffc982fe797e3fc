"""Time-independent traces of SimGrid: a file for each rank, computations in flops.

What has no type is doubles, or bytes where `init` has nothing behind it. A reduction takes its
flops when its messages are there.

Source: Casanova, Desprez, Markomanolis, Suter, Simulation of MPI applications with time-independent
traces (2015); `smpi_replay.cpp` for the numbers of the data types. World ranks only.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from deroute.trace.ops import Collective, Compute, Exchange, Op, Program, Receive, Send, Wait
from deroute.trace.places import Place, lines, refuse

NAME = "time-independent"
#: Flops of a host in a second, where nothing else is known.
FLOPS = 1e9
#: Bytes of the data types by their numbers.
_BYTES = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8),
    *(8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 32, 1, 2, 4, 8, 16),
)
#: Collectives with flops of their own, behind a size, or behind those of all ranks.
_REDUCING = ("reduce", "allreduce", "scan", "exscan", "reducescatter")
_FIRST = re.compile(r"(\d{1,7}) [a-zA-Z]\w*( .*)?")
_NUMBER = re.compile(r"-?\d{1,18}")
_IDLE = ("finalize", "location", "comm_size", "comm_split", "comm_dup")


class TimeIndependentTrace:
    """A folder or archive with a file for each rank; `list` and others are left alone."""

    def __init__(self, place: Place, flops: float = FLOPS) -> None:
        #: Kept, as unpacked archives go with it.
        self._place = place
        self._flops = flops
        self._files: dict[int, Path] = {}
        for file in place.files():
            found = _FIRST.fullmatch(next(lines(file), "").strip())
            if found is None:
                continue
            rank = int(found[1])
            if rank in self._files:
                refuse(f"is rank {rank} as {self._files[rank].name} is", file, 1)
            self._files[rank] = file
        for rank in range(len(self._files)):
            if rank not in self._files:
                refuse(f"has nothing of rank {rank} of {len(self._files)}", place.path)

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self._files)

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""
        return _Program(self._files[rank], rank, self.ranks, self._flops)


class _Program:
    """The actions in a file."""

    def __init__(self, file: Path, rank: int, ranks: int, flops: float) -> None:
        self.file: Path | None = file
        self.line: int | None = 0
        self.rank, self.ranks, self.flops = rank, ranks, flops
        #: Bytes of what has no type.
        self._unit = 1
        self._count = 0
        #: Requests by source, destination and tag.
        self._begun: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
        self._ops = self._read(file)

    def __iter__(self) -> Iterator[Op]:
        return self

    def __next__(self) -> Op:
        return next(self._ops)

    def refuse(self, message: str) -> NoReturn:
        """Raise an error at this line."""
        refuse(message, self.file, self.line)

    def _read(self, file: Path) -> Iterator[Op]:
        for number, line in enumerate(lines(file), 1):
            self.line = number
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 2 or words[0] != str(self.rank):
                self.refuse(f"{line!r} is not an action of rank {self.rank}")
            action, rest = words[1].lower(), words[2:]
            if action == "init":
                self._unit = 8 if rest else 1
                continue
            if action in _IDLE:
                continue
            try:
                yield self._op(action, rest)
                yield from self._reduced(action, rest)
            except IndexError:
                self.refuse(f"`{action}` lacks something")

    def _int(self, word: str) -> int:
        if not _NUMBER.fullmatch(word):
            self.refuse(f"{word!r} is not a whole number")
        return int(word)

    def _ns(self, word: str, scale: float) -> int:
        try:
            return round(float(word) * scale)
        except (ValueError, OverflowError):
            self.refuse(f"{word!r} is not a number")

    def _size(self, count: str, words: Sequence[str], at: int) -> int:
        """Bytes of so many elements of the type that stands at a place, if one does."""
        if self._int(count) < 0:
            self.refuse(f"{count} is no number of elements")
        if len(words) <= at:
            return self._int(count) * self._unit
        kind = self._int(words[at])
        if not 0 <= kind < len(_BYTES):
            self.refuse(f"there is no type {kind}: there are 0 to {len(_BYTES) - 1}")
        return self._int(count) * _BYTES[kind]

    def _peer(self, word: str) -> int:
        rank = self._int(word)
        if not -1 <= rank < self.ranks:
            self.refuse(f"there is no rank {rank} among {self.ranks}")
        return rank

    def _root(self, words: Sequence[str], at: int) -> int:
        """The rank that stands at a place, if one does."""
        root = self._int(words[at]) if len(words) > at else 0
        if not 0 <= root < self.ranks:
            self.refuse(f"there is no rank {root} among {self.ranks}")
        return root

    def _request(self, key: tuple[int, int, int]) -> int:
        self._count += 1
        self._begun[key].append(self._count)
        return self._count

    def _op(self, action: str, words: Sequence[str]) -> Op:
        match action:
            case "compute":
                return Compute(self._ns(words[0], 1e9 / self.flops))
            case "sleep":
                return Compute(self._ns(words[0], 1e9))
            case "send" | "isend" | "recv" | "irecv":
                return self._message(action, words)
            case "wait" | "test":
                return self._wait([self._int(word) for word in words])
            case "waitall":
                ended = sorted(request for queue in self._begun.values() for request in queue)
                self._begun.clear()
                return Wait(tuple((request, None) for request in ended))
            case "sendrecv":
                size, received = self._size(words[0], words, 4), self._size(words[2], words, 5)
                sent = Send(self._peer(words[1]), size)
                return Exchange(sent, Receive(self._peer(words[3]), received))
            case _:
                return self._collective(action, words)

    def _reduced(self, action: str, words: Sequence[str]) -> Iterator[Op]:
        """The computation of a reduction."""
        if action in _REDUCING:
            at = self.ranks if action == "reducescatter" else 1
            ns = self._ns(words[at], 1e9 / self.flops)
            if ns:
                yield Compute(ns)

    def _message(self, action: str, words: Sequence[str]) -> Op:
        peer, tag, size = self._peer(words[0]), self._int(words[1]), self._size(words[2], words, 3)
        sends = action.endswith("send")
        key = (self.rank, peer, tag) if sends else (peer, self.rank, tag)
        request = self._request(key) if action[0] == "i" else None
        return (Send if sends else Receive)(peer, size, tag, request=request)

    def _wait(self, words: Sequence[int]) -> Op:
        queue = self._begun.get((words[0], words[1], words[2]))
        if not queue:
            self.refuse("there is no request of this source, destination and tag")
        return Wait(((queue.popleft(), None),))

    def _collective(self, action: str, words: Sequence[str]) -> Op:
        ranks = self.ranks
        match action:
            case "barrier":
                return Collective(action)
            case "bcast" | "reduce":
                at = 1 if action == "bcast" else 2
                size = self._size(words[0], words, at + 1)
                return Collective(action, root=self._root(words, at), bytes=(size,))
            case "allreduce" | "scan" | "exscan":
                return Collective(action, bytes=(self._size(words[0], words, 2),))
            case "alltoall" | "allgather":
                return Collective(action, bytes=(self._size(words[1], words, 3),))
            case "alltoallv":
                sizes = [self._size(word, words, 2 * ranks + 2) for word in words[1 : ranks + 1]]
                return Collective(action, bytes=self._whole(sizes))
            case "allgatherv":
                sizes = [self._size(word, words, ranks + 2) for word in words[1 : ranks + 1]]
                return Collective(action, bytes=self._whole(sizes))
            case "reducescatter":
                sizes = [self._size(word, words, ranks + 1) for word in words[:ranks]]
                return Collective("reduce_scatter", bytes=self._whole(sizes))
            case "gather" | "scatter":
                size = self._size(words[0], words, 3)
                return Collective(action, root=self._root(words, 2), bytes=(size,))
            case "gatherv" | "scatterv":
                if len(words) <= ranks:
                    self.refuse(f"{len(words) - 1} sizes for {ranks} ranks")
                # What a rank sends stands before the sizes of all, what it receives behind them.
                own, kind = (0, ranks + 2) if action == "gatherv" else (ranks, ranks + 3)
                size = self._size(words[own], words, kind)
                return Collective(action, root=self._root(words, ranks + 1), bytes=(size,))
            case _:
                return self.refuse(f"there is no action `{action}`")

    def _whole(self, sizes: Sequence[int]) -> tuple[int, ...]:
        if len(sizes) != self.ranks:
            self.refuse(f"{len(sizes)} sizes for {self.ranks} ranks")
        return tuple(sizes)

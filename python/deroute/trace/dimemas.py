"""Dimemas: records of all tasks in one file, whose fields are divided by colons.

A header `#DIMEMAS:"name":1,OFFSET:N(...)`, communicators `d:1:COMM:n:r0:r1...`, and records: `1`
computes for seconds, `2` sends (last field: 1 synchronous, 2 at once), `3` receives (0), begins to
(1) or waits (2), `10` takes part in a collective. Read when it is opened, and kept: the tasks are
mixed, and only the record of a root says who that is.

Source: Dimemas (Barcelona Supercomputing Center), the files of its translators. As in the engine,
messages of a communicator that is not defined are of that of all tasks.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from pathlib import Path
from typing import NoReturn

from deroute.trace import places
from deroute.trace.ops import (
    ANY,
    WORLD,
    Collective,
    Communicator,
    Compute,
    Listed,
    Op,
    Program,
    Receive,
    Send,
    Wait,
)
from deroute.trace.places import Place, lines, refuse

NAME = "dimemas"
HEAD = re.compile(r"#DIMEMAS:.*")
_HEADER = re.compile(r'#DIMEMAS:"[^"]*":[^:]*:\s*(\d{1,18})\s*[(,].*')
_NUMBER = re.compile(r"-?\d{1,18}")
_IGNORED = ("", "0", "20", "s")
_MOST_NS = 10**18
#: By the number of an operation, of which there are sixteen.
_KINDS = (
    *("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgather"),
    *("alltoall", "alltoallv", "reduce", "allreduce"),
    *("reduce_scatter_block", "reduce_scatter_block", "scan", "alltoallv"),
)
_ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")


class DimemasTrace:
    """A file with the records of all tasks."""

    def __init__(self, place: Place) -> None:
        (self._file,) = place.files()
        self._line = 1
        rows = enumerate(lines(self._file), 1)
        _, head = next(rows, (1, ""))
        found = _HEADER.fullmatch(head.strip())
        if found is None:
            self._refuse('is not #DIMEMAS:"name":1,OFFSET:N(...')
        self._ops: list[list[Op]] = [[] for _ in range(places.ranks(found[1], self._file, 1))]
        self._tasks = [_Task() for _ in self._ops]
        self._comms: dict[int, tuple[int, ...]] = {}
        self._roots: dict[tuple[int, int], int] = {}
        for self._line, line in rows:
            self._record([field.strip() for field in line.split(":")])
        for ops, task in zip(self._ops, self._tasks, strict=True):
            for at, comm, number in task.rooted:
                op = ops[at]
                assert isinstance(op, Collective)
                ops[at] = op._replace(root=self._roots.get((comm, number), op.root))

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self._ops)

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""
        return Listed(iter(self._ops[rank]))

    @property
    def file(self) -> Path:
        """Where it stands."""
        return self._file

    def _refuse(self, message: str) -> NoReturn:
        refuse(message, self._file, self._line)

    def _number(self, fields: list[str], at: int, least: int = 0) -> int:
        if at >= len(fields):
            self._refuse(f"field {at + 1} is missing")
        if not _NUMBER.fullmatch(fields[at]) or int(fields[at]) < least:
            self._refuse(f"{fields[at]!r} is not a number of at least {least}")
        return int(fields[at])

    def _rank(self, fields: list[str], at: int, least: int = 0) -> int:
        rank = self._number(fields, at, least)
        if rank >= self.ranks:
            self._refuse(f"there is no rank {rank}: there are {self.ranks}")
        return rank

    def _record(self, fields: list[str]) -> None:
        kind = fields[0]
        if kind in _IGNORED:
            return
        if kind == "d":
            self._definition(fields)
            return
        if kind not in ("1", "11", "2", "3", "10"):
            self._refuse(f"{kind!r} is no kind of record")
        rank = self._rank(fields, 1)
        ops = self._ops[rank]
        match kind:
            case "2":
                ops.append(self._send(rank, fields))
            case "3":
                ops.append(self._receive(rank, fields))
            case "10":
                self._collective(rank, fields)
            case _:
                ops.append(Compute(self._ns(fields[3] if len(fields) > 3 else "")))

    def _ns(self, word: str) -> int:
        try:
            ns = float(word) * 1e9
        except ValueError:
            self._refuse(f"{word!r} is no time")
        if not (math.isfinite(ns) and 0 <= ns <= _MOST_NS):
            self._refuse(f"{ns:g} ns is no time")
        return round(ns)

    def _definition(self, fields: list[str]) -> None:
        if self._number(fields, 1) != 1:
            return
        comm, count = self._number(fields, 2), self._number(fields, 3)
        members = tuple(self._rank(fields, at) for at in range(4, len(fields)))
        if len(members) != count or len(set(members)) != count or not count:
            self._refuse(f"{len(set(members))} members of {count}")
        self._comms[comm] = members

    def _comm(self, rank: int, name: int) -> int:
        """Number of a communicator, which the rank hears of when it first uses it."""
        members = self._comms[name]
        if members == tuple(range(self.ranks)):
            return WORLD
        if rank not in members:
            self._refuse(f"rank {rank} is not in communicator {name}")
        if self._tasks[rank].known.get(name) != members:
            self._tasks[rank].known[name] = members
            self._ops[rank].append(Communicator(name + 1, members))
        return name + 1

    def _of_message(self, rank: int, fields: list[str]) -> int:
        name = self._number(fields, 7)
        return self._comm(rank, name) if name in self._comms else WORLD

    def _send(self, rank: int, fields: list[str]) -> Send:
        to, size = self._rank(fields, 3), self._number(fields, 5)
        tag, how = self._number(fields, 6), self._number(fields, 8)
        request = self._tasks[rank].request() if how & 2 else None
        mode = "s" if how & 1 else ""
        return Send(to, size, tag, self._of_message(rank, fields), request, mode)

    def _receive(self, rank: int, fields: list[str]) -> Op:
        source, tag = self._rank(fields, 3, ANY), self._number(fields, 6, ANY)
        size, how = self._number(fields, 5), self._number(fields, 8)
        task, key = self._tasks[rank], (source, tag, self._number(fields, 7))
        if how == 2:
            if not task.begun[key]:
                self._refuse("waits for a receive that was not begun")
            return Wait(((task.begun[key].popleft(), None),))
        if how not in (0, 1):
            self._refuse(f"{how} is no kind of receive")
        request = task.request() if how else None
        if request is not None:
            task.begun[key].append(request)
        return Receive(source, size, tag, self._of_message(rank, fields), request)

    def _collective(self, rank: int, fields: list[str]) -> None:
        name, kind = self._number(fields, 4), _KINDS[self._number(fields, 3) % len(_KINDS)]
        if name not in self._comms:
            self._refuse(f"there is no communicator {name} so far")
        comm, members = self._comm(rank, name), self._comms[name]
        sent, received = self._number(fields, 7), self._number(fields, 8)
        each = max(sent, received)
        if kind in ("gather", "gatherv"):
            each = sent
        elif kind in ("scatter", "scatterv"):
            each = received
        elif kind in ("allgather", "alltoall"):
            # One side may be all blocks together; Extrae has had both.
            each = min(sent, received)
        elif kind in ("alltoallv", "reduce_scatter_block"):
            each //= len(members)
        sizes = {"barrier": (), "alltoallv": (each,) * len(members)}.get(kind, (each,))
        task, ops = self._tasks[rank], self._ops[rank]
        task.calls[name] += 1
        if kind in _ROOTED:
            task.rooted.append((len(ops), name, task.calls[name]))
            if self._number(fields, 5):
                self._roots[name, task.calls[name]] = rank
        ops.append(Collective(kind, comm, members[0] if kind in _ROOTED else None, sizes))


class _Task:
    """A task as it is read."""

    def __init__(self) -> None:
        self._requests = 0
        #: Receives that were not waited for, by source, tag and communicator.
        self.begun: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
        self.known: dict[int, tuple[int, ...]] = {}
        #: Collectives so far, by communicator.
        self.calls: dict[int, int] = defaultdict(int)
        #: Operations whose root may not be known yet: place, communicator, number.
        self.rooted: list[tuple[int, int, int]] = []

    def request(self) -> int:
        """A new one."""
        self._requests += 1
        return self._requests

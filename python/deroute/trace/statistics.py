"""What a trace holds, counted as it is read: nothing of it is kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deroute.telling import Told, counted, nobody
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
    Receive,
    Send,
    Trace,
    Wait,
)

#: Above so many ranks neighbours share a cell of the matrix.
CELLS = 1024
#: Source, destination, tag and communicator.
Channel = tuple[int, int, int, int]


@dataclass
class Summary:
    """Counts of a trace."""

    ranks: int
    #: Calls, computations left out.
    calls: int = 0
    messages: int = 0
    bytes: int = 0
    #: Messages by their size.
    sizes: Counter[int] = field(default_factory=Counter)
    #: Calls of each collective by all ranks, and the bytes that stand there.
    collectives: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: Ranks that say how long they compute, in ns.
    compute_ns: list[int] = field(default_factory=list)
    communicators: int = 1
    #: Sends less receives where they differ.
    unmatched: dict[Channel, int] = field(default_factory=dict)
    #: Receives that take whatever comes, where the trace does not say what that was.
    open_receives: int = 0
    #: Bytes from cell to cell: messages, and collectives as `rounds` has them.
    matrix: Any = None
    collective_matrix: Any = None

    @property
    def ranks_per_cell(self) -> int:
        """Ranks that share a row of the matrix."""
        return -(-self.ranks // CELLS)


def summary(trace: Trace, told: Told = nobody) -> Summary:
    """Count everything, one rank after the other."""
    found = Summary(trace.ranks)
    cells = -(-trace.ranks // found.ranks_per_cell)
    found.matrix = np.zeros((cells, cells))
    found.collective_matrix = np.zeros((cells, cells))
    comms = {Communicator(WORLD, tuple(range(trace.ranks)))}
    balance: dict[Channel, int] = {}
    for rank in counted(range(trace.ranks), told):
        _Rank(found, rank, comms, balance).read(trace)
    found.communicators = len(comms)
    found.unmatched = balance
    return found


class _Rank:
    """Counts of one rank."""

    def __init__(
        self, found: Summary, rank: int, comms: set[Communicator], balance: dict[Channel, int]
    ) -> None:
        self.found, self.rank, self.comms, self.balance = found, rank, comms, balance
        self.members: dict[int, tuple[int, ...]] = {}
        #: Receives that have been begun.
        self.begun: dict[int, Receive] = {}
        self.ns = 0

    def read(self, trace: Trace) -> None:
        """Count its program."""
        for op in trace.program(self.rank):
            match op:
                case Compute():
                    self.ns += op.ns
                    continue
                case Communicator():
                    self.comms.add(op)
                    self.members[op.comm] = op.members
                    continue
                case _:
                    self.found.calls += 1
                    self._count(op)
        for receive in self.begun.values():
            self._received(receive, None)
        self.found.compute_ns.append(self.ns)

    def _count(self, op: Op) -> None:
        match op:
            case Send():
                self._sent(op)
            case Receive() if op.request is None:
                self._received(op, op.came)
            case Receive():
                assert op.request is not None
                self.begun[op.request] = op
            case Exchange():
                self._sent(op.send)
                self._received(op.receive, op.receive.came)
            case Wait():
                for request, came in op.requests:
                    if request in self.begun:
                        self._received(self.begun.pop(request), came)
            case Collective():
                self._collective(op)
            case _:
                pass

    def _sent(self, op: Send) -> None:
        if op.peer == NOBODY:
            return
        self.found.messages += 1
        self.found.bytes += op.bytes
        self.found.sizes[op.bytes] += 1
        share = self.found.ranks_per_cell
        self.found.matrix[self.rank // share, op.peer // share] += op.bytes
        self._balance((self.rank, op.peer, op.tag, op.comm), 1)

    def _received(self, op: Receive, came: Came | None) -> None:
        if op.peer == NOBODY or (came is not None and came.source == NOBODY):
            return
        source = op.peer if came is None else came.source
        tag = op.tag if came is None else came.tag
        if ANY in (source, tag):
            self.found.open_receives += 1
        else:
            self._balance((source, self.rank, tag, op.comm), -1)

    def _balance(self, channel: Channel, by: int) -> None:
        count = self.balance.get(channel, 0) + by
        if count:
            self.balance[channel] = count
        else:
            self.balance.pop(channel, None)

    def _collective(self, op: Collective) -> None:
        calls, size = self.found.collectives.get(op.kind, (0, 0))
        self.found.collectives[op.kind] = calls + 1, size + sum(op.bytes)
        members = self.members.get(op.comm, range(self.found.ranks))
        me = members.index(self.rank)
        root = None if op.root is None else members.index(op.root)
        kind = op._replace(comm=WORLD, request=None, root=None)
        share = self.found.ranks_per_cell
        for peer, size in rounds.sent(kind, me, len(members), root):
            self.found.collective_matrix[self.rank // share, members[peer] // share] += size

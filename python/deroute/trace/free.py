"""A trace on a network that takes no time: how long the program itself takes, and why.

Messages are there when they are sent, and collectives take no longer than their last member. No
network is faster, so this bounds every replay from below. What a rank waits for is followed back:
the critical path leads through the ranks from the end to the beginning.

A receive of whatever comes takes what the trace says it took. Of messages with the same sender, tag
and communicator the first receive that begins gets the first that was sent.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from deroute.errors import InputError, Problem
from deroute.telling import Told, nobody
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
    received,
)

#: Calls between two times that somebody hears how many are done, at least.
_SELDOM = 10_000
#: Ranks that an error names.
_NAMED = 4
#: Collectives whose members wait for the root alone, those whose root waits alone, and those whose
#: members wait for the ones before them.
_FROM_ROOT = ("bcast", "scatter", "scatterv")
_TO_ROOT = ("reduce", "gather", "gatherv")
_IN_ORDER = ("scan", "exscan")


class Segment(NamedTuple):
    """A part of the critical path: a rank from a time on, and what came before."""

    rank: int
    ns: int
    before: Segment | None


class Event(NamedTuple):
    """Something happened at a time, at the end of a path."""

    ns: int
    path: Segment


@dataclass
class Run:
    """What the free network makes of a trace."""

    ns: int
    #: Ranks and times from the first to the last.
    path: list[tuple[int, int, int]]
    ends_ns: list[int]


@dataclass
class _Gathering:
    """A collective for which not all members have come."""

    kind: str
    root: int | None
    arrived: dict[int, Event] = field(default_factory=dict)
    #: The last of all members.
    last: Event | None = None
    #: The last of the first member, of the first two, and so on as far as all of these have come.
    first: list[Event] = field(default_factory=list)
    #: Members that have gone on.
    passed: int = 0

    def up_to(self, members: Sequence[int], place: int) -> Event | None:
        """The last of the members up to a place, if all of these have come."""
        while len(self.first) <= place and members[len(self.first)] in self.arrived:
            last = self.arrived[members[len(self.first)]]
            if self.first and self.first[-1].ns >= last.ns:
                last = self.first[-1]
            self.first.append(last)
        return self.first[place] if place < len(self.first) else None


#: What a rank can wait for: the message of a number on a channel, or a collective.
_Key = tuple[int, ...]


class _Rank:
    """A rank on its way."""

    def __init__(self, number: int, trace: Trace) -> None:
        self.number, self.program = number, trace.program(number)
        #: What receives of whatever comes get that are not waited for.
        self.received = received(trace, number, _whatever)
        self.now, self.path = 0, Segment(number, 0, None)
        #: Numbers of the communicators that it knows, by what it calls them.
        self.comms = {WORLD: WORLD}
        #: What requests wait for: nothing, a message whose key is known, a receive, a collective.
        self.begun: dict[int, _Key | Receive | None] = {}
        self.sequence: dict[int, int] = defaultdict(int)
        #: What it waits for now, before it goes on.
        self.needs: deque[_Key] = deque()
        self.doing: Op | None = None

    def wait_for(self, event: Event) -> None:
        """Go on no earlier than something has happened."""
        if event.ns > self.now:
            self.now = event.ns
            self.path = Segment(self.number, event.ns, event.path)


class FreeNetwork:
    """Runs all ranks side by side, each as far as it comes."""

    def __init__(self, trace: Trace, busy: Callable[[int, int, int], None] | None = None) -> None:
        """`busy` is told of each computation: a rank, when it begins, and when it ends."""
        self._busy = busy
        self._ranks = [_Rank(rank, trace) for rank in range(trace.ranks)]
        #: Communicators by their numbers here: other members make it another one.
        self._comms = [Communicator(WORLD, tuple(range(trace.ranks)))]
        self._numbers = {self._comms[WORLD]: WORLD}
        self._sent: dict[_Key, int] = defaultdict(int)
        self._received: dict[_Key, int] = defaultdict(int)
        self._arrived: dict[_Key, Event] = {}
        self._gathering: dict[_Key, _Gathering] = {}
        self._waiting: dict[_Key, list[_Rank]] = {}
        #: Calls that have been done.
        self._calls = 0

    def run(self, calls: int = 0, told: Told = nobody) -> Run:
        """Run to the end. Raises `InputError` if ranks wait for what never comes.

        `told` hears now and then how many of the `calls` of all ranks are done.
        """
        ready = deque(self._ranks)
        ended, next_told = 0, _SELDOM
        while ready:
            rank = ready.popleft()
            if self._advance(rank, ready):
                ended += 1
            if self._calls >= next_told:
                told(self._calls, calls)
                next_told = self._calls + _SELDOM
        if ended < len(self._ranks):
            raise self._stuck()
        last = max(self._ranks, key=lambda rank: rank.now)
        path, until, at = [], last.now, last.path
        while True:
            path.append((at.rank, at.ns, until))
            until = at.ns
            if at.before is None:
                break
            at = at.before
        return Run(last.now, path[::-1], [rank.now for rank in self._ranks])

    def _advance(self, rank: _Rank, ready: deque[_Rank]) -> bool:
        """Go on until something is missing; whether the program has ended."""
        while True:
            while rank.needs:
                event = self._event(rank, rank.needs[0])
                if event is None:
                    self._waiting.setdefault(rank.needs[0], []).append(rank)
                    return False
                rank.needs.popleft()
                rank.wait_for(event)
            try:
                op = next(rank.program)
            except StopIteration:
                return True
            rank.doing = op
            self._calls += not isinstance(op, (Compute, Communicator))
            for key in self._do(rank, op):
                ready.extend(self._waiting.pop(key, ()))

    def _do(self, rank: _Rank, op: Op) -> list[_Key]:
        """Do one thing; what has happened by it, which others may wait for."""
        match op:
            case Compute():
                if self._busy is not None:
                    self._busy(rank.number, rank.now, rank.now + op.ns)
                rank.now += op.ns
            case Communicator():
                rank.comms[op.comm] = self._number(op)
            case Send() if op.peer != NOBODY:
                return [self._send(rank, op)]
            case Receive():
                self._receive(rank, op)
            case Exchange():
                sent = [] if op.send.peer == NOBODY else [self._send(rank, op.send)]
                self._receive(rank, op.receive)
                return sent
            case Wait():
                for request, _ in op.requests:
                    self._end(rank, request)
            case Collective():
                return self._join(rank, op)
            case _:
                pass
        return []

    def _number(self, comm: Communicator) -> int:
        if comm not in self._numbers:
            self._numbers[comm] = len(self._comms)
            self._comms.append(comm)
        return self._numbers[comm]

    def _send(self, rank: _Rank, op: Send) -> _Key:
        channel = (rank.number, op.peer, op.tag, op.comm)
        key = (*channel, self._sent[channel])
        self._sent[channel] += 1
        self._arrived[key] = Event(rank.now, rank.path)
        if op.request is not None:
            rank.begun[op.request] = None
        return key

    def _receive(self, rank: _Rank, op: Receive) -> None:
        came = next(rank.received) if op.request is not None and _whatever(op) else op.came
        nobody = op.peer == NOBODY or (came is not None and came.source == NOBODY)
        if op.request is None:
            if not nobody:
                rank.needs.append(self._key(rank, op, came))
        elif nobody or came is not None or not _whatever(op):
            rank.begun[op.request] = None if nobody else self._key(rank, op, came)
        else:
            rank.begun[op.request] = op

    def _key(self, rank: _Rank, op: Receive, came: Came | None) -> _Key:
        """The message that a receive is about to get."""
        source = op.peer if came is None else came.source
        tag = op.tag if came is None else came.tag
        if ANY in (source, tag):
            message = "takes whatever comes, and the trace does not say what that was"
            raise InputError([Problem(message, file=rank.program.file, line=rank.program.line)])
        channel = (source, rank.number, tag, op.comm)
        self._received[channel] += 1
        return (*channel, self._received[channel] - 1)

    def _end(self, rank: _Rank, request: int) -> None:
        needed = rank.begun.pop(request, None)
        if isinstance(needed, Receive):
            needed = self._key(rank, needed, None)
        if needed is not None:
            rank.needs.append(needed)

    def _join(self, rank: _Rank, op: Collective) -> list[_Key]:
        comm = rank.comms[op.comm]
        key = (comm, rank.sequence[comm])
        rank.sequence[comm] += 1
        here = self._gathering.setdefault(key, _Gathering(op.kind, op.root))
        if (here.kind, here.root) != (op.kind, op.root):
            first = min(here.arrived)
            message = (
                f"{_call(op)} where rank {first} has {_call(Collective(here.kind, 0, here.root))}"
            )
            raise InputError([Problem(message, file=rank.program.file, line=rank.program.line)])
        mine = Event(rank.now, rank.path)
        here.arrived[rank.number] = mine
        if here.last is None or mine.ns > here.last.ns:
            here.last = mine
        if op.request is None:
            rank.needs.append(key)
        else:
            rank.begun[op.request] = key
        return [key]

    def _event(self, rank: _Rank, key: _Key) -> Event | None:
        """What a rank waits for, if it has happened; what nobody else needs is forgotten."""
        if len(key) > 2:
            return self._arrived.pop(key, None)
        here = self._gathering[key]
        members = self._comms[key[0]].members
        whole = len(here.arrived) == len(members)
        event: Event | None
        if here.kind in _FROM_ROOT and here.root is not None:
            event = here.arrived.get(here.root)
        elif here.kind in _TO_ROOT and rank.number != here.root:
            event = here.arrived[rank.number]
        elif here.kind in _IN_ORDER:
            event = here.up_to(members, members.index(rank.number))
        else:
            event = here.last if whole else None
        if event is not None:
            here.passed += 1
            if here.passed == len(members):
                del self._gathering[key]
        return event

    def _stuck(self) -> InputError:
        stuck = [rank for rank in self._ranks if rank.needs]
        problems = [
            Problem(
                f"rank {rank.number} waits in {_call(rank.doing)} for "
                f"{self._wanted(rank.needs[0])}",
                file=rank.program.file,
                line=rank.program.line,
            )
            for rank in stuck[:_NAMED]
        ]
        if len(stuck) > _NAMED:
            problems.append(Problem(f"and {len(stuck) - _NAMED} more ranks wait"))
        return InputError(problems)

    def _wanted(self, key: _Key) -> str:
        if len(key) > 2:
            source, _, tag, comm, number = key
            return f"message {number + 1} of rank {source} with tag {tag} in communicator {comm}"
        return f"the other members of communicator {self._comms[key[0]].comm}"


def _whatever(op: Receive) -> bool:
    return ANY in (op.peer, op.tag)


def _call(op: Op | None) -> str:
    """The name of a call."""
    match op:
        case Collective():
            return op.kind if op.root is None else f"{op.kind} from rank {op.root}"
        case Wait():
            return op.word
        case Exchange():
            return "sendrecv"
        case _:
            return "recv"

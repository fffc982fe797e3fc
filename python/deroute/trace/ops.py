"""What a rank does, one thing after the other: the form that the lab reads, makes and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

#: Instead of a peer or a tag: whoever or whatever comes first; and nobody.
ANY = -1
NOBODY = -2
#: The communicator of all ranks.
WORLD = 0

#: Collectives without a root whose members all have the same bytes.
PLAIN = ("allreduce", "scan", "exscan", "reduce_scatter_block", "allgather", "alltoall")
#: Those with a root.
ROOTED = ("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv")
#: Those with bytes for each member.
LISTED = ("allgatherv", "alltoallv", "reduce_scatter")
COLLECTIVES = ("barrier", *PLAIN, *ROOTED, *LISTED)


class Communicator(NamedTuple):
    """A communicator exists from now on; its members by their ranks in the world."""

    comm: int
    members: tuple[int, ...]


class Free(NamedTuple):
    """A communicator is gone."""

    comm: int


class Compute(NamedTuple):
    """The rank is busy."""

    ns: int


class Came(NamedTuple):
    """The message that a receive has got."""

    source: int
    tag: int
    bytes: int


class Send(NamedTuple):
    """A message leaves. Without a request the rank waits until it may use the buffer again."""

    peer: int
    bytes: int
    tag: int = 0
    comm: int = WORLD
    request: int | None = None
    #: Letter of the mode: none, `s` synchronous, `r` ready, `b` buffered.
    mode: str = ""


class Receive(NamedTuple):
    """A message is wanted. Without a request the rank waits for it."""

    peer: int
    bytes: int
    tag: int = 0
    comm: int = WORLD
    request: int | None = None
    came: Came | None = None


class Exchange(NamedTuple):
    """A send and a receive, both waited for."""

    send: Send
    receive: Receive


class Wait(NamedTuple):
    """Requests that have ended here, with what has come."""

    requests: tuple[tuple[int, Came | None], ...]
    #: `wait`, `waitany` or `test`.
    word: str = "wait"


class Collective(NamedTuple):
    """All members of a communicator do something together."""

    kind: str
    comm: int = WORLD
    #: Rank in the world.
    root: int | None = None
    #: None of a barrier; one number; or one of each member.
    bytes: tuple[int, ...] = ()
    request: int | None = None


Op = Communicator | Free | Compute | Send | Receive | Exchange | Wait | Collective


class Program(Protocol):
    """The operations of a rank, and where they stand."""

    @property
    def line(self) -> int | None:
        """Line of the operation that was given out last, if there is a file."""

    @property
    def file(self) -> Path | None:
        """The file, if there is one."""

    def __iter__(self) -> Iterator[Op]:
        """Itself."""

    def __next__(self) -> Op:
        """The next operation."""


class Trace(Protocol):
    """What all ranks do. Programs are read as they are asked for, as often as they are."""

    @property
    def ranks(self) -> int:
        """How many there are."""

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""


class Listed:
    """The program of a rank from operations in memory, or made as they are asked for."""

    line: int | None = None
    file: Path | None = None

    def __init__(self, ops: Iterator[Op]) -> None:
        self._ops = ops

    def __iter__(self) -> Iterator[Op]:
        """Itself."""
        return self

    def __next__(self) -> Op:
        """The next operation."""
        return next(self._ops)


class Lists:
    """A trace in memory."""

    def __init__(self, programs: Sequence[Sequence[Op]]) -> None:
        self._programs = programs

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self._programs)

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""
        return Listed(iter(self._programs[rank]))


def received(trace: Trace, rank: int, which: Callable[[Receive], bool]) -> Iterator[Came | None]:
    """What those receives of a rank that are not waited for get, in the order in which they begin.

    Its program is read when the first of them is asked for.
    """
    found: list[Came | None] = []
    places: dict[int, int] = {}
    for op in trace.program(rank):
        if isinstance(op, Receive) and op.request is not None and which(op):
            places[op.request] = len(found)
            found.append(None)
        elif isinstance(op, Wait):
            for request, came in op.requests:
                if request in places:
                    found[places.pop(request)] = came
    yield from found

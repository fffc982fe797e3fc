"""Traces in OTF2, which Score-P and Scalasca write. Needs the package `otf2` (`deroute[otf2]`).

What a rank does between regions of MPI is computation. A collective has what this rank sent and
received in it, not what each member did: members of `alltoallv`, `allgatherv` and `reduce_scatter`
are taken to have as much as each other. Not read: one-sided and non-blocking collective operations.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from deroute.errors import InputError
from deroute.trace.ops import (
    NOBODY,
    ROOTED,
    WORLD,
    Came,
    Collective,
    Communicator,
    Compute,
    Exchange,
    Listed,
    Op,
    Program,
    Receive,
    Send,
    Wait,
)
from deroute.trace.places import Place, refuse

NAME = "otf2"
FILES = re.compile(r".*\.otf2")
_MODES = {"MPI_Ssend": "s", "MPI_Issend": "s", "MPI_Rsend": "r", "MPI_Irsend": "r"}
_MODES |= {"MPI_Bsend": "b", "MPI_Ibsend": "b"}
#: Collectives whose members have as many bytes as stand there, by what says so.
_SENT = ("allreduce", "reduce", "scan", "exscan", "gather", "gatherv")
_RECEIVED = ("bcast", "scatter", "scatterv", "reduce_scatter_block")


#: How long the library may take to open an anchor file, in seconds.
_PATIENCE_S = 30.0
#: Opens one, and prints what is wrong with it.
_OPEN = """
import sys
import _otf2
try:
    _otf2.Reader_Close(_otf2.Reader_Open(sys.argv[1]))
except Exception as error:
    print(error)
"""


class Otf2Trace:
    """An anchor file and what stands beside it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        anchors = [file for file in place.files() if FILES.fullmatch(file.name)]
        if len(anchors) != 1:
            refuse(f"has {len(anchors)} files of OTF2 to begin with, not one", place.path)
        self.file = anchors[0]
        self._try_anchor()
        with self.opened() as trace:
            self._locations = _locations(trace)
            names = {name: rank for rank, name in enumerate(self._locations)}
            everybody = tuple(range(len(names)))
            self._comms: dict[Any, tuple[int, tuple[int, ...]]] = {}
            for comm in trace.definitions.comms:
                members = _members(comm, names)
                number = WORLD if members == everybody else 1 + len(self._comms)
                self._comms[comm._ref] = number, members
            self._ticks: int = trace.timer_resolution
            if self._ticks <= 0:
                refuse(f"has a clock of {self._ticks} ticks a second", self.file)

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self._locations)

    def _try_anchor(self) -> None:
        """Let another process open the anchor file.

        One that is damaged can make the library read for ever, or abort, instead of an error.
        """
        _library()
        command = [sys.executable, "-c", _OPEN, str(self.file)]
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            message = f"the library does not come to its end in {_PATIENCE_S:g} seconds"
        else:
            message = ended.stdout.strip()
            if ended.returncode < 0:
                message = f"the library breaks down (signal {-ended.returncode})"
        if message:
            refuse(f"cannot be read: {message}", self.file)

    @contextmanager
    def opened(self, where: Callable[[], str] = str) -> Iterator[Any]:
        """The trace, open; what is wrong is told with the place."""
        otf2, error_of = _library()
        try:
            with otf2.reader.open(str(self.file)) as trace:
                yield trace
        except (otf2.error.Error, error_of) as error:
            refuse(f"{where()}cannot be read: {error}", self.file)

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""
        return Listed(_Rank(self, rank).ops())

    def events(self, rank: int) -> Iterator[Any]:
        """What was written down on a rank. Raises `InputError` with the location and the event."""
        wanted, count = self._locations[rank], 0
        with self.opened(lambda: f"location {wanted}, event {count + 1}: ") as trace:
            location = next(one for one in trace.definitions.locations if one._ref == wanted)
            for _, event in trace.events([location]):
                yield event
                count += 1

    def refuse(self, rank: int, message: str) -> NoReturn:
        """Raise an error about a rank."""
        refuse(f"location {self._locations[rank]}: {message}", self.file)

    def ns(self, ticks: int) -> int:
        """A time."""
        return round(ticks * 10**9 / self._ticks)

    def comm(self, comm: Any, rank: int) -> tuple[int, tuple[int, ...]]:
        """Number and members of a communicator."""
        number, members = self._comms[comm._ref]
        return number, members or (rank,)

    def comms(self, rank: int) -> Iterator[Communicator]:
        """Those that a rank is in."""
        for number, members in self._comms.values():
            if number != WORLD and rank in members:
                yield Communicator(number, members)


def _library() -> tuple[Any, type[Exception]]:
    """The package that reads OTF2, and the errors of what is below it."""
    try:
        import otf2  # noqa: PLC0415
        from _otf2.ErrorCodes import Error  # noqa: PLC0415
    except ImportError:
        wanted = "OTF2 needs a package more: pip install 'deroute[otf2]'"
        raise InputError.of(wanted) from None
    return otf2, Error


def _word(choice: Any) -> str:
    """The name of a choice, such as `ALLREDUCE`."""
    return str(choice).rpartition(".")[2]


def _locations(trace: Any) -> list[int]:
    """Where ranks are: those that MPI knows, or all."""
    for group in trace.definitions.groups:
        if (_word(group.group_type), _word(group.paradigm)) == ("COMM_LOCATIONS", "MPI"):
            return [location._ref for location in group.members]
    return [location._ref for location in trace.definitions.locations]


def _members(comm: Any, names: dict[int, int]) -> tuple[int, ...]:
    """Ranks in a communicator; none stand in one of a single rank."""
    members = () if comm.group is None else comm.group.members
    return tuple(
        member if isinstance(member, int) else names.get(member._ref, NOBODY) for member in members
    )


class _Rank:
    """A rank as it is read."""

    def __init__(self, trace: Otf2Trace, rank: int) -> None:
        self.trace, self.rank = trace, rank
        self.number = 0
        #: Requests that are open: those of OTF2 are used again.
        self.open: dict[int, int] = {}
        self.coming: dict[int, deque[Any]] = defaultdict(deque)

    def ops(self) -> Iterator[Op]:
        """Computations between calls, and calls."""
        yield from self.trace.comms(self.rank)
        for event in self.trace.events(self.rank):
            if type(event).__name__ == "MpiIrecv":
                self.coming[event.request_id].append(event)
        since, depth, region = None, 0, ""
        within: list[tuple[str, Any]] = []
        for event in self.trace.events(self.rank):
            kind = type(event).__name__
            since = event.time if since is None else since
            if kind in ("Enter", "Leave") and event.region.name.startswith("MPI_"):
                depth += 1 if kind == "Enter" else -1
                if kind == "Enter" and depth == 1:
                    yield Compute(self.trace.ns(event.time) - self.trace.ns(since))
                    region, within = event.region.name, []
                elif depth == 0:
                    yield from self._read(region, within)
                    since = event.time
            elif depth:
                within.append((kind, event))

    def _read(self, region: str, events: Sequence[tuple[str, Any]]) -> Sequence[Op]:
        try:
            return list(self._call(region, events))
        except (AttributeError, LookupError, ZeroDivisionError) as error:
            return self.trace.refuse(self.rank, f"{region} makes no sense: {error!r}")

    def _call(self, region: str, events: Sequence[tuple[str, Any]]) -> Iterator[Op]:
        """What happened in a region of MPI."""
        found: dict[str, list[Any]] = defaultdict(list)
        for kind, event in events:
            found[kind].append(event)
        if found["MpiSend"] and found["MpiRecv"]:
            sent, came = found["MpiSend"].pop(), found["MpiRecv"].pop()
            yield Exchange(self._send(sent, region), self._receive(came))
        for event in found["MpiSend"]:
            yield self._send(event, region)
        for event in found["MpiIsend"]:
            yield self._send(event, region)._replace(request=self._begin(event))
        for event in found["MpiIrecvRequest"]:
            if self.coming[event.request_id]:
                begun = self._receive(self.coming[event.request_id].popleft())
                yield begun._replace(request=self._begin(event), came=None)
        for event in found["MpiRecv"]:
            yield self._receive(event)
        ended = tuple(
            (self.open.pop(event.request_id), self._came(event) if kind == "MpiIrecv" else None)
            for kind, event in events
            if kind in ("MpiIrecv", "MpiIsendComplete") and event.request_id in self.open
        )
        if ended:
            yield Wait(ended)
        for event in found["MpiCollectiveEnd"]:
            yield from self._collective(event)

    def _begin(self, event: Any) -> int:
        self.number += 1
        self.open[event.request_id] = self.number
        return self.number

    def _world(self, comm: Any, rank: int) -> tuple[int, int]:
        number, members = self.trace.comm(comm, self.rank)
        return number, members[rank] if rank < len(members) else NOBODY

    def _send(self, event: Any, region: str) -> Send:
        comm, to = self._world(event.communicator, event.receiver)
        return Send(to, event.msg_length, event.msg_tag, comm, mode=_MODES.get(region, ""))

    def _receive(self, event: Any) -> Receive:
        comm, source = self._world(event.communicator, event.sender)
        got = self._came(event)
        return Receive(source, event.msg_length, event.msg_tag, comm, came=got)

    def _came(self, event: Any) -> Came:
        _, source = self._world(event.communicator, event.sender)
        return Came(source, event.msg_tag, event.msg_length)

    def _collective(self, event: Any) -> Iterator[Op]:
        kind = _word(event.collective_op).lower()
        comm, members = self.trace.comm(event.communicator, self.rank)
        if kind == "reduce_scatter":
            kind = "reduce_scatter_block"
        sent, received, count = event.size_sent, event.size_received, len(members)
        root = members[event.root] if kind in ROOTED else None
        if kind == "barrier":
            yield Collective(kind, comm)
        elif kind in _SENT:
            gathered = kind.startswith("gather") and self.rank == root
            yield Collective(kind, comm, root, (received // count if gathered else sent,))
        elif kind in _RECEIVED:
            yield Collective(kind, comm, root, (received,))
        elif kind in ("allgather", "alltoall"):
            yield Collective(kind, comm, None, (received // count,))
        elif kind in ("allgatherv", "alltoallv"):
            total = received if kind == "allgatherv" else sent
            yield Collective(kind, comm, None, (total // count,) * count)

"""Writes traces as text, `mpi-trace 1`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from deroute.telling import Told, counted, nobody
from deroute.trace.ops import (
    Came,
    Collective,
    Communicator,
    Compute,
    Exchange,
    Free,
    Op,
    Receive,
    Send,
    Trace,
    Wait,
)
from deroute.trace.text import HEAD
from deroute.writing import whole_folder


def write(trace: Trace, folder: Path, notes: Iterable[str] = (), told: Told = nobody) -> None:
    """Write a file for each rank, all or none; notes stand in that of rank 0."""
    with whole_folder(folder) as draft:
        for rank in counted(range(trace.ranks), told):
            with (draft / f"rank{rank}.txt").open("w", encoding="ascii") as out:
                out.write(f"{HEAD}\nrank {rank} of {trace.ranks}\n")
                out.writelines(f"# {note}\n" for note in notes if rank == 0)
                out.writelines(text(trace.program(rank)))


def text(ops: Iterable[Op]) -> Iterable[str]:
    """The lines of a program. Times add up until the next call."""
    ns = 0
    for op in ops:
        match op:
            case Compute():
                ns += op.ns
            case Communicator():
                yield f"comm {op.comm} {_list(op.members)}\n"
            case _:
                yield f"{ns} 0 {call(op)}\n"
                ns = 0
    yield f"{ns} 0 finalize\n"


def call(op: Op) -> str:
    """A call and what belongs to it."""
    match op:
        case Send():
            begins = "i" if op.request is not None else ""
            return f"{begins}{op.mode}send {_peer(op)}{_request(op.request)}"
        case Receive():
            begins = "i" if op.request is not None else ""
            return f"{begins}recv {_peer(op)}{_request(op.request)}{_came(op.came, ' ')}"
        case Exchange():
            sent = f"{op.send.peer} {op.send.bytes} {op.send.tag}"
            return f"sendrecv {sent} {_peer(op.receive)}{_came(op.receive.came, ' ')}"
        case Wait():
            ended = (f" {request}{_came(came)}" for request, came in op.requests)
            return op.word + "".join(ended)
        case Collective():
            begins = "i" if op.request is not None else ""
            root = "" if op.root is None else f" {op.root}"
            sizes = f" {_list(op.bytes)}" if op.bytes else ""
            return f"{begins}{op.kind} {op.comm}{root}{sizes}{_request(op.request)}"
        case Free():
            return f"freecomm {op.comm}"
        case _:
            raise TypeError(op)


def _peer(op: Send | Receive) -> str:
    return f"{op.peer} {op.bytes} {op.tag} {op.comm}"


def _request(request: int | None) -> str:
    return "" if request is None else f" {request}"


def _came(came: Came | None, before: str = "") -> str:
    return "" if came is None else f"{before}<{came.source},{came.tag},{came.bytes}"


def _list(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))

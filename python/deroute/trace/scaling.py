"""Traces with longer or shorter computations and messages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from deroute.trace.ops import (
    Came,
    Collective,
    Compute,
    Exchange,
    Op,
    Program,
    Receive,
    Send,
    Trace,
    Wait,
)


@dataclass(frozen=True)
class Scaled:
    """A trace times two factors. Bytes are rounded up, so that none vanish; 0 stays 0."""

    trace: Trace
    compute: Fraction
    bytes: Fraction

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self.trace.ranks

    def program(self, rank: int) -> Program:
        """What a rank does, from the beginning."""
        return _Scaled(self, self.trace.program(rank))

    def size(self, size: int) -> int:
        """Bytes that become of these."""
        return math.ceil(size * self.bytes)

    def came(self, came: Came | None) -> Came | None:
        """What comes."""
        return None if came is None else came._replace(bytes=self.size(came.bytes))

    def send(self, op: Send) -> Send:
        """A message."""
        return op._replace(bytes=self.size(op.bytes))

    def receive(self, op: Receive) -> Receive:
        """A message that is wanted."""
        return op._replace(bytes=self.size(op.bytes), came=self.came(op.came))

    def op(self, op: Op) -> Op:
        """Any operation."""
        match op:
            case Compute():
                return Compute(round(op.ns * self.compute))
            case Send():
                return self.send(op)
            case Receive():
                return self.receive(op)
            case Exchange():
                return Exchange(self.send(op.send), self.receive(op.receive))
            case Wait():
                ended = tuple((request, self.came(came)) for request, came in op.requests)
                return op._replace(requests=ended)
            case Collective():
                return op._replace(bytes=tuple(map(self.size, op.bytes)))
            case _:
                return op


class _Scaled:
    """A program times the factors."""

    def __init__(self, scaled: Scaled, program: Program) -> None:
        self._scaled, self._program = scaled, program

    @property
    def line(self) -> int | None:
        """Where the original stands."""
        return self._program.line

    @property
    def file(self) -> Path | None:
        """Where the original stands."""
        return self._program.file

    def __iter__(self) -> Iterator[Op]:
        return self

    def __next__(self) -> Op:
        return self._scaled.op(next(self._program))

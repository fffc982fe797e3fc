"""What a benchmark of the NAS suite is to the generator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from deroute.errors import InputError
from deroute.trace.ops import Compute, Listed, Op, Program, Receive, Send, Wait

#: Bytes of a number.
DOUBLE, COMPLEX, INTEGER = 8, 16, 4


@dataclass(frozen=True)
class Job:
    """One rank of a run."""

    rank: int
    ranks: int
    iterations: int
    #: Of all ranks and iterations together.
    flops: float
    #: Of one rank, in a second.
    rate: float

    def compute(self, share: float) -> Compute:
        """A share of the work of this rank: what all its shares add up to is 1."""
        return Compute(round(1e9 * self.flops / self.ranks / self.rate * share))


@dataclass(frozen=True)
class Pattern:
    """A benchmark: its classes, and what a rank does."""

    name: str
    #: Points in each direction, or whatever says how large the problem is, by class.
    classes: Mapping[str, tuple[int, ...]]
    #: Iterations by class.
    iterations: Mapping[str, int]
    #: What is wrong with a number of ranks for a problem, if anything.
    refuses: Callable[[tuple[int, ...], int], str | None]
    #: Floating-point operations of a whole run: of a problem and its iterations.
    flops: Callable[[tuple[int, ...], int], float]
    program: Callable[[tuple[int, ...], Job], Iterator[Op]]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of a class on so many ranks, made as it is read."""

    pattern: Pattern
    size: tuple[int, ...]
    ranks: int
    iterations: int
    rate: float

    @classmethod
    def of(
        cls, pattern: Pattern, letter: str, ranks: int, iterations: int | None, rate: float
    ) -> Benchmark:
        """Raises `InputError` if there is no such class, or not for so many ranks."""
        if letter not in pattern.classes:
            raise InputError.of(f"there is no class {letter!r}", "--class", pattern.classes)
        size = pattern.classes[letter]
        wrong = pattern.refuses(size, ranks) if ranks > 0 else "at least 1"
        if wrong is not None:
            raise InputError.of(f"{ranks} ranks are not for {pattern.name}: {wrong}", "--ranks")
        count = pattern.iterations[letter] if iterations is None else iterations
        if count < 1:
            raise InputError.of(f"{count} is less than 1", "--iterations")
        if not 0 < rate < math.inf:
            raise InputError.of(f"{rate:g} is not above 0", "--flops")
        return cls(pattern, size, ranks, count, rate)

    def program(self, rank: int) -> Program:
        """What a rank does."""
        flops = self.pattern.flops(self.size, self.iterations)
        job = Job(rank, self.ranks, self.iterations, flops, self.rate)
        return Listed(self.pattern.program(self.size, job))


def exchange(to: int, source: int, sent: int, received: int, tag: int = 1) -> Iterator[Op]:
    """A receive is posted, a message sent, the receive waited for."""
    yield Receive(source, received, tag, request=0)
    yield Send(to, sent, tag)
    yield Wait(((0, None),))


def power_of_two(_: tuple[int, ...], ranks: int) -> str | None:
    """CG, FT, IS, LU and MG run on powers of two."""
    return None if ranks & (ranks - 1) == 0 else "a power of two"


def share(points: int, parts: int, part: int) -> int:
    """Points of a part, the first ones having one more where it does not come out even."""
    return points // parts + (part < points % parts)

"""LU: wavefronts over the planes of a grid, from one corner of the ranks to the other and back.

# Source
NAS Parallel Benchmarks 3.3, `LU/*.f`: the timed part.
"""

from __future__ import annotations

from collections.abc import Iterator

from deroute.trace.nas.pattern import DOUBLE, Job, Pattern, power_of_two, share
from deroute.trace.ops import Collective, Op, Receive, Send, Wait

#: Points in each direction.
_CLASSES = {
    "S": (12,),
    "W": (33,),
    "A": (64,),
    "B": (102,),
    "C": (162,),
    "D": (408,),
    "E": (1020,),
}
#: Numbers of a point.
_POINT = 5
_NORM = Collective("allreduce", bytes=(_POINT * DOUBLE,))
#: The work of an iteration: each of the two sweeps, and the rest.
_SWEEP, _REST = 0.35, 0.3


def _flops(size: tuple[int, ...], iterations: int) -> float:
    n = float(size[0])
    return iterations * (1984.77 * n**3 - 10923.3 * n**2 + 27770.9 * n - 144010.0)


class _Column:
    """The part of a rank: all planes of some points; neighbours to the north, south, west, east."""

    def __init__(self, points: int, job: Job) -> None:
        bits = job.ranks.bit_length() - 1
        self.down = 1 << (bits // 2 + bits % 2)
        self.across = job.ranks // self.down
        row, column = job.rank % self.down, job.rank // self.down
        self.rows = share(points, self.down, row)
        self.columns = share(points, self.across, column)
        self.planes = points
        self.north = job.rank - 1 if row > 0 else None
        self.south = job.rank + 1 if row + 1 < self.down else None
        self.west = job.rank - self.down if column > 0 else None
        self.east = job.rank + self.down if column + 1 < self.across else None

    def sweep(self, *, back: bool, work: Op) -> Iterator[Op]:
        """Every plane waits for two neighbours, and is handed on to two others."""
        sources, targets = (self.north, self.west), (self.south, self.east)
        if back:
            sources, targets = targets, sources
        sizes = (self.columns * _POINT * DOUBLE, self.rows * _POINT * DOUBLE)
        tag = 3 if back else 2
        for _ in range(self.planes - 2):
            for source, size in zip(sources, sizes, strict=True):
                if source is not None:
                    yield Receive(source, size, tag)
            yield work
            for target, size in zip(targets, sizes, strict=True):
                if target is not None:
                    yield Send(target, size, tag)

    def faces(self) -> Iterator[Op]:
        """Two layers with each neighbour, north and south before west and east."""
        for before, after, points in (
            (self.north, self.south, self.columns),
            (self.west, self.east, self.rows),
        ):
            size = 2 * _POINT * points * self.planes * DOUBLE
            others = [other for other in (before, after) if other is not None]
            for request, other in enumerate(others):
                yield Receive(other, size, 4, request=request)
            for other in reversed(others):
                yield Send(other, size, 4)
            for request in range(len(others)):
                yield Wait(((request, None),))


def program(size: tuple[int, ...], job: Job) -> Iterator[Op]:
    """What a rank does: both sweeps and the right-hand side in each iteration."""
    column = _Column(size[0], job)
    plane = job.compute(_SWEEP / job.iterations / (size[0] - 2))
    yield from column.faces()
    yield _NORM
    yield Collective("barrier")
    for iteration in range(job.iterations):
        yield from column.sweep(back=False, work=plane)
        yield from column.sweep(back=True, work=plane)
        if iteration + 1 == job.iterations:
            yield _NORM
        yield from column.faces()
        yield job.compute(_REST / job.iterations)
    yield _NORM
    yield Collective("allreduce", bytes=(DOUBLE,))


def _refuses(size: tuple[int, ...], ranks: int) -> str | None:
    most = (size[0] // 3) ** 2
    return f"at most {most}" if ranks > most else power_of_two(size, ranks)


PATTERN = Pattern(
    "lu",
    _CLASSES,
    {"S": 50, "W": 300, "A": 250, "B": 250, "C": 250, "D": 300, "E": 300},
    _refuses,
    _flops,
    program,
)

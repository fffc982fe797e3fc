"""FT: a Fourier transform in three dimensions, transposed by all-to-alls.

# Source
NAS Parallel Benchmarks 3.3, `FT/ft.f`: planes for up to as many ranks, columns beyond; then
there are two transpositions, each among the ranks of a row or a column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from deroute.trace.nas.pattern import COMPLEX, INTEGER, Job, Pattern, power_of_two
from deroute.trace.ops import WORLD, Collective, Communicator, Op

#: Points in each direction.
_CLASSES = {
    "S": (64, 64, 64),
    "W": (128, 128, 32),
    "A": (256, 256, 128),
    "B": (512, 256, 256),
    "C": (512, 512, 512),
    "D": (2048, 1024, 1024),
    "E": (4096, 2048, 2048),
}


def _flops(size: tuple[int, ...], iterations: int) -> float:
    points = math.prod(size)
    once = 14.8157 + 7.19641 * math.log(points)
    return points * (once + (5.23518 + 7.21113 * math.log(points)) * iterations)


def _refuses(size: tuple[int, ...], ranks: int) -> str | None:
    most = min(size[2] * size[1], size[2] * size[0])
    if ranks > most:
        return f"at most {most} of them"
    return power_of_two(size, ranks)


def program(size: tuple[int, ...], job: Job) -> Iterator[Op]:
    """What a rank does: a transform before the clock starts, then one and one per iteration."""
    points = math.prod(size) // job.ranks
    planes = min(job.ranks, size[2])
    across = job.ranks // planes
    groups = [(WORLD, job.ranks)]
    for _ in range(4):
        yield Collective("bcast", root=0, bytes=(INTEGER,))
    yield Collective("bcast", root=0, bytes=(INTEGER,))
    if across > 1:
        row, column = divmod(job.rank, across)
        groups = [(1 + row, across), (1 + planes + column, planes)]
        yield Communicator(1 + row, tuple(row * across + other for other in range(across)))
        members = tuple(other * across + column for other in range(planes))
        yield Communicator(1 + planes + column, members)
    part = job.compute(1 / (job.iterations + 1) / (len(groups) + 1))
    for transform in range(job.iterations + 2):
        if transform == 1:
            yield Collective("barrier")
        yield part
        for comm, members_count in groups:
            yield Collective("alltoall", comm, bytes=(points // members_count * COMPLEX,))
            yield part
        if transform > 1:
            yield Collective("reduce", root=0, bytes=(COMPLEX,))


PATTERN = Pattern(
    "ft",
    _CLASSES,
    {"S": 6, "W": 6, "A": 6, "B": 20, "C": 20, "D": 25, "E": 25},
    _refuses,
    _flops,
    program,
)

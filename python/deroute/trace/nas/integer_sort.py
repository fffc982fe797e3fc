"""IS: integers sorted by buckets, which all-to-alls bring to their ranks.

# Source
NAS Parallel Benchmarks 3.3, `IS/is.c`. Its keys are drawn, and every rank gets about as many: here
as many as any other. The benchmark counts keys, one operation each.
"""

from __future__ import annotations

from collections.abc import Iterator

from deroute.trace.nas.pattern import DOUBLE, INTEGER, Job, Pattern, power_of_two, share
from deroute.trace.ops import Collective, Op, Receive, Send, Wait

#: Keys, and buckets.
_CLASSES = {
    "S": (1 << 16, 1 << 9),
    "W": (1 << 20, 1 << 10),
    "A": (1 << 23, 1 << 10),
    "B": (1 << 25, 1 << 10),
    "C": (1 << 27, 1 << 10),
    "D": (1 << 31, 1 << 10),
}
_TESTED = 5
_LAST = 1000


def program(size: tuple[int, ...], job: Job) -> Iterator[Op]:
    """What a rank does: a ranking before the clock starts, then one per iteration; a check."""
    keys, buckets = size
    own = share(keys, job.ranks, job.rank)
    parts = tuple(share(own, job.ranks, other) * INTEGER for other in range(job.ranks))
    half = job.compute(0.5 / job.iterations)
    yield Collective("bcast", root=0, bytes=(INTEGER,))
    for _ in range(job.iterations + 1):
        yield half
        yield Collective("allreduce", bytes=((buckets + _TESTED) * INTEGER,))
        yield Collective("alltoall", bytes=(INTEGER,))
        yield Collective("alltoallv", bytes=parts)
        yield half
    yield Collective("reduce", root=0, bytes=(DOUBLE,))
    if job.rank > 0:
        yield Receive(job.rank - 1, INTEGER, _LAST, request=0)
    if job.rank + 1 < job.ranks:
        yield Send(job.rank + 1, INTEGER, _LAST)
    if job.rank > 0:
        yield Wait(((0, None),))
    yield Collective("reduce", root=0, bytes=(INTEGER,))


PATTERN = Pattern(
    "is",
    _CLASSES,
    dict.fromkeys(_CLASSES, 10),
    power_of_two,
    lambda size, iterations: float(size[0]) * iterations,
    program,
)

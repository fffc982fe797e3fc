"""MG: a V-cycle of grids, each with half the points of the one above.

# Source
NAS Parallel Benchmarks 3.3, `MG/mg.f`: the timed part. On grids with fewer points than ranks only
some ranks take part; how they hand over to the others is left out, as it is some bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from deroute.trace.nas.pattern import DOUBLE, Job, Pattern, power_of_two
from deroute.trace.ops import Collective, Op, Receive, Send, Wait

#: Points in each direction.
_CLASSES = {
    "S": (32,),
    "W": (128,),
    "A": (256,),
    "B": (256,),
    "C": (512,),
    "D": (1024,),
    "E": (2048,),
}
_FLOPS = 58.0


class _Box:
    """The part of a rank in all grids."""

    def __init__(self, points: int, job: Job) -> None:
        bits = job.ranks.bit_length() - 1
        wide = bits // 3
        high = (bits - wide) // 2
        self.parts = (1 << wide, 1 << high, 1 << (bits - wide - high))
        self.strides = (1, self.parts[0], self.parts[0] * self.parts[1])
        rank = job.rank
        self.place = tuple(
            rank // stride % part for stride, part in zip(self.strides, self.parts, strict=True)
        )
        self.rank = rank
        self.top = points.bit_length() - 1

    def exchange(self, level: int) -> Iterator[Op]:
        """Faces with both neighbours in each direction, one direction after the other."""
        points = 1 << level
        steps = [max(1, part // points) for part in self.parts]
        if any(at % step for at, step in zip(self.place, steps, strict=True)):
            return
        sizes = [max(1, points // part) + 2 for part in self.parts]
        faces = (
            (sizes[1] - 2) * (sizes[2] - 2),
            sizes[0] * (sizes[2] - 2),
            sizes[0] * sizes[1],
        )
        for axis, face in enumerate(faces):
            if self.parts[axis] == 1 or steps[axis] == self.parts[axis]:
                continue
            before, after = (self._other(axis, way * steps[axis]) for way in (-1, 1))
            size = face * DOUBLE
            down, up = 2 * axis, 2 * axis + 1
            yield Receive(before, size, up, request=0)
            yield Receive(after, size, down, request=1)
            yield Send(after, size, up)
            yield Send(before, size, down)
            yield Wait(((0, None),))
            yield Wait(((1, None),))

    def _other(self, axis: int, step: int) -> int:
        at = (self.place[axis] + step) % self.parts[axis]
        return self.rank + (at - self.place[axis]) * self.strides[axis]


def program(size: tuple[int, ...], job: Job) -> Iterator[Op]:
    """What a rank does: down to the smallest grid and up again in each iteration."""
    box = _Box(size[0], job)
    top = box.top
    visits = [top, *range(top - 1, 0, -1), 1]
    visits += [level for above in range(2, top + 1) for level in (above, above)]
    # A grid has an eighth of the points of the one above.
    weights = [8.0 ** (level - top) for level in visits]
    total = sum(weights) * job.iterations
    yield Collective("barrier")
    yield from _norm()
    for _ in range(job.iterations):
        for level, weight in zip(visits, weights, strict=True):
            yield job.compute(weight / total)
            yield from box.exchange(level)
    yield from _norm()


def _norm() -> Iterator[Op]:
    yield Collective("allreduce", bytes=(DOUBLE,))
    yield Collective("allreduce", bytes=(DOUBLE,))


def _refuses(size: tuple[int, ...], ranks: int) -> str | None:
    most = size[0] ** 3
    return f"at most {most}" if ranks > most else power_of_two(size, ranks)


PATTERN = Pattern(
    "mg",
    _CLASSES,
    {"S": 4, "W": 4, "A": 4, "B": 20, "C": 20, "D": 50, "E": 50},
    _refuses,
    lambda size, iterations: _FLOPS * iterations * size[0] ** 3,
    program,
)

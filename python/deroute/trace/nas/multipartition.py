"""BT and SP: lines of a grid solved in three directions, each rank with cells in every slab.

# Source
NAS Parallel Benchmarks 3.3, `BT/*.f` and `SP/*.f`: the timed part. There are n^2 ranks with n cells
each, of which one lies in every slab of every direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deroute.trace.nas.pattern import DOUBLE, Job, Pattern, share
from deroute.trace.ops import Collective, Op, Receive, Send, Wait

#: Numbers of a point.
_POINT = 5
#: The work of an iteration: the right-hand side, and each of three directions.
_RIGHT, _SOLVE = 0.4, 0.2


class Cells:
    """The cells of a rank, by their places in the three directions, and its neighbours."""

    def __init__(self, points: int, rank: int, count: int) -> None:
        self.count = count
        row, column = divmod(rank, count)
        places = [(column, row, 0)]
        for cell in range(1, count):
            x, y, _ = places[-1]
            places.append(((x + 1) % count, (y - 1) % count, cell))
        self.places = places
        self.sizes = [tuple(share(points, count, at) for at in place) for place in places]
        after, before = (column + 1) % count, (column - 1) % count
        below, above = (row + 1) % count, (row - 1) % count
        self.next = (after + count * row, column + count * below, before + count * below)
        self.last = (before + count * row, column + count * above, after + count * above)

    def face(self, axis: int, cell: int) -> int:
        """Points of a cell across a direction."""
        sizes = self.sizes[cell]
        return sizes[(axis + 1) % 3] * sizes[(axis + 2) % 3]

    def layers(self, axis: int, edge: int) -> int:
        """Bytes of two layers of all cells that are not in the slab at an edge."""
        points = sum(
            self.face(axis, cell) for cell, place in enumerate(self.places) if place[axis] != edge
        )
        return 2 * _POINT * points * DOUBLE

    def slab(self, axis: int, number: int) -> int:
        """The cell in a slab."""
        return next(c for c, place in enumerate(self.places) if place[axis] == number)


@dataclass(frozen=True)
class _Kind:
    """What BT and SP have not in common: bytes of what is handed on while a line is solved."""

    forward: Callable[[Cells, int, int], int]
    back: Callable[[Cells, int, int], int]
    #: BT hands it on to the next direction as one message, SP as well.
    name: str


def _block(numbers: int) -> Callable[[Cells, int, int], int]:
    """BT: so many numbers for each point of the largest face a cell may have."""

    def size(cells: Cells, axis: int, cell: int) -> int:
        largest = max(max(sizes) for sizes in cells.sizes)
        del axis, cell
        return numbers * largest * largest * DOUBLE

    return size


def _line(numbers: int) -> Callable[[Cells, int, int], int]:
    """SP: so many numbers for each line through a cell that is not at the border."""

    def size(cells: Cells, axis: int, cell: int) -> int:
        lines = 1
        for other in ((axis + 1) % 3, (axis + 2) % 3):
            place = cells.places[cell][other]
            borders = (place == 0) + (place == cells.count - 1)
            lines *= cells.sizes[cell][other] - borders
        return numbers * lines * DOUBLE

    return size


BLOCKS = _Kind(_block(30), _block(5), "bt")
LINES = _Kind(_line(22), _line(10), "sp")


def _faces(cells: Cells) -> Iterator[Op]:
    """Two layers with all six neighbours, together."""
    if cells.count == 1:
        return
    last = cells.count - 1
    for axis in range(3):
        yield Receive(cells.last[axis], cells.layers(axis, 0), 2 * axis, request=2 * axis)
        yield Receive(
            cells.next[axis], cells.layers(axis, last), 2 * axis + 1, request=2 * axis + 1
        )
    for axis in range(3):
        yield Send(cells.next[axis], cells.layers(axis, last), 2 * axis, request=6 + 2 * axis)
        yield Send(cells.last[axis], cells.layers(axis, 0), 2 * axis + 1, request=7 + 2 * axis)
    yield Wait(tuple((request, None) for request in range(12)))


def _solve(kind: _Kind, cells: Cells, axis: int, work: Op) -> Iterator[Op]:
    """Lines are eliminated slab by slab, and solved backwards."""
    last = cells.count - 1
    for forward in (True, False):
        size = kind.forward if forward else kind.back
        source, target = cells.last[axis], cells.next[axis]
        order = range(cells.count)
        if not forward:
            source, target, order = target, source, order[::-1]
        tag = 10 + 2 * axis + (not forward)
        for slab in order:
            cell = cells.slab(axis, slab)
            if slab != (0 if forward else last):
                yield Receive(source, size(cells, axis, cell), tag, request=0)
                yield Wait(((0, None),))
            yield work
            if slab != (last if forward else 0):
                yield Send(target, size(cells, axis, cell), tag, request=1)
                yield Wait(((1, None),))


def program(kind: _Kind, size: tuple[int, ...], job: Job) -> Iterator[Op]:
    """What a rank does: faces, then three directions, in each iteration."""
    cells = Cells(size[0], job.rank, math.isqrt(job.ranks))
    slab = job.compute(_SOLVE / job.iterations / (2 * cells.count))
    yield Collective("barrier")
    for _ in range(job.iterations):
        yield from _faces(cells)
        yield job.compute(_RIGHT / job.iterations)
        for axis in range(3):
            yield from _solve(kind, cells, axis, slab)
    yield Collective("reduce", root=0, bytes=(DOUBLE,))


def _refuses(size: tuple[int, ...], ranks: int) -> str | None:
    most = (size[0] // 3) ** 2
    if ranks > most:
        return f"at most {most}"
    return None if math.isqrt(ranks) ** 2 == ranks else "a square"


def _bt_flops(size: tuple[int, ...], iterations: int) -> float:
    n = float(size[0])
    return iterations * (3478.8 * n**3 - 17655.7 * n**2 + 28023.7 * n)


def _sp_flops(size: tuple[int, ...], iterations: int) -> float:
    n = float(size[0])
    return iterations * (881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4)


#: Points in each direction: W differs.
_CLASSES = {"S": (12,), "A": (64,), "B": (102,), "C": (162,), "D": (408,), "E": (1020,)}
BT = Pattern(
    "bt",
    {**_CLASSES, "W": (24,)},
    {"S": 60, "W": 200, "A": 200, "B": 200, "C": 200, "D": 250, "E": 250},
    _refuses,
    _bt_flops,
    lambda size, job: program(BLOCKS, size, job),
)
SP = Pattern(
    "sp",
    {**_CLASSES, "W": (36,)},
    {"S": 100, "W": 400, "A": 400, "B": 400, "C": 400, "D": 500, "E": 500},
    _refuses,
    _sp_flops,
    lambda size, job: program(LINES, size, job),
)

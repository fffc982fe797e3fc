"""CG: a conjugate gradient on a sparse matrix that lies on a grid of ranks.

# Source
NAS Parallel Benchmarks 3.3, `CG/cg.f`: each product sums over a row of the grid, swaps with
the transposed rank, and takes two sums of one number.
"""

from __future__ import annotations

from collections.abc import Iterator

from deroute.trace.nas.pattern import DOUBLE, Job, Pattern, exchange, power_of_two
from deroute.trace.ops import Collective, Op

_INNER = 25
#: Rows, and entries of a row.
_CLASSES = {
    "S": (1400, 7),
    "W": (7000, 8),
    "A": (14000, 11),
    "B": (75000, 13),
    "C": (150000, 15),
    "D": (1500000, 21),
    "E": (9000000, 26),
}


def _flops(size: tuple[int, ...], iterations: int) -> float:
    rows, entries = size
    row = entries * (entries + 1)
    return 2.0 * iterations * rows * (3 + row + _INNER * (5 + row) + 3)


class _Grid:
    """The place of a rank, and whom it talks with."""

    def __init__(self, rows: int, job: Job) -> None:
        bits = job.ranks.bit_length() - 1
        self.job, self.rank = job, job.rank
        self.down = 1 << (bits // 2)
        self.across = job.ranks // self.down
        self.square = self.down == self.across
        row, column = divmod(job.rank, self.across)
        self.rows = rows // self.down + (row < rows % self.down)
        half = (self.rows + (column % 2 == 0)) // 2
        self.sent = self.rows if self.square else half
        columns = rows // self.across + (column < rows % self.across)
        self.received = columns
        self.partners = []
        width = self.across
        while width > 1:
            partner = (column + width // 2) % width + column // width * width
            self.partners.append(row * self.across + partner)
            width //= 2
        if self.square:
            self.transposed = self.rank % self.down * self.down + self.rank // self.down
        else:
            pair = self.rank // 2
            swapped = pair % self.down * self.down + pair // self.down
            self.transposed = 2 * swapped + self.rank % 2

    def sum(self, count: int) -> Iterator[Op]:
        """The sum of some numbers over a row."""
        for tag, partner in enumerate(self.partners, 1):
            yield from exchange(partner, partner, count * DOUBLE, count * DOUBLE, tag)

    def product(self) -> Iterator[Op]:
        """A matrix times a vector."""
        for tag in range(len(self.partners), 0, -1):
            partner = self.partners[tag - 1]
            first = tag == len(self.partners) and not self.square
            sent = self.rows - self.sent if first else self.sent
            received = self.rows if self.square else self.sent
            yield from exchange(partner, partner, sent * DOUBLE, received * DOUBLE, tag)
        if self.partners:
            other, size = self.transposed, self.sent * DOUBLE
            yield from exchange(other, other, size, self.received * DOUBLE)


def program(size: tuple[int, ...], job: Job) -> Iterator[Op]:
    """What a rank does: an iteration before the clock starts, as the benchmark has it."""
    grid = _Grid(size[0], job)
    step = job.compute(1 / job.iterations / (_INNER + 1))
    yield Collective("bcast", root=0, bytes=(4,))
    for iteration in range(job.iterations + 1):
        if iteration == 1:
            yield Collective("barrier")
        yield from grid.sum(1)
        for _ in range(_INNER):
            yield step
            yield from grid.product()
            yield from grid.sum(1)
            yield from grid.sum(1)
        yield step
        yield from grid.product()
        yield from grid.sum(1)
        yield from grid.sum(2)
    yield Collective("reduce", root=0, bytes=(DOUBLE,))


PATTERN = Pattern(
    "cg",
    _CLASSES,
    {"S": 15, "W": 15, "A": 15, "B": 75, "C": 75, "D": 100, "E": 100},
    power_of_two,
    _flops,
    program,
)

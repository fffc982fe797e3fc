"""Tables of published numbers, cell by cell, beside what an experiment measures for them.

A row of the table is a label of one axis of the experiment, a column a label of each of some
others. A paper may leave the numbers out; the measured ones are written all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.figures import Study


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose cells are accepted loads."""

    title: str
    #: Name of the experiment.
    of: str
    #: Axis of the rows, and their labels.
    axis: str
    rows: tuple[str, ...]
    #: Axes of the columns and their labels; the last one changes fastest.
    columns: Mapping[str, tuple[str, ...]]
    #: Published numbers in percent, `[row][column]`; NaN where there is none.
    published: NDArray[np.float64]
    #: What the names of the cells begin with.
    id: str
    #: Points of percent by which a measured cell may be off, and why that many; NaN if nobody said.
    within: float = float("nan")
    because: str = ""
    #: Whether it is `like` another: the same numbers beside what another reading measures.
    again: bool = False

    @classmethod
    def read(cls, data: Mapping[str, Any], axes: Mapping[str, Sequence[str]]) -> Table:
        """From a `[[table]]` of an item file, and the axes of its experiment."""
        rows = tuple(axes[data["rows"]])
        columns = {axis: tuple(axes[axis]) for axis in data["columns"]}
        shape = (len(rows), len(list(product(*columns.values()))))
        published = np.full(shape, np.nan)
        for row, numbers in data.get("published", {}).items():
            published[rows.index(row)] = numbers
        within = float(data.get("within", "nan"))
        if ("within" in data) != ("because" in data):
            raise ValueError("`within` needs a reason, `because`, and a reason needs `within`")
        name = data.get("id", data["of"])
        return cls(
            title=data["title"],
            of=data["of"],
            axis=data["rows"],
            rows=rows,
            columns=columns,
            published=published,
            id=name,
            within=within,
            because=data.get("because", ""),
            again="like" in data,
        )

    def labels(self) -> list[dict[str, str]]:
        """Labels of every column."""
        names = list(self.columns)
        return [dict(zip(names, each, strict=True)) for each in product(*self.columns.values())]

    def cell_id(self, row: int, labels: Mapping[str, str]) -> str:
        """Name of a cell: of its table, of its row by number, of its column by labels."""
        return f"{self.id}-r{row + 1:02}-{'-'.join(labels.values()).lower()}"

    def chosen(self, where: Mapping[str, str]) -> list[int]:
        """Columns with these labels."""
        wanted = where.items()
        return [n for n, labels in enumerate(self.labels()) if wanted <= labels.items()]

    def measured(self, study: Study) -> NDArray[np.float64]:
        """Accepted load in percent, `[row][column]`, mean over the seeds."""
        if study.frame.is_empty():
            return np.full(self.published.shape, np.nan)
        axes = [self.axis, *self.columns]
        means = study.frame.group_by(axes).agg(pl.col("load.accepted").mean())
        keys = zip(*(means[axis].cast(str).to_list() for axis in axes), strict=True)
        cells = dict(zip(keys, means["load.accepted"].to_list(), strict=True))
        return np.array(
            [
                [100 * cells.get((row, *each.values()), np.nan) for each in self.labels()]
                for row in self.rows
            ]
        )


def rank_correlation(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Spearman's rank correlation; equal numbers share their rank. NaN if all are equal."""
    mine, published = (_ranks(numbers) for numbers in (ours, theirs))
    if mine.std() == 0 or published.std() == 0:
        return float("nan")
    return float(np.corrcoef(mine, published)[0, 1])


def place_of_best(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> int:
    """Place among ours, from 1, of the best of theirs; of several, that of the first one."""
    best = ours[theirs == theirs.max()].max()
    return int((ours > best).sum()) + 1


def _ranks(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    below = (numbers[:, None] > numbers).sum(axis=1)
    equal = (numbers[:, None] == numbers).sum(axis=1)
    ranks: NDArray[np.float64] = below + (equal - 1) / 2
    return ranks

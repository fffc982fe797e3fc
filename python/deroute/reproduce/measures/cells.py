"""Measures over published tables; `of` names the experiment that measures their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from deroute.analysis import Estimate
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.tables import Table, place_of_best, rank_correlation

Labels = Mapping[str, str]

_ALL: Labels = MappingProxyType({})


def cell_difference(evidence: Evidence, of: str, where: Labels = _ALL) -> list[Estimate]:
    """Mean absolute difference of measured and published cells, in points of percent."""
    table, ours = _both(evidence, of)
    columns = table.chosen(where)
    return [Estimate(float(np.abs(ours - table.published)[:, columns].mean()))]


def cell_rank_correlation(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Spearman's rank correlation of measured and published cells, of every column."""
    table, ours = _both(evidence, of)
    pairs = [(ours[:, n], table.published[:, n]) for n in table.chosen(where)]
    return [Estimate(rank_correlation(*pair)) for pair in pairs]


def cell_best_place(evidence: Evidence, of: str, where: Labels) -> list[Estimate]:
    """Place among the measured rows of the row published as the best, of every column."""
    table, ours = _both(evidence, of)
    pairs = [(ours[:, n], table.published[:, n]) for n in table.chosen(where)]
    return [Estimate(float(place_of_best(*pair))) for pair in pairs]


def cell_most(
    evidence: Evidence, of: str, published: float, where: Labels = _ALL
) -> list[Estimate]:
    """The largest measured cell of those that were published as at most `published` percent."""
    table, ours = _both(evidence, of)
    columns = table.chosen(where)
    low = table.published[:, columns] <= published
    return [Estimate(float(ours[:, columns][low].max()))]


def cell(
    evidence: Evidence, of: str, where: Labels = _ALL, rows: Sequence[str] | None = None
) -> list[Estimate]:
    """Measured cells in percent of some rows, or of all."""
    table = evidence.table(of)
    ours = table.measured(evidence.of(of))
    chosen = [table.rows.index(row) for row in rows or table.rows]
    return [Estimate(float(each)) for each in _settled(ours[chosen][:, table.chosen(where)]).flat]


def cell_excess(
    evidence: Evidence, of: str, row: str, where: Labels, others: list[str]
) -> list[Estimate]:
    """Points of percent by which a row exceeds the best of some others, of every column."""
    mine = cell(evidence, of, where, [row])
    rivals = [cell(evidence, of, where, [other]) for other in others]
    best = [max(column, key=lambda each: each.mean) for column in zip(*rivals, strict=True)]
    return [Estimate(a.mean - b.mean) for a, b in zip(mine, best, strict=True)]


def cell_lead(
    evidence: Evidence,
    of: str,
    where: Labels,
    *,
    over: Labels | None = None,
    rows: Sequence[str] | None = None,
    others: Sequence[str] | None = None,
) -> list[Estimate]:
    """Points of percent by which the best of some rows leads the best of some others.

    Rows (default: all) are compared by their mean over the columns `where`, the others by theirs
    over the columns `over`, which are the same by default.
    """
    mine, rival = _best(evidence, of, where, rows), _best(evidence, of, over or where, others)
    return [Estimate(mine - rival)]


def _best(evidence: Evidence, of: str, where: Labels, rows: Sequence[str] | None) -> float:
    names = rows or evidence.table(of).rows
    means = [np.mean([each.mean for each in cell(evidence, of, where, [row])]) for row in names]
    return float(max(means))


def _both(evidence: Evidence, of: str) -> tuple[Table, NDArray[np.float64]]:
    table = evidence.table(of)
    if np.isnan(table.published).any():
        raise NotSettledError("the cells of this table are not published")
    return table, _settled(table.measured(evidence.of(of)))


def _settled(ours: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.isnan(ours).any():
        raise NotSettledError(f"cells without results: {int(np.isnan(ours).sum())}")
    return ours


MEASURES = (
    cell,
    cell_difference,
    cell_rank_correlation,
    cell_best_place,
    cell_most,
    cell_excess,
    cell_lead,
)

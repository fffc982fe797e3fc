"""Numbers that the seeds of a point have together, with the interval between the seeds.

Some numbers have to be taken from what all seeds say, because that of one would be mostly noise:
when a latency has settled, how high its peak is. Their interval is that of the jackknife, by what
the number is without each of the seeds (Efron and Stein, Annals of Statistics 9, 1981). Of a mean
it is Student's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deroute import analysis
from deroute.analysis import Estimate
from deroute.figures.study import Study
from deroute.reproduce.evidence import NotSettledError
from deroute.reproduce.measures.runs import Labels, _outcomes, _rows

#: A number of points, each of which is given by the outcomes of its seeds.
Number = Callable[..., float]


def jackknife(runs: Study, points: Sequence[Labels], number: Number) -> Estimate:
    """A number of one point or of several, whose seeds must be the same; one seed has no interval.

    A highest or lowest value of what is noisy lies beyond that of the mean: more seeds bring it
    nearer, and the interval does not tell.
    """
    groups = _groups(runs, points)
    whole, seeds = number(*groups), len(groups[0])
    if seeds == 1:
        return Estimate(whole)
    without = [
        number(*([*group[:left], *group[left + 1 :]] for group in groups)) for left in range(seeds)
    ]
    spread = math.sqrt((seeds - 1) * float(np.var(without)))
    return Estimate(whole, analysis.student_975(seeds - 1) * spread, seeds)


def _groups(runs: Study, points: Sequence[Labels]) -> list[list[Any]]:
    """The outcomes of each point by seed."""
    seeds = [_rows(runs, labels)[analysis.SEED].to_list() for labels in points]
    if any(each != seeds[0] for each in seeds):
        raise NotSettledError(f"points without the same seeds: {seeds}")
    if len(set(seeds[0])) < len(seeds[0]):
        raise NotSettledError("the labels select more than one point")
    return [_outcomes(runs, labels) for labels in points]

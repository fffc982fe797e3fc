"""The communication of the NAS Parallel Benchmarks, from a class and a number of ranks.

No number is computed; who sends how much to whom, and in which order, is that of the benchmarks.
Computations take the operations that the benchmark counts, at a rate that is given. One line each.
"""

from __future__ import annotations

from collections.abc import Mapping

from deroute.trace.nas import cg, ft, integer_sort, lu, mg, multipartition
from deroute.trace.nas.pattern import Benchmark, Pattern

__all__ = ["CATALOGUE", "Benchmark", "Pattern"]

CATALOGUE: Mapping[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        multipartition.BT,
        cg.PATTERN,
        ft.PATTERN,
        integer_sort.PATTERN,
        lu.PATTERN,
        mg.PATTERN,
        multipartition.SP,
    )
}

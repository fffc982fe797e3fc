"""Measures over programs: what they send, and how much later they end than on an ideal crossbar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import polars as pl

from deroute import analysis, reference
from deroute.analysis import Estimate
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures.runs import Labels, _rows
from deroute.trace import nas, rounds
from deroute.trace.ops import Collective, Send


def largest_message(evidence: Evidence, program: Mapping[str, Any], times: float) -> list[Estimate]:
    """Largest message of a program, scaled, in KB (1000 B).

    `program` is a benchmark of the NAS suite: `benchmark`, `class`, `ranks` and `iterations`.
    """
    return [Estimate(max(_messages(**_benchmark(program))) * times / 1e3)]


def mean_message(
    evidence: Evidence, program: Mapping[str, Any], times: float, rendezvous: int | None = None
) -> list[Estimate]:
    """Mean message of a program, scaled, in KB (1000 B).

    A message of more than `rendezvous` bytes counts as three: request, answer and data. Default:
    each counts once.
    """
    sizes = _messages(**_benchmark(program))
    large = [count for size, count in sizes.items() if rendezvous is not None and size > rendezvous]
    count = sum(sizes.values()) + 2 * sum(large)
    return [Estimate(sum(size * count for size, count in sizes.items()) * times / count / 1e3)]


def _benchmark(program: Mapping[str, Any]) -> dict[str, Any]:
    return {("letter" if key == "class" else key): value for key, value in program.items()}


@lru_cache(maxsize=16)
def _messages(benchmark: str, letter: str, ranks: int, iterations: int) -> Mapping[int, int]:
    """Messages by their bytes, of all ranks; collectives are the rounds of a GOAL graph."""
    found: Counter[int] = Counter()
    made = nas.Benchmark.of(nas.CATALOGUE[benchmark], letter, ranks, iterations, 1e9)
    for rank in range(ranks):
        for op in made.program(rank):
            match op:
                case Send():
                    found[op.bytes] += 1
                case Collective():
                    found.update(size for _, size in rounds.sent(op, rank, ranks, op.root))
                case _:
                    pass
    return found


def mean_slowdown(evidence: Evidence, of: str, where: Labels, axis: str) -> list[Estimate]:
    """Slowdown against the ideal crossbar, mean over the labels of an axis."""
    return [_mean_slowdown(evidence, of, where, axis)]


def mean_slowdown_ratio(
    evidence: Evidence, of: str, where: Labels, over: Labels, axis: str
) -> list[Estimate]:
    """Mean slowdown over that of other points."""
    first, second = (_mean_slowdown(evidence, of, labels, axis) for labels in (where, over))
    return [analysis.ratio(first, second)]


def _mean_slowdown(evidence: Evidence, of: str, where: Labels, axis: str) -> Estimate:
    rows = _rows(evidence.of(of), where)
    unfinished = rows.filter(pl.col("verdict.state") != "completed")
    if not unfinished.is_empty():
        names = ", ".join(str(label) for label in unfinished[axis].unique())
        raise NotSettledError(f"not at its end within the limit: {names}")
    by_seed = rows.group_by("seed").agg(pl.col(reference.SLOWDOWN).mean()).sort("seed")
    return analysis.estimate(by_seed[reference.SLOWDOWN].to_list())


MEASURES = (
    largest_message,
    mean_message,
    mean_slowdown,
    mean_slowdown_ratio,
)

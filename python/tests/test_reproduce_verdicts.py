"""What was measured becomes a verdict."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from deroute.analysis import Estimate
from deroute.reproduce.measures import call
from deroute.reproduce.paper import Check
from deroute.reproduce.verdict import DIFFERS, NOT_SETTLED, REPRODUCED, compare


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (Estimate(0.5, 0.1), REPRODUCED),
        (Estimate(0.5, math.nan), REPRODUCED),
        (Estimate(0.58, 0.03), NOT_SETTLED),
        (Estimate(0.5, 0.3), NOT_SETTLED),
        (Estimate(0.62, 0.03), NOT_SETTLED),
        (Estimate(0.62, 0.01), DIFFERS),
        (Estimate(0.62, math.nan), DIFFERS),
    ],
)
def test_a_verdict_needs_the_whole_interval(value: Estimate, verdict: str) -> None:
    assert compare(Check("accepted", {}, at_least=0.4, at_most=0.6), [value])[0] == verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (Estimate(0.58, 0.03), REPRODUCED),
        (Estimate(0.62, 0.03), NOT_SETTLED),
        (Estimate(0.62, 0.01), DIFFERS),
    ],
)
def test_evidence_needs_the_mean(value: Estimate, verdict: str) -> None:
    check = Check("accepted", {}, at_least=0.4, at_most=0.6)
    assert compare(check, [value], whole=False)[0] == verdict


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (Estimate(math.inf), None, 5.0, DIFFERS),
        (Estimate(math.inf), 5.0, None, REPRODUCED),
        (Estimate(math.nan), None, 5.0, NOT_SETTLED),
        (Estimate(0.5, 0.0, at_least=True), 0.4, None, REPRODUCED),
        (Estimate(0.5, 0.0, at_least=True), None, 0.5, NOT_SETTLED),
        (Estimate(0.5, 0.0, at_least=True), 0.6, None, NOT_SETTLED),
        (Estimate(0.5, 0.0, at_least=True), None, 0.4, DIFFERS),
        (Estimate(0.5, 0.0, at_most=True), None, 0.5, REPRODUCED),
        (Estimate(0.5, 0.0, at_most=True), 0.4, None, NOT_SETTLED),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_what_never_comes_and_bounds_settle_no_more_than_they_say(
    value: Estimate, low: float | None, high: float | None, verdict: str, whole: bool
) -> None:
    check = Check("accepted", {}, at_least=low, at_most=high)
    assert compare(check, [value], whole=whole)[0] == verdict


def test_the_same_seeds_are_compared_by_seeds() -> None:
    accepted = {("MIN", 1): 0.4, ("MIN", 2): 0.2, ("VLB lgl", 2): 0.4, ("VLB lgl", 1): 0.8}
    rows = [
        {"routing": routing, "seed": seed, "load.accepted": load, "load.accepted_ci95": 0.1}
        for (routing, seed), load in accepted.items()
    ]
    runs: Any = SimpleNamespace(frame=pl.DataFrame(rows), of=lambda _: runs)
    labels = {"where": {"routing": "MIN"}, "over": {"routing": "VLB lgl"}}
    (paired,) = call("accepted_ratio", runs, {"of": "curve"} | labels)
    assert (paired.mean, paired.ci95) == (pytest.approx(0.5), pytest.approx(0.0))
    runs.frame = runs.frame.with_columns(seed=pl.Series([1, 2, 3, 4]))
    (apart,) = call("accepted_ratio", runs, {"of": "curve"} | labels)
    assert apart.mean == pytest.approx(0.5)
    assert apart.ci95 > 1.0


def test_equality_compares_every_value() -> None:
    check = Check("owners", {}, equals=[1, 2])
    assert compare(check, [Estimate(1.0), Estimate(2.0)]) == (REPRODUCED, "")
    assert compare(check, [Estimate(1.0)])[0] == DIFFERS
    assert compare(check, [Estimate(1.0), Estimate(3.0)])[0] == DIFFERS

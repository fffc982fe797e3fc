"""What the seeds of a point have together, and what they may leave open."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import synthetic
from deroute import analysis
from deroute.figures import Study
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call
from deroute.reproduce.measures.jackknife import jackknife


def numbers(**points: list[float]) -> Study:
    """A study whose outcomes are numbers, with seeds from 1 on."""
    rows = [
        {"point": name, "seed": seed}
        for name, values in points.items()
        for seed in range(1, len(values) + 1)
    ]
    outcomes: list[Any] = [value for values in points.values() for value in values]
    return Study({}, pl.DataFrame(rows), outcomes, "0")


def mean(*groups: list[float]) -> float:
    return float(np.mean(groups[0]))


def ratio(above: list[float], below: list[float]) -> float:
    return float(np.mean(above) / np.mean(below))


def test_of_a_mean_the_interval_is_students() -> None:
    values = [1.0, 2.0, 4.0, 9.0]
    found = jackknife(numbers(a=values), [{"point": "a"}], mean)
    expected = analysis.estimate(values)
    assert (found.mean, found.ci95) == pytest.approx((expected.mean, expected.ci95))
    assert found.runs == 4
    one = jackknife(numbers(a=[3.0]), [{"point": "a"}], mean)
    assert math.isnan(one.ci95)


def test_what_seeds_have_in_common_does_not_count() -> None:
    base = [1.0, 2.0, 4.0]
    pair = numbers(a=[2 * value for value in base], b=base)
    found = jackknife(pair, [{"point": "a"}, {"point": "b"}], ratio)
    assert (found.mean, found.ci95) == pytest.approx((2.0, 0.0))


def test_points_need_the_same_seeds() -> None:
    with pytest.raises(NotSettledError, match="the same seeds"):
        jackknife(numbers(a=[1.0, 2.0], b=[1.0]), [{"point": "a"}, {"point": "b"}], ratio)
    with pytest.raises(NotSettledError, match="more than one point"):
        jackknife(numbers(a=[1.0], b=[1.0]), [{}], mean)


def test_an_interval_of_a_ratio_covers_95_percent() -> None:
    rng, trials, covered = np.random.default_rng(1), 1000, 0
    for _ in range(trials):
        pair = numbers(a=rng.normal(1, 0.1, 10).tolist(), b=rng.normal(1, 0.1, 10).tolist())
        found = jackknife(pair, [{"point": "a"}, {"point": "b"}], ratio)
        covered += abs(found.mean - 1) <= found.ci95
    assert 0.93 <= covered / trials <= 0.97


@pytest.mark.parametrize(
    ("measure", "keys"),
    [
        ("settled_latency", {"window_us": [0.0, 5.0]}),
        ("settled_ratio", {"over": {"routing": "PB"}, "window_us": [0.0, 5.0]}),
        ("transient_peak", {"change_us": 0.0, "settled_us": [2.0, 5.0]}),
        ("response_us", {"change_us": 0.0, "settled_us": [2.0, 5.0]}),
        ("window_saving", {"under": {"routing": "PB"}, "window_us": [0.0, 5.0]}),
        ("peak_ratio", {"over": {"routing": "PB"}, "window_us": [0.0, 5.0]}),
        (
            "response_surplus_us",
            {"over": {"routing": "PB"}, "change_us": 0.0, "settled_us": [2.0, 5.0]},
        ),
        ("fallen_us", {"change_us": 0.0, "settled_us": [2.0, 5.0]}),
        ("router_spread", {}),
        ("spread_growth", {"over": {"routing": "PB"}}),
        ("path_mix_distance", {"over": {"routing": "PB"}}),
        ("accepted_from", {"from_us": 0.0}),
        ("accepted_from", {"from_us": 0.0, "less": {"routing": "PB"}}),
        ("detour_share", {"kinds": ["lgl"], "routers": [0, 11]}),
    ],
)
def test_measures_of_several_seeds_have_an_interval(measure: str, keys: dict[str, Any]) -> None:
    study = synthetic.study(("VLB -g-", "PB"), ("UN",), (0.4,), series=True)
    evidence = Evidence({}, {}, {"runs": study}, BuiltEngine)
    arguments = {"of": "runs", "where": {"routing": "VLB -g-"}} | keys
    for value in call(measure, evidence, arguments):
        assert value.runs == 3
        assert not math.isnan(value.ci95)


def test_a_mix_of_paths_is_that_of_all_seeds() -> None:
    """The last seed alone has the same mix under both routings."""
    study = synthetic.study(("VLB -g-", "PB"), ("UN",), (0.4,))
    for outcome, minimal in zip(study.outcomes, (0.5, 0.5, 0.8, 0.2, 0.2, 0.8), strict=True):
        outcome.paths[0].share, outcome.paths[1].share = minimal, 1 - minimal
    evidence = Evidence({}, {}, {"runs": study}, BuiltEngine)
    labels = {"where": {"routing": "VLB -g-"}, "over": {"routing": "PB"}}
    (found,) = call("path_mix_distance", evidence, {"of": "runs"} | labels)
    assert found.mean == pytest.approx(0.2)


def test_a_rival_that_most_seeds_call_saturated_has_no_latency() -> None:
    study = synthetic.study(("MIN", "VLB -g-", "PB"), ("UN",), (0.4,))
    state = pl.Series(["steady"] * 3 + ["saturated", "saturated", "steady"] + ["steady"] * 3)
    latency = pl.Series([600.0, 601.0, 602.0, 300.0, 300.0, 300.0, 700.0, 701.0, 702.0])
    frame = study.frame.with_columns(**{"verdict.state": state, "latency.mean": latency})
    evidence = Evidence({}, {}, {"runs": Study(study.axes, frame, [], "0")}, BuiltEngine)
    keys = {"of": "runs", "where": {"routing": "MIN", "load": 0.4}, "axis": "routing"}
    (saving,) = call("latency_saving_best", evidence, keys)
    assert saving.mean == pytest.approx(100 * (1 - 601 / 701))

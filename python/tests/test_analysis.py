"""Aggregation, saturation, fairness and comparisons, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import synthetic
from deroute import analysis
from deroute.analysis import Estimate


def test_student_quantiles_match_the_published_table() -> None:
    for degrees, value in {1: 12.706, 4: 2.776, 9: 2.262, 11: 2.201, 29: 2.045, 120: 1.980}.items():
        assert analysis.student_975(degrees) == pytest.approx(value, abs=6e-4)


def test_estimate_is_mean_and_student_interval() -> None:
    point = analysis.estimate([1.0, 2.0, 3.0])
    assert point.mean == 2.0
    assert point.ci95 == pytest.approx(4.3027 / math.sqrt(3))
    assert point.runs == 3


def test_a_single_run_keeps_its_own_interval() -> None:
    assert analysis.estimate([5.0], within=0.25) == Estimate(5.0, 0.25, 1)
    with pytest.raises(analysis.AnalysisError, match="no values"):
        analysis.estimate([])


def test_percent_below_adds_relative_errors_in_squares() -> None:
    saved = analysis.percent_below(Estimate(70.0, 0.7), Estimate(100.0, 2.0))
    assert saved.mean == pytest.approx(30.0)
    assert saved.ci95 == pytest.approx(100 * 0.7 * math.hypot(0.01, 0.02))


def curve(accepted: dict[float, float], seed: int = 1) -> pl.DataFrame:
    """A frame with one curve."""
    return pl.DataFrame(
        {
            "routing": "MIN",
            "seed": seed,
            "load.offered": list(accepted),
            "load.attempted": list(accepted),
            "load.accepted": list(accepted.values()),
            "load.accepted_ci95": 0.001,
            "verdict.state": "steady",
        }
    )


def test_saturation_interpolates_the_quotient() -> None:
    frame = curve({0.1: 0.1, 0.4: 0.4, 0.5: 0.48, 0.6: 0.48})
    found = analysis.saturation(frame, routing="MIN")
    # accepted/offered falls from 1 at 0.4 to 0.96 at 0.5: it crosses 0.98 half way.
    assert found.load.mean == pytest.approx(0.45)
    assert (found.kept_up_at, found.fell_behind_at) == (0.4, 0.5)


def test_a_load_from_which_higher_ones_keep_up_is_not_where_a_curve_saturates() -> None:
    found = analysis.saturation(curve({0.2: 0.2, 0.25: 0.24, 0.3: 0.3, 0.4: 0.4, 0.5: 0.4}))
    assert found.kept_up_at == 0.4
    assert found.fell_behind_at == 0.5
    assert 0.4 < found.load.mean < 0.5


def test_saturation_is_a_lower_bound_when_all_is_accepted() -> None:
    found = analysis.saturation(curve({0.1: 0.1, 0.9: 0.9}))
    assert found.load == Estimate(0.9, math.nan, 1, at_least=True)
    assert found.fell_behind_at is None
    behind = analysis.saturation(curve({0.1: 0.1, 0.9: 0.8})).load
    assert not behind.at_least
    # A host can send no more than a phit a cycle.
    assert not analysis.saturation(curve({0.1: 0.1, 1.0: 1.0})).load.at_least
    one_seed = pl.concat([curve({0.1: 0.1, 0.9: 0.9}, 1), curve({0.1: 0.1, 0.9: 0.8}, 2)])
    assert analysis.saturation(one_seed).load.at_least


def test_bounds_go_on_in_what_is_computed_from_them() -> None:
    bound, known = Estimate(0.5, 0.0, at_least=True), Estimate(0.25, 0.0)
    assert str(bound) == "at least 0.5 ± 0"
    assert analysis.ratio(bound, known).at_least
    assert analysis.ratio(known, bound).at_most
    assert analysis.difference(known, bound).at_most
    assert analysis.percent_below(bound, known).at_most
    both = analysis.ratio(bound, bound)
    assert both.interval == (-math.inf, math.inf)


def test_saturation_averages_over_seeds_and_takes_the_worst_bracket() -> None:
    good, bad = {0.1: 0.1, 0.5: 0.5, 0.6: 0.576}, {0.1: 0.1, 0.5: 0.48, 0.6: 0.48}
    found = analysis.saturation(pl.concat([curve(good, 1), curve(bad, 2)]))
    assert found.load.runs == 2
    assert (found.kept_up_at, found.fell_behind_at) == (0.1, 0.5)


def test_saturation_refuses_two_curves_at_once() -> None:
    both = pl.concat([curve({0.1: 0.1}), curve({0.1: 0.1})])
    with pytest.raises(analysis.AnalysisError, match="more than one curve"):
        analysis.saturation(both)


def test_saturated_points_have_no_latency() -> None:
    frame = synthetic.study().frame
    low = analysis.mean_latency(frame, traffic="UN", routing="VLB lgl", load=0.1)
    assert low.mean == pytest.approx(960, rel=0.02)
    with pytest.raises(analysis.AnalysisError, match="saturated"):
        analysis.mean_latency(frame, traffic="UN", routing="VLB lgl", load=0.9)


def test_zero_load_latency_says_at_which_load() -> None:
    found = analysis.zero_load_latency(synthetic.study().frame, traffic="UN", routing="MIN")
    assert found.load == 0.05
    assert found.latency_ns.mean == pytest.approx(532, rel=0.02)


def test_labels_that_do_not_exist_are_named() -> None:
    frame = synthetic.study().frame
    with pytest.raises(analysis.AnalysisError, match=r"no point with load = 0\.33"):
        analysis.accepted_load(frame, load=0.33)
    with pytest.raises(analysis.AnalysisError, match="no axis 'rooting'"):
        analysis.accepted_load(frame, rooting="MIN")


def cell(*seeds: tuple[str, float]) -> pl.DataFrame:
    """A point at load 0.25 that several seeds measured: the verdict and the accepted share."""
    frames = [
        curve({0.25: 0.25 * share}, seed).with_columns(pl.lit(state).alias("verdict.state"))
        for seed, (state, share) in enumerate(seeds, 1)
    ]
    together = pl.concat(frames)
    return together.with_columns(pl.lit(0.25).alias("load.offered"), load=pl.lit(0.25))


def test_one_unlucky_seed_does_not_saturate_a_point() -> None:
    """72-host Dragonfly, UGAL, ADV+1 at 0.25, 5 + 5 us: the three verdicts that were measured."""
    three = cell(("steady", 1.001), ("saturated", 0.971), ("not-converged", 0.995))
    row = analysis.over_seeds(three, ["load"], "load.accepted").row(0, named=True)
    assert row["state"] == "not-converged"
    assert row["others"] == "1 of 3 steady, 1 of 3 saturated"
    two = cell(("steady", 1.001), ("saturated", 0.971), ("steady", 1.003))
    row = analysis.over_seeds(two, ["load"], "load.accepted").row(0, named=True)
    assert (row["state"], row["others"]) == ("steady", "1 of 3 saturated")


def test_seeds_decide_together() -> None:
    state = analysis.state_over_seeds
    low, high = ("saturated", 0.8), ("steady", 1.0)
    assert state(cell(low, low, high)) == "saturated"
    assert state(cell(low, high)) == "not-converged"
    # A twentieth is missing in all of them; whether queues only fill, most could not tell.
    short = [("not-converged", share) for share in (0.95, 0.951, 0.949)]
    assert state(cell(*short)) == "not-converged"
    assert state(cell(("saturated", 0.95), *short[1:])) == "saturated"
    assert state(cell(("not-converged", 0.9))) == "not-converged"
    # Most are steady, and yet too little is accepted on average.
    assert state(cell(high, high, ("saturated", 0.5))) == "not-converged"


def test_router_profile_folds_groups_and_finds_the_starved_router() -> None:
    study = synthetic.study(routings=("PB",), traffics=("ADVC",), loads=(0.4,))
    found = analysis.injected_by_router(study.outcomes, synthetic.ROUTERS)
    assert found.mean.shape == (12,)
    assert found.relative(11).mean == pytest.approx(0.4 / (11.4 / 12))
    assert found.relative(0).mean > 1
    shares = analysis.path_shares_by_router(study.outcomes, synthetic.ROUTERS)
    assert np.allclose(shares.mean.sum(axis=1), 1)


def test_max_accepted_is_the_top_of_the_curve() -> None:
    top = analysis.max_accepted(synthetic.study().frame, traffic="UN", routing="VLB lg-")
    assert top.mean == pytest.approx(0.42, rel=0.01)

"""Measures over lossless Ethernet, on frames whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import synthetic
from deroute.figures import Study
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call


def evidence(
    frame: dict[str, list[Any]], axes: dict[str, list[Any]] | None = None, **more: Any
) -> Evidence:
    """Results of one experiment, `runs`, with these columns."""
    study = Study(axes or {}, pl.DataFrame(frame), [], "0", **more)
    return Evidence({}, {}, {"runs": study}, BuiltEngine)


def measured(known: Evidence, measure: str, **keys: Any) -> list[float]:
    """Means of what a measure finds in `runs`."""
    return [value.mean for value in call(measure, known, {"of": "runs"} | keys)]


def test_relative_loads_and_the_largest_loss() -> None:
    known = evidence(
        {
            "routing": ["a", "a", "b", "b"],
            "traffic": ["x", "y", "x", "y"],
            "load.accepted": [0.4, 0.2, 0.5, 0.5],
            "relative.accepted": [0.8, 0.25, 1.0, 1.0],
            "relative.accepted_ci95": [0.01] * 4,
        }
    )
    along = measured(known, "relative_along", where={"routing": "a"}, axis="traffic")
    assert along == [0.8, 0.25]
    assert measured(known, "largest_loss", where={"routing": "a"}, axis="traffic") == [75.0]
    (loss,) = call(
        "largest_loss", known, {"of": "runs", "where": {"routing": "a"}, "axis": "traffic"}
    )
    assert loss.ci95 == pytest.approx(1.0)
    reference = {"routing": "a", "traffic": "y"}
    assert measured(known, "reference_load", where=reference) == pytest.approx([0.8])


def test_victims_and_streams() -> None:
    known = evidence(
        {
            "routing": ["a"] * 4 + ["b"] * 4,
            "phase": ["calm", "calm", "hot", "hot"] * 2,
            "victim": [1, 2, 2, 1] * 2,
            "seed": [1] * 8,
            "streams.victim.load.accepted": [0.8, 0.4, 0.1, 0.4, 0.8, 0.4, 0.2, 0.8],
            "streams.low.load.accepted": [0.5] * 8,
            "streams.low.load.attempted": [0.45] * 8,
        },
        axes={"routing": ["a", "b"], "phase": ["calm", "hot"], "victim": [1, 2], "seed": [1]},
    )
    assert measured(known, "victims_share", where={"routing": "a"}) == pytest.approx([0.375])
    assert measured(known, "victims_share", where={"routing": "b"}) == pytest.approx([0.75])
    better = measured(known, "victims_advantage", where={"routing": "b"}, over={"routing": "a"})
    assert better == pytest.approx([2.0])
    along = {"along": ["low", "victim"], "expected": [0.5, 0.3]}
    assert measured(known, "stream_along", where={}, **along) == pytest.approx([0.0, 0.2])
    offered = measured(known, "stream_attempted", where={}, stream="low", hosts=4)
    assert offered == pytest.approx([1.8])


def test_rates_of_slow_links() -> None:
    links = [{"routers": [0, 1], "rate": "25%"}, {"routers": [0, 2], "rate": "10%"}]
    known = evidence({"load": [0.9]}, specs=[{"network": {"slow_links": links}}])
    rates = [rate.mean for rate in call("rates", known, {"experiment": "runs"})]
    assert rates == pytest.approx([0.25, 0.1, 0.35])


def test_destinations_of_victims_are_no_sample() -> None:
    """Two that suffer and two that do not, alike in every seed: the seeds agree."""
    rows = [
        (phase, victim, seed, 1.0 if phase == "calm" or victim < 2 else 0.15 + 0.01 * seed)
        for phase in ("calm", "hot")
        for victim in range(4)
        for seed in (1, 2, 3)
    ]
    names = ("phase", "victim", "seed", "streams.victim.load.accepted")
    columns: dict[str, list[Any]] = {
        name: [row[place] for row in rows] for place, name in enumerate(names)
    }
    axes = {name: sorted(set(columns[name])) for name in names[:3]}
    (share,) = call("victims_share", evidence(columns, axes), {"of": "runs", "where": {}})
    assert (share.mean, share.runs) == (pytest.approx(0.585), 3)
    assert share.ci95 < 0.02
    columns = {name: values[:-1] for name, values in columns.items()}
    with pytest.raises(NotSettledError, match="victims without a result"):
        call("victims_share", evidence(columns, axes), {"of": "runs", "where": {}})


def test_a_curve_may_end_at_the_first_load_that_is_not_accepted() -> None:
    known = evidence(
        {
            "seed": [1] * 5,
            "load.offered": [0.1, 0.2, 0.3, 0.4, 0.5],
            "load.accepted": [0.1, 0.18, 0.3, 0.4, 0.4],
            "load.accepted_ci95": [0.0] * 5,
        }
    )
    assert measured(known, "saturation", where={}) == pytest.approx([0.41])
    assert measured(known, "saturation", where={}, first=True) == pytest.approx([0.12])


def test_a_response_may_be_that_of_the_mean_latency() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.5,), (1,), series=True)
    (outcome,) = study.outcomes
    series = outcome.series
    bins = len(series.by_generation.packets)
    series.by_generation.packets = np.full(bins, 10)
    series.by_generation.latency_sum = np.where(np.arange(bins) % 2, 800, 1200)
    known = Evidence({}, {}, {"runs": study}, BuiltEngine)
    width = series.width * outcome.cycle_ns / 1000
    span = {"change_us": 0, "settled_us": [0, bins * width]}
    keys = {"of": "runs", "where": {"routing": "MIN"}} | span
    (single,) = call("response_us", known, keys)
    (mean,) = call("response_us", known, keys | {"mean_us": 2 * width})
    assert single.mean > 0
    assert mean.mean == 0


def test_the_swing_of_a_load_is_that_of_whole_bins_of_the_measurement() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.5,), (1,), series=True)
    (outcome,) = study.outcomes
    series = outcome.series
    series.by_delivery.packets = np.arange(len(series.by_delivery.packets)) % 7
    known = Evidence({}, {}, {"runs": study}, BuiltEngine)
    keys = {"of": "runs", "where": {"routing": "MIN"}, "packet": 10}
    (swing,) = call("load_swing", known, keys)
    first = -series.start // series.width
    assert first > 0
    expected = series.by_delivery.packets[first:-1] * 10 / series.width
    assert swing.mean == pytest.approx(float(np.std(expected, ddof=1)))

"""Where a latency curve ends, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import synthetic
from deroute.figures import read_figures
from deroute.figures.latency import draw, parts


def loads(points: pl.DataFrame) -> list[float]:
    return points["load"].to_list()


def test_a_latency_curve_ends_at_the_load_from_which_on_none_is_steady() -> None:
    states = ["steady", "not-converged", "saturated", "saturated", "not-converged"]
    points = pl.DataFrame({"load": [0.1, 0.2, 0.3, 0.4, 0.5], "state": states})
    split = parts(points, along_load=True)
    assert loads(split.drawn) == [0.1, 0.2]
    assert loads(split.beyond) == [0.3, 0.4, 0.5]
    assert split.between.is_empty()
    assert loads(parts(points, along_load=False).drawn) == [0.1, 0.2, 0.5]


def test_a_saturated_point_below_steady_ones_does_not_end_a_curve() -> None:
    states = ["steady", "saturated", "steady", "saturated"]
    points = pl.DataFrame({"load": [0.2, 0.25, 0.3, 0.4], "state": states})
    split = parts(points, along_load=True)
    assert loads(split.drawn) == [0.2, 0.3]
    assert loads(split.between) == [0.25]
    assert loads(split.beyond) == [0.4]


def test_a_figure_says_that_a_curve_goes_on_beyond_a_saturated_point() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.1, 0.25, 0.5), (1, 2, 3))
    state = pl.when(pl.col("load") == 0.25).then(pl.lit("saturated")).otherwise("verdict.state")
    wanted = {"name": "fig", "kind": "latency", "series": "routing", "panel": "traffic"}
    (table,) = read_figures([wanted], study.axes)
    unlucky = replace(study, frame=study.frame.with_columns(state.alias("verdict.state")))
    drawn = draw(unlucky, table)
    small_print = drawn.texts[-1].get_text()
    assert "carets above a curve: saturated there, steady at higher loads" in small_print
    assert "carets: saturated from there on" not in small_print


def test_the_ordinate_ends_above_the_highest_point_or_above_that_of_idle_networks() -> None:
    wanted = {"name": "fig", "kind": "latency", "series": "routing", "panel": "traffic"}
    study = synthetic.study(("MIN",), ("UN",), (0.1, 0.5), (1, 2, 3))
    (table,) = read_figures([wanted], study.axes)
    # Latencies in ns: 2.6 times that of the lowest load at most.
    for latencies, top in ((1000.0, 1100.0), 1375.0), ((1000.0, 9000.0), 2600.0):
        low, high = latencies
        latency = pl.when(pl.col("load") == 0.1).then(low).otherwise(high)
        frame = study.frame.with_columns(
            latency.alias("latency.mean"), pl.lit("steady").alias("verdict.state")
        )
        (panel,) = draw(replace(study, frame=frame), table).axes
        assert panel.get_ylim() == pytest.approx((0, top * frame["cycle_ns"][0]))

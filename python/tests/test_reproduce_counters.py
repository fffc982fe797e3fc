"""Measures of the counters of routing agents, on counters that are known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from deroute.figures import Study
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call

LOADS = (0.1, 0.2, 0.3, 0.4)
#: Mean `IL-1` of two routers at each load: one curve bends after 0.2, one never does.
CURVES = {"bent": (8.0, 16.5, 32.0, 60.0), "straight": (8.0, 16.0, 24.0, 32.0)}


@pytest.fixture
def evidence() -> Evidence:
    points = [(routing, load) for routing in CURVES for load in LOADS]
    frame = pl.DataFrame(
        {
            "routing": [routing for routing, _ in points],
            "offset": [4] * len(points),
            "load": [load for _, load in points],
            "load.offered": [load for _, load in points],
        }
    )
    outcomes = [
        SimpleNamespace(
            agents=SimpleNamespace(
                names=["G+1", "IL-1"], mean=np.array([[1.0, value - 1], [1.0, value + 1]])
            )
        )
        for routing in CURVES
        for value in CURVES[routing]
    ]
    return Evidence({}, {}, {"runs": Study({}, frame, outcomes, "0")}, BuiltEngine)


KEYS = {
    "of": "runs",
    "where": {"routing": "bent"},
    "over": {"routing": "straight"},
    "name": "IL-1",
}


def test_where_two_curves_part_is_known_to_a_step_of_the_load(evidence: Evidence) -> None:
    """3% is not apart: the counters part after 0.2, and before 0.3, where they are 33% apart."""
    (load,) = call("parting_load", evidence, KEYS)
    assert (load.mean, load.ci95) == (pytest.approx(0.25), pytest.approx(0.05))
    (counter,) = call("parting_counter", evidence, KEYS)
    assert (counter.mean, counter.ci95) == (20.0, 4.0)
    along = KEYS | {"axis": "offset", "labels": [4]}
    assert [value.mean for value in call("parting_counter", evidence, along)] == [20.0]


def test_curves_part_where_they_do_so_last(evidence: Evidence) -> None:
    """A ratio that passes 5% and comes back is noise."""
    bent = evidence.of("runs").outcomes[: len(LOADS)]
    for outcome, base, factor in zip(bent, CURVES["straight"], (1.0, 1.07, 1.03, 1.5), strict=True):
        outcome.agents.mean = np.array([[1.0, base * factor]])  # type: ignore[union-attr]
    (load,) = call("parting_load", evidence, KEYS)
    assert (load.mean, load.ci95) == (pytest.approx(0.35), pytest.approx(0.05))


def test_curves_that_never_part_settle_nothing(evidence: Evidence) -> None:
    with pytest.raises(NotSettledError, match="IL-1 parts nowhere"):
        call("parting_load", evidence, KEYS | {"where": {"routing": "straight"}})

"""Transients are averaged over runs of one length."""

from __future__ import annotations

import pytest

import synthetic
from deroute.figures import FigureError
from deroute.figures.transient import trace


def test_transients_need_runs_of_one_length() -> None:
    outcomes = synthetic.study(("MIN",), ("UN",), (0.5,), (1, 2), series=True).outcomes
    assert len(trace(outcomes, "generation").time_us) == 60
    columns = outcomes[0].series.by_generation
    for name in ("packets", "latency_sum", "nonminimal"):
        setattr(columns, name, getattr(columns, name)[:-1])
    with pytest.raises(FigureError, match="no time series in common"):
        trace(outcomes, "generation")

"""Transients are averaged over runs of one length."""

from __future__ import annotations

import numpy as np
import pytest

import synthetic
from deroute.figures import FigureError
from deroute.figures.transient import trace


def test_transients_need_runs_of_one_length() -> None:
    outcomes = synthetic.study(("MIN",), ("UN",), (0.5,), (1, 2), series=True).outcomes
    outcomes[0].measured_cycles -= 1
    with pytest.raises(FigureError, match="no time series in common"):
        trace(outcomes, "generation")


def test_the_last_bins_may_be_empty_in_some_runs() -> None:
    outcomes = synthetic.study(("MIN",), ("UN",), (0.5,), (1, 2), series=True).outcomes
    whole = trace(outcomes, "generation")
    assert len(whole.time_us) == 60
    columns = outcomes[1].series.by_generation
    for name in ("packets", "latency_sum", "nonminimal"):
        setattr(columns, name, getattr(columns, name)[:-2])
    found = trace(outcomes, "generation")
    assert list(found.time_us) == list(whole.time_us)
    np.testing.assert_array_equal(found.latency_ns.mean[:-2], whole.latency_ns.mean[:-2])
    assert np.isnan(found.latency_ns.mean[-2:]).all()

"""Outcomes as values, and sweeps from Python."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import deroute
from conftest import ROOT
from deroute import InputError, SimulationError
from deroute.executors import Failed
from deroute.executors.local import LocalExecutor

ROUTINGS = {
    "MIN": {"routing": {"minimal": {}}},
    "VLB": {"routing": {"valiant": {}}},
}


def test_outcomes_compare_to_the_last_bit(spec: dict[str, Any]) -> None:
    one, same = deroute.simulate(spec), deroute.simulate(spec, partitions=3)
    assert one == same
    assert one.arrays.injected_by_host is not None  # What has been asked for makes no difference.
    assert one == same
    spec["run"]["seed"] = 2
    assert one != deroute.simulate(spec)
    assert one != "an outcome"
    changed = pickle.loads(pickle.dumps(same))
    changed._raw["arrays.accepted_by_host"] = changed._raw["arrays.accepted_by_host"] + 1e-16
    changed._raw["arrays.accepted_by_host"][0] *= 1.0001
    assert one != changed
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_outcomes_pickle_with_all_their_records(spec: dict[str, Any]) -> None:
    spec["probes"] = {"series": 500, "links": True, "congestion": {"every": 500}}
    outcome = deroute.simulate(spec)
    assert outcome.series is not None
    again = pickle.loads(pickle.dumps(outcome))
    assert again == outcome
    assert again.to_json() == outcome.to_json()
    assert_frame_equal(again.to_polars("links"), outcome.to_polars("links"))
    assert copy.deepcopy(outcome) == outcome


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_gives_the_same(method: str, spec: dict[str, Any]) -> None:
    specs = [spec | {"run": spec["run"] | {"seed": seed}} for seed in (1, 2)]
    with multiprocessing.get_context(method).Pool(1) as pool:
        outcomes = pool.map(deroute.simulate, specs)
    assert outcomes == [deroute.simulate(each) for each in specs]


def test_an_outcome_is_a_table_and_a_figure(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec)
    page = outcome._repr_html_()
    for text in ("steady", "72 hosts, 36 routers", "mean latency", "p99 latency", "svg+xml"):
        assert text in page
    left, right = outcome.figure().axes
    x, share = left.lines[0].get_data()
    assert (x[0], x[-1]) == (outcome.latency.min, outcome.latency.max)
    assert (np.diff(share) > 0).all()
    assert len(right.lines[0].get_data()[1]) == outcome.size.routers
    spec["traffic"] |= {"load": 1.0, "pattern": {"adversarial": {"offset": 1}}}
    full = deroute.simulate(spec)
    assert full.verdict.state == "saturated"
    assert "latency" not in full._repr_html_().partition("<img")[0].replace("no latency", "")
    assert not full.figure().axes[0].lines


def test_a_sweep_is_a_frame_with_a_row_for_each_point(spec: dict[str, Any]) -> None:
    axes = {"routing": ROUTINGS, "traffic.load": np.array([0.1, 0.2]), "run.seed": range(1, 3)}
    frame = deroute.sweep(spec, axes, jobs=2, progress=False)
    found = list(frame.select("routing", "load", "seed").iter_rows())
    assert found == [(r, load, s) for r in ("MIN", "VLB") for load in (0.1, 0.2) for s in (1, 2)]
    spec["routing"] = {"valiant": {}}
    spec["traffic"]["load"] = 0.2
    same = frame.filter(pl.col("routing") == "VLB", pl.col("load") == 0.2, pl.col("seed") == 1)
    scalars = deroute.simulate(spec).scalars()
    assert same.select(list(scalars)).row(0, named=True) == scalars


def test_axes_of_a_sweep_are_typed_as_they_may_be(tmp_path: Path) -> None:
    file = tmp_path / "swept.py"
    axes = '{"traffic.load": np.array([0.1]), "run.seed": [1], "routing": {"MIN": {}}}'
    file.write_text(f"import numpy as np\nimport deroute\n\nderoute.sweep({{}}, {axes})\n")
    command = [sys.executable, "-m", "mypy", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


def test_a_sweep_shows_how_far_it_is(
    spec: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    deroute.sweep(spec, {}, progress=False)
    assert capsys.readouterr().out == ""
    assert len(deroute.sweep(spec, {"run.seed": [7]})) == 1


def test_a_sweep_refuses_what_cannot_run_before_it_runs(spec: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"lod"):
        deroute.sweep(spec, {"traffic.lod": [0.1]}, progress=False)
    with pytest.raises(InputError):
        deroute.sweep(spec, {"traffic.load": [0.1, 2.0]}, progress=False)
    with pytest.raises(InputError, match=r"twice|label"):
        deroute.sweep(spec, {"run.seed": [1, 1]}, progress=False)
    with pytest.raises(InputError, match="jobs: -1 is less than 0"):
        deroute.sweep(spec, {"traffic.load": [0.1]}, jobs=-1, progress=False)


def test_a_point_that_fails_ends_a_sweep(
    spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        LocalExecutor, "_simulate", lambda self, point, *_: Failed(point, "deadlock: 1 -> 2 -> 1")
    )
    with pytest.raises(SimulationError, match=r"load=0\.1: deadlock"):
        deroute.sweep(spec, {"traffic.load": [0.1]}, progress=False)


def test_numpy_scalars_are_numbers(spec: dict[str, Any]) -> None:
    plain = deroute.simulate(spec)
    spec["traffic"] |= {"load": np.float64(0.3), "packet_size": np.uint8(10)}
    spec["network"]["topology"] = {"dragonfly": {"p": np.int32(2), "a": np.int64(4), "h": 2}}
    spec["checks"] = {"full": np.bool_(False)}
    assert deroute.simulate(spec) == plain

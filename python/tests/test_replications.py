"""Seeds as needed: a point gets more of them until the intervals between them are narrow enough."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conftest import SPEC
from deroute import _engine, plan, replications, runner
from deroute.cli import app, execution
from deroute.errors import InputError
from deroute.executors import Resources
from deroute.experiment import Experiment
from deroute.frame import load_results
from deroute.saturation import Search
from deroute.store import FILE, Store, Stored

FILE_TEXT = """\
name = "repeated"
{keys}
[base.network.topology.dragonfly]
p = 2
a = 4
h = 2
[base.network.links]
local = {{ latency = "15 ns", vcs = 4, buffer = "4.5 KB" }}
global = {{ latency = "150 ns", vcs = 2, buffer = "22.5 KB" }}
[base.network.switch.combined_queued]
pipeline = "90 ns"
output_buffer = "15.75 KB"
[base.routing.minimal]
[base.traffic]
packet_size = 10
pattern = "uniform"
[base.run]
warmup = 500
measure = 1000
[[axis]]
name = "load"
path = "traffic.load"
values = [0.2, 0.9]
"""
SEEDS = 'seeds = { latency = "1%", accepted = "3%", least = 3, most = 9 }'


def call(*arguments: object, code: int = 0) -> Any:
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def written(folder: Path, keys: str = SEEDS) -> Path:
    """An experiment file."""
    file = folder / "repeated.toml"
    file.write_text(FILE_TEXT.format(keys=keys), encoding="utf-8")
    return file


def document(**seeds: object) -> dict[str, Any]:
    """An experiment of one point and its seeds."""
    return {"name": "one", "base": copy.deepcopy(SPEC), "seeds": seeds}


def finished(
    experiment: Experiment, latencies: Sequence[float], state: str = "steady"
) -> list[Stored]:
    """Results of the first seeds with these latencies."""
    found = []
    for point, latency in zip(experiment.points, latencies, strict=False):
        outcome = {
            "verdict": {"state": state},
            "latency": {"mean": latency},
            "load": {"accepted": 0.3, "attempted": 0.3},
        }
        text = json.dumps(outcome)
        found.append(Stored(point.key, _engine.VERSION, point.canonical, text, 1.0))
    return found


WIDE, EQUAL = (100.0, 200.0, 100.0, 200.0, 100.0, 200.0), (100.0,) * 12


@pytest.mark.parametrize(
    ("latencies", "state", "count"),
    [
        ((), "steady", 3),
        (EQUAL[:2], "steady", 3),
        (EQUAL[:3], "steady", 3),
        (WIDE[:3], "steady", 4),
        (WIDE[:4], "steady", 6),
        # Nothing is decided before all of the first 6 are there.
        (WIDE[:5], "steady", 6),
        (WIDE, "steady", 9),
        # What is there beyond what is needed does not count.
        (EQUAL, "steady", 3),
        ((*WIDE, *WIDE), "steady", 10),
        # A saturated point has no latency to be known.
        (WIDE, "saturated", 3),
    ],
)
def test_seeds_follow_from_results_in_their_order(
    latencies: Sequence[float], state: str, count: int
) -> None:
    experiment = Experiment.from_document(document(latency="1%", accepted="1%", least=3, most=10))
    stored = finished(experiment, latencies, state)
    wanted = replications.wanted(experiment, reversed(stored))
    assert [point.labels["seed"] for point in wanted] == list(range(1, count + 1))
    assert [point.spec["run"]["seed"] for point in wanted] == list(range(1, count + 1))


def numbers(directory: Path) -> list[tuple[Any, ...]]:
    """Load, seed and latency of every point of the results."""
    frame = load_results(directory).frame
    return frame.select("load", "seed", "latency.mean").rows()


def test_it_is_the_same_for_any_number_of_workers_and_after_an_end(tmp_path: Path) -> None:
    file, whole = written(tmp_path), tmp_path / "whole"
    call("run", file, "--dir", whole, "--jobs", "1")
    found = numbers(whole)
    seeds = [sum(row[0] == load for row in found) for load in (0.2, 0.9)]
    assert seeds[0] >= 3
    assert max(seeds) > 3
    call("run", file, "--dir", tmp_path / "several", "--jobs", "4")
    assert numbers(tmp_path / "several") == found
    # Some points of the first and of later rounds.
    with Store.open(whole) as store, Store.open(tmp_path / "part", create=True) as part:
        part.set_experiment(store.experiment())
        for record in list(store.records())[::2]:
            part.add(record)
    call("run", file, "--dir", tmp_path / "part")
    assert numbers(tmp_path / "part") == found
    assert load_results(whole).missing == []
    said = call("run", file, "--dir", whole).output
    assert f"{len(found)} of {len(found)} points were done before" in said
    # With fewer, those beyond are left out.
    less = written(tmp_path, 'seeds = { accepted = "40%", least = 2, most = 9 }')
    call("run", less, "--dir", whole)
    assert [row[:2] for row in numbers(whole)] == [(0.2, 1), (0.2, 2), (0.9, 1), (0.9, 2)]


def test_check_and_show_say_how_many_there_are(tmp_path: Path) -> None:
    file = written(tmp_path, 'seeds = { latency = "0.001%", least = 3, most = 4 }')
    out = tmp_path / "out"
    said = call("check", file, "--dir", out, "--no-probe").stdout
    assert "6 (2 load x 3 to 4 seed); none done" in said
    assert "until their intervals are within 0.001% of the latency; 3 to 4 a point" in said
    call("run", file, "--dir", out)
    assert (
        "8 (2 load x 3 to 4 seed); 8 done, 0 to run"
        in call("check", file, "--dir", out, "--no-probe").stdout
    )
    shown = call("show", out).stdout
    assert "Points whose intervals are too wide after the last of their seeds: " in shown
    assert "not finished" not in shown


def test_the_longest_points_begin_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[float] = []
    run_points = runner.run_points

    def watched(experiment: Any, points: Any, *arguments: Any, **more: Any) -> None:
        begun.extend(point.labels["load"] for point in points)
        run_points(experiment, points, *arguments, **more)

    monkeypatch.setattr(runner, "run_points", watched)
    checked = plan.check_file(written(tmp_path, ""))
    place = execution.Place("local", Resources(jobs=1, directory=None))
    report = execution.simulate(checked, tmp_path / "out", place)
    assert begun == [0.9, 0.2]
    assert report.done == report.total == 2
    assert (tmp_path / "out" / FILE).exists()


def test_a_search_for_saturation_takes_the_fewest(tmp_path: Path) -> None:
    experiment = Experiment.load(written(tmp_path))
    search = Search.of(experiment, 0.25, 1.0)
    assert search.curves() == [{}]
    again = Experiment.from_document(search.document({0: [2, 4]}))
    assert again.seeds is None
    assert again.axes == {"load": [0.5, 1.0], "seed": [1, 2, 3]}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("seeds = 3", "3 is not a table"),
        ("seeds = { most = 9 }", "says no precision"),
        ('seeds = { latency = "1%" }', "seeds.most: is missing"),
        ('seeds = { latency = "1%", most = 2 }', "allowed: 5 to 1000"),
        ('seeds = { latency = "1%", most = 9, least = 1 }', "1 is no such number"),
        ('seeds = { latency = "1%", most = 1.5 }', "1.5 is no such number"),
        ('seeds = { latency = "1", most = 9 }', "'1' is no precision"),
        ('seeds = { accepted = "100%", most = 9 }', "'100%' is no precision"),
        ('seeds = { latency = "1%", maximum = 9, most = 9 }', "unknown key `maximum`"),
    ],
)
def test_mistakes(keys: str, said: str, tmp_path: Path) -> None:
    assert said in call("check", written(tmp_path, keys), code=2).output


def test_what_seeds_do_not_go_with(tmp_path: Path) -> None:
    axis = {"name": "seed", "path": "run.seed", "values": [1, 2]}
    with pytest.raises(InputError, match="leave out one of the two"):
        Experiment.from_document(document(latency="1%", most=9) | {"axis": [axis]})
    jobs = document(latency="1%", most=9)
    del jobs["base"]["traffic"]["load"]
    jobs["base"]["workload"] = [{"name": "a", "program": []}]
    with pytest.raises(InputError, match="a workload has no accepted load"):
        plan.check_experiment(Experiment.from_document(jobs))
    assert "in one place" in call("run", written(tmp_path), "--shard", "1/2", code=2).output

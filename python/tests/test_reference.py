"""Points that are compared with the same traffic on an ideal crossbar."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import deroute
from conftest import EXPERIMENT
from deroute import reference
from deroute.api import Footprint
from deroute.cli import app
from deroute.errors import InputError
from deroute.experiment import Experiment, Point
from deroute.frame import load_results
from deroute.plan import check_experiment
from deroute.store import FILE

COMPARED = EXPERIMENT.replace(
    'title = "A small experiment"',
    'title = "A small experiment"\nreference = "ideal crossbar"',
)
FIGURE = """
[[figure]]
name = "relative"
kind = "throughput"
of = "relative"
series = "routing"
"""
PROGRAM = """
name = "program"
reference = "ideal crossbar"
[base.network.topology.dragonfly]
p = 2
a = 4
h = 2
[base.network.links]
local = { latency = "15 ns", vcs = 4, buffer = "4.5 KB" }
global = { latency = "150 ns", vcs = 2, buffer = "22.5 KB" }
[base.network.switch.combined_queued]
pipeline = "90 ns"
output_buffer = "15.75 KB"
[base.workload]
packet_size = "250 B"
limit = "100 us"
[[base.workload.jobs]]
name = "app"
ranks = 16
steps = [{ ring = { size = "40 KB" } }]
[[axis]]
name = "routing"
values = [
    { label = "MIN", set = { routing = { minimal = {} } } },
    { label = "VLB", set = { routing = { valiant = {} } } },
]
[[figure]]
name = "slowdown"
kind = "completion"
of = "slowdown"
"""


def call(*arguments: object, code: int = 0) -> Any:
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def written(text: str, where: Path) -> Path:
    """The text as a file."""
    file = where / "tested.toml"
    file.write_text(text)
    return file


def of(spec: dict[str, Any]) -> Point:
    """The reference of one spec."""
    experiment = Experiment.from_document(
        {"name": "x", "base": spec, "reference": "ideal crossbar"}
    )
    (point,) = reference.references(experiment, experiment.points).values()
    return point


def accepted(spec: dict[str, Any]) -> tuple[float, float]:
    """What the network accepts, and its reference."""
    return deroute.simulate(spec).load.accepted, deroute.simulate(of(spec).spec).load.accepted


def test_points_with_the_same_traffic_share_a_reference(tmp_path: Path) -> None:
    file = written(COMPARED + FIGURE, tmp_path)
    where = tmp_path / "results"
    # MIN at three loads and VLB at one of them, two seeds: three loads with two seeds.
    assert "6 more points; none done" in call("check", "--no-probe", file).output
    assert f"results: {where / FILE} (14 points)" in call("run", file, "--dir", where).output
    assert (where / "relative.png").exists()
    results = load_results(where)
    assert results.frame.height == 8
    assert not results.missing
    assert (results.frame["relative.accepted"] - 1).abs().max() < 0.05
    assert results.frame["relative.accepted_ci95"].min() > 0
    assert "14 of 14 points were done before" in call("run", file, "--dir", where).output
    assert "6 more points; 6 done, 0 to run" in call("check", file, "--dir", where).output
    output = call("show", where).output
    assert "relative" in output
    assert "?" not in output


def test_a_reference_that_is_not_there_is_run_alone(tmp_path: Path) -> None:
    file, where = written(COMPARED, tmp_path), tmp_path / "results"
    call("run", file, "--dir", where)
    before = load_results(where).frame
    with sqlite3.connect(where / FILE) as connection:
        connection.execute("DELETE FROM points WHERE spec LIKE '%crossbar_of%'")
    connection.close()
    left = load_results(where)
    assert left.frame.height == 8
    assert left.frame["relative.accepted"].is_nan().all()
    assert len(left.missing) == 6
    output = call("show", where).output
    assert "?" in output
    assert "6 points are not finished" in output
    call("plot", where)
    assert "8 of 14 points were done before" in call("run", file, "--dir", where).output
    assert load_results(where).frame.equals(before)


def test_an_old_experiment_is_what_it_was(tmp_path: Path) -> None:
    file, where = written(EXPERIMENT, tmp_path), tmp_path / "results"
    assert "(8 points)" in call("run", file, "--dir", where).output
    assert not [name for name in load_results(where).frame.columns if "relative" in name]
    assert "relative" not in call("show", where).output


def test_what_a_network_loses_is_the_share_of_its_bottleneck(spec: dict[str, Any]) -> None:
    # All 8 hosts of a group send over its one link to the next group.
    spec["traffic"] |= {"load": 0.5, "pattern": {"adversarial": {"offset": 1}}}
    spec["run"] |= {"warmup": 6000, "measure": 10000}
    network, ideal = accepted(spec)
    assert ideal == pytest.approx(0.5, abs=0.01)
    assert network / ideal == pytest.approx((1 / 8) / 0.5, rel=0.03)


def test_what_no_network_could_accept_is_not_held_against_it(spec: dict[str, Any]) -> None:
    # All send to one host, which sends to the others.
    spec["traffic"]["hotspots"] = [{"destinations": {"any": [3]}}]
    spec["run"] |= {"warmup": 6000, "measure": 6000}
    network, ideal = accepted(spec)
    assert ideal == pytest.approx((1 + 0.3) / 72, rel=0.01)
    assert network / ideal == pytest.approx(1, abs=0.01)


def test_hosts_keep_the_rate_of_their_links_and_their_classes(spec: dict[str, Any]) -> None:
    spec["network"]["nic"] = {"latency": "5 ns", "link": {"buffer": 600, "rate": "1/2"}}
    spec["network"]["flow_control"] = {"pfc": {"response": 0, "frame": 4}}
    spec["network"]["classes"] = {"count": 2}
    for link in spec["network"]["links"].values():
        link |= {"vcs": 8, "buffer": 3000}
    spec["traffic"]["load"] = 0.2
    assert Footprint.of(json.dumps(spec)).fixed_bytes > 0
    other = of(spec).spec["network"]
    assert other["nic"]["link"]["rate"] == "1/2"
    assert other["nic"]["latency"] == "5 ns"
    assert other["classes"] == {"count": 2}
    # The load is a share of what a phit takes a cycle for.
    network, ideal = accepted(spec)
    assert network == pytest.approx(ideal, rel=0.03)
    # One host cannot send to five at once faster than its link.
    pairs = {"pairs": {"list": [[0, to] for to in range(1, 6)]}}
    of_one = of(spec).spec | {"traffic": {"load": 0.9, "packet_size": 10, "pattern": pairs}}
    assert 72 * deroute.simulate(of_one).load.accepted == pytest.approx(0.5, rel=0.02)


def test_a_workload_has_a_slowdown(tmp_path: Path) -> None:
    file, where = written(PROGRAM, tmp_path), tmp_path / "results"
    assert "(3 points)" in call("run", file, "--dir", where).output
    frame = load_results(where).frame
    slow = dict(zip(frame["routing"], frame["relative.slowdown"], strict=True))
    assert 1 < slow["MIN"] < slow["VLB"]
    times = dict(zip(frame["routing"], frame["workload.makespan"], strict=True))
    assert times["MIN"] / slow["MIN"] == pytest.approx(times["VLB"] / slow["VLB"])
    output = call("show", where).output
    assert "slowdown" in output
    assert f"{slow['VLB']:.3f}" in output
    assert (where / "slowdown.png").exists()


def test_a_workload_that_does_not_end_has_none(tmp_path: Path) -> None:
    file, where = written(PROGRAM.replace("100 us", "2 us"), tmp_path), tmp_path / "results"
    call("run", file, "--dir", where)
    frame = load_results(where).frame
    assert frame["verdict.state"].unique().to_list() == ["unfinished"]
    assert frame["relative.slowdown"].is_nan().all()


def test_a_point_that_is_its_own_reference_runs_once(spec: dict[str, Any]) -> None:
    ideal = of(spec).spec
    again = of(ideal).spec
    assert again["network"]["topology"] == {"crossbar_of": ideal["network"]["topology"]}
    one = deroute.simulate(ideal)
    assert one.load == deroute.simulate(again).load


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"ideal crossbar"',
            '"crossbar"',
            ["tested.toml:3: reference: 'crossbar' is no reference", "allowed: ideal crossbar"],
        ),
        ('"ideal crossbar"', "7", ["reference: 7 is no reference"]),
        ('reference = "ideal crossbar"\n', "", ["figure[1].of: 'relative' needs a `reference`"]),
        ('of = "relative"', 'of = "slowdown"', ["unknown value 'slowdown'", "load, relative"]),
        (
            "p = 2\na = 4\nh = 2",
            "p = 40\na = 40\nh = 1",
            [
                "tested.toml:3: reference: the reference of a point is impossible:"
                " network.topology.crossbar_of: 65600 hosts cannot share one switch"
            ],
        ),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, words: list[str], tmp_path: Path) -> None:
    text = COMPARED + FIGURE
    assert old in text
    file = written(text.replace(old, new), tmp_path)
    output = call("check", "--no-probe", file, code=2).output.replace("\n", " ")
    for word in words:
        assert word in output


def test_a_slowdown_is_that_of_all_jobs(tmp_path: Path) -> None:
    file = written(PROGRAM + 'job = "app"\n', tmp_path)
    with pytest.raises(InputError, match=r"figure\[0\].job: a slowdown is that of the whole"):
        check_experiment(Experiment.load(file))


def test_the_frame_of_a_growing_directory_has_the_columns(tmp_path: Path) -> None:
    file, where = written(COMPARED, tmp_path), tmp_path / "results"
    call("run", file, "--dir", where)
    with sqlite3.connect(where / FILE) as connection:
        connection.execute("DELETE FROM points WHERE spec LIKE '%crossbar_of%' AND rowid % 2 = 0")
    connection.close()
    known = load_results(where).frame.select(pl.col("relative.accepted").is_nan().sum()).item()
    assert 0 < known < 8


@pytest.mark.parametrize(
    ("size", "expected"), [("40000b", (9000 + 8 * 1600) / (9000 + 1600)), ("8b", 1.0)]
)
def test_a_trace_on_a_network_takes_longer_than_on_a_crossbar(
    tmp_path: Path, size: str, expected: float
) -> None:
    # After 9 us eight ranks of one group send to eight of another, over one link each way, 25 bytes
    # a nanosecond.
    blocks = "".join(
        f"rank {rank} {{\na: calc 9000\nb: send {size} to {(rank + 8) % 16}\n"
        f"c: recv {size} from {(rank + 8) % 16}\nb requires a\n}}\n"
        for rank in range(16)
    )
    (tmp_path / "pairs.goal").write_text(f"num_ranks 16\n{blocks}")
    job = 'ranks = 16\nsteps = [{ ring = { size = "40 KB" } }]'
    assert job in PROGRAM
    file = written(PROGRAM.replace(job, 'trace = { file = "pairs.goal" }'), tmp_path)
    call("run", file, "--dir", tmp_path / "results")
    frame = load_results(tmp_path / "results").frame
    slowdown = dict(zip(frame["routing"], frame["relative.slowdown"], strict=True))
    assert slowdown["MIN"] == pytest.approx(expected, rel=0.1)
    assert min(slowdown.values()) >= 1
    if expected > 1:
        assert slowdown["VLB"] < slowdown["MIN"]

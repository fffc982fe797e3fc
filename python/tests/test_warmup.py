"""Warnings: short warm-ups, speed-ups without effect, and buffers that starve their links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conftest import EXPERIMENT, ROOT
from deroute import _engine
from deroute.api import Footprint
from deroute.cli import app
from deroute.experiment import Experiment
from deroute.plan import check_experiment
from deroute.reproduce import read_paper
from deroute.reproduce.experiments import documents
from deroute.spec import canonical
from deroute.warmup import Ramp, short_warmups

#: 300-cycle global links: one way 15 + 300 + 15 and four pipelines of 90.
SLOW = EXPERIMENT.replace('latency = "150 ns"', "latency = 300")
ROUND_TRIP = 2 * (15 + 300 + 15 + 4 * 90)


def warnings(text: str, tmp_path: Path) -> list[str]:
    """What `check` warns of."""
    file = tmp_path / "tested.toml"
    file.write_text(text)
    found = check_experiment(Experiment.load(file)).warnings
    return ["\n".join(problem.lines()) for problem in found]


def test_a_warm_up_shorter_than_round_trips_is_told(tmp_path: Path) -> None:
    (told,) = warnings(SLOW.replace("warmup = 1000", "warmup = 500"), tmp_path)
    line = SLOW[: SLOW.index("warmup = 1000")].count("\n") + 1
    assert f"tested.toml:{line}: base.run.warmup: a warm-up of 500 ns is short" in told
    assert "takes 1.38 us, and twice that on a detour" in told
    assert ROUND_TRIP == 1380
    assert 'in 8 of 8 points, most in routing=MIN load=0.1 seed=1; take "2.76 us"' in told
    assert warnings(SLOW.replace("warmup = 1000", "warmup = 2760"), tmp_path) == []
    assert len(warnings(SLOW.replace("warmup = 1000", "warmup = 2759"), tmp_path)) == 1


def test_a_warm_up_in_which_no_buffer_fills_is_told(tmp_path: Path) -> None:
    deep = SLOW.replace('buffer = "22.5 KB"', "buffer = 9000")
    (told,) = warnings(deep.replace("warmup = 1000", 'warmup = "8 us"'), tmp_path)
    assert "a warm-up of 8 us is short: a link takes 9 us to fill the buffer of a VC" in told
    assert warnings(deep.replace("warmup = 1000", 'warmup = "9 us"'), tmp_path) == []
    # At half the rate it takes twice as long.
    slow = deep.replace("buffer = 9000 }", 'buffer = 9000, rate = "1/2" }')
    (told,) = warnings(slow.replace("warmup = 1000", 'warmup = "9 us"'), tmp_path)
    assert "18 us" in told


def test_the_axis_that_sets_a_warm_up_is_named(tmp_path: Path) -> None:
    axis = '[[axis]]\nname = "warmup"\npath = "run.warmup"\nvalues = [100, 5000]\n\n[[axis]]'
    text = SLOW.replace("[[axis]]", axis, 1) + "where = { warmup = 5000 }\n"
    (told,) = warnings(text, tmp_path)
    assert "axis[0].values[0]: a warm-up of 100 ns is short" in told
    assert "in 8 of 16 points, most in warmup=100 routing=MIN" in told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("warmup = 1000\n", "warmup = { limit = 5000 }\n"),
        ("[base.run]", '[base.probes]\nseries = "100 ns"\n[base.run]'),
    ],
)
def test_warm_ups_that_are_found_or_recorded_are_not_short(
    old: str, new: str, tmp_path: Path
) -> None:
    assert warnings(SLOW, tmp_path)
    assert warnings(SLOW.replace(old, new), tmp_path) == []


def test_the_command_warns_and_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "tested.toml"
    file.write_text(SLOW)
    result = CliRunner().invoke(app, ["check", "--no-probe", str(file)])
    assert result.exit_code == 0
    assert f"{file}: valid" in result.stdout
    assert "warning:" in result.stderr
    assert "base.run.warmup" in result.stderr


@pytest.mark.parametrize(
    ("topology", "links", "hops"),
    [
        ({"crossbar": {"hosts": 4}}, [], 0),
        ({"hyperx": {"widths": [3, 4], "hosts": 2}}, ["dim1", "dim2"], 2),
        ({"kary_tree": {"k": 2, "levels": 3}}, ["level1", "level2"], 4),
        ({"graph": {"edges": [[0, 1], [1, 2], [2, 3]], "hosts": 1}}, ["link"], 3),
    ],
)
def test_a_round_trip_is_known_in_every_topology(
    topology: dict[str, Any], links: list[str], hops: int, spec: dict[str, Any]
) -> None:
    spec["network"]["topology"] = topology
    link = {"latency": 7, "vcs": 4, "buffer": 100}
    spec["network"]["links"] = dict.fromkeys(links, link)
    spec["network"]["nic"] = {"latency": 3}
    ramp = Footprint.of(canonical(spec)).ramp
    # The paths of the traces of all pairs agree with it.
    hosts = len(_engine.topology(canonical(spec))["router_of_host"])
    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    traces = [_engine.path(canonical(spec), a, b, 1) for a, b in pairs]
    assert max(len(trace or ()) for trace in traces) == hops + 1
    fill = 100 if links else 0
    assert ramp == Ramp(1000, 2 * (90 * (hops + 1) + 7 * hops + 2 * 3), fill)


def test_shipped_experiments_warm_up() -> None:
    for file in sorted((ROOT / "experiments").glob("*.toml")):
        checked = check_experiment(Experiment.load(file))
        assert not checked.warnings, file


@pytest.mark.parametrize(
    "folder", sorted(p.parent.name for p in ROOT.glob("reproduce/*/paper.toml"))
)
def test_papers_warm_up(folder: str) -> None:
    paper = read_paper(ROOT / "reproduce" / folder)
    for item in paper.items:
        for document in documents(paper, item, "quick").values():
            experiment = Experiment.from_document(document)
            first = experiment.points[0]
            ramps = [(first, Footprint.of(first.canonical).ramp)]
            assert not list(short_warmups(experiment, ramps)), document["name"]


def test_a_speed_up_that_no_packet_can_use_is_told(tmp_path: Path) -> None:
    fast = EXPERIMENT.replace('pipeline = "90 ns"\n', 'pipeline = "90 ns"\nspeedup = 2\n')
    fast = fast.replace("warmup = 1000", "warmup = 5000")
    (told,) = warnings(fast.replace("packet_size = 10", "packet_size = 1"), tmp_path)
    assert "base.network.switch.combined_queued.speedup: the speed-up does nothing" in told
    assert "in 8 of 8 points" in told
    assert warnings(fast.replace("packet_size = 10", "packet_size = 2"), tmp_path) == []
    slow = fast.replace("speedup = 2", "speedup = 1")
    assert warnings(slow.replace("packet_size = 10", "packet_size = 1"), tmp_path) == []


def test_a_buffer_that_starves_its_link_is_told(tmp_path: Path) -> None:
    long = EXPERIMENT.replace("warmup = 1000", "warmup = 5000")
    assert warnings(long, tmp_path) == []
    (told,) = warnings(long.replace('buffer = "4.5 KB"', 'buffer = "2 KB"'), tmp_path)
    assert "base.network.links.local.buffer: it is too small for its links" in told
    assert "one VC gets 67%" in told
    assert "in 8 of 8 points" in told


def test_flags_that_one_packet_raises_are_told(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("warmup = 1000", "warmup = 5000")
    text = text.replace("packet_size = 10", "packet_size = 60")
    text = text.replace("routing = { minimal = {} }", "routing = { piggyback = {} }")
    (told,) = warnings(text, tmp_path)
    assert "one packet raises a flag: flag_threshold is 50 phits, a packet has 60" in told
    assert "five packets, as in the thesis, are 300" in told
    assert "in 6 of 8 points" in told
    more = text.replace("piggyback = {}", "piggyback = { flag_threshold = 60 }")
    assert warnings(more, tmp_path) == []

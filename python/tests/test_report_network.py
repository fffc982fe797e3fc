"""Networks and congestion trees in a report."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import EXPERIMENT, SPEC
from deroute import Outcome, _engine, simulate
from deroute.economics.network import Network
from deroute.errors import SpecError
from deroute.report import network as drawings
from deroute.report import trees
from deroute.spec import in_order
from test_cli import call

LINK = {"latency": "20 ns", "buffer": "4 kB"}
TOPOLOGIES: dict[str, dict[str, Any]] = {
    "dragonfly": {"dragonfly": {"p": 2, "a": 4, "h": 2}},
    "hyperx": {"hyperx": {"widths": [3, 4], "hosts": 2}},
    "rlft": {"rlft": {"ports": 4, "stages": 3}},
    "kary_tree": {"kary_tree": {"k": 3, "levels": 2}},
    "crossbar": {"crossbar": {"hosts": 6}},
}
#: Too large to be drawn whole: what is drawn, how many dots, and what is said of it.
LARGE: dict[str, tuple[dict[str, Any], int, str]] = {
    "groups": ({"dragonfly": {"p": 1, "a": 8, "h": 4}}, 33, "a group of 8 routers"),
    "one group": ({"dragonfly": {"p": 1, "a": 20, "h": 11}}, 20, "one of 221 groups"),
    "plane": ({"hyperx": {"widths": [8, 8, 8], "hosts": 1}}, 64, "there are 8 such parts"),
    "subtree": ({"rlft": {"ports": 16, "stages": 3}}, 16, "16 of the 320 switches"),
}


def network_of(topology: dict[str, Any]) -> Network:
    spec = copy.deepcopy(SPEC)
    spec["network"] |= {"topology": topology, "links": {}}
    while True:  # An error names the class of links that is missing.
        try:
            return Network.of(spec, _engine.topology(in_order(spec)))
        except SpecError as error:
            (name,) = re.findall(r"network\.links\.(\w+): missing", str(error))
            spec["network"]["links"][name] = LINK


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_small_network_is_drawn_whole(name: str) -> None:
    network = network_of(TOPOLOGIES[name])
    drawing = drawings.of(network)
    assert len(drawing.places) == network.routers
    assert len(drawing.hosts) == network.hosts
    assert drawing.note == ""
    links = {tuple(sorted(pair)) for pair in zip(*network.links()[:2], strict=True)}
    drawn = {tuple(pair) for pairs in drawing.lines.values() for pair in pairs.tolist()}
    assert drawn == links
    assert len(np.unique(drawing.places.round(1), axis=0)) == network.routers
    numbers = np.array(re.findall(r'c[xy]="([-\d.]+)"', drawings.svg(drawing, "n", coloured=True)))
    assert numbers.astype(float).min() >= 0
    assert numbers.astype(float).max() <= 360


@pytest.mark.parametrize("name", LARGE)
def test_of_a_large_network_a_part_is_drawn_that_says_so(name: str) -> None:
    topology, dots, note = LARGE[name]
    network = network_of(topology)
    last = network.routers - 1
    for around in (0, last):
        drawing = drawings.of(network, around)
        assert len(drawing.places) == len(drawing.names) == dots
        assert note in drawing.note
        assert len(drawings.svg(drawing, "n", coloured=True)) < 300_000
    # The part is that around the router; the top of a tree is in no subtree.
    assert drawings.of(network).dot_of_router[0] == 0
    if name != "subtree":
        assert drawing.dot_of_router[last] == dots - 1


def test_of_a_large_graph_the_nearest_routers_are_drawn() -> None:
    across = [[each, each // 20 * 20 + (each + 1) % 20] for each in range(300)]
    down = [[each, (each + 20) % 300] for each in range(300)]
    network = network_of({"graph": {"edges": across + down, "hosts": 1}})
    drawing = drawings.of(network, 150)
    x, y = np.arange(300) % 20 - 150 % 20, np.arange(300) // 20 - 150 // 20
    away = np.minimum(abs(x), 20 - abs(x)) + np.minimum(abs(y), 15 - abs(y))
    drawn = drawing.dot_of_router >= 0
    assert drawn.sum() == len(drawing.places) == 200
    assert away[drawn].max() <= away[~drawn].min()
    assert "the 200 routers nearest to router 150" in drawing.note


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_hosts_are_behind_their_ports(name: str) -> None:
    spec = copy.deepcopy(SPEC)
    network = network_of(TOPOLOGIES[name])
    links = {each: LINK | {"vcs": 4} for each in network.wiring.class_names}
    routing = {"mod_k": {}} if network.wiring.tree is not None else {"minimal": {}}
    spec["network"] |= {"topology": TOPOLOGIES[name], "links": links}
    spec["routing"] = routing
    known = network.wiring.host_ports()
    assert sorted(known.values()) == list(range(network.hosts))
    for host in range(1, network.hosts):
        hops = _engine.path(in_order(spec), 0, host, 1)
        assert hops is not None
        assert known[hops[-1][0], hops[-1][1]] == host


@pytest.fixture(scope="module")
def congested() -> tuple[dict[str, Any], Outcome]:
    spec = copy.deepcopy(SPEC)
    spec["traffic"] |= {"load": 0.4, "pattern": {"adversarial": {"offset": 1}}}
    spec["probes"] = {"congestion": {"every": "200 ns", "members": True}}
    return spec, simulate(spec)


def test_frames_are_what_was_recorded(congested: tuple[dict[str, Any], Outcome]) -> None:
    spec, outcome = congested
    samples = outcome.congestion
    assert samples is not None
    network = Network.of(spec, _engine.topology(in_order(spec)))
    played = trees.play(outcome, network, drawings.of(network))
    frames = played["frames"]
    assert [frame["us"] for frame in frames] == pytest.approx(samples.cycles / 1000)
    assert [frame["held"] for frame in frames] == samples.held.tolist()
    injection = network.wiring.link_class[samples.members[:, 1], samples.members[:, 2]] == -2
    owner = samples.roots[samples.members[:, 0].astype(int), 0]
    for index, frame in enumerate(frames):
        mine = (owner == index) & ~injection
        buffers = {tuple(row[[1, 2, 3]]): int(row[5]) for row in samples.members[mine]}
        assert sum(line[3] for line in frame["lines"]) == sum(buffers.values())
        assert len(frame["roots"]) == samples.trees[index]
        assert frame["elsewhere"] == 0
    most = max(frames, key=lambda frame: frame["held"])
    assert most["hosts"]
    assert most["lines"]
    assert len({line[2] for line in most["lines"]}) > 1
    # The largest tree is that at the port through which a whole group sends.
    assert re.fullmatch(r"router \d+ to \d+", played["names"][0])


def test_long_records_are_thinned(
    congested: tuple[dict[str, Any], Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, outcome = congested
    monkeypatch.setattr(trees, "MOST_FRAMES", 4)
    network = Network.of(spec, _engine.topology(in_order(spec)))
    played = trees.play(outcome, network, drawings.of(network))
    assert len(played["frames"]) == 4
    assert not played["every"]
    assert outcome.congestion is not None
    assert played["frames"][-1]["held"] == outcome.congestion.held[-1]


def test_without_the_probe_the_page_says_which_one(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    (tmp_path / "bare.toml").write_text(EXPERIMENT.partition("[[figure]]")[0])
    call("run", tmp_path / "bare.toml", "--dir", tmp_path / "bare")
    call("report", tmp_path / "bare")
    text = (tmp_path / "bare" / "report.html").read_text(encoding="utf-8")
    assert "dragonfly: 36 routers, 72 hosts" in text
    assert "probes.congestion = { every = &quot;1 us&quot;, members = true }" in text
    assert 'class="player"' not in text

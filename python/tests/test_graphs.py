"""Networks from files: CSV and GraphML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deroute import _engine, api
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.graphs import read, resolve
from deroute.spec import canonical

RING = [[0, 1], [1, 2], [2, 3], [3, 0]]

GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="h" for="node" attr.name="hosts" attr.type="int"/>
  <graph edgedefault="undirected">
    <node id="a"><data key="h">2</data></node>
    <node id="b"><data key="h">0</data></node>
    <node id="c"><data key="h">1</data></node>
    <edge source="a" target="b"/>
    <edge source="b" target="c"/>
  </graph>
</graphml>
"""

EXPERIMENT = """name = "ring"

[base.network.topology.graph]
file = "ring.csv"
hosts = 1

[base.network.links.link]
latency = 3
vcs = 2
buffer = 40

[base.network.switch.input_queued]

[base.routing.minimal]

[base.traffic]
load = 0.1
packet_size = 4
pattern = "uniform"

[base.run]
warmup = 100
measure = 1000
"""


def test_links_from_csv(tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text("0,1\n1, 2\n\n2,3\n3,0\n")
    (tmp_path / "titled.csv").write_text("from,to\n0,1\n1,2\n2,3\n3,0\n")
    assert read(tmp_path / "plain.csv") == {"edges": RING}
    assert read(tmp_path / "titled.csv") == {"edges": RING}


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1\t2\n2  3\n3 0",
        "0;1\n1; 2\n2 ;3\n3;0\n",
        "\ufeff0,1\n1,2\n2,3\n3,0\n",
        "# a ring\n0,1  # the first\n1,2\n\n2,3\n# and back\n3,0\n",
        "from to\r\n0 1\r\n1 2\r\n2 3\r\n3 0\r\n",
        '"0","1"\n"1","2"\n"2","3"\n"3","0"\n',
    ],
)
def test_no_way_to_write_a_list_of_links_loses_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "net.csv").write_text(text)
    assert read(tmp_path / "net.csv") == {"edges": RING}


def test_a_line_without_end_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "net.csv"
    with file.open("wb") as stream:
        stream.truncate(4 << 30)  # A hole: it takes no room on the disk.
    with pytest.raises(InputError, match=r"1: has more than 1,000 characters"):
        read(file)


def test_definitions_in_graphml_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    inner = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(30))
    bomb = f'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY e0 "lol">{inner}]>'
    (tmp_path / "net.graphml").write_text(bomb + GRAPHML.replace(">2<", ">&e30;<"))
    with pytest.raises(InputError, match="defines the entity 'e0'"):
        read(tmp_path / "net.graphml")


def test_a_node_without_links_is_named(tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    alone = GRAPHML.replace("<edge", '<node id="lonely"/><edge', 1)
    (tmp_path / "net.graphml").write_text(alone)
    with pytest.raises(InputError, match="no link leads to the node 'lonely'"):
        read(tmp_path / "net.graphml")


def test_links_and_hosts_from_graphml(tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    (tmp_path / "net.graphml").write_text(GRAPHML)
    found = {"edges": [[0, 1], [1, 2]], "hosts": [2, 0, 1]}
    assert read(tmp_path / "net.graphml") == found
    spec = resolve({"graph": {"file": "net.graphml", "hosts": 1}}, tmp_path)
    assert spec == {"graph": {**found, "hosts": 1}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("net.csv", "0,1\n1,x\n", "not a link"),
        ("net.csv", "0,1\n1,2,3\n", "not a link"),
        ("net.txt", "0,1\n", "known format"),
        ("net.graphml", "<graphml", "no GraphML"),
        ("none.csv", None, "cannot be read"),
        ("net.csv", "", "has no links"),
        ("net.csv", "from,to\n", "has no links"),
        ("net.csv", "0,1\n2,3\n", "no way leads from router 0 to router 2"),
        ("net.csv", "0,1\n1,3\n", "no link leads to router 2"),
        ("net.csv", "1,2\n2,3\n", "no link leads to router 0"),
        ("net.csv", f"0,{'9' * 5000}\n", "1: has more than"),
        ("net.csv", f"0,{'9' * 50}\n", "not a link"),
    ],
)
def test_mistakes_in_files(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / name)


def test_an_experiment_with_a_file_runs(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text("0,1\n1,2\n2,3\n3,0\n")
    file = tmp_path / "ring.toml"
    file.write_text(EXPERIMENT)
    spec = Experiment.load(file).points[0].spec
    assert spec["network"]["topology"]["graph"] == {"edges": RING, "hosts": 1}
    assert api.simulate(file).packets.delivered > 0
    wiring = _engine.topology(canonical(spec))
    assert wiring["class_names"] == ["link"]
    assert wiring["peer_router"].tolist() == [[-1, 1, 3], [-1, 0, 2], [-1, 1, 3], [-1, 2, 0]]


def test_destinations_through_ports() -> None:
    """Two leaves of two hosts below two tops: D-mod-K splits what goes up."""
    spec: dict[str, Any] = {
        "network": {
            "topology": {"kary_tree": {"k": 2, "levels": 2}},
            "links": {"level1": {"latency": 3, "vcs": 1, "buffer": 40}},
            "switch": {"input_queued": {}},
        },
        "routing": {"mod_k": {}},
        "traffic": {"load": 0.1, "packet_size": 4, "pattern": "uniform"},
    }
    fixed = _engine.destinations(canonical(spec))
    # Hosts of the other leaf come down, the two ports up have one of its hosts each.
    expected = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    assert (fixed == expected).all()
    free = _engine.destinations(canonical({**spec, "routing": {"up_adaptive": {}}}))
    assert (free == [[1, 1, 2, 2], [1, 1, 2, 2], [2, 2, 0, 0], [2, 2, 0, 0]]).all()

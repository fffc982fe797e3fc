"""Cables of `deroute topology`: the floor, lengths, technologies, prices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deroute import _engine
from deroute.economics import floor, prices, rates
from deroute.economics.comparison import wired
from deroute.economics.network import Network
from deroute.spec import canonical
from test_topology_command import DRAGONFLY, HYPERX, call, network, spec_of

FLOOR = prices.Floor(
    rack_pitch_m=1.0, row_pitch_m=3.0, hosts_per_rack=4, slack_m=2.0, inside_rack_m=0.5
)


def test_total_length_by_hand() -> None:
    """2 x 2 routers of 2 hosts: the first dimension in a rack, two racks in a row."""
    small = network({"hyperx": {"widths": [2, 2], "hosts": 2}})
    plan = floor.place(small, FLOOR)
    assert (plan.racks, plan.rows, plan.racks_per_row) == (2, 1, 2)
    found = floor.cables(small, plan, FLOOR)
    # Eight hosts and two links inside racks; two links of 1 m and slack between them.
    assert found.lengths.sum() == pytest.approx(10 * 0.5 + 2 * 3.0)
    assert [(end, counts.tolist()) for end, counts in found.histogram()] == [
        (1.0, [8, 2, 0]),
        (3.0, [0, 0, 2]),
    ]


def test_rows_are_as_far_apart_as_they_are_said_to_be() -> None:
    """Three racks of one router each in a column: 1 + 1 + 2 pitches and three slacks."""
    line = network({"hyperx": {"widths": [3], "hosts": 4}})
    high = FLOOR.model_copy(update={"row_pitch_m": 0.1})
    plan = floor.place(line, high)
    assert plan.racks == 3
    between = floor.cables(line, plan, high).lengths[line.hosts :]
    expected = [
        abs(plan.x[a] - plan.x[b]) + abs(plan.y[a] - plan.y[b]) + 2.0
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert between.tolist() == pytest.approx(expected)


def test_a_group_is_not_torn_apart() -> None:
    dragonfly = network(DRAGONFLY)
    roomy = FLOOR.model_copy(update={"hosts_per_rack": 12})
    plan = floor.place(dragonfly, roomy)
    assert plan.rack.reshape(9, 4).tolist() == [[group] * 4 for group in range(9)]
    plan = floor.place(dragonfly, FLOOR)
    assert plan.racks == 18
    assert plan.racks_per_row % 2 == 0


@pytest.mark.parametrize(
    "topology",
    [{"rlft": {"ports": 10, "stages": 4}}, {"kary_tree": {"k": 3, "levels": 4}}],
    ids=str,
)
def test_a_pod_is_not_torn_apart(topology: dict[str, Any]) -> None:
    """Above three levels there are switches between pods, which begin anywhere."""
    tree = wired(topology, _engine.topology)
    router, peer, kind = tree.links()
    hosts = 12 * int(tree.hosts_of_router.max())
    plan = floor.place(tree, FLOOR.model_copy(update={"hosts_per_rack": hosts}))
    pod = kind == tree.wiring.class_names.index("level1")
    assert (plan.rack[router] == plan.rack[peer])[pod].all()
    assert np.bincount(plan.rack).max() <= 12
    assert plan.racks == len(set(plan.rack.tolist()))
    # A switch a rack: pods stay in their rows.
    plan = floor.place(tree, FLOOR.model_copy(update={"hosts_per_rack": 1}))
    assert (plan.y[router] == plan.y[peer])[pod].all()
    assert plan.racks == tree.routers


def test_a_plane_stays_in_its_row() -> None:
    """Two rows of three routers fit into a rack, and five of them make a plane."""
    lattice = network({"hyperx": {"widths": [3, 5, 8], "hosts": 8}})
    plan = floor.place(lattice, FLOOR.model_copy(update={"hosts_per_rack": 64}))
    assert plan.rows > 1
    assert all(len(set(row)) == 1 for row in plan.y.reshape(8, 15).tolist())
    assert plan.rack[:15].tolist() == [0] * 6 + [1] * 6 + [2] * 3


def test_a_cable_is_priced_at_its_own_rate() -> None:
    """Hosts at a half, the second dimension at a quarter, one of its links at an eighth."""
    lattice = {"hyperx": {"widths": [3, 2], "hosts": 2, "trunk": 2}}
    spec = spec_of(lattice)
    to_hosts = {"buffer": 4000, "rate": "50%", "flow_control": {"pfc": {}}}
    spec["network"]["nic"] = {"latency": 10, "link": to_hosts}
    spec["network"]["links"]["dim2"] = {"latency": 10, "vcs": 2, "rate": "50\tGb/s"}
    slow = {"routers": [4, 1], "rate": "1/8"}
    spec["network"]["slow_links"] = [slow, {"routers": [1, 4], "rate": "1/2"}]
    wired_so = Network.of(spec, _engine.topology(canonical(spec)))
    found = rates.of_cables(wired_so, spec)
    classes = floor.cables(wired_so, floor.place(wired_so, FLOOR), FLOOR).kind
    by_class = [sorted(found[classes == kind].tolist()) for kind in range(3)]
    assert by_class == [[100.0] * 12, [200.0] * 12, [25.0] + [50.0] * 4 + [100.0]]


def test_the_output_says_what_rates_cables_have() -> None:
    half = ("--set", 'network.links.dim1.rate="50 Gb/s"')
    plain, slower = (json.loads(call(HYPERX, *more, "--json").stdout) for more in ((), half))
    assert slower["link_rates_gbps"] == [50, 100]
    assert slower["cost"]["total"] < plain["cost"]["total"]
    assert "links of 50 and 100 Gb/s" in call(HYPERX, *half).stdout
    many = ("--set", 'network.links.dim2.rate="10%"')
    assert "links of 10 to 100 Gb/s" in call(HYPERX, *half, *many).stdout


def test_the_cheapest_cable_that_reaches() -> None:
    table = prices.read()
    choice = table.choose(np.array([1.0, 7.0, 7.5, 9.0]))
    assert choice.technology.tolist() == [0, 0, 1, 1]
    expected = [2.16 + 1.4, 2.16 + 9.8, 9.7103 + 0.364 * 7.5, 9.7103 + 0.364 * 9]
    assert choice.price.tolist() == pytest.approx(expected)
    fast = prices.read(signalling_ghz=25)
    # A sum of pitches and slack may be 3 m but for the last bit.
    lengths = np.array([3.0, np.nextafter(3.0, 4.0), 3.1])
    assert fast.choose(lengths).technology.tolist() == [0, 0, 1]


def test_cost_is_in_proportion_to_the_rate() -> None:
    assert rates.full({}) == pytest.approx(200)
    assert rates.full({"cycle": "2 ns", "phit": "0.1 KB"}) == pytest.approx(400)
    assert rates.full({"cycle": "0.002\t\u00b5s", "phit": "0.1\tkB"}) == pytest.approx(400)
    for text in ("400 Gb/s", "400Gbps", "0.4 Tbit/s", "50\tGB/s"):
        assert rates.full({"link_rate": text}) == pytest.approx(400)
    result = json.loads(call(HYPERX, "--json").stdout)
    assert result["link_rates_gbps"] == pytest.approx([100])
    parts = result["cost"]["by_technology"]
    assert sum(part["cost"] for part in parts) == pytest.approx(result["cost"]["total"])
    assert result["cost"]["per_host"] == pytest.approx(result["cost"]["total"] / 256)
    rows = result["cables"]["by_length"]
    assert sum(row[name] for row in rows for name in row if name != "up_to_m") == 544
    assert "passive optical" in result["cost"]["left_out"]
    assert {part["year"] for part in parts} == {2008}
    assert all("Kim et al." in part["source"] for part in parts)
    routers = result["cost"]["routers"]
    ports = 256 + 2 * (544 - 256)
    assert routers["cost"] == pytest.approx(350.4 * ports - 892.3 * routers["count"])
    assert routers["year"] == 2014
    assert "Besta" in routers["source"]


PRICES = """\
currency = "EUR"
signalling_ghz = 1
[floor]
rack_pitch_m = 1
row_pitch_m = 1
hosts_per_rack = 1000
slack_m = 0
inside_rack_m = 2
[[cable]]
name = "rope"
fixed = 1
per_metre = 0.5
"""


def test_prices_can_be_replaced(tmp_path: Path, experiment_file: Path) -> None:
    """One rack: 162 cables of 2 m, each of 2 EUR/(Gb/s), at 200 Gb/s."""
    file = tmp_path / "prices.toml"
    file.write_text(PRICES)
    result = json.loads(call(experiment_file, "--prices", file, "--json").stdout)
    assert result["cost"]["total"] == pytest.approx(162 * 2 * 200)
    assert result["cost"]["currency"] == "EUR"
    assert result["cost"]["routers"] is None
    assert result["cables"]["total_m"] == pytest.approx(324)
    assert str(file) in call(experiment_file, "--prices", file).output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("slack_m = 0", "slak_m = 0", ["prices.toml:7: floor.slak_m", "unknown", "slack_m"]),
        ("per_metre = 0.5", "", ["cable[0].per_metre", "is missing"]),
        ("fixed = 1", "fixed = -1", ["prices.toml:11: cable[0].fixed: -1 is not at least 0"]),
        ("fixed = 1", 'fixed = "1"', ["prices.toml:11: cable[0].fixed: '1'", "number"]),
        ("rack_pitch_m = 1", "rack_pitch_m = 0", ["floor.rack_pitch_m: 0 is not more than 0"]),
        ("per_metre = 0.5", "per_metre = 0.5\nreach_m = 1", ["no technology reaches 2 m"]),
        ("per_metre = 0.5", "per_metre = 0.5\nreach_m = {25 = 3}", ["1 GHz", "allowed: 25"]),
        ("per_metre = 0.5", "per_metre = 0.5\nreach_m = {fast = 3}", ["'fast' is not a sig"]),
        ("per_metre = 0.5", "per_metre = 0.5\nreach_m = -3", ["cable[0].reach_m: -3"]),
        ("[floor]", "[floor", ["is not TOML"]),
        ("[[cable]]", "[cables]", ["unknown key `cables`", "cable"]),
    ],
)
def test_mistakes_of_a_price_file(
    tmp_path: Path, experiment_file: Path, old: str, new: str, words: list[str]
) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(PRICES.replace(old, new))
    output = call(experiment_file, "--prices", file, code=2).output.replace("\n", " ")
    assert all(word in output for word in words), output

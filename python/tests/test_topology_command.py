"""`deroute topology`: sizes by radix, counts of the wiring, cables, prices, drawings."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import ROOT, SPEC
from deroute import _engine
from deroute.cli import app
from deroute.cli.topology import rate_gbps
from deroute.economics import floor, prices, scaling
from deroute.economics.drawing import draw
from deroute.economics.network import Network
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call as measure
from deroute.reproduce.paper import PaperError
from deroute.spec import canonical

HYPERX = ROOT / "experiments" / "hyperx.toml"


def call(*arguments: object, code: int = 0) -> Any:
    """Run the command in this process."""
    result = CliRunner().invoke(app, ["topology", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def spec_of(topology: dict[str, Any]) -> dict[str, Any]:
    """A valid spec with this topology."""
    spec = copy.deepcopy(SPEC) | {"network": {**SPEC["network"], "topology": topology}}
    ((name, parameters),) = topology.items()
    dims = ("dim1", "dim2", "dim3", "dim4")[: len(parameters.get("widths", ()))]
    names = {"hyperx": dims, "rlft": ["level1", "level2"], "graph": ["link"], "crossbar": []}
    if name in names:
        spec["network"]["links"] = dict.fromkeys(names[name], SPEC["network"]["links"]["local"])
    return spec


def network(topology: dict[str, Any]) -> Network:
    """A wired network."""
    spec = spec_of(topology)
    return Network.of(spec, _engine.topology(canonical(spec)))


DRAGONFLY = {"dragonfly": {"p": 2, "a": 4, "h": 2}}
TREE = {"rlft": {"ports": 6, "stages": 3}}
GRAPH = {"graph": {"hosts": 1, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}}
LATTICE = {"hyperx": {"widths": [4, 3], "hosts": 2}}

SIZES_64 = {
    "fb2": (10_648, 2),
    "hyperx2": (10_648, 2),
    "clos3": (65_536, 4),
    "fb3": (65_536, 3),
    "hyperx3": (78_608, 3),
    "dragonfly": (262_656, 3),
    "fb4": (371_293, 4),
    "hyperx4": (463_736, 4),
    "fb5": (1_771_561, 5),
    "dragonfly5": (16_781_312, 5),
}


def test_sizes_with_64_ports_are_the_published_ones() -> None:
    output = json.loads(call("--radix", 64, "--json").stdout)
    found = {row["family"]: (row["hosts"], row["diameter"]["links"]) for row in output["families"]}
    assert found == SIZES_64
    assert all(row["ports"] <= 64 for row in output["families"])
    text = call("--radix", 64).stdout
    assert all(f"{hosts:,}" in text for hosts, _ in SIZES_64.values())


def test_table_4_2_of_the_thesis() -> None:
    """Hosts per access switch and per switch, for many ports."""
    shares = {"clos3": (2, 5), "fb2": (3, 3), "fb3": (4, 4), "dragonfly": (4, 4), "fb4": (5, 5)}
    for family, (access, switch) in shares.items():
        design = scaling.largest(family, 960)
        assert design is not None
        assert design.hosts_per_access_router == pytest.approx(960 / access, rel=0.01)
        assert design.hosts_per_router == pytest.approx(960 / switch, rel=0.01)


def test_few_ports_make_few_topologies() -> None:
    assert scaling.largest("clos3", 2) is None
    assert scaling.largest("dragonfly", 2) is None
    assert "none" in call("--radix", 3).stdout


def test_hyperx_is_the_best_of_all_lattices() -> None:
    """Against a search over every shape of two dimensions."""
    for radix in (5, 9, 16, 23):
        shapes = [
            t * a * b
            for t in range(1, radix)
            for a in range(2, radix)
            for b in range(2, radix)
            if t + a + b - 2 <= radix and min(a, b) >= t
        ]
        best = scaling.largest("hyperx2", radix)
        assert best is not None
        assert best.hosts == max(shapes)
    full = scaling.largest("hyperx3", 64, bisection=1.0)
    assert full is not None
    assert full.bisection >= 1
    assert full.hosts < SIZES_64["hyperx3"][0]


@pytest.mark.parametrize("family", ["dragonfly", "fb2", "hyperx3", "clos3"])
@pytest.mark.parametrize("radix", [8, 13, 16])
def test_designs_are_what_the_engine_wires(family: str, radix: int) -> None:
    design = scaling.largest(family, radix)
    assert design is not None
    assert design.topology is not None
    wired = network(dict(design.topology))
    assert (wired.hosts, wired.routers) == (design.hosts, design.routers)
    assert wired.radix() == (design.ports, design.ports)
    distances = wired.distances()
    assert distances is not None
    assert distances.links == design.diameter


def test_counts_are_those_of_the_wiring() -> None:
    dragonfly, lattice = network(DRAGONFLY), network(LATTICE)
    assert dragonfly.links_by_class() == {"host": 72, "local": 9 * 6, "global": 9 * 8 // 2}
    assert lattice.links_by_class() == {"host": 24, "dim1": 3 * 6, "dim2": 4 * 3}
    for each in (dragonfly, lattice):
        router, peer, _ = each.links()
        assert len(router) * 2 == (each.wiring.link_class >= 0).sum()
        assert (router < peer).all()


def plain_search(near: list[list[int]], start: int) -> list[int]:
    """Distances of all routers from one, breadth first."""
    found, queue = {start: 0}, [start]
    for here in queue:
        for there in near[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return list(found.values())


def test_distances_of_known_networks() -> None:
    """HyperX: a coordinate differs with probability (S - 1) / S; Dragonfly: a plain search."""
    lattice = network(LATTICE).distances()
    assert lattice is not None
    assert (lattice.links, lattice.routers) == (2, 3)
    assert lattice.mean == pytest.approx((3 / 4 + 2 / 3) * 24 / 23)
    wired = network(DRAGONFLY)
    near: list[list[int]] = [[] for _ in range(wired.routers)]
    for a, b in zip(*wired.links()[:2], strict=True):
        near[a].append(int(b))
        near[b].append(int(a))
    far = [length for start in range(wired.routers) for length in plain_search(near, start)]
    dragonfly = wired.distances()
    assert dragonfly is not None
    assert dragonfly.links == max(far) == 3
    assert dragonfly.mean == pytest.approx(2 * 2 * sum(far) / (72 * 71))
    crossbar = network({"crossbar": {"hosts": 8}})
    assert crossbar.distances() is not None
    assert crossbar.bisection() is None


def test_bisections_of_known_networks() -> None:
    cut = network(DRAGONFLY).bisection()
    assert cut is not None
    assert (cut.cut, cut.links, cut.per_host) == ("4 of 9 groups", 20, 20 / 32)
    cut = network({"hyperx": {"widths": [8, 8, 8], "hosts": 8}}).bisection()
    assert cut is not None
    assert (cut.links, cut.per_host) == (1024, 0.5)


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
    assert rate_gbps({}) == pytest.approx(200)
    assert rate_gbps({"cycle": "2 ns", "phit": "0.1 KB"}) == pytest.approx(400)
    assert rate_gbps({"cycle": "0.002 \u00b5s", "phit": "0.1 kB"}) == pytest.approx(400)
    for text in ("400 Gb/s", "400Gbps", "0.4 Tbit/s", "50 GB/s"):
        assert rate_gbps({"link_rate": text}) == pytest.approx(400)
    result = json.loads(call(HYPERX, "--json").stdout)
    assert result["link_rate_gbps"] == pytest.approx(100)
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


def test_the_command_prints_everything(experiment_file: Path) -> None:
    output = call(experiment_file, "--set", "network.topology.dragonfly.groups=5").stdout
    for words in (
        "groups = 5",
        "6 ports used",
        "3 links between routers, 4 router traversals",
        "of 5 groups",
        "Cables by length",
        "DAC direct-attach copper",
        "Without a price: passive optical",
        "prices of 2008 (Kim et al.",
        "20 routers: ",
        "not among the cables",
        "cables.toml",
    ):
        assert words in output


def test_a_spec_file_will_do(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    experiment = (ROOT / "experiments" / "demo.toml").read_text(encoding="utf-8")
    base, _, _ = experiment.partition("[[axis]]")
    wanted = base.replace("[base.", "[")
    file.write_text(
        "\n".join(x for x in wanted.splitlines() if not x.startswith(("name", "title")))
    )
    assert "1,056" in call(file).stdout
    file.write_text(file.read_text().replace("a = 8", "a = 0"))
    assert f"{file}:" in call(file, code=2).output
    assert "has no axes" in call(file, "--where", "routing=MIN", code=2).output


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


def test_mistakes_of_the_command(experiment_file: Path, tmp_path: Path) -> None:
    assert "give either a file, or --power, or --radix" in call(code=2).output
    assert (
        "give either a file, or --power, or --radix" in call(HYPERX, "--radix", 64, code=2).output
    )
    unknown = call(HYPERX, "--set", "network.topology={ torus = {} }", code=2).output
    assert all(word in unknown for word in ("torus", "dragonfly", "hyperx"))
    assert "2.5, 10.0, 25.0" in call(HYPERX, "--signalling", 3, code=2).output
    stencil = call(ROOT / "experiments" / "stencil.toml", code=2).output
    assert "stencil.toml:35" in stencil
    assert "without labels of: phase, routing, seed (--where AXIS=LABEL)" in stencil
    large = ("--set", "network.topology.hyperx.widths=[9, 9, 9]")
    result = call(HYPERX, *large, "--plot", tmp_path / "large.png", code=2)
    assert "729 routers are too many to draw: at most 200" in result.output
    assert ".svg" in call(HYPERX, "--plot", "network.gif", code=2).output
    nowhere = tmp_path / "missing" / "network.png"
    assert "cannot write" in call(HYPERX, "--plot", nowhere, code=2).output
    assert "prices.toml" in call(HYPERX, "--prices", tmp_path / "prices.toml", code=2).output


@pytest.mark.parametrize("topology", [DRAGONFLY, LATTICE, TREE, GRAPH, {"crossbar": {"hosts": 3}}])
def test_drawings_are_the_same_every_time(topology: dict[str, Any], tmp_path: Path) -> None:
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    assert draw(network(topology), first) == first
    draw(network(topology), second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000
    routers = network(topology).routers
    shown = set(re.findall(r"(?:<!-- |>)([0-9]+)(?: -->|<)", first.read_text(encoding="utf-8")))
    assert shown == {str(number) for number in range(routers)}


def test_measures_of_claims() -> None:
    evidence = Evidence(SPEC, {}, {}, BuiltEngine)
    for family, (hosts, _) in SIZES_64.items():
        (found,) = measure("largest_hosts", evidence, {"topology": family, "radix": 64})
        assert found.mean == hosts
    wired = measure("largest_wired", evidence, {"topology": "fb3", "radix": 16})
    assert [value.mean for value in wired] == [256, 16 - 3]
    with pytest.raises(NotSettledError, match="does not build"):
        measure("largest_wired", evidence, {"topology": "dragonfly5", "radix": 16})
    with pytest.raises(PaperError, match="torus"):
        measure("largest_hosts", evidence, {"topology": "torus", "radix": 16})
    pair = {"topology": "dragonfly", "over": "clos3", "radices": [16, 20]}
    with pytest.raises(PaperError, match="different diameters"):
        measure("largest_ratio", evidence, pair)


def test_sizes_are_drawn(tmp_path: Path) -> None:
    call("--radix", 24, "--plot", tmp_path / "sizes.svg")
    assert (tmp_path / "sizes.svg").stat().st_size > 1000
    assert "known format" in call("--radix", 24, "--plot", tmp_path / "sizes.xyz", code=2).output
    assert "8 ports" in call("--radix", 8, "--plot", tmp_path / "sizes.png", code=2).output

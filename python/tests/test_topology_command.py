"""`deroute topology`: sizes by radix, counts of the wiring, drawings, mistakes."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conftest import ROOT, SPEC
from deroute import _engine
from deroute.cli import app
from deroute.economics import scaling
from deroute.economics.drawing import draw
from deroute.economics.network import Network
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call as measure
from deroute.reproduce.paper import PaperError
from deroute.spec import canonical
from deroute.writing import toml_value

HYPERX = ROOT / "experiments" / "hyperx.toml"


def call(*arguments: object, code: int = 0) -> Any:
    """Run the command in this process."""
    result = CliRunner().invoke(app, ["topology", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


LEVELS = ["level1", "level2"]


def spec_of(topology: dict[str, Any]) -> dict[str, Any]:
    """A valid spec with this topology."""
    spec = copy.deepcopy(SPEC) | {"network": {**SPEC["network"], "topology": topology}}
    ((name, parameters),) = topology.items()
    dims = ("dim1", "dim2", "dim3", "dim4")[: len(parameters.get("widths", ()))]
    names = {"hyperx": dims, "rlft": LEVELS, "fat_tree": LEVELS, "graph": ["link"], "crossbar": []}
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


def test_a_slim_fat_tree_is_cut_where_it_is_slimmest() -> None:
    """Of 16 hosts, below two leaves with one way up each."""
    slim = network({"fat_tree": {"children": [4, 2, 2], "parents": [1, 1, 4]}}).bisection()
    assert slim is not None
    assert (slim.cut, slim.links, slim.per_host) == ("2 of 4 subtrees of level 1", 2, 0.25)
    full = network(TREE).bisection()
    assert full is not None
    assert (full.cut, full.links) == ("3 of 6 subtrees of level 2", 27)


def test_hosts_that_no_cut_parts_have_no_bisection(tmp_path: Path) -> None:
    """All on one of three routers."""
    topology = {"graph": {"hosts": [2, 0, 0], "edges": [[0, 1], [1, 2]]}}
    spec = tmp_path / "spec.toml"
    document = spec_of(topology)
    spec.write_text("".join(f"{key} = {toml_value(document[key])}\n" for key in document))
    assert "none: no cut parts the hosts" in call(spec).stdout


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([HYPERX, "--bisection", 1], "--bisection: belongs to --radix"),
        (["--power", "--bisection", 1], "--bisection: belongs to --radix"),
        (["--radix", 8, "--set", "a.b=3"], "--set: belongs to FILE"),
        (["--power", "--where", "x=1"], "--where: belongs to FILE"),
        (["--radix", 8, "--prices", "x.toml"], "--prices: belongs to FILE without --power"),
        (["--radix", 8, "--signalling", 25], "--signalling: belongs to FILE without --power"),
        ([HYPERX, "--power", "--prices", "x.toml"], "--prices: belongs to FILE without --power"),
        ([HYPERX, "--power", "--signalling", 77], "--signalling: belongs to FILE without --power"),
    ],
)
def test_options_that_say_nothing_are_refused(arguments: list[object], said: str) -> None:
    assert said in call(*arguments, code=2).output


def test_mistakes_of_the_command(experiment_file: Path, tmp_path: Path) -> None:
    assert "give either a file, or --power, or --radix" in call(code=2).output
    assert (
        "give either a file, or --power, or --radix" in call(HYPERX, "--radix", 64, code=2).output
    )
    unknown = call(HYPERX, "--set", "network.topology={ torus = {} }", code=2).output
    assert all(word in unknown for word in ("torus", "dragonfly", "hyperx"))
    assert "2.5, 10.0, 25.0" in call(HYPERX, "--signalling", 3, code=2).output
    stencil = call(ROOT / "experiments" / "stencil.toml", code=2).output
    assert "stencil.toml:36" in stencil
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

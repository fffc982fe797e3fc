"""`deroute topology --power`: what networks draw, by hand and as the thesis prints it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from deroute import _engine
from deroute.cli import app
from deroute.economics import power
from deroute.economics.comparison import wired
from deroute.economics.power import Census, Kind
from deroute.tables import sizes
from deroute.tables.addresses import ADDRESSINGS
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric

CONSTANTS = power.read()


def call(*arguments: object, code: int = 0) -> Any:
    """Run the command in this process."""
    result = CliRunner().invoke(app, ["topology", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def networks() -> dict[str, Census]:
    """The three networks of thesis 4.7.2."""
    found = power.companions(lambda topology: wired(topology, _engine.topology))
    return {each.title: each for each in found}


def test_a_switch_by_hand() -> None:
    """18 hosts and 54 other links: 30 + 18 * 0.48 + 54 * 0.6 + 72 * 78.125e6 * 9.0041e-9 W."""
    kind = Kind(1, {"host": 18, "local": 35, "global": 19}, {"flat": 1000.0})
    draw = power.draw(Census("one", 18, [kind]), CONSTANTS, "TCAM flat")
    assert draw.electrical == pytest.approx(8.64)
    assert draw.optical == pytest.approx(32.4)
    assert draw.switching == pytest.approx(50.648, abs=1e-3)
    assert draw.total - draw.tables == pytest.approx(121.69, abs=0.005)
    assert draw.tables == pytest.approx(3.454)
    cam = power.draw(Census("one", 18, [kind]), CONSTANTS, "CAM flat")
    assert draw.tables / cam.tables == pytest.approx(2000 / 48)


def test_sizes_of_the_three_networks(networks: dict[str, Census]) -> None:
    sizes = {name: (each.switches, each.hosts) for name, each in networks.items()}
    assert sizes == {
        "folded Clos": (29_484, 303_264),
        "Flattened Butterfly": (20_250, 303_750),
        "Dragonfly": (16_668, 300_024),
    }
    for network in networks.values():
        for kind in network.kinds:
            assert sum(kind.ports.values()) == pytest.approx(72)
    # Every link has two ends.
    clos = networks["folded Clos"]
    for level in ("level1", "level2", "level3"):
        ends = [kind.switches * kind.ports.get(level, 0) for kind in clos.kinds]
        below, above = (end for end in ends if end)
        assert below == above, level


def test_what_the_thesis_prints(networks: dict[str, Census]) -> None:
    """Sections 4.7.2 and 4.8, within what `power.toml` says of its two derived values."""

    def draw(name: str, organisation: str) -> power.Draw:
        return power.draw(networks[name], CONSTANTS, organisation)

    assert draw("Dragonfly", "TCAM flat").total == pytest.approx(19.3e6, rel=1e-3)
    for name, network in networks.items():
        tables = draw(name, "TCAM flat").tables
        assert tables / network.switches > 900
        assert tables > 15e6
    compact = [draw(name, "TCAM compact").total for name in networks]
    assert compact == sorted(compact, reverse=True)
    reference = draw("folded Clos", "CAM flat")
    saved = 1 - draw("Dragonfly", "TCAM compact").total / reference.total
    assert saved == pytest.approx(0.532, abs=0.0015)
    assert reference.tables / reference.total == pytest.approx(0.170, abs=0.0005)


def test_one_network(tmp_path: Path) -> None:
    file = ROOT / "experiments" / "demo.toml"
    figure = tmp_path / "power.png"
    text = call(file, "--power", "--plot", figure).stdout
    assert "264 switches, 1,056 hosts" in text
    assert figure.stat().st_size > 10_000
    (found,) = json.loads(call(file, "--power", "--json").stdout)["networks"]
    assert found["entries_per_switch"]["per-group"] == 43
    flat = found["tables"]["TCAM flat"]
    assert flat["tables"] == pytest.approx(264 * 1056 * 2000 * 1.727e-6)
    parts = sum(flat[part] for part in ("logic", "electrical", "optical", "switching", "tables"))
    assert flat["total"] == pytest.approx(parts)
    assert flat["per_host"] == pytest.approx(parts / 1056)


def test_small_networks_are_counted_whole(
    networks: dict[str, Census], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = ROOT / "experiments" / "demo.toml"
    text = call(file, "--power").stdout
    assert "Looked at" not in text
    (found,) = json.loads(call(file, "--power", "--json").stdout)["networks"]
    network = wired({"dragonfly": {"p": 4, "a": 8, "h": 4}}, _engine.topology)
    compiler = Compiler(
        Fabric(network.name, network.parameters, network.wiring), "minimal", "compact"
    )
    rules = sum(compiler.memory(router).entries for router in range(264))
    assert found["entries_per_switch"]["compact"] == pytest.approx(rules / 264)
    assert found["switches_looked_at"] == 264
    assert {name: each.looked_at for name, each in networks.items()} == {
        "folded Clos": None,
        "Flattened Butterfly": 26,
        "Dragonfly": 26,
    }
    monkeypatch.setattr(sizes, "_MOST_ENTRIES", 8 * 1056)
    text = call(file, "--power").stdout
    assert "Looked at the tables of 8 of 264 switches." in text


def test_networks_without_places_have_flat_tables() -> None:
    for topology, hosts in (
        ({"graph": {"hosts": 2, "edges": [[0, 1], [1, 2], [2, 0]]}}, 6.0),
        ({"crossbar": {"hosts": 8}}, 8.0),
    ):
        (kind,) = power.census(wired(topology, _engine.topology)).kinds
        assert kind.entries == dict.fromkeys(ADDRESSINGS, hosts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("logic_w = 30.0", "logic_w = -1.0"), "switch.logic_w: -1.0 is not at least 0"),
        (("logic_w = 30.0", "logic = 30.0"), "unknown key `logic`"),
        (("read_nj = 4.5048\n", ""), "switching.read_nj: is missing"),
        (("packet_bytes = 64", "packet_bytes = 0"), "0 is not at least 1"),
        (("[table]", "[tables]"), "unknown key `tables`"),
    ],
)
def test_mistakes_in_constants(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    file = tmp_path / "power.toml"
    text = power.DEFAULT.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    result = call(ROOT / "experiments" / "demo.toml", "--power-constants", file, code=2)
    assert said in result.output


def test_other_constants_and_bad_names(tmp_path: Path) -> None:
    file = tmp_path / "power.toml"
    file.write_text(power.DEFAULT.read_text().replace('["host"]', '["host", "local"]'))
    demo = ROOT / "experiments" / "demo.toml"
    (ours,) = json.loads(call(demo, "--power", "--json").stdout)["networks"]
    (other,) = json.loads(call(demo, "--power-constants", file, "--json").stdout)["networks"]
    before, after = (each["tables"]["CAM flat"] for each in (ours, other))
    assert after["electrical"] - before["electrical"] == pytest.approx(264 * 7 * 0.48)
    said = call("--power", "--plot", tmp_path / "power.bmp", code=2).output
    assert "does not end in a known format" in said
    assert "give either a file" in call("--radix", 64, "--power", code=2).output
    assert "No such file" in call(demo, "--power-constants", tmp_path / "none", code=2).output

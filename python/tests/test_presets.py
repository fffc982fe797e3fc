"""Networks to start from, and files that extend others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deroute
from deroute import plan, presets
from deroute.errors import InputError
from deroute.experiment import Experiment
from test_cli import call

HOSTS = {
    "ai-dragonfly-4608": 4608,
    "ai-ethernet-2048": 2048,
    "ai-infiniband-1024": 1024,
    "dragonfly-5256": 5256,
    "dragonfly-5256-acor": 5256,
    "dragonfly-5256-lian": 5256,
    "dragonfly-5256-pb-acor": 5256,
    "dragonfly-5256-tpr": 5256,
    "ethernet-dragonfly-5256": 5256,
    "ethernet-tree-32": 32,
    "hyperx-8x8x8": 4096,
    "hyperx-8x8x8x8": 32768,
    "fat-tree-11664": 11664,
}


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def base(folder: Path, text: str) -> Any:
    return Experiment.load(write(folder, "mine.toml", f'name = "mine"\n{text}')).base


@pytest.mark.parametrize("name", presets.names())
def test_networks_are_valid_and_as_large_as_they_say(name: str, tmp_path: Path) -> None:
    file = write(tmp_path, "mine.toml", f'name = "mine"\nextends = "{name}"\n')
    assert len(plan.check_file(file).points) == 1
    output = call("topology", file, "--json").output if HOSTS[name] < 5000 else None
    assert output is None or json.loads(output)["hosts"] == HOSTS[name]
    assert set(presets.names()) == set(HOSTS)


@pytest.mark.parametrize("name", [name for name in HOSTS if name.startswith("ai-")])
def test_fabrics_of_data_sheets_say_where_each_number_is_from(name: str) -> None:
    text = (Path(presets.__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    head = text[: text.index("[base.units]")]
    assert "# From " in head
    assert "# Assumed" in head


def ports(name: str, tmp_path: Path) -> Any:
    file = write(tmp_path, "mine.toml", f'name = "mine"\nextends = "{name}"\n')
    return json.loads(call("topology", file, "--json").output)


def test_fabrics_of_data_sheets_have_the_ports_of_their_switches(tmp_path: Path) -> None:
    """As many switches and links as the sheets say, and 64 ports of each switch in use."""
    tree = ports("ai-infiniband-1024", tmp_path)
    assert tree["routers"] == 32 + 16
    assert tree["links"]["level1"] == tree["links"]["host"] == 1024
    assert ports("ai-ethernet-2048", tmp_path)["routers"] == 64 + 32
    dragonfly = ports("ai-dragonfly-4608", tmp_path)
    assert dragonfly["routers"] == 9 * 32
    assert dragonfly["links"]["local"] == 9 * 32 * 31 // 2
    assert dragonfly["links"]["global"] == 9 * 544 // 2


@pytest.mark.parametrize(
    ("name", "routing"),
    [
        ("acor", {"valiant": {"restricted": True, "recompute": True, "phase_a": {"acor": {}}}}),
        ("pb-acor", {"piggyback": {"ugal": {"phase_a": {"acor": {}}}}}),
        ("tpr", {"tpr": {"ugal": {"restricted": True, "recompute": True}}}),
        ("lian", {"lian": {}}),
    ],
)
def test_parameters_of_the_thesis_are_the_defaults_of_the_engine(name: str, routing: Any) -> None:
    """Tables 5-3 and 6-1, in words: what the engine takes where nothing is said."""
    spec = presets.base(f"dragonfly-5256-{name}")
    assert spec is not None
    small = {"dragonfly": {"p": 2, "a": 4, "h": 2}}
    spec["network"]["topology"] = small
    spec["traffic"] |= {"load": 0.4, "pattern": {"adversarial": {"offset": 1}}}
    spec["run"] = {"warmup": 1000, "measure": 2000}
    said = deroute.simulate(spec)
    assert said.packets.delivered > 0
    assert said.scalars() == deroute.simulate(spec | {"routing": routing}).scalars()


def test_entries_of_the_file_are_put_over(tmp_path: Path) -> None:
    plain = presets.base("dragonfly-5256")
    assert plain is not None
    own = base(
        tmp_path,
        'extends = "dragonfly-5256"\n[base.network.topology.dragonfly]\np = 2\na = 4\nh = 2\n'
        "[base.network.links.local]\nvcs = 6\n[base.routing.piggyback]\n[base.run]\nseed = 7\n",
    )
    assert own["network"]["topology"] == {"dragonfly": {"p": 2, "a": 4, "h": 2}}
    assert own["network"]["links"]["local"] == {"latency": "15 ns", "vcs": 6, "buffer": "18 KB"}
    assert own["network"]["links"]["global"] == plain["network"]["links"]["global"]
    assert own["routing"] == {"piggyback": {}}
    assert own["run"] == {"seed": 7}
    deroute.check(own)


def test_another_topology_has_its_own_links(tmp_path: Path) -> None:
    own = base(
        tmp_path,
        'extends = "dragonfly-5256"\n[base.network.topology.hyperx]\nwidths = [4]\nhosts = 2\n'
        '[base.network.links.dim1]\nlatency = "15 ns"\nvcs = 2\nbuffer = "18 kB"\n',
    )
    assert list(own["network"]["topology"]) == ["hyperx"]
    assert list(own["network"]["links"]) == ["dim1"]
    deroute.check(own)


def test_files_extend_files(tmp_path: Path) -> None:
    write(tmp_path, "below.toml", 'extends = "dragonfly-5256"\n[base.traffic]\nload = 0.25\n')
    own = base(tmp_path, 'extends = "below.toml"\n[base.run]\nseed = 3\n')
    assert own["traffic"]["load"] == 0.25
    assert own["traffic"]["packet_size"] == "250 B"
    assert own["run"]["seed"] == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('extends = "dragonfly-5265"', "did you mean: dragonfly-5256"),
        ('extends = "none.toml"', "there is no file none.toml"),
        ('extends = "mine.toml"', "extends itself"),
        ("extends = 3", "neither the name of a network nor a file"),
    ],
)
def test_mistakes(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        base(tmp_path, line)
    text = str(caught.value)
    assert words in text
    assert "mine.toml:2: extends" in text


def test_a_run_keeps_what_it_was(tmp_path: Path) -> None:
    """The store has the whole spec: the network that was extended may change."""
    text = (
        'name = "mine"\nextends = "dragonfly-5256"\n'
        "[base.network.topology.dragonfly]\np = 1\na = 2\nh = 1\n"
        '[base.run]\nwarmup = "3 us"\nmeasure = "3 us"\n'
    )
    file = write(tmp_path, "mine.toml", text)
    call("run", file, "--dir", tmp_path / "out")
    results = deroute.load_results(tmp_path / "out")
    assert results.experiment.base["network"]["switch"]["combined_queued"]["speedup"] == 2
    pytest.importorskip("plotly")
    call("report", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "What differs from dragonfly-5256" in page
    cells = "<td class='why'>6</td><td class='why'>1</td>"
    assert f"<td>network.topology.dragonfly.p</td>{cells}" in page

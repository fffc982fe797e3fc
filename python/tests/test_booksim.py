"""Configuration files of BookSim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import deroute
from deroute import InputError, booksim, plan
from deroute.cli import app

DRAGONFLY = """\
// A Dragonfly of 72 hosts.
topology = dragonflynew;
k = 2; n = 1;
routing_function = min;
num_vcs = 2;     // more than there must be
vc_buf_size = 64;
traffic = "uniform";
packet_size = 4;
injection_rate = 0.05;
sample_period = 500; max_samples = 4; warmup_periods = 2;
seed = 7;
print_csv_results = 1;
"""
FLAT = "topology = flatfly; k = 3; n = 2; c = 2; use_noc_latency = 0;\n"
TREE = "topology = fattree; k = 2; n = 3; use_noc_latency = 0; routing_function = nca;\n"


def convert(tmp_path: Path, text: str) -> dict[str, Any]:
    file = tmp_path / "a.cfg"
    file.write_text(text)
    return booksim.convert(file)


def test_a_dragonfly_is_what_booksim_builds(tmp_path: Path) -> None:
    base = convert(tmp_path, DRAGONFLY)["base"]
    assert base["network"] == {
        "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2, "arrangement": "consecutive"}},
        "links": {
            "local": {"latency": 10, "buffer": 64},
            "global": {"latency": 100, "buffer": 64},
        },
        # Routing, VC and switch allocation, and traversal, a cycle each.
        "switch": {"input_queued": {"pipeline": 4}},
    }
    # Packets a cycle become phits.
    assert base["traffic"] == {"load": 0.2, "packet_size": 4, "pattern": "uniform"}
    assert base["run"] == {"seed": 7, "warmup": 1000, "measure": 2000}
    outcome = deroute.simulate(base)
    assert outcome.size.hosts == 72
    assert outcome.load.accepted == pytest.approx(0.2, rel=0.1)


@pytest.mark.parametrize(
    ("text", "topology", "routing"),
    [
        (FLAT + "routing_function = xyyx;", {"hyperx": {"widths": [3, 3], "hosts": 2}}, "o1turn"),
        (
            FLAT + "routing_function = valiant;",
            {"hyperx": {"widths": [3, 3], "hosts": 2}},
            "valiant",
        ),
        (TREE, {"kary_tree": {"k": 2, "levels": 3}}, "up_oblivious"),
    ],
)
def test_networks_on_links_of_a_cycle(
    text: str, topology: object, routing: str, tmp_path: Path
) -> None:
    base = convert(tmp_path, text)["base"]
    assert base["network"]["topology"] == topology
    assert list(base["routing"]) == [routing]
    deroute.check(base)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("dragonflynew", "torus", 2, "'torus' has no counterpart"),
        ("n = 1;", "n = 2;", 3, "groups of more dimensions"),
        ("function = min", "function = ugal", 4, "'ugal' has no counterpart"),
        ("vc_buf_size = 64", "vc_buf_size = 3", 6, "do not hold a packet of 4"),
        ('"uniform"', "tornado", 7, "'tornado' has no counterpart"),
        ("packet_size = 4", "packet_size = four", 8, "'four' is not a number"),
        ("packet_size = 4", "packet_size = 4.5", 8, "not a whole number"),
        ("injection_rate = 0.05", "injection_rate = 0.5", 9, "more than a link carries"),
        ("injection_rate = 0.05", "injection_rate = -1", 9, "less than 0"),
        ("seed = 7", "classes = 2", 11, "'2' has no counterpart"),
        ("seed = 7", "internal_speedup = 2.0", 11, "'2.0' has no counterpart"),
        ("seed = 7", "credit_delay = 2", 11, "'2' has no counterpart"),
        ("seed = 7", "sead = 7", 11, "`sead` is not known"),
        ("seed = 7;", "seed 7;", 11, "is no `key = value;`"),
        ("print_csv_results = 1;", "print_csv_results = 1", 12, "is no `key = value;`"),
    ],
)
def test_what_has_no_counterpart_is_told_with_its_line(
    old: str, new: str, line: int, words: str, tmp_path: Path
) -> None:
    assert old in DRAGONFLY
    with pytest.raises(InputError) as caught:
        convert(tmp_path, DRAGONFLY.replace(old, new))
    assert f"a.cfg:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_floor_plan_has_no_counterpart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="floor plan"):
        convert(tmp_path, TREE.replace("use_noc_latency = 0;", ""))


def test_the_command_writes_a_valid_file(tmp_path: Path) -> None:
    source, target = tmp_path / "a.cfg", tmp_path / "b c.toml"
    source.write_text(DRAGONFLY)
    command = ["convert", "booksim", str(source)]
    result = CliRunner().invoke(app, [*command, "--to", str(target)])
    assert result.exit_code == 0, result.output
    checked = plan.check_file(target)
    assert len(checked.points) == 1
    assert checked.points[0].spec == booksim.convert(source)["base"]
    assert checked.experiment.name == "b-c"
    assert f"next: deroute check '{target}'" in result.output
    shown = CliRunner().invoke(app, command).stdout
    assert shown == target.read_text().replace('name = "b-c"', 'name = "a"')
    again = CliRunner().invoke(app, [*command, "--to", str(target)])
    assert again.exit_code == 2
    assert f"--to: {target} is there already" in again.output
    missing = CliRunner().invoke(app, ["convert", "booksim", str(tmp_path / "none")])
    assert (missing.exit_code, "No such file" in missing.output) == (2, True)

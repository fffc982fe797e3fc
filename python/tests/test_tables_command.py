"""`deroute tables`: counts, files for Open vSwitch and P4, conditional rules, bad input."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from deroute.cli import app
from deroute.errors import InputError
from deroute.tables import openflow, p4, rows, sizes
from deroute.tables.addresses import ADDRESSINGS, ANY_HOST
from deroute.tables.asked import routing_of
from deroute.tables.compiler import Compiler
from deroute.tables.rules import ALTERNATIVE, DEFAULT, ORDINARY, Condition, Rule, Table
from deroute.writing import toml_value
from test_tables import CLOS, DRAGONFLY, LATTICE, fabric_of, follow, spec_of, table_of


def call(*arguments: object, code: int = 0) -> Any:
    """Run the command in this process."""
    result = CliRunner().invoke(app, ["tables", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


#: Figure 4-8 draws the mirror image of the default arrangement: its router 0 owns the links to the
#: groups 1 and 2.
FIGURE = {"dragonfly": {"p": 2, "a": 4, "h": 2, "mirror": True}}


def test_the_rules_of_figure_4_8() -> None:
    """Ports there are counted from 1; what its low-priority rules say follows figure 4-10."""
    table = Compiler(fabric_of(FIGURE), "mar-bp", "per-group").table(0)
    layout = Compiler(fabric_of(FIGURE), "mar-bp", "per-group").layout
    ordinary = [rule for rule in table.rules if rule.priority >= ORDINARY]
    assert [rule.ports[0] + 1 for rule in ordinary] == [3, 4, 5, 1, 2]
    assert all(rule.condition is None for rule in ordinary)
    default = [rule for rule in table.rules if ORDINARY > rule.priority >= DEFAULT]
    known = {}
    for rule in default:
        assert rule.destination is not None
        assert rule.condition == Condition("not-paused", rule.ports[0])
        group, *_ = layout.decode(rule.destination.value)
        known[group] = rule.ports[0] + 1
    assert known == {1: 6, 2: 7, 3: 3, 4: 3, 5: 4, 6: 4, 7: 5, 8: 5}
    low = [rule for rule in table.rules if rule.priority <= ALTERNATIVE]
    entries = [(rule.in_port, rule.ports[0] + 1) for rule in low]
    assert entries == [(0, 6), (1, 7)]


def test_a_paused_port_diverts_what_would_leave_over_it() -> None:
    compiler = Compiler(fabric_of(FIGURE), "mar-bp", "compact")
    # Host 1 leaves its group over port 6, host 8 stands in group 1.
    paused = Condition("not-paused", 5)
    assert follow(compiler, 1, 8)[0] == (0, 5)
    path = follow(compiler, 1, 8, holds=lambda condition: condition != paused)
    assert path[0] == (0, 6)
    assert path[-1][0] == 4
    assert len(path) <= 5
    # The other groups do not notice, nor does the group itself.
    for target in (2, 16, 24, 71):
        assert follow(compiler, 1, target) == follow(
            compiler, 1, target, holds=lambda condition: condition != paused
        )


@pytest.mark.parametrize("routing", ["mar-bp", "qcn-switch"])
@pytest.mark.parametrize("topology", [DRAGONFLY, LATTICE, CLOS], ids=str)
def test_conditional_tables_deliver_whatever_is_paused(routing: str, topology: Any) -> None:
    """With every port paused as well: a packet that no rule is left for waits for the first."""
    compiler = Compiler(fabric_of(topology), routing, "compact")
    hosts = range(0, compiler.fabric.hosts, 5)
    for source, target in itertools.permutations(hosts, 2):
        home = int(compiler.fabric.wiring.router_of_host[target])
        paths = [
            follow(compiler, source, target, holds=lambda _, state=state: state)
            for state in (True, False)
        ]
        assert all(path[-1][0] == home for path in paths)
        assert len(paths[0]) <= len(paths[1])


def test_valiant_leaves_by_the_link_of_the_host() -> None:
    compiler = Compiler(fabric_of(DRAGONFLY), "valiant", "compact")
    minimal = Compiler(fabric_of(DRAGONFLY), "minimal", "compact")
    for source, target in itertools.product(range(0, 72, 7), range(72)):
        group = target // 8 == source // 8
        path = follow(compiler, source, target) if source != target else []
        if group and path:
            assert path == follow(minimal, source, target)
        elif path:
            assert path[0] == (source // 2, 5 + source % 2)


def test_rules_more_than_minimal_routing_needs() -> None:
    """Thesis 4.5.2 and 4.5.3."""
    plain = table_of(Compiler(fabric_of(DRAGONFLY), "minimal", "per-group"), 0)
    divert = table_of(Compiler(fabric_of(DRAGONFLY), "mar-bp", "per-group"), 0)
    assert len(divert.rules) == len(plain.rules) + 2
    square = {"hyperx": {"widths": [4, 4], "hosts": 4}}
    plain = Compiler(fabric_of(square), "minimal", "compact").table(5)
    divert = Compiler(fabric_of(square), "mar-bp", "compact").table(5)
    alternatives = [rule for rule in divert.rules if rule.in_port is not None]
    assert len(alternatives) == 3
    assert len(divert.rules) - len(alternatives) == len(plain.rules) == 10
    leaf = int(fabric_of(CLOS).access[0])
    plain = Compiler(fabric_of(CLOS), "s-mod-k", "compact").table(leaf)
    divert = Compiler(fabric_of(CLOS), "mar-bp", "compact").table(leaf)
    assert len(plain.rules) == 3 + 3
    assert len(divert.rules) == 3 + 3 * 3


def test_a_lattice_has_an_output_for_every_dimension() -> None:
    """Thesis 4.5.2: the dimensions take over from one another, with no rule more."""
    cube = {"hyperx": {"widths": [3, 3, 3], "hosts": 3}}
    compiler = Compiler(fabric_of(cube), "qcn-switch", "compact")
    table = compiler.table(0)
    assert list(table.ambiguous()) == []
    # To a router that differs in all dimensions, from a port of a router.
    key = (int(compiler.addresses[-1]), int(compiler.addresses[3]), 3)
    gone: list[int] = []

    def usable(condition: Condition) -> bool:
        return condition.port not in gone

    while len(gone) < 3:
        rule = table.lookup(*key, holds=usable)
        assert rule is not None
        gone.extend(rule.ports)
    assert gone == [4, 6, 8]
    # Where only one dimension is left, there is nothing to turn to.
    key = (int(compiler.addresses[2 * 3]), int(compiler.addresses[3]), 3)
    rule = table.lookup(*key, lambda condition: False)
    assert rule is not None
    assert rule.ports == (4,)


FILE = ROOT / "experiments" / "demo.toml"
MINIMAL = ("--set", "routing={minimal={}}")
SMALL = ("--set", "network.topology.dragonfly={p=2, a=4, h=2}")


def test_counts() -> None:
    found = json.loads(call(FILE, *MINIMAL, "--json").stdout)
    assert (found["hosts"], found["routers"], found["groups"]) == (1056, 264, 33)
    table = found["addressings"]
    for name, rules in {"flat": 1056, "per-switch": 267, "per-group": 43}.items():
        assert table[name]["closed_form"] == {"fewest": rules, "most": rules}
        assert table[name]["access"]["fewest"] == table[name]["access"]["most"] == rules
    assert table["compact"]["closed_form"] == {"fewest": 22, "most": 43}
    assert table["compact"]["access"]["mean"] <= table["compact"]["greedy"]["mean"]
    text = call(FILE, *MINIMAL).stdout
    assert "22 to 43" in text
    assert "6 bits of group, 3 bits of switch, 2 bits of host" in text
    assert "Looked at" not in text
    trunked = "network.topology.dragonfly={p=2, a=4, h=2, groups=3, trunk=2}"
    found = json.loads(call(FILE, *MINIMAL, "--set", trunked, "--json").stdout)["addressings"]
    assert [each["closed_form"] for each in found.values()] == [None] * 4
    assert re.search("per-group +- +10", call(FILE, *MINIMAL, "--set", trunked).stdout)


def test_files_without_a_network_or_with_another_one_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.toml"
    file.write_text('name = "x"\n[base.routing.minimal]\n')
    assert "network" in call(file, code=2).output
    crossbar = ("--set", "network.topology={crossbar={hosts=4}}", "--set", "network.links={}")
    said = call(FILE, *crossbar, *MINIMAL, code=2).output
    assert "there are no addresses for a crossbar" in said
    assert "allowed: dragonfly, hyperx" in said
    assert "No such file" in call(tmp_path / "none.toml", code=2).output


def test_what_cannot_be_is_said() -> None:
    tree = ROOT / "experiments" / "fat-tree.toml"
    found = json.loads(call(tree, "--routing", "s-mod-k", "--json").stdout)["addressings"]
    assert "no field of a flat address" in found["flat"]["impossible"]
    assert found["compact"]["access"]["most"] == found["compact"]["closed_form"]["most"]
    assert "no field of a flat address" in call(tree, "--routing", "s-mod-k").stdout


#: No field of an address alone tells the way up.
SLIM = {"fat_tree": {"children": [3, 2, 2], "parents": [1, 1, 2]}}


@pytest.fixture
def slim(tmp_path: Path) -> Path:
    """A file with that network."""
    file = tmp_path / "slim.toml"
    document = json.loads(spec_of(SLIM))
    file.write_text("".join(f"{key} = {toml_value(document[key])}\n" for key in document))
    return file


def test_a_network_without_any_tables_is_told_as_such(slim: Path) -> None:
    text = call(slim, "--routing", "s-mod-k").stdout
    for addressing in ADDRESSINGS:
        assert f"{addressing}: no field of a {addressing} address tells the way up" in text
    for addressing, others in (("compact", []), ("flat", ["compact"])):
        compiler = Compiler(fabric_of(SLIM), "mar-bp", addressing)
        with pytest.raises(InputError, match="no field") as caught:
            _ = [compiler.table(router) for router in range(compiler.fabric.routers)]
        assert list(caught.value.problems[0].choices) == others


@pytest.mark.parametrize("option", ["--csv", "--openflow", "--p4"])
def test_what_cannot_be_written_whole_leaves_all_as_it_was(option: str, slim: Path) -> None:
    """The first switch has a table."""
    to = slim.with_name("to")
    to.write_text("mine") if option == "--csv" else to.mkdir()
    said = call(slim, "--routing", "s-mod-k", option, to, code=2).output
    assert "no field of a compact address" in said
    assert set(slim.parent.rglob("*")) == {slim, to}
    assert option != "--csv" or to.read_text() == "mine"


def test_files(tmp_path: Path) -> None:
    options = ("--openflow", tmp_path / "of", "--p4", tmp_path / "p4", "--csv", tmp_path / "t.csv")
    text = call(FILE, *SMALL, "--routing", "mar-bp", *options).output
    assert "37 files (compact)" in text
    compiler = Compiler(fabric_of(DRAGONFLY), "mar-bp", "compact")
    count = sum(len(table_of(compiler, router).rules) for router in range(36))
    with (tmp_path / "t.csv").open() as stream:
        found = list(csv.DictReader(stream))
    assert len(found) == count
    assert tuple(found[0]) == rows.COLUMNS
    assert {row["condition"] for row in found} == {"", "not-paused"}
    for router in (0, 35):
        flows = (tmp_path / "of" / f"s{router}.flows").read_text().splitlines()
        entries = json.loads((tmp_path / "p4" / f"s{router}.json").read_text())["entries"]
        table = table_of(compiler, router)
        assert len(flows) == len(entries) == len(table.rules)
        assert [entry["priority"] for entry in entries] == [rule.priority for rule in table.rules]
    script = (tmp_path / "of" / "build.sh").read_text()
    assert script.count("type=patch") == 36 * 5
    assert script.count("ovs-ofctl") == 36
    assert (tmp_path / "of" / "build.sh").stat().st_mode & 0o100


def test_a_rule_as_a_flow_and_as_an_entry() -> None:
    table = Compiler(fabric_of(FIGURE), "mar-bp", "per-group").table(0)
    rule = next(rule for rule in table.rules if rule.condition and rule.ports == (5,))
    assert openflow.flow(rule) == (
        "priority=20000,cookie=0x100000006,dl_dst=02:00:00:00:00:08/ff:ff:ff:ff:ff:f8,"
        "actions=output:6"
    )
    assert p4.entry(rule)["match"] == {
        "hdr.ethernet.dst_addr": {"value": "0x020000000008", "mask": "0xfffffffffff8"},
        "meta.not_paused": {"value": "0x20", "mask": "0x20"},
    }
    tree = Compiler(fabric_of(CLOS), "ecmp", "compact").table(0)
    assert list(openflow.group_lines(tree)) == [
        "group_id=1,type=select,selection_method=hash,fields(eth_src,eth_dst),"
        "bucket=output:4,bucket=output:5,bucket=output:6"
    ]
    last = tree.rules[-1]
    assert list(openflow.flows(tree))[-1].endswith("actions=group:1")
    assert p4.entry(last)["action"]["params"] == {"ports": [3, 4, 5]}


def test_ports_of_large_switches_are_wide_enough() -> None:
    """Nine bits are those of 512 ports."""
    table = Table(0, (Rule(1, (5,), ANY_HOST, in_port=600),))
    keys = [
        p4.document(table, ports)["entries"][0]["match"]["standard_metadata.ingress_port"]
        for ports in (601, 64)
    ]
    assert [key["mask"] for key in keys] == ["0x3ff", "0x1ff"]
    assert int(keys[0]["value"], 0) & int(keys[0]["mask"], 0) == 600


def test_files_of_another_network_do_not_stay_beside_new_ones(tmp_path: Path) -> None:
    for option in ("--openflow", "--p4"):
        to = tmp_path / option.strip("-")
        to.mkdir()
        (to / "s9.flows").touch()
        said = call(FILE, *SMALL, *MINIMAL, "--p4", tmp_path / "new", option, to, code=2).output
        assert said == f"error: {option}: {to} is not an empty folder\n"
    assert not (tmp_path / "new").exists()


def test_without_open_vswitch_it_is_said_what_is_not_tested() -> None:
    tool = ROOT / "tools" / "openflow.py"
    done = subprocess.run(
        [sys.executable, tool],
        env=os.environ | {"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("NOT TESTED")
    assert "apt-get install -y openvswitch-switch" in done.stdout


def test_large_networks_are_sampled() -> None:
    large = fabric_of({"dragonfly": {"p": 8, "a": 16, "h": 8}})
    assert len(sizes.chosen(large)) == 8_000_000 // large.hosts == 484
    assert len(sizes.chosen(large, 100)) in (100, 101)
    # One of the switches chosen has hosts.
    tree = fabric_of({"rlft": {"ports": 8, "stages": 3}})
    assert len(sizes.chosen(tree, 1)) == 1
    assert len(sizes.chosen(tree)) == tree.routers
    spec = "network.topology.dragonfly={p=8, a=16, h=8}"
    text = call(FILE, *MINIMAL, "--set", spec).stdout
    assert "Looked at: 484 of 2,064 switches with hosts." in text


def test_conditional_routings_of_a_file_are_those_of_the_tables() -> None:
    network = {"topology": dict(DRAGONFLY)}
    known: list[tuple[dict[str, Any], str]] = [
        ({"mar_bp": {}}, "mar-bp"),
        ({"mar_bp": {"alternatives": "non-minimal", "vc_use": "compact"}}, "mar-bp"),
        ({"qcn_switch": {"feedback": "base"}}, "qcn-switch"),
    ]
    for routing, name in known:
        assert routing_of({"network": network, "routing": routing}) == name
    tree = {"network": {"topology": dict(CLOS)}, "routing": {"mar_bp": {"alternatives": "minimal"}}}
    assert routing_of(tree) == "mar-bp"
    others: list[tuple[dict[str, Any], str]] = [
        ({"mar_bp": {"alternatives": "minimal"}}, "mar_bp.alternatives: no table does 'minimal'"),
        ({"mar_bp": {"paused": "credits"}}, "mar_bp.paused: no table does 'credits'"),
        ({"qcn_switch": {"alternatives": 2}}, "qcn_switch.alternatives: no table does 2"),
        ({"qcn_switch": {"phase_a": "-g-"}}, "qcn_switch.phase_a: no table does '-g-'"),
        ({"table": {"rules": ""}}, "the file has rules of its own"),
    ]
    for routing, said in others:
        with pytest.raises(InputError, match=said):
            routing_of({"network": network, "routing": routing})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--routing", "minimul"], "did you mean: minimal"),
        (["--routing", "ecmp"], "'ecmp' is not made for a dragonfly"),
        ([*MINIMAL, "--addressing", "mac"], "unknown addressing 'mac'"),
        ([], "looks at queues or draws"),
        (["--set", "routing={valiant={}}"], "allowed: -g-"),
        (["--set", "routing={minmal={}}", "--routing", "minimal"], "minimal"),
        ([*MINIMAL, "--csv", "/nowhere/t.csv"], "cannot write /nowhere/t.csv"),
    ],
)
def test_mistakes(arguments: list[str], said: str) -> None:
    result = call(FILE, "--set", "routing={piggyback={}}", *SMALL, *arguments, code=2)
    assert said in result.output

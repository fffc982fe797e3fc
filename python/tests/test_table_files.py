"""Tables from files, and the engine that routes by them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import deroute
from deroute import _engine, plan
from deroute.economics.comparison import spec_for
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.files import read_document
from deroute.tables import files, openflow, rows
from deroute.tables.addresses import ADDRESSINGS
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric
from deroute.writing import toml_value
from test_tables import CLOS, DRAGONFLY, LATTICE, NETWORKS

TREE = {"kary_tree": {"k": 2, "levels": 3}}
ENGINE = {
    "minimal": {"minimal": {}},
    "s-mod-k": {"mod_k": {"of": "source"}},
    "d-mod-k": {"mod_k": {}},
    "ecmp": {"ecmp": {}},
}


def compiler_of(topology: Mapping[str, Any], routing: str, addressing: str) -> Compiler:
    fabric = Fabric.of(topology, _engine.topology(spec_for(topology)))
    return Compiler(fabric, routing, addressing)


def table_of(compiler: Compiler, file: Path, **more: Any) -> dict[str, Any]:
    """The routing by what `deroute tables --csv` writes."""
    rows.write(compiler, file)
    return {"table": {**files.read(file), "addressing": compiler.addressing, **more}}


CASES = [
    *[(topology, "minimal", "compact") for topology in NETWORKS],
    *[(LATTICE, "minimal", each) for each in ("flat", "per-switch", "per-group")],
    (DRAGONFLY, "minimal", "per-group"),
    (CLOS, "d-mod-k", "per-group"),
    (CLOS, "s-mod-k", "compact"),
    (CLOS, "ecmp", "compact"),
]


@pytest.mark.parametrize(("topology", "routing", "addressing"), CASES)
def test_compiled_tables_route_as_the_algorithm(
    topology: dict[str, Any], routing: str, addressing: str, tmp_path: Path
) -> None:
    compiler = compiler_of(topology, routing, addressing)
    table = table_of(compiler, tmp_path / "rules.csv")
    pairs = list(permutations(range(compiler.fabric.hosts), 2))
    expected = _engine.paths(spec_for(topology, ENGINE[routing]), pairs, 1)
    assert _engine.paths(spec_for(topology, table), pairs, 1) == expected


def paused_spec(topology: Mapping[str, Any]) -> dict[str, Any]:
    """A network whose outputs are paused."""
    spec: dict[str, Any] = json.loads(spec_for(topology))
    for link in spec["network"]["links"].values():
        link.update(latency=10, vcs=5, buffer=150)
    spec["network"]["flow_control"] = {"pfc": {"response": 0, "frame": 4, "xoff": 40, "xon": 20}}
    spec["traffic"] = {"load": 0.9, "packet_size": 4, "pattern": {"permutation": {"seed": 3}}}
    spec["run"] = {"warmup": 300, "measure": 1500}
    return spec


ROW = {"hyperx": {"widths": [4], "hosts": 6}}
TRUNKED = {"hyperx": {"widths": [4, 3], "hosts": 3, "trunk": 2}}
SQUARE = {"hyperx": {"widths": [4, 4], "hosts": 3}}
#: More hosts than global ports, some of which are spare.
SPARE = {"dragonfly": {"p": 4, "a": 4, "h": 3, "groups": 5}}


@pytest.mark.parametrize(
    ("topology", "addressing"),
    [
        (DRAGONFLY, "compact"),
        (SPARE, "per-group"),
        (TREE, "compact"),
        (ROW, "compact"),
        *((topology, each) for topology in (SQUARE, LATTICE) for each in ADDRESSINGS[:-1]),
        *((TRUNKED, each) for each in ADDRESSINGS[:-1]),
    ],
)
def test_compiled_mar_bp_gives_the_bytes_of_the_algorithm(
    topology: dict[str, Any], addressing: str, tmp_path: Path
) -> None:
    spec = paused_spec(topology)
    compiler = compiler_of(topology, "mar-bp", addressing)
    table = table_of(compiler, tmp_path / "rules.csv", detours=topology is not TREE)
    found = []
    for routing in ({"mar_bp": {}}, table):
        scalars, arrays = _engine.simulate(json.dumps(spec | {"routing": routing}))
        outcome = json.loads(scalars)
        # The links of a row end at the hosts, which take what comes: nobody is told to be silent.
        acted = "decided" if topology is ROW else "diverted"
        assert outcome["adaptation"]["counts"][acted] > 0
        found.append((outcome, {name: array.tolist() for name, array in arrays.items()}))
    assert found[0] == found[1]


@pytest.mark.parametrize("routing", ["mar-bp", "qcn-switch"])
def test_dimensions_of_parallel_links_in_any_order_are_refused(routing: str) -> None:
    """The engine takes one by the number of the destination; all packets took the first."""
    with pytest.raises(InputError, match="which of its parallel links"):
        compiler_of(TRUNKED, routing, "compact").table(0)


@pytest.mark.parametrize("topology", [SQUARE, LATTICE])
def test_dimensions_in_any_order_are_a_table(topology: dict[str, Any], tmp_path: Path) -> None:
    """Thesis 4.5.2: without a rule more, and a VC for each hop."""
    compiler = compiler_of(topology, "mar-bp", "compact")
    table = table_of(compiler, tmp_path / "rules.csv", count_hops=True)
    spec = paused_spec(topology)
    scalars, _ = _engine.simulate(json.dumps(spec | {"routing": table}))
    outcome = json.loads(scalars)
    assert outcome["adaptation"]["counts"]["diverted"] > 0
    assert outcome["packets"]["delivered"] > 0
    # While nothing is paused, the first dimension is corrected first.
    pairs = list(permutations(range(compiler.fabric.hosts), 2))
    paths = [
        _engine.paths(json.dumps(spec | {"routing": each}), pairs, 1)
        for each in (table, {"minimal": {}})
    ]
    ports = [[[hop[:2] for hop in path or []] for path in found] for found in paths]
    assert ports[0] == ports[1]


def test_valiant_in_a_hyperx_takes_the_link_of_the_host(tmp_path: Path) -> None:
    """Host i moves to coordinate i of the first dimension, where its own is another one."""
    compiler = compiler_of(SQUARE, "valiant", "per-group")
    table = table_of(compiler, tmp_path / "rules.csv", detours=True)
    pairs = list(permutations(range(compiler.fabric.hosts), 2))
    spec = json.loads(spec_for(SQUARE, table))
    for link in spec["network"]["links"].values():
        link["vcs"] = 4
    detours = 0
    for (source, target), path in zip(
        pairs, _engine.paths(json.dumps(spec), pairs, 1), strict=True
    ):
        (router, host), home = divmod(source, 3), target // 3
        assert path is not None
        assert path[-1][:2] == (home, target % 3)
        if router % 4 != home % 4 and router % 4 != host:
            assert path[1][0] == router - router % 4 + host
            detours += 1
    assert detours > 0


def test_valiant_takes_the_link_of_the_host(tmp_path: Path) -> None:
    compiler = compiler_of(DRAGONFLY, "valiant", "compact")
    table = table_of(compiler, tmp_path / "rules.csv", detours=True)
    pairs = list(permutations(range(compiler.fabric.hosts), 2))
    spec = json.loads(spec_for(DRAGONFLY, table))
    spec["network"]["links"]["local"] = {**spec["network"]["links"]["local"], "vcs": 4}
    paths = _engine.paths(json.dumps(spec), pairs, 1)
    for (source, target), path in zip(pairs, paths, strict=True):
        assert path is not None
        group, switch = divmod(source // 2, 4)
        if target // 8 != group:
            assert path[0][:2] == (4 * group + switch, 5 + source % 2)
        assert path[-1][:2] == (target // 2, target % 2)


def experiment(folder: Path, table: str) -> dict[str, Any]:
    """The routing of a file that names another one."""
    file = folder / "experiment.toml"
    file.write_text(f"[base.routing.table]\n{table}\n", encoding="utf-8")
    routing: dict[str, Any] = read_document(file)[0]["base"]["routing"]
    return routing


def test_files_stand_for_their_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = compiler_of(DRAGONFLY, "minimal", "compact")
    rows.write(compiler, tmp_path / "rules.csv")
    text = (tmp_path / "rules.csv").read_text(encoding="utf-8")
    named = 'file = "rules.csv"\naddressing = "compact"'
    routing = experiment(tmp_path, named)
    assert routing == {"table": {"rules": text, "addressing": "compact"}}
    pairs = [(0, 71), (9, 3)]
    expected = _engine.paths(spec_for(DRAGONFLY), pairs, 1)
    # From the last router to the first: the rows of a router have only to stay together.
    frame = pl.read_csv(tmp_path / "rules.csv", infer_schema=False)
    frame.with_columns(pl.col("router").cast(pl.UInt32)).write_parquet(tmp_path / "rules.parquet")
    parquet = files.read(tmp_path / "rules.parquet")
    assert parquet["rules"].replace('""', "") == text
    # Large files are packed.
    monkeypatch.setattr(files, "_PLAIN", 100)
    packed = experiment(tmp_path, named)
    assert set(packed["table"]) == {"packed", "addressing"}
    assert _engine.paths(spec_for(DRAGONFLY, packed), pairs, 1) == expected


DUMP = """\
OFPST_FLOW reply (OF1.5) (xid=0x2):
 cookie=0x0, duration=1.07s, table=0, n_packets=0, n_bytes=0, idle_age=1, \
priority=40000,dl_dst=02:00:00:00:00:00 actions=output:1
 cookie=0x100000003, duration=1.07s, table=0, n_packets=0, n_bytes=0, \
priority=20000,in_port=1,dl_dst=02:00:00:00:00:04/ff:ff:ff:ff:ff:fc actions=output:3
 cookie=0x0, duration=1s, table=0, n_packets=0, n_bytes=0, \
dl_src=02:00:00:00:00:00/ff:00:00:00:00:00 actions=group:2
 cookie=0x0, duration=1s, table=0, n_packets=0, n_bytes=0, priority=9,dl_type=0x88b5 actions=IN_PORT
"""
GROUPS = """\
OFPST_GROUP_DESC reply (OF1.5) (xid=0x2):
 group_id=2,type=select,selection_method=hash,fields(eth_src,eth_dst),\
bucket=bucket_id:0,actions=output:3,bucket=bucket_id:1,actions=output:4
"""


def test_a_dump_of_open_vswitch(tmp_path: Path) -> None:
    (tmp_path / "s7.flows").write_text(DUMP, encoding="utf-8")
    (tmp_path / "s7.groups").write_text(GROUPS, encoding="utf-8")
    exact = ",".join(["02:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"])
    assert files.read(tmp_path)["rules"].splitlines() == [
        ",".join(rows.COLUMNS),
        f"7,,{exact},,,40000,,,0",
        "7,0,02:00:00:00:00:04,ff:ff:ff:ff:ff:fc,,,20000,not-paused,2,2",
        "7,,,,02:00:00:00:00:00,ff:00:00:00:00:00,32768,,,2 3",
    ]


def test_what_is_written_for_a_switch_is_read_back(tmp_path: Path) -> None:
    compiler = compiler_of(CLOS, "ecmp", "per-group")
    said: list[tuple[int, int]] = []
    openflow.write(compiler, tmp_path / "flows", told=lambda *far: said.append(far))
    rows.write(compiler, tmp_path / "rules.csv")
    switches = compiler.fabric.routers
    assert said == [(done, switches) for done in range(1, switches + 1)]
    assert files.read(tmp_path / "flows") == files.read(tmp_path / "rules.csv")


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ("priority=1,dl_vlan=3 actions=output:1", "dl_vlan is nothing that a table looks at"),
        ("priority=1 actions=drop", "the action 'drop' is none of a table"),
        ("priority=1 actions=group:5", "no group 5 in the dump"),
        ("priority=1 actions=LOCAL", "the action 'LOCAL'"),
        ("priority=1,in_port=LOCAL actions=output:2", "'LOCAL' is no number of a port"),
        ("dl_dst=02:00:00 actions=output:2", "'02:00:00' is not a MAC address"),
    ],
)
def test_flows_that_are_no_rules_are_named(flow: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "s0.flows").write_text(f"{DUMP}{flow}\n", encoding="utf-8")
    (tmp_path / "s0.groups").write_text(GROUPS, encoding="utf-8")
    with pytest.raises((ValueError, InputError), match=said):
        files.read(tmp_path)


@pytest.mark.parametrize("plain", [1 << 20, 100])
def test_rules_from_dumps_are_found_where_they_stand(
    plain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they are packed or not."""
    monkeypatch.setattr(files, "_PLAIN", plain)
    openflow.write(compiler_of(DRAGONFLY, "minimal", "compact"), tmp_path / "flows")
    flows = tmp_path / "flows" / "s5.flows"
    first, second, *rest = flows.read_text(encoding="utf-8").splitlines(keepends=True)
    second = re.sub(r"output:\d+", "output:99", second)
    flows.write_text("".join(["a heading\n", first, second, *rest]), encoding="utf-8")
    table = {"file": "flows", "addressing": "compact"}
    spec = json.loads(spec_for(DRAGONFLY)) | {"routing": {"table": table}}
    file = tmp_path / "spec.toml"
    file.write_text(f"base = {toml_value(spec)}", encoding="utf-8")
    said = f"router 5, rule on line 3 of {flows}: port 98 does not exist"
    with pytest.raises(InputError, match=re.escape(said)):
        deroute.check(file)
    with pytest.raises(InputError, match=re.escape(said)):
        plan.check_experiment(Experiment.from_document({"name": "bad", **read_document(file)[0]}))


def test_files_that_are_none_are_named(tmp_path: Path) -> None:
    (tmp_path / "rules.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "rules.txt").touch()
    (tmp_path / "empty").mkdir()
    for name, said in {
        "rules.parquet": "is no Parquet",
        "rules.txt": "is neither CSV, nor Parquet",
        "empty": "has no dump",
        "none.csv": "No such file",
    }.items():
        with pytest.raises(InputError, match=said):
            experiment(tmp_path, f'file = "{name}"')


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    compiler = compiler_of(DRAGONFLY, "minimal", "compact")
    file = tmp_path / "rules.csv"
    rows.write(compiler, file)
    whole = file.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    cut = {
        whole[:-5]: "has no end",
        "".join(lines[:-1]): "router 35: no rule for host",
        "".join(lines[:20]): "router [0-9]+: no rule for host",
    }
    for text, said in cut.items():
        file.write_text(text, encoding="utf-8")
        table = {"table": {**files.read(file), "addressing": "compact"}}
        with pytest.raises(_engine.SpecError, match=said):
            _engine.check(spec_for(DRAGONFLY, table))


def test_a_bad_table_is_one_mistake(tmp_path: Path) -> None:
    """And not that the table has no rules, which it has."""
    spec = json.loads(spec_for(DRAGONFLY))
    (tmp_path / "rules.csv").write_text("router,destination,ports\n0,0,99\n", encoding="utf-8")
    spec["routing"] = {"table": files.read(tmp_path / "rules.csv")}
    with pytest.raises(InputError) as caught:
        plan.check_experiment(Experiment.from_document({"name": "bad", "base": spec}))
    (problem,) = caught.value.problems
    assert "router 0, rule on line 2: port 99 does not exist" in problem.message

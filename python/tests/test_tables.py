"""Addresses, rules and their compaction: against the engine's paths and against closed forms."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import SPEC
from deroute import _engine
from deroute.economics import charts, scaling
from deroute.errors import InputError
from deroute.tables import addresses, sizes, ternary
from deroute.tables.addresses import ADDRESSINGS, ANY_HOST, Layout, Pattern
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric
from deroute.tables.rules import Rule, Table

DRAGONFLY = {"dragonfly": {"p": 2, "a": 4, "h": 2}}
TRUNKED = {"dragonfly": {"p": 1, "a": 3, "h": 2, "groups": 4, "trunk": 2}}
LATTICE = {"hyperx": {"widths": [3, 2, 4], "hosts": 3}}
CLOS = {"rlft": {"ports": 6, "stages": 3}}
NETWORKS: list[dict[str, Any]] = [
    DRAGONFLY,
    {"dragonfly": {"p": 2, "a": 4, "h": 2, "arrangement": "consecutive"}},
    TRUNKED,
    {"hyperx": {"widths": [4, 3], "hosts": 2}},
    LATTICE,
    {"hyperx": {"widths": [3, 3], "hosts": 2, "trunk": 2}},
    {"rlft": {"ports": 8, "stages": 1}},
    {"rlft": {"ports": 8, "stages": 2}},
    CLOS,
    {"kary_tree": {"k": 2, "levels": 4}},
    {"folded_clos": {"ports": 8, "levels": 3, "groups": 4}},
    {"fat_tree": {"children": [4, 2, 3], "parents": [1, 2, 2], "parallel": [1, 1, 2]}},
]
ENGINE = {"minimal": {"minimal": {}}, "s-mod-k": {"mod_k": {"of": "source"}}}


def spec_of(topology: Mapping[str, Any], routing: str = "minimal") -> str:
    """A valid spec with this topology, as the engine takes it."""
    spec = copy.deepcopy(SPEC)
    ((name, parameters),) = topology.items()
    count, stem = 0, "level"
    if name == "hyperx":
        count, stem = len(parameters["widths"]), "dim"
    elif name != "dragonfly":
        levels = parameters.get("stages") or parameters.get("levels")
        count = (levels or len(parameters["children"])) - 1
    if name != "dragonfly":
        link = SPEC["network"]["links"]["local"]
        spec["network"]["links"] = {f"{stem}{place + 1}": link for place in range(count)}
    spec["network"]["topology"] = dict(topology)
    spec["routing"] = ENGINE[routing]
    return json.dumps(spec)


def fabric_of(topology: Mapping[str, Any]) -> Fabric:
    """The network as the engine wires it."""
    return Fabric.of(topology, _engine.topology(spec_of(topology)))


def follow(compiler: Compiler, source: int, target: int, **states: Any) -> list[tuple[int, int]]:
    """Router and port of every hop by the tables."""
    fabric, address = compiler.fabric, [int(each) for each in compiler.addresses]
    at = int(fabric.wiring.router_of_host[source])
    entry = fabric.host_ports(at)[source % fabric.hosts_per_switch]
    hops: list[tuple[int, int]] = []
    while len(hops) < 20:
        rule = table_of(compiler, at).lookup(address[target], address[source], entry, **states)
        assert rule is not None
        hops.append((at, rule.ports[0]))
        peer = int(fabric.wiring.peer_router[hops[-1]])
        if peer < 0:
            return hops
        at, entry = peer, int(fabric.wiring.peer_port[hops[-1]])
    raise AssertionError(hops)


_KNOWN: dict[tuple[int, int], tuple[Compiler, Table]] = {}


def table_of(compiler: Compiler, router: int) -> Table:
    """The table of a router, made once."""
    key = (id(compiler), router)
    if key not in _KNOWN:
        _KNOWN[key] = (compiler, compiler.table(router))
    return _KNOWN[key][1]


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
@pytest.mark.parametrize("addressing", ADDRESSINGS)
def test_tables_send_every_packet_where_the_engine_does(
    topology: dict[str, Any], addressing: str
) -> None:
    fabric = fabric_of(topology)
    for routing in ENGINE if "rlft" in topology else ["minimal"]:
        if routing == "s-mod-k" and addressing == "flat" and topology != NETWORKS[6]:
            # Neighbours of a source are told apart by fields that these addresses do not have.
            with pytest.raises(InputError, match=r"no field of a flat address(.|\n)*compact"):
                Compiler(fabric, routing, addressing).table(0)
            continue
        if routing == "s-mod-k" and addressing == "per-switch" and topology == CLOS:
            continue
        compiler = Compiler(fabric, routing, addressing)
        tables = [table_of(compiler, router) for router in range(fabric.routers)]
        spec = spec_of(topology, routing)
        for table in tables:
            assert list(table.ambiguous()) == []
            assert table.memory() == compiler.memory(table.router)
        pairs = list(itertools.permutations(range(fabric.hosts), 2))
        for source, target in random.Random(1).sample(pairs, min(len(pairs), 600)):
            path = _engine.path(spec, source, target, 1)
            assert path is not None
            expected = [hop[:2] for hop in path]
            assert follow(compiler, source, target) == expected, (source, target)


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
@pytest.mark.parametrize("addressing", ADDRESSINGS)
def test_addresses_are_local_and_lead_back(topology: dict[str, Any], addressing: str) -> None:
    compiler = Compiler(fabric_of(topology), "minimal", addressing)
    found = [int(address) for address in compiler.addresses]
    assert len(set(found)) == compiler.fabric.hosts
    for host, address in enumerate(found):
        octet = address >> 40
        assert octet & 0b10, "locally administered"
        assert not octet & 0b01, "unicast"
        assert ANY_HOST.matches(address)
        assert compiler.host(address) == host
        assert addresses.parse_mac(addresses.mac(address)) == address


def test_an_address_has_a_field_for_every_level() -> None:
    dragonfly, lattice = fabric_of(DRAGONFLY), fabric_of(LATTICE)
    layout = Compiler(dragonfly, "minimal", "per-group").layout
    assert [(each.name, each.size, each.bits) for each in layout.fields] == [
        ("group", 9, 4),
        ("switch", 4, 2),
        ("host", 2, 1),
    ]
    # Host 1 of switch 2 of group 5.
    address = int(Compiler(dragonfly, "minimal", "per-group").addresses[(5 * 4 + 2) * 2 + 1])
    assert addresses.mac(address) == "02:00:00:00:00:2d"
    assert layout.decode(address) == (5, 2, 1)
    assert layout.mask(["group"]) == 0xFF0000000078
    assert layout.upper(1) == 0xFFFFFFFFFFF8
    names = [field.name for field in Compiler(lattice, "minimal", "compact").layout.fields]
    assert names == ["dim1", "dim2", "dim3", "host"]
    # Router 13 of 3 x 2 x 4 stands at 1, 0, 2.
    compiler = Compiler(lattice, "minimal", "compact")
    assert compiler.layout.decode(int(compiler.addresses[13 * 3 + 2])) == (1, 0, 2, 2)
    clos = Compiler(fabric_of(CLOS), "minimal", "compact")
    assert [field.name for field in clos.layout.fields] == ["level3", "level2", "host"]
    assert clos.layout.decode(int(clos.addresses[9 * 4 + 3 * 2 + 1])) == (4, 2, 1)


def test_addresses_of_nobody_are_refused() -> None:
    compiler = Compiler(fabric_of(DRAGONFLY), "minimal", "per-group")
    for wrong in (0x0200000000FF, 0x000000000001, 0xFFFFFFFFFFFF, 9 << 3 | 0x02 << 40):
        with pytest.raises(InputError, match="address of no host"):
            compiler.host(wrong)
    with pytest.raises(InputError, match="is not a MAC address"):
        addresses.parse_mac("02:00:00")
    with pytest.raises(InputError, match="more than 40 of an address"):
        Layout.of({"group": 1 << 30, "host": 1 << 11})
    with pytest.raises(InputError, match="unknown addressing 'nested'"):
        Compiler(fabric_of(DRAGONFLY), "minimal", "nested")


def test_networks_and_routings_without_tables_are_refused() -> None:
    fabric = fabric_of(DRAGONFLY)
    with pytest.raises(InputError, match="not made for a dragonfly"):
        Compiler(fabric, "ecmp", "flat")
    with pytest.raises(InputError, match="unknown routing 'ugal'"):
        Compiler(fabric, "ugal", "flat")
    with pytest.raises(InputError, match="no addresses for a graph"):
        Fabric.of({"graph": {}}, {})


def test_patterns() -> None:
    block = Pattern(0x020000000010, 0xFFFFFFFFFFF0)
    assert block.matches(0x02000000001A)
    assert not block.matches(0x020000000020)
    assert block.overlaps(Pattern(0x020000000000, 0xFF0000000000))
    assert not block.overlaps(Pattern(0x020000000020, 0xFFFFFFFFFFF0))
    assert str(block) == "02:00:00:00:00:10/ff:ff:ff:ff:ff:f0"


def test_rules_of_one_priority_that_contradict_each_other_are_found() -> None:
    wide = Rule(5, (1,), Pattern(0x020000000000, 0xFF0000000000))
    narrow = Rule(5, (2,), Pattern(0x020000000010, 0xFFFFFFFFFFF0))
    assert list(Table.of(0, [wide, narrow]).ambiguous()) == [(wide, narrow)]
    higher = Rule(6, (2,), narrow.destination)
    assert list(Table.of(0, [wide, higher]).ambiguous()) == []
    elsewhere = [Rule(5, (1,), in_port=3), Rule(5, (2,), in_port=4)]
    assert list(Table.of(0, elsewhere).ambiguous()) == []


RADICES = (8, 16, 24, 48, 96)
#: Thesis figures 4-4 and 4-6, derived from equation 4-1.
PRINTED = {
    ("dragonfly", "flat"): (72, 1056, 5256, 83232, 1328256),
    ("dragonfly", "per-switch"): (37, 267, 881, 6947, 55367),
    ("dragonfly", "per-group"): (13, 43, 89, 323, 1223),
    ("fb2", "per-group"): (7, 16, 22, 46, 94),
    ("fb2", "compact"): (7, 16, 22, 46, 94),
    ("fb3", "per-group"): (6, 22, 46, 166, 622),
    ("fb3", "compact"): (5, 13, 21, 45, 93),
    ("clos3", "flat"): (128, 1024, 3456, 27648, 221184),
    ("clos3", "per-group"): (14, 30, 46, 94, 190),
    ("clos3", "compact"): RADICES,
}
SCATTERED = {8: (10, 13), 16: (22, 43), 24: (34, 89), 48: (70, 323), 96: (142, 1223)}


FAMILIES = ("dragonfly", "fb2", "fb3", "fb4", "clos3")
#: But for 4 dimensions of 96 ports: 3,200,000 hosts take a minute and 1.5 GB; they are equal, too.
CASES = [case for case in itertools.product(FAMILIES, RADICES) if case != ("fb4", 96)]


@pytest.mark.parametrize(("family", "radix"), CASES)
def test_rules_by_closed_form_and_by_enumeration(family: str, radix: int) -> None:
    design = scaling.largest(family, radix)
    assert design is not None
    assert design.topology is not None
    fabric = fabric_of(design.topology)
    assert charts.shape_of(design) == sizes.Shape.of(fabric)
    for addressing in ADDRESSINGS:
        routing = "minimal"
        if family == "clos3":
            routing = "s-mod-k" if addressing == "compact" else "ecmp"
        most = 1 if radix == 96 else 4
        found = sizes.size(Compiler(fabric, routing, addressing), most)
        assert found.closed is not None
        low, high = found.closed
        if family == "dragonfly" and addressing == "compact":
            assert (low, high) == SCATTERED[radix]
            assert low <= found.access.fewest <= found.access.most <= high
        else:
            assert (found.access.fewest, found.access.most) == (low, high)
        printed = PRINTED.get((family, addressing))
        if printed is not None:
            assert low == printed[RADICES.index(radix)]


def test_parallel_links_have_no_closed_form() -> None:
    """Of a HyperX of 4 neighbours by two links each, equation 4-1 made ports of all of them."""
    parallel = [each for each in NETWORKS if "trunk" in str(each) or "parallel" in str(each)]
    assert len(parallel) == 3
    for topology in parallel:
        assert sizes.size(Compiler(fabric_of(topology), "minimal", "compact")).closed is None
    assert sizes.size(Compiler(fabric_of(LATTICE), "minimal", "compact")).closed is not None


def test_rules_are_drawn(tmp_path: Path) -> None:
    options = {"topologies": ["fb3", "dragonfly"], "addressings": ["per-group", "compact"]}
    (drawn,) = charts.draw("rules", "Rules", tmp_path / "rules", ["png"], **options)
    assert drawn.stat().st_size > 10_000
    with pytest.raises(InputError, match="unknown topology 'torus'"):
        charts.draw("rules", "Rules", tmp_path / "r", ["png"], topologies=["torus"], addressings=[])
    with pytest.raises(InputError, match="unknown addressing 'mac'"):
        charts.draw("rules", "R", tmp_path / "r", ["png"], topologies=["fb3"], addressings=["mac"])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("scalability", {"ports": 9, "topologies": ["fb2"]}),
        ("cable-cost", {"widths": [4, 5], "signalling": [10], "ports": 16}),
        ("power", {}),
        ("rules", {"topologies": ["fb3"], "addressings": ["compact"]}),
    ],
)
def test_numbers_of_charts_are_plain(kind: str, options: Any, tmp_path: Path) -> None:
    (drawn,) = charts.draw(kind, "Chart", tmp_path / "chart", ["svg"], **options)
    assert "$" not in drawn.read_text(encoding="utf-8")


def test_a_dragonfly_does_not_reach_the_lower_bound() -> None:
    """All 876 switches: where groups behind one port are not aligned, patterns do not fit."""
    fabric = fabric_of({"dragonfly": {"p": 6, "a": 12, "h": 6}})
    found = sizes.size(Compiler(fabric, "minimal", "compact"), fabric.routers)
    assert found.closed == (34, 89)
    assert found.access.switches == 876
    assert (found.access.fewest, found.access.most) == (45, 59)


def test_transit_switches_and_what_a_table_takes() -> None:
    fabric = fabric_of(CLOS)
    grouped = sizes.size(Compiler(fabric, "ecmp", "per-group"))
    # 5 other pods, 2 other switches, 3 hosts; above: 3 switches and 5 pods, or 6 pods.
    assert (grouped.access.fewest, grouped.access.most) == (10, 10)
    assert grouped.transit is not None
    assert (grouped.transit.fewest, grouped.transit.most) == (6, 8)
    assert grouped.memory.tcam_bits == 10 * 48 * 2
    assert grouped.memory.cam_bits is None
    flat = sizes.size(Compiler(fabric, "minimal", "flat")).memory
    assert (flat.entries, flat.tcam_bits, flat.cam_bits) == (54, 54 * 96, 54 * 48)
    by_source = sizes.size(Compiler(fabric, "s-mod-k", "compact")).memory
    assert (by_source.entries, by_source.key_bits) == (6, 96)


def test_compaction_is_as_small_as_can_be() -> None:
    """Against a search over all sets of patterns."""
    rng = random.Random(1)
    for _ in range(60):
        bits = rng.randint(1, 4)
        numbers = rng.sample(range(1 << bits), 1 << bits)
        count = rng.randint(1, min(6, len(numbers)))
        wanted, spare = set(numbers[:count]), set(numbers[count : count + rng.randint(0, 4)])
        found, quick = ternary.cover(wanted, spare, bits), ternary.greedy(wanted, spare, bits)
        for cubes in (found, quick):
            covered = set().union(*(_members(cube, bits) for cube in cubes))
            assert wanted <= covered <= wanted | spare
        assert len(found) == _fewest(wanted, wanted | spare, bits) <= len(quick)


def test_groups_1_and_2_need_two_rules() -> None:
    """Thesis 4.3.2: a pattern that fits both fits group 3, too."""
    assert len(ternary.cover([1, 2], [], 4)) == 2
    assert ternary.cover([1, 2], [0, 3], 4) == [(0, 0b1100)]


@pytest.mark.parametrize("bits", [4, 7, 11])
def test_ranges_need_at_most_as_many_patterns_as_prefixes(bits: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(8):
        first, last = sorted(int(each) for each in rng.choice(1 << bits, 2, replace=False))
        numbers = range(first, min(last, first + 60) + 1)
        quick = ternary.greedy(numbers, (), bits)
        assert len(ternary.cover(numbers, (), bits)) <= len(quick) <= max(1, 2 * bits - 2)


def test_wide_fields_are_merged_greedily() -> None:
    cubes = ternary.cover(range(1000, 2000), (), 13)
    assert cubes == ternary.greedy(range(1000, 2000), (), 13)
    assert len(cubes) < 24


def _members(cube: tuple[int, int], bits: int) -> set[int]:
    return {number for number in range(1 << bits) if number & cube[1] == cube[0]}


def _fewest(wanted: set[int], allowed: set[int], bits: int) -> int:
    every = itertools.product(range(1 << bits), repeat=2)
    fits = [_members((value, mask), bits) for value, mask in every if value & mask == value]
    useful = {frozenset(each & wanted) for each in fits if each <= allowed} - {frozenset()}
    for count in range(1, len(wanted) + 1):
        for some in itertools.combinations(useful, count):
            if set().union(*some) >= wanted:
                return count
    raise AssertionError(wanted)

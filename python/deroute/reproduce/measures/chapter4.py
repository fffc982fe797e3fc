"""Measures of thesis chapter 4 that need no simulation: rules of switches, and what they draw.

Topologies are named as in `deroute topology --radix 64 --json`, addressings and routings as in
`deroute tables`. Rules are counted by making them. Powers are those of `deroute topology --power`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deroute.analysis import Estimate
from deroute.economics import power
from deroute.economics.comparison import spec_for, wired
from deroute.economics.power import Census, Draw
from deroute.economics.scaling import FAMILIES, Design, largest
from deroute.reproduce.evidence import Engine, Evidence, NotSettledError
from deroute.reproduce.paper import PaperError
from deroute.tables import dmp, sizes, ternary
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric
from deroute.tables.rules import Condition, Rule


def switch_rules(
    evidence: Evidence,
    topology: str,
    radices: Sequence[int],
    *,
    addressing: str,
    routing: str = "minimal",
    switches: int = 4,
) -> list[Estimate]:
    """Rules of the switches with hosts, by radix: one value if all are alike, else least and most.

    At most so many switches of a network are looked at.
    """
    found: list[int] = []
    for radix in radices:
        compiler = Compiler(_fabric(evidence, topology, radix), routing, addressing)
        access = sizes.size(compiler, switches).access
        found += sorted({access.fewest, access.most})
    return _values(found)


def closed_form(
    evidence: Evidence, topology: str, radices: Sequence[int], addressing: str
) -> list[Estimate]:
    """The same by equation 4-1 and, if compact, by its bounds."""
    found: list[int] = []
    for radix in radices:
        found += sorted({*sizes.Shape.of(_fabric(evidence, topology, radix)).rules(addressing)})
    return _values(found)


def rules_spread(
    evidence: Evidence, topology: str, radix: int, addressing: str, switches: int
) -> list[Estimate]:
    """Most rules of a switch with hosts less the fewest."""
    low, *high = switch_rules(evidence, topology, [radix], addressing=addressing, switches=switches)
    return [Estimate(high[0].mean - low.mean if high else 0.0)]


def ports_used(evidence: Evidence, topology: str, radices: Sequence[int]) -> list[Estimate]:
    """Ports of a switch with hosts that lead somewhere, by radix."""
    return _values([sizes.Shape.of(_fabric(evidence, topology, each)).ports for each in radices])


def places(evidence: Evidence, topology: str, radix: int) -> list[Estimate]:
    """G, S and I: groups, switches with hosts of a group, hosts of such a switch."""
    fabric = _fabric(evidence, topology, radix)
    return _values([fabric.groups, fabric.switches_per_group, fabric.hosts_per_switch])


def cheapest_split(evidence: Evidence, switches: int, hosts: int) -> list[Estimate]:
    """G and S for which so many switches need the fewest rules."""
    splits = [(each, switches // each) for each in range(1, switches + 1) if switches % each == 0]

    def rules(split: tuple[int, int]) -> int:
        return sizes.Shape(*split, hosts, hosts, scattered=False).rules("per-group")[0]

    best = min(splits, key=rules)
    return _values(best)


def design_ratio(
    evidence: Evidence, topology: str, radix: int, what: str, over: float
) -> list[Estimate]:
    """`access` or `switch` (hosts of one), or `hosts` of the largest network, over a number."""
    design = _design(topology, radix)
    values = {
        "access": design.hosts_per_access_router,
        "switch": design.hosts_per_router,
        "hosts": design.hosts,
    }
    if what not in values:
        raise PaperError(f"unknown quantity {what!r}; choose from: {', '.join(values)}")
    return [Estimate(values[what] / over)]


def pattern_count(
    evidence: Evidence, numbers: Sequence[int], spare: Sequence[int], bits: int
) -> list[Estimate]:
    """Fewest ternary patterns that cover the numbers, and nothing else but spare ones."""
    return _values([len(ternary.cover(numbers, spare, bits))])


def extra_rules(
    evidence: Evidence,
    topology: str,
    radix: int,
    *,
    routing: str,
    addressing: str = "compact",
    over: str = "minimal",
) -> list[Estimate]:
    """Rules that a routing has more than another: those that look at the input port, and others."""
    ours, theirs = (_rules(evidence, topology, radix, each, addressing) for each in (routing, over))
    counts = [_by_input(rules) for rules in (ours, theirs)]
    return _values([mine - other for mine, other in zip(*counts, strict=True)])


def climbing_rules(evidence: Evidence, topology: str, radix: int, routing: str) -> list[Estimate]:
    """Rules of a switch with hosts that lead up, over its ports up."""
    fabric = _fabric(evidence, topology, radix)
    ups = set(fabric.up_ports(int(fabric.access[0])))
    rules = _rules(evidence, topology, radix, routing, "compact")
    return [Estimate(sum(ups.issuperset(rule.ports) for rule in rules) / len(ups))]


def outputs_in_turn(evidence: Evidence, topology: str, radix: int, routing: str) -> list[Estimate]:
    """Outputs of a packet to the farthest switch, if each that it would take is paused in turn."""
    compiler = Compiler(_fabric(evidence, topology, radix), routing, "compact")
    table = compiler.table(int(compiler.fabric.access[0]))
    addresses, paused = compiler.addresses, set[int]()
    key = (int(addresses[-1]), int(addresses[-2]), compiler.fabric.ports_used(0) - 1)

    def usable(condition: Condition) -> bool:
        return condition.port not in paused

    while True:
        rule = table.lookup(*key, usable)
        if rule is None or paused.issuperset(rule.ports):
            return _values([len(paused)])
        paused.update(rule.ports)


def figure_4_8(evidence: Evidence, in_port: int, paused: int) -> list[Estimate]:
    """Output ports, counted from 1, of packets to groups 1 to 8 with a port paused (figure 4-8)."""
    return _values([rule.ports[0] + 1 for rule in _figure(evidence, in_port, paused)])


def figure_4_10(
    evidence: Evidence, in_port: int, drawn: int, probabilities: Sequence[float]
) -> list[Estimate]:
    """The same with QCN-Switch, if this number is drawn (figure 4-10).

    `probabilities` are those of ports 3 to 7, in percent.
    """

    def usable(condition: Condition) -> bool:
        return drawn <= probabilities[condition.port - 2]

    found = _figure_rules(evidence, "qcn-switch", in_port, usable)
    return _values([rule.ports[0] + 1 for rule in found])


def figure_4_8_low(evidence: Evidence, in_port: int, paused: int) -> list[Estimate]:
    """1 for each of these groups whose packets take a rule of low priority, else 0."""
    return _values([int(rule.in_port is not None) for rule in _figure(evidence, in_port, paused)])


def dmp_rules(evidence: Evidence, topology: str, radix: int) -> list[Estimate]:
    """Rules of the Dynamic MAC Protocol over the hosts of a switch."""
    compiler = Compiler(_fabric(evidence, topology, radix), "minimal", "compact")
    found = dmp.rules(compiler, int(compiler.fabric.access[0]))
    return [Estimate(len(found) / compiler.fabric.hosts_per_switch)]


def dmp_answers(evidence: Evidence, topology: str, radix: int) -> list[Estimate]:
    """EtherType of an answer, and hosts whose answer is not the request from their own address."""
    compiler = Compiler(_fabric(evidence, topology, radix), "minimal", "compact")
    fabric, kind, wrong = compiler.fabric, 0, 0
    for router in fabric.access.tolist():
        for rule in dmp.rules(compiler, router):
            index = fabric.host_ports(router).index(rule.in_port)
            host = int((fabric.wiring.router_of_host < router).sum()) + index
            asked = dmp.request(_BURNT_IN + host, host)
            frame = rule.apply(asked)
            assert frame is not None
            kind = int.from_bytes(frame[12:14], "big")
            kept = (frame[:6], frame[12:]) == (asked[:6], asked[12:])
            wrong += not kept or dmp.answer(frame, host) != int(compiler.addresses[host])
    return _values([kind, wrong])


def announced(
    evidence: Evidence, topology: str, radix: int, addresses: str, stored: str
) -> list[Estimate]:
    """Share of announcing hosts that are reached by what a receiver has stored.

    `addresses` are `rewritten` in the headers by switches, or `learnt` by the hosts. An
    announcement has its sender's address in the payload; receivers store that (`payload`), or the
    one of the `header`.
    """
    compiler = Compiler(_fabric(evidence, topology, radix), "minimal", "compact")
    table, known = compiler.table(int(compiler.fabric.access[0])), compiler.addresses.tolist()
    reached = 0
    for host in range(1, compiler.fabric.hosts):
        own = {"rewritten": _BURNT_IN + host, "learnt": known[host]}[addresses]
        told = {"payload": own, "header": known[host]}[stored]
        rule, right = (table.lookup(each, known[0], 0) for each in (told, known[host]))
        reached += rule is not None and rule == right
    return [Estimate(reached / (compiler.fabric.hosts - 1))]


#: Addresses of network interfaces as they are made: not local.
_BURNT_IN = 0x001B_2100_0000


def companion(evidence: Evidence, network: str) -> list[Estimate]:
    """Switches and hosts of a network of section 4.7.2."""
    found = _companion(evidence, network)
    return _values([found.switches, found.hosts])


def power_constants(evidence: Evidence, names: Sequence[str]) -> list[Estimate]:
    """Values of the file of constants, by `table.key`."""
    known = power.read()
    return [Estimate(float(operator.attrgetter(name)(known))) for name in names]


def table_watts(evidence: Evidence, network: str, organisation: str) -> list[Estimate]:
    """What the tables of a switch draw."""
    found = _companion(evidence, network)
    return [Estimate(_draw(evidence, network, organisation).tables / found.switches)]


def table_megawatts(evidence: Evidence, network: str, organisation: str) -> list[Estimate]:
    """What all tables draw."""
    return [Estimate(_draw(evidence, network, organisation).tables / 1e6)]


def megawatts(
    evidence: Evidence, network: str, organisation: str, tables: bool = True
) -> list[Estimate]:
    """What the network draws, with its tables or without."""
    found = _draw(evidence, network, organisation)
    return [Estimate((found.total - (0 if tables else found.tables)) / 1e6)]


def power_ratio(
    evidence: Evidence,
    network: str,
    organisation: str,
    over: Mapping[str, str],
    what: str = "total",
) -> list[Estimate]:
    """Power (`total`, or a part such as `tables`) over that of another network or organisation."""
    labels = {"network": network, "organisation": organisation} | dict(over)
    ours, theirs = _draw(evidence, network, organisation), _draw(evidence, **labels)
    return [Estimate(getattr(ours, what) / getattr(theirs, what))]


def power_saving(evidence: Evidence, what: str, tables: bool = True) -> list[Estimate]:
    """Percent that the Dragonfly with compact tables draws less than the Clos with flat CAMs.

    `all` of it, that of compact `tables` in the Clos, or what the change of the `topology` adds;
    with compact tables, or as if those took nothing.
    """
    before = _draw(evidence, "folded Clos", "CAM flat").total
    compact = [_draw(evidence, each, "TCAM compact") for each in ("folded Clos", "Dragonfly")]
    clos, dragonfly = (each.total - (0 if tables else each.tables) for each in compact)
    parts = {
        "all": before - dragonfly,
        "tables": before - clos,
        "topology": clos - dragonfly,
    }
    return [Estimate(100 * parts[what] / before)]


def _values(numbers: Sequence[float]) -> list[Estimate]:
    return [Estimate(float(number)) for number in numbers]


def _design(topology: str, radix: int) -> Design:
    if topology not in FAMILIES:
        raise PaperError(f"unknown topology {topology!r}; choose from: {', '.join(FAMILIES)}")
    design = largest(topology, radix)
    if design is None:
        raise NotSettledError(f"{radix} ports make no {topology}")
    return design


def _fabric(evidence: Evidence, topology: str, radix: int) -> Fabric:
    """The largest network for a number of ports, as the engine wires it."""
    asked = _design(topology, radix).topology
    if asked is None:
        raise NotSettledError(f"the engine does not build {topology} networks")
    return Fabric.of(asked, evidence.engine().topology(spec_for(asked)))


def _rules(
    evidence: Evidence, topology: str, radix: int, routing: str, addressing: str
) -> Sequence[Rule]:
    """The rules of the first switch with hosts."""
    compiler = Compiler(_fabric(evidence, topology, radix), routing, addressing)
    return compiler.table(int(compiler.fabric.access[0])).rules


def _by_input(rules: Sequence[Rule]) -> tuple[int, int]:
    """How many look at the input port, and how many do not."""
    count = sum(rule.in_port is not None for rule in rules)
    return count, len(rules) - count


def _figure(evidence: Evidence, in_port: int, paused: int) -> list[Rule]:
    """The rules that router 0 of figure 4-8 has for packets of a host to the other groups."""
    return _figure_rules(
        evidence, "mar-bp", in_port, lambda condition: condition.port != paused - 1
    )


def _figure_rules(
    evidence: Evidence, routing: str, in_port: int, usable: Callable[[Condition], bool]
) -> list[Rule]:
    asked: dict[str, Any] = {"dragonfly": {"p": 2, "a": 4, "h": 2, "mirror": True}}
    fabric = Fabric.of(asked, evidence.engine().topology(spec_for(asked)))
    compiler = Compiler(fabric, routing, "per-group")
    table, addresses = compiler.table(0), compiler.addresses.tolist()
    per_group = fabric.hosts // fabric.groups
    found = []
    for group in range(1, fabric.groups):
        key = (addresses[group * per_group], addresses[in_port - 1], in_port - 1)
        rule = table.lookup(*key, usable)
        assert rule is not None
        found.append(rule)
    return found


@functools.cache
def _networks(engine: Callable[[], Engine]) -> Mapping[str, Census]:
    """The networks of section 4.7.2, made once."""
    found = power.companions(lambda topology: wired(topology, engine().topology))
    return {each.title: each for each in found}


def _companion(evidence: Evidence, network: str) -> Census:
    known = _networks(evidence.engine)
    if network not in known:
        raise PaperError(f"unknown network {network!r}; choose from: {', '.join(known)}")
    return known[network]


def _draw(evidence: Evidence, network: str, organisation: str) -> Draw:
    if organisation not in power.ORGANISATIONS:
        known = ", ".join(power.ORGANISATIONS)
        raise PaperError(f"unknown tables {organisation!r}; choose from: {known}")
    return power.draw(_companion(evidence, network), power.read(), organisation)


MEASURES = (
    switch_rules,
    closed_form,
    rules_spread,
    ports_used,
    places,
    cheapest_split,
    design_ratio,
    pattern_count,
    extra_rules,
    climbing_rules,
    outputs_in_turn,
    figure_4_8,
    figure_4_8_low,
    figure_4_10,
    dmp_rules,
    dmp_answers,
    announced,
    companion,
    power_constants,
    table_watts,
    table_megawatts,
    megawatts,
    power_ratio,
    power_saving,
)

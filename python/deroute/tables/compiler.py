"""From a network, a routing and a way to address hosts to the rules of every switch.

Destinations are gathered block by block: a group is one rule if all packets to it leave alike,
else its switches are looked at, and then their hosts (thesis 4.3.1). With `compact` addresses the
blocks that leave alike are merged into ternary patterns (4.3.2), and what leads up in a fat tree is
told by one field of the destination's or the source's address.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deroute.errors import InputError
from deroute.tables import ternary
from deroute.tables.addresses import (
    ADDRESSINGS,
    ANY_HOST,
    PREFIX,
    Field,
    Layout,
    Pattern,
    sizes_of,
)
from deroute.tables.fabric import REMOTE, UP, Fabric
from deroute.tables.rules import (
    ALTERNATIVE,
    DEFAULT,
    DETOUR,
    ORDINARY,
    Condition,
    Memory,
    Rule,
    Table,
)
from deroute.telling import Told, counted, nobody

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.tables.fabric import Actions

#: Topologies whose tables lead up and down.
TREES = ("fat_tree", "rlft", "kary_tree", "folded_clos")
_DIRECT = ("dragonfly", "hyperx")

#: Routings that fit into a table, and the topologies they are for.
ROUTINGS = {
    "minimal": (*_DIRECT, *TREES),
    "d-mod-k": TREES,
    "s-mod-k": TREES,
    "ecmp": TREES,
    "valiant": _DIRECT,
    "mar-bp": (*_DIRECT, *TREES),
    "qcn-switch": (*_DIRECT, *TREES),
}
_CONDITION = {"mar-bp": "not-paused", "qcn-switch": "drawn-minimal"}

#: Priorities that the blocks of a level have; switches have up to 1,024 ports.
LEVEL = 1024


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of addresses on one level, each with one action."""

    #: Fields that name the block, from the most significant on: 1 for groups, 2 for their switches.
    level: int
    #: Numbers of the blocks, as digits of these fields in one number.
    numbers: NDArray[np.int64]
    actions: NDArray[np.int64]
    #: Blocks of this level that the next levels look into, by number.
    split: NDArray[np.int64]


@dataclass(frozen=True)
class Compiler:
    """Makes the table of any switch of a network."""

    fabric: Fabric
    routing: str
    addressing: str
    #: How numbers are merged: `ternary.cover`, or `ternary.greedy` to compare.
    merge: Callable[[Iterable[int], Iterable[int], int], list[ternary.Cube]] = ternary.cover

    def __post_init__(self) -> None:
        if self.routing not in ROUTINGS:
            raise InputError.of(f"unknown routing {self.routing!r}", "--routing", ROUTINGS)
        if self.fabric.name not in ROUTINGS[self.routing]:
            known = [name for name, where in ROUTINGS.items() if self.fabric.name in where]
            message = f"{self.routing!r} is not made for a {self.fabric.name}"
            raise InputError.of(message, "--routing", known)
        # Which also refuses unknown addressings.
        assert self.layout is not None

    @cached_property
    def layout(self) -> Layout:
        """Fields of the addresses."""
        fabric = self.fabric
        sizes = sizes_of(self.addressing, fabric.digits, fabric.hosts_per_switch)
        return Layout.of(sizes)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Hosts in the order of their addresses."""
        fabric = self.fabric
        if self.addressing in ("flat", "per-switch"):
            return np.arange(fabric.hosts)
        return fabric.host_at

    @cached_property
    def addresses(self) -> NDArray[np.int64]:
        """Address of every host."""
        sizes = tuple(field.size for field in self.layout.fields)
        digits = np.unravel_index(np.arange(self.fabric.hosts), sizes)
        found = np.empty(self.fabric.hosts, dtype=np.int64)
        found[self.order] = self.layout.encode([np.asarray(digit) for digit in digits])
        return found

    def host(self, address: int) -> int:
        """The host with an address."""
        sizes = tuple(field.size for field in self.layout.fields)
        place = np.ravel_multi_index(self.layout.decode(address), sizes)
        return int(self.order[place])

    def table(self, router: int) -> Table:
        """The rules of a switch."""
        return Table.of(router, [*self._routed(router), *self._detours(router)])

    def tables(self, told: Told = nobody) -> Iterator[Table]:
        """The rules of every switch, in their order; `told` hears of how many."""
        return map(self.table, counted(range(self.fabric.routers), told))

    def memory(self, router: int) -> Memory:
        """What the table of a switch takes, found without making a rule where none is merged."""
        if self.addressing == "compact" or self._climbs_by_field:
            return self.table(router).memory()
        found = [each for each in self._blocks(self.actions(router)) if len(each.numbers)]
        blocks = sum(len(each.numbers) for each in found)
        detours = len(list(self._detours(router)))
        looked_at = ["destination", "in_port"] if detours else ["destination"]
        whole = self.layout.upper(len(self.layout.fields))
        exact = not detours and all(self.layout.upper(each.level) == whole for each in found)
        return Memory.of(blocks + detours, looked_at, exact)

    def actions(self, router: int) -> Actions:
        """Action for every host, in the order of addresses; UP where other rules say it."""
        fabric = self.fabric
        if not self._is_tree or self.routing in ("minimal", "d-mod-k"):
            found = fabric.minimal(router)
        else:
            found = fabric.up_down(router, np.full(fabric.hosts, UP, dtype=np.int64))
        return found if self.addressing not in ("flat", "per-switch") else found[self._places]

    @property
    def _is_tree(self) -> bool:
        return self.fabric.wiring.tree is not None

    @property
    def _climbs_by_field(self) -> bool:
        """Whether the way up is told by rules of their own."""
        by_source = self.routing in ("s-mod-k", "mar-bp", "qcn-switch")
        return self._is_tree and (self.addressing == "compact" or by_source)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Place of every host."""
        return np.argsort(self.fabric.host_at)

    def _blocks(self, actions: Actions) -> Iterator[Blocks]:
        """Whole groups that are reached alike, whole switches of the others, hosts of the rest."""
        sizes = [field.size for field in self.layout.fields]
        open_ = np.zeros(1, dtype=np.int64)
        for level in range(1, len(sizes) + 1):
            inside = math.prod(sizes[level:])
            table = actions.reshape(-1, inside)
            numbers = (open_[:, None] * sizes[level - 1] + np.arange(sizes[level - 1])).reshape(-1)
            rows = table[numbers]
            alike = (rows == rows[:, :1]).all(axis=1)
            yield Blocks(level, numbers[alike], rows[alike, 0], numbers[~alike])
            open_ = numbers[~alike]

    def _routed(self, router: int) -> Iterator[Rule]:
        if self._in_any_order:
            yield from self._dimensions(router)
            return
        actions = self.actions(router)
        if self._climbs_by_field:
            climb = self._climb(router, actions)
            if climb is not None:
                yield from climb
                # What is below, and nothing else.
                below = self._below(router)
                actions = np.where(below, actions, UP)
        for blocks in self._blocks(actions):
            yield from self._rules(router, blocks)

    @property
    def _in_any_order(self) -> bool:
        """Whether a packet may turn to another dimension of a HyperX where its first is paused."""
        several = self.fabric.name == "hyperx" and len(self.fabric.digits) > 1
        return several and self.routing in _CONDITION and self.addressing == "compact"

    def _dimensions(self, router: int) -> Iterator[Rule]:
        """Each dimension by its own field, whatever the others are; the first comes first (4.5.2).

        A packet that has no other dimension left to correct waits, or takes a detour.
        """
        fabric, fields = self.fabric, self.layout.fields
        if fabric.trunked:
            message = "the field of a dimension does not tell which of its parallel links to take"
            raise InputError.of(message, "--addressing", ADDRESSINGS[:-1])
        own = fabric.place(router)
        assert own is not None
        last = len(fields) - 2
        for dim, field in enumerate(fields[:-1]):
            for value, port in enumerate(self._rows(router, dim)):
                if port is None:
                    continue
                fits = Pattern(PREFIX | value << field.shift, self.layout.mask([field.name]))
                kind = _CONDITION[self.routing]
                condition = Condition(kind, port) if dim < last else None
                priority = DEFAULT + (last - dim) * LEVEL
                yield Rule(priority, (port,), fits, condition=condition)
        home = PREFIX
        for digit, field in zip(own, fields, strict=False):
            home |= digit << field.shift
        whole = self.layout.upper(len(fields))
        for host, port in enumerate(fabric.host_ports(router)):
            yield Rule(ORDINARY, (port,), Pattern(home | host, whole))

    def _below(self, router: int) -> NDArray[np.bool_]:
        """Hosts below a switch of a fat tree, in the order of addresses."""
        _, first, count = self.fabric.span(router)
        below = np.zeros(self.fabric.hosts, dtype=np.bool_)
        below[first : first + count] = True
        return below

    def _rules(self, router: int, blocks: Blocks) -> Iterator[Rule]:
        """One rule a block, or one for all blocks of a parent that fit a pattern."""
        field, mask = self.layout.fields[blocks.level - 1], self.layout.upper(blocks.level)
        skipped = UP if self._climbs_by_field else None
        if self.addressing != "compact":
            ways = zip(blocks.numbers.tolist(), blocks.actions.tolist(), strict=True)
            for number, code in ways:
                if code != skipped:
                    yield self._rule(router, Pattern(self._value(number, blocks.level), mask), code)
            return
        parent, digit = np.divmod(blocks.numbers, field.size)
        split_parent, split_digit = np.divmod(blocks.split, field.size)
        unused = list(range(field.size, 1 << field.bits))
        for above in np.unique(parent).tolist():
            mine = parent == above
            # Blocks that are split are caught by rules of the next levels, which come first.
            spare = [*unused, *split_digit[split_parent == above].tolist()]
            base = self._value(above * field.size, blocks.level)
            found = []
            for code in np.unique(blocks.actions[mine]).tolist():
                if code == skipped:
                    continue
                numbers = digit[mine & (blocks.actions == code)].tolist()
                for value, bits in self.merge(numbers, spare, field.bits):
                    held = mask & ~field.mask | bits << field.shift
                    pattern = Pattern(base | value << field.shift, held)
                    found.append(self._rule(router, pattern, code, blocks.level * LEVEL))
            yield from _told_apart(found)

    def _value(self, number: int, level: int) -> int:
        """Address of a block: its digits in their fields."""
        fields, value = self.layout.fields[:level], PREFIX
        for field in reversed(fields):
            number, digit = divmod(number, field.size)
            value |= digit << field.shift
        return value

    def _rule(self, router: int, pattern: Pattern, code: int, level: int = 0) -> Rule:
        """A rule with its priority, and its condition if the routing asks for one."""
        if code == UP:
            ups = tuple(self.fabric.up_ports(router))
            return Rule(DEFAULT + level, ups, pattern)
        port, remote = code & ~REMOTE, bool(code & REMOTE)
        kind = _CONDITION.get(self.routing)
        condition = Condition(kind, port) if kind and remote else None
        tier = DEFAULT if remote else ORDINARY
        return Rule(tier + level, (port,), pattern, condition=condition)

    def _climb(self, router: int, actions: Actions) -> list[Rule] | None:
        """Rules that lead up by one field of an address; None if no field alone tells the way."""
        ups = self.fabric.up_ports(router)
        if not ups:
            return []
        if self.routing == "ecmp":
            return [Rule(DEFAULT, tuple(ups), ANY_HOST)]
        by_destination = self.routing in ("minimal", "d-mod-k")
        share = actions if by_destination else self.fabric.share(router)[self.order]
        seen = ~self._below(router) if by_destination else self._below(router)
        for field in reversed(self.layout.fields):
            turns = self._turns(field, share, seen)
            if turns is not None:
                return self._climbs(router, field, turns)
        if by_destination:
            return None
        message = f"no field of a {self.addressing} address tells the way up of {self.routing}"
        # Compact addresses have the fields of all others.
        others = [] if self.addressing == "compact" else ["compact"]
        raise InputError.of(message, "--addressing", others)

    def _turns(self, field: Field, share: Actions, seen: NDArray[np.bool_]) -> list[int] | None:
        """Action of each value of a field; None if it is not always the same."""
        below = math.prod(each.size for each in self.layout.fields if each.shift < field.shift)
        digit = np.arange(self.fabric.hosts) // below % field.size
        found = np.full(field.size, -2, dtype=np.int64)
        found[digit[seen]] = share[seen]
        if (found == -2).any() or (found[digit[seen]] != share[seen]).any():
            return None
        values: list[int] = found.tolist()
        return values

    def _climbs(self, router: int, field: Field, turns: Sequence[int]) -> list[Rule]:
        """One rule or more for each port up; with conditions, others behind it in turn."""
        ups, rules = self.fabric.up_ports(router), []
        source = self.routing not in ("minimal", "d-mod-k")
        kind = _CONDITION.get(self.routing)
        for code in dict.fromkeys(turns):
            first = ups.index(code & ~REMOTE)
            numbers = [value for value, other in enumerate(turns) if other == code]
            for value, bits in self.merge(numbers, (), field.bits):
                fits = Pattern(PREFIX | value << field.shift, ANY_HOST.mask | bits << field.shift)
                if not source:
                    rules.append(Rule(DEFAULT, (ups[first],), destination=fits))
                elif kind is None:
                    rules.append(Rule(DEFAULT, (ups[first],), source=fits))
                else:
                    ways = ups[first:] + ups[:first]
                    rules += self._in_turn(kind, ways, fits)
        return rules

    def _in_turn(self, kind: str, ways: Sequence[int], source: Pattern) -> Iterator[Rule]:
        """Ports up for a source, each behind the one before it; the first if none counts."""
        for turn, port in enumerate(ways):
            priority = ALTERNATIVE - turn if turn else DEFAULT
            condition = Condition(kind, port) if len(ways) > 1 else None
            yield Rule(priority, (port,), source=source, condition=condition)

    def _detours(self, router: int) -> Iterator[Rule]:
        """Host i goes out over the i-th link out of the group (thesis 4.5.3, figure 4-9)."""
        if self.routing not in ("valiant", *_CONDITION) or self._is_tree:
            return
        fabric = self.fabric
        priority = DETOUR if self.routing == "valiant" else ALTERNATIVE
        hosts = fabric.host_ports(router)
        ways = self._ways_out(router) if fabric.name == "dragonfly" else self._rows(router, 0)
        # If there are more hosts than ways, these are taken again.
        for host, port in zip(hosts, itertools.cycle(ways), strict=False):
            if port is not None:
                yield Rule(priority, (port,), ANY_HOST, in_port=host)

    def _ways_out(self, router: int) -> list[int | None]:
        """The global ports of a router; in the place of a spare one, the next that is in use."""
        fabric, found = self.fabric, list[int | None]()
        used = fabric.ports_of(router, "global")
        last = fabric.wiring.link_class.shape[1]
        for place in range(last - int(fabric.parameters["h"]), last):
            found.append(next((port for port in used if port >= place), used[0] if used else None))
        return found

    def _rows(self, router: int, dim: int) -> list[int | None]:
        """Ports to the routers of a dimension by their coordinate; None for the switch itself."""
        found: list[int | None] = []
        for first, *others in self.fabric.links(router, dim).tolist():
            peer = int(self.fabric.wiring.peer_router[router, first])
            ports = [first, *others]
            found.append(None if first < 0 else ports[peer % len(ports)])
        return found


def _told_apart(rules: list[Rule]) -> list[Rule]:
    """The rules; if they overlap, where no host is, with a priority for those of each port."""
    pairs = itertools.combinations(rules, 2)
    if not any(one.ports != other.ports and one.overlaps(other) for one, other in pairs):
        return rules
    rank = {ports: place for place, ports in enumerate({rule.ports: None for rule in rules})}
    return [replace(rule, priority=rule.priority + rank[rule.ports]) for rule in rules]

"""Ordered rules: what a packet has to look like, when a rule counts, where it sends the packet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deroute.tables.addresses import MAC_BITS, Pattern

#: Priorities: what leads to a host or inside a group, a detour that is always taken, what leads out
#: of the group or up, and what takes over where such a rule does not count.
ORDINARY, DETOUR, DEFAULT, ALTERNATIVE = 40_000, 30_000, 20_000, 10_000

#: When a rule counts (thesis 4.5.1 and 4.6.1): while the port is not paused; while a number that is
#: drawn for the packet does not exceed the probability of the port.
CONDITIONS = ("not-paused", "drawn-minimal")

#: Bits of what a rule can look at; those of a port as OpenFlow 1.0 matches it.
KEYS = {"destination": MAC_BITS, "source": MAC_BITS, "in_port": 16}


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to hold at a port for a rule to count."""

    kind: str
    port: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of a table. What is None is not looked at."""

    priority: int
    #: A hash of the packet's addresses chooses among several.
    ports: tuple[int, ...]
    destination: Pattern | None = None
    source: Pattern | None = None
    in_port: int | None = None
    condition: Condition | None = None

    def matches(self, destination: int, source: int, in_port: int) -> bool:
        """Whether a packet fits, whatever the condition."""
        return (
            (self.in_port is None or self.in_port == in_port)
            and (self.destination is None or self.destination.matches(destination))
            and (self.source is None or self.source.matches(source))
        )

    def overlaps(self, other: Rule) -> bool:
        """Whether some packet fits both."""
        if None not in (self.in_port, other.in_port) and self.in_port != other.in_port:
            return False
        for mine, theirs in (
            (self.destination, other.destination),
            (self.source, other.source),
        ):
            if mine is not None and theirs is not None and not mine.overlaps(theirs):
                return False
        return True

    @property
    def exact(self) -> bool:
        """Whether it needs no mask but that of whole fields: what a binary CAM can hold."""
        patterns = [each for each in (self.destination, self.source) if each is not None]
        return bool(patterns) and all(pattern.exact for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Table:
    """The rules of one switch, those of the highest priority first."""

    router: int
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, router: int, rules: Sequence[Rule]) -> Table:
        """Rules in any order."""
        return cls(router, tuple(sorted(rules, key=lambda rule: -rule.priority)))

    def lookup(
        self,
        destination: int,
        source: int,
        in_port: int,
        holds: Callable[[Condition], bool] = lambda _: True,
    ) -> Rule | None:
        """The rule for a packet; None if none fits.

        If conditions rule out all that fit, it is the first of them: the packet waits for its port.
        """
        fits = [rule for rule in self.rules if rule.matches(destination, source, in_port)]
        counts = (rule for rule in fits if rule.condition is None or holds(rule.condition))
        return next(counts, fits[0] if fits else None)

    def ambiguous(self) -> Iterator[tuple[Rule, Rule]]:
        """Rules of one priority that both fit some packet and send it to different ports."""
        for _, group in itertools.groupby(self.rules, key=lambda rule: rule.priority):
            for one, other in itertools.combinations(group, 2):
                if one.ports != other.ports and one.overlaps(other):
                    yield one, other

    def memory(self) -> Memory:
        """What the table takes."""
        looked_at = [
            name for name in KEYS if any(getattr(rule, name) is not None for rule in self.rules)
        ]
        return Memory.of(len(self.rules), looked_at, all(rule.exact for rule in self.rules))


@dataclass(frozen=True, slots=True)
class Memory:
    """Size of a table. Conditions and actions lie beside it, in ordinary memory."""

    entries: int
    key_bits: int
    #: A ternary cell keeps a value and a mask: two bits for each of the key.
    tcam_bits: int
    #: None if some rule needs a mask.
    cam_bits: int | None

    @classmethod
    def of(cls, entries: int, looked_at: Sequence[str], exact: bool) -> Memory:
        """Of rules that look at these keys of a packet, all of them without a mask or not."""
        width = sum(KEYS[name] for name in looked_at)
        return cls(entries, width, 2 * entries * width, entries * width if exact else None)

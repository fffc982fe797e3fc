"""Where a rank stands among those that share tensors, contexts, experts, data and stages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deroute.errors import InputError

#: Ways to share, the one whose ranks are neighbours first. Experts are shared among those that
#: share data: `dp` counts what is left of them.
ORDER = ("tp", "cp", "ep", "dp", "pp")

#: Groups that work together, by what their members differ in.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "tensor": ("tp",),
    "context": ("cp",),
    "experts": ("ep",),
    "data": ("cp", "ep", "dp"),
    "expert data": ("cp", "dp"),
}


@dataclass(frozen=True)
class Layout:
    """Degrees of each way, and the order of the ranks."""

    degrees: Mapping[str, int]
    order: Sequence[str] = ORDER

    @classmethod
    def of(cls, *, tp: int, cp: int, ep: int, dp: int, pp: int, order: Sequence[str]) -> Layout:
        """Raises `InputError` for degrees that are none or do not go together."""
        for name, degree in (("tp", tp), ("cp", cp), ("ep", ep), ("dp", dp), ("pp", pp)):
            if degree < 1:
                raise InputError.of(f"{degree} is less than 1", f"--{name}")
        if dp % ep:
            message = f"{ep} ranks share experts, which does not divide the {dp} that share data"
            raise InputError.of(message, "--ep")
        if sorted(order) != sorted(ORDER):
            message = f"{','.join(order)} does not have each of {','.join(ORDER)} once"
            raise InputError.of(message, "--order")
        return cls({"tp": tp, "cp": cp, "ep": ep, "dp": dp // ep, "pp": pp}, tuple(order))

    @property
    def ranks(self) -> int:
        """How many there are."""
        return math.prod(self.degrees.values())

    def place(self, rank: int) -> dict[str, int]:
        """The rank's number in each way."""
        found = {}
        for name in self.order:
            rank, found[name] = divmod(rank, self.degrees[name])
        return found

    def rank(self, place: Mapping[str, int]) -> int:
        """The rank at a place."""
        found = 0
        for name in reversed(self.order):
            found = found * self.degrees[name] + place[name]
        return found

    def members(self, group: str, rank: int) -> tuple[int, ...]:
        """All ranks of the rank's group, in the order of the ways that it is made of."""
        place = self.place(rank)
        ways = sorted(GROUPS[group], key=self.order.index, reverse=True)
        choices = itertools.product(*(range(self.degrees[way]) for way in ways))
        return tuple(
            self.rank({**place, **dict(zip(ways, choice, strict=True))}) for choice in choices
        )

    def number(self, group: str, rank: int) -> int:
        """A communicator for the group: the same for all members, and no other's."""
        return 1 + list(GROUPS).index(group) * self.ranks + self.members(group, rank)[0]

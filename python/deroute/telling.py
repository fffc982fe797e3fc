"""How far something is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")

#: Hears how much is done, and of how much.
Told = Callable[[int, int], None]


def nobody(done: int, of: int) -> None:
    """Does not want to know."""


def counted(items: Sequence[_Item], told: Told) -> Iterator[_Item]:
    """The same, one after the other; `told` hears of each when the next one is asked for."""
    for done, item in enumerate(items, 1):
        yield item
        told(done, len(items))


def part(told: Told, index: int, parts: int) -> Told:
    """Hears of one of several parts, and tells of the whole."""
    return lambda done, of: told(index * of + done, parts * of)

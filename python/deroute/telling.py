"""How far something is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator

#: Hears how much is done, and of how much.
Told = Callable[[int, int], None]


def nobody(done: int, of: int) -> None:
    """Does not want to know."""


def counted(of: int, told: Told) -> Iterator[int]:
    """Numbers below `of`; `told` hears of each when the next one is asked for."""
    for number in range(of):
        yield number
        told(number + 1, of)


def part(told: Told, index: int, parts: int) -> Told:
    """Hears of one of several parts, and tells of the whole."""
    return lambda done, of: told(index * of + done, parts * of)

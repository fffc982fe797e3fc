"""How far something is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable

#: Hears how much is done, and of how much.
Told = Callable[[int, int], None]


def nobody(done: int, of: int) -> None:
    """Does not want to know."""

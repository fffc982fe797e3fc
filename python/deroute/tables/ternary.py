"""Sets of numbers as few ternary patterns: what compaction of rules is (thesis 4.3.2).

A pattern stands for all numbers that agree with its value where its mask has ones. Patterns may
also cover numbers that do not occur, or that rules of higher priority catch: the spare ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: Value and mask.
Cube = tuple[int, int]

#: Wider fields are merged greedily: the exact method looks at every pair of a mask and a value.
MOST_BITS = 11
#: More numbers are merged greedily as well.
MOST_NUMBERS = 64


def cover(numbers: Iterable[int], spare: Iterable[int], bits: int) -> list[Cube]:
    """Few patterns that cover all numbers and nothing but them and spare ones.

    As few as possible for up to `MOST_BITS` bits and `MOST_NUMBERS` numbers, else by `greedy`.
    """
    wanted, free = tuple(sorted(set(numbers))), tuple(sorted(set(spare)))
    if bits > MOST_BITS or len(wanted) > MOST_NUMBERS:
        return greedy(wanted, free, bits)
    return list(_exact(wanted, free, bits))


def greedy(numbers: Iterable[int], spare: Iterable[int], bits: int) -> list[Cube]:
    """Patterns that cover the numbers: each begins at the least number that none covers yet.

    It lets go of one bit after the other, the lowest first, as long as nothing else fits it. For a
    range without spare numbers at its ends these are the prefixes of routing tables, at most
    2 * bits - 2.
    """
    wanted = sorted(set(numbers))
    allowed = np.zeros(1 << bits, dtype=np.bool_)
    allowed[wanted] = True
    allowed[list(spare)] = True
    left, found = set(wanted), []
    for number in wanted:
        if number not in left:
            continue
        members = np.array([number])
        mask = (1 << bits) - 1
        for bit in range(bits):
            wider = members ^ (1 << bit)
            if allowed[wider].all():
                members = np.concatenate([members, wider])
                mask &= ~(1 << bit)
        left -= set(members.tolist())
        found.append((number & mask, mask))
    return found


@lru_cache(maxsize=4096)
def _exact(numbers: tuple[int, ...], spare: tuple[int, ...], bits: int) -> tuple[Cube, ...]:
    """Fewest patterns: prime implicants, then the smallest choice of them that covers all."""
    if not numbers:
        return ()
    allowed = np.zeros(1 << bits, dtype=np.bool_)
    allowed[list(numbers)] = True
    allowed[list(spare)] = True
    bound = greedy(numbers, spare, bits)
    if len(bound) == 1:
        return tuple(bound)
    covered = _maximal(_primes(allowed, numbers, bits))
    chosen = _fewest(covered, (1 << len(numbers)) - 1, len(bound))
    return tuple(bound) if chosen is None else tuple(chosen)


def _primes(allowed: NDArray[np.bool_], numbers: tuple[int, ...], bits: int) -> dict[Cube, int]:
    """Patterns that fit and cannot be widened, with the numbers they cover as a set of bits."""
    size = 1 << bits
    value = np.arange(size)
    # By the bits that are let go of, and a member: whether everything that fits is allowed.
    fits = np.empty((size, size), dtype=np.bool_)
    fits[0] = allowed
    for free in range(1, size):
        bit = free & -free
        fits[free] = fits[free ^ bit] & fits[free ^ bit][value ^ bit]
    prime = fits[:, list(numbers)]
    for bit in (1 << place for place in range(bits)):
        held = (value & bit) == 0
        prime[held] &= ~fits[value[held] | bit][:, list(numbers)]
    found: dict[Cube, int] = {}
    for free, place in zip(*(each.tolist() for each in np.nonzero(prime)), strict=True):
        mask = size - 1 & ~free
        cube = (numbers[place] & mask, mask)
        found[cube] = found.get(cube, 0) | 1 << place
    return found


def _maximal(cubes: dict[Cube, int]) -> list[tuple[Cube, int]]:
    """Without patterns that cover nothing more than another one."""
    kept: list[tuple[Cube, int]] = []
    for cube, covered in sorted(cubes.items(), key=lambda each: -each[1].bit_count()):
        if not any(covered & ~more == 0 for _, more in kept):
            kept.append((cube, covered))
    return kept


def _fewest(cubes: list[tuple[Cube, int]], wanted: int, bound: int) -> list[Cube] | None:
    """Fewer than `bound` of the patterns that cover all that is wanted; None if there are none."""
    if not wanted:
        return [] if bound > 0 else None
    widest = max((covered & wanted).bit_count() for _, covered in cubes)
    if -(-wanted.bit_count() // widest) >= bound:
        return None
    # The number that fewest patterns cover: one of them is part of every cover.
    places = [place for place in range(wanted.bit_length()) if wanted >> place & 1]
    choices = min(([each for each in cubes if each[1] >> place & 1] for place in places), key=len)
    best: list[Cube] | None = None
    for cube, covered in sorted(choices, key=lambda each: -(each[1] & wanted).bit_count()):
        rest = _fewest(cubes, wanted & ~covered, bound - 1)
        if rest is not None:
            best = [cube, *rest]
            bound = len(best)
    return best

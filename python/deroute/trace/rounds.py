"""Collectives as rounds of messages, by named algorithms; members count from 0.

| kind | algorithm |
|---|---|
| barrier | dissemination |
| bcast, reduce | binomial tree |
| allreduce | recursive doubling below 16 KiB, ring from there on |
| allgather, allgatherv | ring |
| reduce_scatter, reduce_scatter_block | pairwise |
| alltoall, alltoallv | pairwise |
| gather, scatter (v) | linear: every member has its own part |
| scan, exscan | linear |

Source: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH
(2005); the dissemination barrier of Hensgen, Finkel, Manber (1988).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from deroute.trace.ops import Collective

#: Bytes from which an allreduce goes round a ring.
RING_FROM = 16384

#: Peer and bytes.
Message = tuple[int, int]


class Round(NamedTuple):
    """Messages of a member that are under way together; all have ended before the next round."""

    sends: Sequence[Message]
    receives: Sequence[Message]


def parts(size: int, members: int) -> list[int]:
    """A buffer in as many parts as there are members, the first ones larger by a byte."""
    small, rest = divmod(size, members)
    return [small + (part < rest) for part in range(members)]


def rounds(
    kind: str, me: int, members: int, root: int | None, sizes: Sequence[Sequence[int]]
) -> Iterator[Round]:
    """What a member does. `sizes` has the bytes of every member, as they stand in the trace."""
    if members == 1:
        return iter(())
    own = sizes[me][0] if sizes[me] else 0
    match kind:
        case "barrier":
            return _dissemination(me, members)
        case "bcast":
            return _down(me, members, root or 0, own)
        case "reduce":
            return _up(me, members, root or 0, own)
        case "allreduce" if own < RING_FROM:
            return _doubling(me, members, own)
        case "allreduce":
            share = parts(own, members)
            return _twice(me, members, share)
        case "allgather":
            return _ring(me, members, [own] * members)
        case "allgatherv":
            return _ring(me, members, list(sizes[me]))
        case "alltoall" | "reduce_scatter_block":
            return _pairwise(me, members, [[own] * members] * members)
        case "alltoallv" | "reduce_scatter":
            return _pairwise(me, members, sizes)
        case "gather" | "gatherv" | "scatter" | "scatterv":
            return _linear(kind, me, members, root or 0, [size[0] for size in sizes])
        case _:
            return _scan(me, members, own)


def _dissemination(me: int, members: int) -> Iterator[Round]:
    step = 1
    while step < members:
        yield Round([((me + step) % members, 0)], [((me - step) % members, 0)])
        step *= 2


def _down(me: int, members: int, root: int, size: int) -> Iterator[Round]:
    """A binomial tree: in round k those below 2^k send 2^k further, counted from the root."""
    place, step = (me - root) % members, 1
    while step < members:
        if place < step and place + step < members:
            yield Round([((place + step + root) % members, size)], [])
        elif step <= place < 2 * step:
            yield Round([], [((place - step + root) % members, size)])
        step *= 2


def _up(me: int, members: int, root: int, size: int) -> Iterator[Round]:
    for down in reversed(list(_down(me, members, root, size))):
        yield Round(down.receives, down.sends)


def _doubling(me: int, members: int, size: int) -> Iterator[Round]:
    """Recursive doubling; what is above a power of two is folded in before, and told after."""
    power = 1 << (members.bit_length() - 1)
    rest = members - power
    if me >= power:
        yield Round([(me - power, size)], [])
        yield Round([], [(me - power, size)])
        return
    if me < rest:
        yield Round([], [(me + power, size)])
    step = 1
    while step < power:
        yield Round([(me ^ step, size)], [(me ^ step, size)])
        step *= 2
    if me < rest:
        yield Round([(me + power, size)], [])


def _ring(me: int, members: int, share: Sequence[int]) -> Iterator[Round]:
    """Every part goes round: in step k a member hands on that of the one k before it."""
    right, left = (me + 1) % members, (me - 1) % members
    for step in range(members - 1):
        yield Round(
            [(right, share[(me - step) % members])], [(left, share[(left - step) % members])]
        )


def _twice(me: int, members: int, share: Sequence[int]) -> Iterator[Round]:
    """Reduce-scatter and allgather over a ring."""
    yield from _ring(me, members, share)
    shifted = [share[(part + 1) % members] for part in range(members)]
    yield from _ring(me, members, shifted)


def _pairwise(me: int, members: int, sizes: Sequence[Sequence[int]]) -> Iterator[Round]:
    for step in range(1, members):
        to, source = (me + step) % members, (me - step) % members
        yield Round([(to, sizes[me][to])], [(source, sizes[source][me])])


def _linear(kind: str, me: int, members: int, root: int, own: Sequence[int]) -> Iterator[Round]:
    others = [(member, own[member]) for member in range(members) if member != root]
    gathers = kind.startswith("gather")
    if me == root:
        yield Round([], others) if gathers else Round(others, [])
    else:
        one = [(root, own[me])]
        yield Round(one, []) if gathers else Round([], one)


def _scan(me: int, members: int, size: int) -> Iterator[Round]:
    if me > 0:
        yield Round([], [(me - 1, size)])
    if me + 1 < members:
        yield Round([(me + 1, size)], [])


@lru_cache(maxsize=4096)
def sent(op: Collective, me: int, members: int, root: int | None) -> tuple[Message, ...]:
    """What a member sends to whom in all rounds together, as far as its own line says."""
    sizes = [op.bytes] * members
    total: Counter[int] = Counter()
    for one in rounds(op.kind, me, members, root, sizes):
        for peer, size in one.sends:
            total[peer] += size
    return tuple(total.items())

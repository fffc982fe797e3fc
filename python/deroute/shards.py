"""A part of an experiment at each of several places, and their results put together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from deroute.errors import InputError, Problem
from deroute.experiment import Point
from deroute.store import FILE, Store

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of so many parts of the points of an experiment; the first is 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From `3/16`."""
        match = _SHARD.fullmatch(text.strip())
        shard = cls(int(match[1]), int(match[2])) if match else None
        if shard is None or not 1 <= shard.number <= shard.of:
            parts = (shard and shard.of) or 16
            allowed = [f"1/{parts} to {parts}/{parts}, for {parts} parts"]
            raise InputError.of(f"{text!r} is no part", "--shard", allowed)
        return shard

    def __str__(self) -> str:
        return f"{self.number}-of-{self.of}"

    def of_points(self, points: Sequence[Point], weights: Mapping[str, float]) -> list[Point]:
        """Its points, in their order: every place finds the same parts, of about the same cost."""
        # Dealt out there and back, the most expensive first.
        ordered = sorted(points, key=lambda point: (-weights[point.key], point.key))
        turn = [*range(self.of), *reversed(range(self.of))]
        own = {
            point.key
            for index, point in enumerate(ordered)
            if turn[index % len(turn)] == self.number - 1
        }
        return [point for point in points if point.key in own]


@dataclass(slots=True)
class Merged:
    """What became of the results of several directories."""

    #: Results that the target did not have, and those that it had.
    added: int = 0
    known: int = 0


def merge(sources: Sequence[Path], target: Path) -> Merged:
    """Put the results of several directories into one, which is made if there is none.

    Raises `InputError` if they are not of one experiment, or if the same point has two results.
    """
    merged = Merged()
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(source)) for source in sources]
        first, *others = ((store.file, store.experiment()) for store in stores)
        if (target / FILE).exists():
            with Store.open(target) as before:
                others.append((before.file, before.experiment()))
        for file, document in others:
            if document != first[1]:
                message = f"is not the experiment of {sources[0]}: the files differ"
                raise InputError([Problem(message, file=file)])
        with Store.open(target, create=True) as store:
            store.set_experiment(first[1])
            for each in stores:
                _copy(each, store, merged)
    return merged


def _copy(source: Store, target: Store, merged: Merged) -> None:
    known = {(row.key, row.engine): row.outcome for row in target.points()}
    for record in source.records():
        there = known.get((record.key, record.engine))
        if there is None:
            target.add(record)
            merged.added += 1
        elif there == record.outcome:
            merged.known += 1
        else:
            message = f"the point {record.key} has another result in {target.file}"
            raise InputError([Problem(message, file=source.file)])

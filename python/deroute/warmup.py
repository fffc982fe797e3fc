"""Warm-ups that are over before the network is in the state of its traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deroute.errors import DocumentPath, Problem
from deroute.experiment import Experiment, Point
from deroute.spec import cycle_ns

#: A packet that takes a detour goes over two minimal paths, and what it meets there comes back to
#: its source as late.
_DETOUR = 2


@dataclass(frozen=True, slots=True)
class Ramp:
    """What a fixed warm-up is to be compared with, in cycles."""

    warmup: int
    #: There and back over the longest of the shortest paths, pipelines and links, without a wait.
    round_trip: int
    #: Until a link has filled the largest buffer of a VC at its end.
    fill: int

    @property
    def least(self) -> int:
        """What the warm-up should be at least."""
        return max(_DETOUR * self.round_trip, self.fill)

    def why(self, cycle: float) -> str:
        """What is wrong with the warm-up, with cycles of so many ns."""
        begin = f"a warm-up of {_time(self.warmup * cycle)} is short: "
        if self.fill >= _DETOUR * self.round_trip:
            return begin + (
                f"a link takes {_time(self.fill * cycle)} to fill the buffer of a VC, and a network"
                " that saturates is not full before"
            )
        return begin + (
            f"there and back over the longest minimal path, pipelines and links, a packet takes"
            f" {_time(self.round_trip * cycle)}, and twice that on a detour"
        )


def short_warmups(
    experiment: Experiment, ramps: Sequence[tuple[Point, Ramp | None]]
) -> Iterator[Problem]:
    """A warning for each warm-up of the file that is short; that of the point where it is worst.

    Points that record a time series, agents or rates are looked at in time, whenever that begins.
    """
    short: dict[DocumentPath, list[tuple[Point, Ramp]]] = {}
    for point, ramp in ramps:
        if ramp is not None and ramp.warmup < ramp.least and not _in_time(point.spec):
            place = experiment.origin(point.labels, "run.warmup")
            short.setdefault(place, []).append((point, ramp))
    for place, found in short.items():
        point, ramp = max(found, key=lambda pair: pair[1].least * cycle_ns(pair[0].spec))
        cycle = cycle_ns(point.spec)
        where = f"in {len(found)} of {len(ramps)} points, most in {point}; " if point.labels else ""
        advice = (
            f'take "{_time(ramp.least * cycle)}" or more, or let it be found: {{ limit = ... }}'
        )
        yield experiment.problem(place, ramp.why(cycle), note=where + advice)


def _in_time(spec: Mapping[str, Any]) -> bool:
    return bool({"series", "agents", "rates"} & set(spec.get("probes", {})))


def _time(ns: float) -> str:
    return f"{ns / 1000:.6g} us" if ns >= 1000 else f"{ns:.6g} ns"

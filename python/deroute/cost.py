"""What points cost, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from deroute import _engine
from deroute.api import Footprint
from deroute.errors import Problem
from deroute.experiment import Point
from deroute.machine import cores, memory
from deroute.spec import cycle_ns, microseconds

#: Points that a probe runs, and the seconds that it gives each.
_PROBES = 4
_PROBE_SECONDS = 1.0
#: Seconds to draw a figure in all formats, roughly.
FIGURE_SECONDS = 1.5
#: Bytes of a process beside its points: Python, its libraries and the code of the engine.
PROCESS_BYTES = 80_000_000
#: Load of which an empty network costs as much as packets do.
_IDLE = 0.05
#: Cycles of the engine's defaults.
_DEFAULT_WARMUP, _DEFAULT_MEASURE = 60_000, 60_000
#: Those that a run by precision drops first, if the network needs no more.
_DROPPED = 5_000


def weight(point: Point, footprint: Footprint) -> float:
    """Relative cost of a point: the packets it moves, and a little for being there."""
    if "workload" in point.spec:
        # Phits, and the cycles that pass while there are none.
        return 10_000.0 + footprint.message_phits
    load = point.spec.get("traffic", {}).get("load", 0)
    # What is there at the beginning grows with the network, as the packets do.
    return cycles(point.spec) * footprint.fixed_bytes * (_IDLE + float(load))


def cycles(spec: Mapping[str, Any]) -> float:
    """Cycles of a run of synthetic traffic, at most."""
    run, cycle = spec.get("run", {}), cycle_ns(spec)
    warmup = run.get("warmup", _DEFAULT_WARMUP)
    if isinstance(warmup, Mapping):
        warmup = warmup.get("limit", _DEFAULT_WARMUP)
    if "precision" in run:
        warmup = run["precision"].get("warmup", _DROPPED)
    parts = (warmup, run.get("measure", _DEFAULT_MEASURE))
    return sum(1000 * microseconds(part, cycle) / cycle for part in parts)


def large(footprint: Footprint, jobs: int, available: int | None = None) -> list[Problem]:
    """A warning if so many points at a time are likely to need more memory than there is."""
    there = memory() if available is None else available
    flowing, saturated = (
        PROCESS_BYTES + jobs * size for size in (footprint.flowing_bytes, footprint.saturated_bytes)
    )
    if max(flowing, saturated) <= there:
        return []
    need = "a point needs" if jobs == 1 else f"{jobs} points at a time need"
    if flowing > there:
        message = f"{need} about {_gigabytes(flowing)}"
    else:
        message = f"{need} about {_gigabytes(saturated)} beyond saturation"
    advice = "run fewer at a time with --jobs, or let less wait in queues and buffers"
    return [Problem(f"{message}, and this machine has {_gigabytes(there)}", note=advice)]


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"


def estimate_seconds(points: Sequence[Point], weights: Mapping[str, float], jobs: int) -> float:
    """Seconds that the points will take, from running a few of them for a second each.

    The probe starts from an empty network, so it is optimistic beyond saturation.
    """
    cpu, longest = probe_seconds(points, weights, jobs)
    return max(cpu / jobs, longest)


def probe_seconds(
    points: Sequence[Point], weights: Mapping[str, float], jobs: int
) -> tuple[float, float]:
    """Seconds of one core that all points take, and of the longest that was tried."""
    if not points:
        return 0.0, 0.0
    ordered = sorted(points, key=lambda point: weights[point.key])
    count = min(_PROBES, len(ordered))
    chosen = [ordered[(2 * index + 1) * len(ordered) // (2 * count)] for index in range(count)]
    with ThreadPoolExecutor(max(1, min(jobs, cores()))) as pool:
        seconds = list(pool.map(_probe, chosen))
    rate = sum(seconds) / sum(weights[point.key] for point in chosen)
    return rate * sum(weights[point.key] for point in points), max(seconds)


class _Enough(Exception):
    """The probe knows what it wanted to know."""


def _probe(point: Point) -> float:
    """Seconds of a core that a point takes, extrapolated, whatever else the machine does.

    By the pace of the second half of the probe: the first has the least to do, and cold caches.
    How far a program has come is not known before the second look, as it follows from what has
    arrived.
    """
    begin, busy = time.perf_counter(), time.thread_time()
    halfway = last = (0.0, 0.0)
    looks = 0

    def watch(cycle: int, of: int) -> None:
        nonlocal halfway, last, looks
        looks += 1
        last = (time.thread_time() - busy, cycle / of)
        elapsed = time.perf_counter() - begin
        if elapsed < _PROBE_SECONDS / 2:
            halfway = last
        elif elapsed > _PROBE_SECONDS and looks > 1 and last[1] > halfway[1]:
            raise _Enough

    try:
        _engine.simulate(point.canonical, progress=watch)
    except _Enough:
        (early, before), (seconds, fraction) = halfway, last
        return seconds + (1 - fraction) * (seconds - early) / (fraction - before)
    return time.thread_time() - busy


class Pace:
    """How far a run has come, and how long the rest takes at the pace of all that is done.

    The pace of the last moments would follow every fast and slow point.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        *,
        after: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`after` are seconds of what follows the points."""
        self._weights, self._after, self._clock = weights, after, clock
        self._came: dict[str, float] = {}
        self._begin = clock()
        self._whole = sum(weights.values())

    def come(self, key: str, fraction: float) -> None:
        """A point has come so far."""
        self._came[key] = fraction

    @property
    def fraction(self) -> float:
        """Of all the work, how much is done."""
        done = sum(self._weights[key] * fraction for key, fraction in self._came.items())
        return done / self._whole if self._whole else 1.0

    @property
    def left(self) -> float | None:
        """Seconds; None while nothing is known."""
        done = self.fraction
        if done <= 0:
            return None
        return (self._clock() - self._begin) * (1 - done) / done + self._after

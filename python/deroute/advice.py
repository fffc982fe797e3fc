"""Warnings of what a spec allows and hardly anybody means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deroute.errors import DocumentPath, Problem
from deroute.experiment import Experiment, Point

#: Phits of a queue that raise a flag of Piggyback, unless a spec says otherwise.
_FLAG_THRESHOLD = 50
#: Switches that take any number of phits from an input in a cycle.
_UNLIMITED = ("output_queued", "input_buffered_output_queued")


def idle_speed_ups(experiment: Experiment, sizes: Sequence[tuple[Point, int]]) -> Iterator[Problem]:
    """A warning for each speed-up of a crossbar that all packets are too short to use.

    `sizes` has the phits of each point's largest packet. A crossbar moves whole packets, one in at
    least a cycle: a packet of one phit passes no sooner, whatever the speed-up is.
    """
    idle: dict[DocumentPath, list[Point]] = {}
    for point, phits in sizes:
        combined = point.spec["network"].get("switch", {}).get("combined_queued")
        if phits == 1 and combined and combined.get("speedup", 1) > 1:
            path = "network.switch.combined_queued.speedup"
            idle.setdefault(experiment.origin(point.labels, path), []).append(point)
    for place, points in idle.items():
        message = "the speed-up does nothing: packets have one phit, which takes a cycle anyway"
        yield experiment.problem(place, message, note=_share(points, len(sizes)))


def hasty_flags(experiment: Experiment, sizes: Sequence[tuple[Point, int]]) -> Iterator[Problem]:
    """A warning for each Piggyback whose flags one waiting packet can raise.

    `sizes` has the phits of each point's largest packet. The flags' threshold is in phits, and five
    packets in the thesis (Table 3-1).
    """
    hasty: dict[DocumentPath, tuple[int, int, list[Point]]] = {}
    for point, phits in sizes:
        piggyback = point.spec.get("routing", {}).get("piggyback")
        if piggyback is None:
            continue
        threshold = piggyback.get("flag_threshold", _FLAG_THRESHOLD)
        if threshold < phits:
            path = "routing.piggyback" + ".flag_threshold" * ("flag_threshold" in piggyback)
            place = experiment.origin(point.labels, path)
            hasty.setdefault(place, (threshold, phits, []))[2].append(point)
    for place, (threshold, phits, points) in hasty.items():
        message = (
            f"one packet raises a flag: flag_threshold is {threshold} phits, a packet has {phits};"
            f" five packets, as in the thesis, are {5 * phits}"
        )
        yield experiment.problem(place, message, note=_share(points, len(sizes)))


def hasty_hosts(experiment: Experiment, points: Sequence[Point]) -> Iterator[Problem]:
    """A warning where programs can send faster than a link carries.

    Without a link of its own a host's packets wait in the router, and leave as fast as its crossbar
    takes them. Traffic of a load below 1 hardly does that, a program does.
    """
    hasty: dict[DocumentPath, list[Point]] = {}
    for point in points:
        network = point.spec["network"]
        (kind, switch), *_ = network.get("switch", {"": {}}).items()
        fast = switch.get("speedup", 2) > 1 if kind == "combined_queued" else kind in _UNLIMITED
        if "workload" in point.spec and fast and "link" not in network.get("nic", {}):
            place = experiment.origin(point.labels, "network.nic")
            hasty.setdefault(place, []).append(point)
    for place, found in hasty.items():
        message = (
            "hosts have no `link`, so that programs can send faster than a link carries, as fast as"
            " the crossbar takes it"
        )
        yield experiment.problem(place, message, note=_share(found, len(points)))


def small_buffers(
    experiment: Experiment, throttles: Sequence[tuple[Point, Sequence[tuple[str, float]]]]
) -> Iterator[Problem]:
    """A warning for each buffer that keeps its links waiting, and how much of them gets through."""
    small: dict[DocumentPath, tuple[float, int]] = {}
    for point, found in throttles:
        for path, share in found:
            place = experiment.origin(point.labels, path)
            least, points = small.get(place, (share, 0))
            small[place] = (min(least, share), points + 1)
    for place, (share, points) in small.items():
        message = (
            f"it is too small for its links: one VC gets {share:.0%} of them where nothing waits"
        )
        where = f"in {points} of {len(throttles)} points" if len(throttles) > 1 else ""
        yield experiment.problem(place, message, note=where)


def _share(points: Sequence[Point], count: int) -> str:
    return f"in {len(points)} of {count} points" if points[0].labels else ""

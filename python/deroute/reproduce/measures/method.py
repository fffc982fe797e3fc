"""Measures over the units of the base spec."""

from __future__ import annotations

from deroute.analysis import Estimate
from deroute.reproduce.evidence import Evidence
from deroute.reproduce.paper import PaperError

_BYTES = {"B": 1, "KB": 1000}


def vc_buffers(evidence: Evidence) -> list[Estimate]:
    """Input buffers of a VC of a local and of a global port, in phits."""
    phit = _bytes(evidence.base["units"]["phit"])
    links = evidence.base["network"]["links"]
    return [Estimate(_bytes(links[name]["buffer"]) / phit) for name in ("local", "global")]


def buffers_over_round_trips(evidence: Evidence, pipeline_ns: float) -> list[Estimate]:
    """Input buffers of a VC, local and global, over what a credit loop keeps in flight.

    The loop takes two link delays and two router pipelines, at one phit a cycle.
    """
    units, links = evidence.base["units"], evidence.base["network"]["links"]
    cycle_ns = _number(units["cycle"], "ns")
    latencies = [_number(links[name]["latency"], "ns") for name in ("local", "global")]
    loops = [2 * (latency + pipeline_ns) / cycle_ns for latency in latencies]
    buffers = vc_buffers(evidence)
    return [buffer.scaled(1 / loop) for buffer, loop in zip(buffers, loops, strict=True)]


def _number(text: str, unit: str) -> float:
    number, found = text.split()
    if found != unit:
        raise PaperError(f"{text!r} of the base spec is not in {unit}")
    return float(number)


def _bytes(text: str) -> float:
    number, unit = text.split()
    return float(number) * _BYTES[unit]


MEASURES = (vc_buffers, buffers_over_round_trips)

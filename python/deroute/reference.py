"""What the points of an experiment are compared with: the same traffic on an ideal crossbar.

A reference is a point of its own. It depends on the hosts, their traffic and the seed, and on
nothing of the network between them: points that share these share it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deroute import analysis
from deroute.experiment import Experiment, Point
from deroute.spec import Spec, microseconds

if TYPE_CHECKING:
    from deroute.results import Outcome

#: Columns: accepted load over that of the reference, with its interval within a run; and the time
#: of a workload over that on the reference.
ACCEPTED, ACCEPTED_CI95, SLOWDOWN = (
    *("relative.accepted", "relative.accepted_ci95"),
    "relative.slowdown",
)
#: Parts of a spec that say what hosts do, and for how long that is looked at.
_KEPT = ("units", "traffic", "workload", "run")
#: Phits behind the link of a host, which the switch takes at once anyway.
_BUFFER = 1_000_000


def references(experiment: Experiment, points: Sequence[Point]) -> dict[str, Point]:
    """The reference of each point, by the key of the point; empty if the file asks for none."""
    if experiment.reference is None:
        return {}
    return {point.key: _reference(experiment.reference, point) for point in points}


def distinct(found: Mapping[str, Point]) -> list[Point]:
    """Each reference once, but for those that are points of the experiment as well."""
    return [point for key, point in {p.key: p for p in found.values()}.items() if key not in found]


def _reference(name: str, point: Point) -> Point:
    return Point({"reference": f"{name} for {point}" if point.labels else name}, _spec(point.spec))


def _spec(spec: Mapping[str, Any]) -> Spec:
    """The hosts of a spec, their links and their traffic, on one ideal output-queued switch."""
    network = spec["network"]
    nic = network.get("nic", {})
    link = {"buffer": _BUFFER} | {key: nic["link"][key] for key in ("rate",) if key in _link(nic)}
    # A link with a buffer at its end takes time; with the memory there is, nothing is ever paused.
    latency = nic.get("latency", 0)
    return {key: spec[key] for key in _KEPT if key in spec} | {
        "network": {
            "topology": {"crossbar_of": network["topology"]},
            "switch": {"output_queued": {}},
            "flow_control": {"pfc": {"response": 0}},
            "nic": {"latency": latency if microseconds(latency, 1) > 0 else 1, "link": link},
        }
        | {key: network[key] for key in ("classes",) if key in network},
        "routing": {"minimal": {}},
    }


def _link(nic: Mapping[str, Any]) -> Mapping[str, Any]:
    link: Mapping[str, Any] = nic.get("link", {})
    return link


def relative(outcome: Outcome, reference: Outcome | None) -> dict[str, float]:
    """How a point compares with its reference; NaN for what is not known."""
    if outcome.workload is not None:
        return {SLOWDOWN: _slowdown(outcome, reference)}
    if reference is None or reference.load.accepted == 0:
        return {ACCEPTED: math.nan, ACCEPTED_CI95: math.nan}
    ratio = analysis.ratio(
        *(analysis.Estimate(o.load.accepted, o.load.accepted_ci95) for o in (outcome, reference))
    )
    return {ACCEPTED: ratio.mean, ACCEPTED_CI95: ratio.ci95}


def _slowdown(outcome: Outcome, reference: Outcome | None) -> float:
    """At least so much for a run that is not at its end; a reference has to be."""
    if reference is None or reference.workload is None or outcome.workload is None:
        return math.nan
    if reference.verdict.state != "completed":
        return math.nan
    return outcome.workload.makespan / reference.workload.makespan

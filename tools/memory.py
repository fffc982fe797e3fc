"""Compare the memory that `deroute check` predicts with what points take.

Every point runs in a process of its own, whose resident memory is measured at its peak, less what
Python takes before. A point that accepts less than 85% of what is attempted is beyond saturation;
at the edge, up to 95%, sources have only begun to queue, and it has to lie between the two
numbers that are predicted, or near them.
The constants of the prediction (`kernel/population.rs`, `kernel/footprint.rs`) come from points
marked `fit`; the others were looked at afterwards. Minutes, and half a gigabyte:

    python tools/memory.py
    python tools/memory.py --quick      # those that the tests try
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deroute import _engine
from deroute.api import Footprint
from deroute.spec import canonical

#: What the prediction may be off by, as a share of what is taken.
TOLERANCE = 0.30
#: What the first point of a process takes beside: the code of the engine, and the outcome. Six
#: networks of 27 hosts or fewer took 4.7 to 5.2 MB more than predicted.
FIRST = 4_900_000
#: Of what is attempted; a network that accepts less is at the edge of saturation, or beyond.
ACCEPTED, EDGE = 0.95, 0.85

Spec = dict[str, Any]

ADVERSARIAL = {"adversarial": {"offset": 1}}
VALIANT = {"valiant": {"phase_a": "lgl"}}
CQ = {"combined_queued": {"pipeline": 90, "output_buffer": 630}}
VOQ = {"virtual_output_queued": {"pipeline": 10}}
IBOQ = {"input_buffered_output_queued": {"pipeline": 10}}


def dragonfly(h: int, load: float, cycles: int = 6000, **other: Any) -> Spec:
    """A balanced Dragonfly. `other`: parts of the spec."""
    local = {"latency": 15, "vcs": 4, "buffer": 360}
    network = {
        "topology": {"dragonfly": {"p": h, "a": 2 * h, "h": h}},
        "links": {"local": local, "global": {"latency": 150, "vcs": 2, "buffer": 900}},
        "switch": CQ,
    }
    return _spec(network, load, cycles, {"routing": {"minimal": {}}} | other)


def hyperx(widths: list[int], load: float, cycles: int = 4000, **other: Any) -> Spec:
    """A HyperX with as many hosts at a router as its first dimension has routers."""
    link = {"latency": 20, "vcs": 8, "buffer": 256}
    network = {
        "topology": {"hyperx": {"widths": widths, "hosts": widths[0]}},
        "links": {f"dim{number + 1}": link for number in range(len(widths))},
        "switch": {"combined_queued": {"pipeline": 10, "output_buffer": 128}},
    }
    return _spec(network, load, cycles, {"routing": {"min_ad": {}}, "packet": 16} | other)


def fat_tree(k: int, levels: int, load: float, cycles: int = 4000, **other: Any) -> Spec:
    """A k-ary tree with virtual output queues."""
    link = {"latency": 20, "vcs": 1, "buffer": other.pop("buffer", 128)}
    network = {
        "topology": {"kary_tree": {"k": k, "levels": levels}},
        "links": {f"level{number + 1}": link for number in range(levels - 1)},
        "switch": VOQ,
    }
    return _spec(network, load, cycles, {"routing": {"up_adaptive": {}}, "packet": 8} | other)


def ethernet(k: int, load: float, cycles: int = 12_000, **other: Any) -> Spec:
    """A tree of lossless Ethernet: pauses, and input buffers that guard output queues."""
    nic = {"latency": 20, "injection_queue": 2048, "link": {"buffer": 640}}
    network = {
        "flow_control": {"pfc": {"xoff": 300, "xon": 200, "response": 0}},
        "nic": nic,
        "switch": IBOQ,
    }
    parts = {"buffer": 640, "packet": 100, "routing": {"mod_k": {}}}
    return fat_tree(k, 3, load, cycles, **(parts | {"network": network} | other))


def program(spec: Spec, ranks: int, *steps: Spec) -> Spec:
    """The same network with a program in place of its traffic."""
    packet = spec["traffic"]["packet_size"]
    jobs = [{"ranks": ranks, "steps": list(steps)}]
    kept = {key: value for key, value in spec.items() if key not in ("traffic", "run")}
    return kept | {"workload": {"packet_size": packet, "jobs": jobs}}


def _spec(network: Spec, load: float, cycles: int, other: Mapping[str, Any]) -> Spec:
    queue = other.get("queue")
    nic = {} if queue is None else {"nic": {"injection_queue": queue}}
    pattern = other.get("pattern", "uniform")
    traffic = {"load": load, "packet_size": other.get("packet", 10), "pattern": pattern}
    return {
        "network": network | nic | other.get("network", {}),
        "routing": other["routing"],
        "traffic": traffic | other.get("traffic", {}),
        "run": {"seed": 1, "warmup": cycles // 2, "measure": cycles // 2},
    }


@dataclass(frozen=True, slots=True)
class Point:
    """A point, and what it is for."""

    spec: Spec
    fit: bool = False
    #: Small enough for the tests.
    quick: bool = False


FIT = {
    "Dragonfly h=6, 0.3": Point(dragonfly(6, 0.3, queue=5040), True, True),
    "Dragonfly h=8, 0.8": Point(dragonfly(8, 0.8, queue=5040), True),
    "Dragonfly h=6, 1.0, packets of 4": Point(dragonfly(6, 1.0, queue=5040, packet=4), True),
    "Dragonfly h=6, adversarial, VLB, short queues": Point(
        dragonfly(6, 1.0, 8000, queue=252, routing=VALIANT, pattern=ADVERSARIAL), True
    ),
    "Dragonfly h=6, adversarial, MIN, short queues": Point(
        dragonfly(6, 1.0, 8000, queue=252, pattern=ADVERSARIAL), True
    ),
    "Dragonfly h=8, adversarial, VLB": Point(
        dragonfly(8, 1.0, queue=5040, routing=VALIANT, pattern=ADVERSARIAL), True
    ),
    "HyperX 8x8x8, 0.8": Point(hyperx([8, 8, 8], 0.8, queue=640), True),
    "HyperX 8x8x8, tornado": Point(
        hyperx([8, 8, 8], 1.0, queue=640, pattern={"tornado": {}}), True
    ),
    "16-ary 3-tree, VOQ, 0.9": Point(fat_tree(16, 3, 0.9, queue=512), True),
    "16-ary 3-tree, PFC, shuffle": Point(ethernet(16, 1.0, 16_000, pattern="shuffle"), True),
    "stencil on a Dragonfly": Point(
        program(
            dragonfly(6, 0.0, queue=5040, packet=8),
            1000,
            {"stencil": {"shape": [10, 10, 10], "messages": {"equal": 6000}}},
        ),
        True,
    ),
}
LATER = {
    "Dragonfly h=6, adversarial, MIN": Point(
        dragonfly(6, 1.0, queue=2000, pattern=ADVERSARIAL), quick=True
    ),
    "Dragonfly h=7, adversarial, UGAL": Point(
        dragonfly(7, 0.9, queue=1500, routing={"ugal": {}}, pattern=ADVERSARIAL)
    ),
    "Dragonfly h=7, 0.5, piggyback": Point(dragonfly(7, 0.5, routing={"piggyback": {}})),
    "Dragonfly h=9, 0.6": Point(dragonfly(9, 0.6, 3000)),
    "Dragonfly h=6, 0.4, packets of 5 to 40": Point(
        dragonfly(6, 0.4, packet={"min": 5, "max": 40})
    ),
    "Dragonfly h=5, VLB, unlimited queues": Point(
        dragonfly(5, 1.0, 9000, routing=VALIANT, pattern=ADVERSARIAL)
    ),
    "Dragonfly h=5, VOQ, 0.7": Point(dragonfly(5, 0.7, network={"switch": VOQ})),
    "HyperX 6x6x6x6, OmniWAR, 0.5": Point(hyperx([6, 6, 6, 6], 0.5, routing={"omniwar": {}})),
    "HyperX 10x10x10, complement": Point(
        hyperx([10, 10, 10], 1.0, 3000, pattern={"complement": {"dimension": 1}}), quick=True
    ),
    "HyperX 12x12, DimWAR, 0.9": Point(
        hyperx([12, 12], 0.9, 8000, routing={"dimwar": {}}), fit=True
    ),
    "18-ary 3-tree, VOQ, 0.5": Point(fat_tree(18, 3, 0.5), quick=True),
    "8-ary 4-tree, VOQ, permutation": Point(
        fat_tree(8, 4, 1.0, routing={"mod_k": {}}, pattern={"permutation": {"seed": 3}}), fit=True
    ),
    "12-ary 3-tree, PFC, permutation": Point(
        ethernet(12, 1.0, pattern={"permutation": {"seed": 3}}), quick=True
    ),
    "20-ary 3-tree, PFC, 0.6": Point(ethernet(20, 0.6)),
    "Bruck on a tree": Point(
        program(fat_tree(10, 3, 0.0, queue=512), 500, {"bruck": {"size": 32}}), quick=True
    ),
    "HyperX 14x14, O1TURN, 0.95": Point(hyperx([14, 14], 0.95, 6000, routing={"o1turn": {}})),
    "9-ary 3-tree, VOQ, D-mod-K, shift": Point(
        fat_tree(9, 3, 1.0, 8000, routing={"mod_k": {}}, pattern={"permutation": {"seed": 8}})
    ),
    "pairwise exchange on a HyperX": Point(
        program(
            hyperx([8, 8], 0.0, queue=640),
            512,
            {"collective": {"kind": "alltoall", "algorithm": "pairwise", "size": 20}},
        )
    ),
    "ring on a Dragonfly": Point(
        program(dragonfly(5, 0.0, queue=1000), 2000, {"ring": {"size": 40_000}})
    ),
}
POINTS = FIT | LATER


@dataclass(frozen=True, slots=True)
class Taken:
    """What a point took, and what was predicted, in bytes."""

    name: str
    bytes: int
    predicted: int
    kind: str

    @property
    def off(self) -> float:
        """How far the prediction is off, as a share of what was taken."""
        return self.predicted / self.bytes - 1


def measure(name: str) -> Taken:
    """Run a point in a process of its own."""
    command = [sys.executable, __file__, "--point", name]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, accepted, below, beyond = json.loads(found.stdout)
    if accepted >= ACCEPTED:
        return Taken(name, peak, FIRST + below, "below")
    if accepted < EDGE:
        return Taken(name, peak, FIRST + beyond, "beyond")
    return Taken(name, peak, min(max(peak, FIRST + below), FIRST + beyond), "at the edge")


def resident() -> int:
    """Bytes of memory that this process had at its peak.

    What `getrusage` says begins with the peak of the process that made this one.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (peak,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return 1024 * int(peak)


def _run(name: str) -> None:
    """Runs a point, and prints what it took and what was predicted."""
    text = canonical(POINTS[name].spec)
    before = resident()
    outcome = json.loads(_engine.simulate(text)[0])
    peak = resident()
    footprint = Footprint.of(text)
    load = outcome.get("load") or {}
    share = load["accepted"] / load["attempted"] if load.get("attempted") else 1.0
    predicted = (footprint.flowing_bytes, footprint.saturated_bytes)
    print(json.dumps([peak - before, share, *predicted]))


def compare(names: list[str]) -> Iterator[Taken]:
    """One after the other, as they come."""
    print(f"{'point':48} {'MB taken':>9} {'predicted':>9} {'off':>6}")
    for name in names:
        taken = measure(name)
        kind = taken.kind + (", fit" if POINTS[name].fit else "")
        megabytes = f"{taken.bytes / 1e6:9.1f} {taken.predicted / 1e6:9.1f}"
        print(f"{name:48} {megabytes} {taken.off:+6.0%} {kind}", flush=True)
        yield taken


def main() -> None:
    """Compare all points, or those of the tests."""
    if sys.argv[1:2] == ["--point"]:
        _run(sys.argv[2])
        return
    quick = sys.argv[1:2] == ["--quick"]
    chosen = [name for name, point in POINTS.items() if point.quick or not quick]
    wrong = [taken.name for taken in compare(chosen) if abs(taken.off) > TOLERANCE]
    if wrong:
        sys.exit(f"more than {TOLERANCE:.0%} off: {', '.join(wrong)}")


if __name__ == "__main__":
    main()

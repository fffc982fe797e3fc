"""What a hop costs with a routing in Python, over the same routing of the catalogue.

Both run in turn, and the median of the ratios of their CPU times counts, so that it holds on a
machine whose speed drifts. Fails if one takes more than `BAR` times as long.

    python -P tools/python_routing.py [ROUNDS]    (numba would take tools/coverage.py for its own)
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import deroute

BAR = 1.5
ROUNDS = 7
FILES = Path(__file__).resolve().parents[1] / "python" / "tests" / "routings"

#: Name, file, parameters, and the routing that it equals.
CASES: list[tuple[str, str, dict[str, object], dict[str, Any]]] = [
    ("MIN, asked at every hop", "min.py", {}, {"minimal": {}}),
    ("VLB, asked at every hop", "vlb.py", {}, {"valiant": {}}),
    ("VLB, asked at the source", "vlb.py", {"AT_SOURCE": True}, {"valiant": {}}),
    ("UGAL, asked at every hop", "ugal.py", {}, {"ugal": {}}),
    ("UGAL, asked at the source", "ugal.py", {"AT_SOURCE": True}, {"ugal": {}}),
    ("UGAL, in every cycle", "ugal.py", {"RECONSIDERS": True}, {"ugal": {"redecide": True}}),
]


def spec(routing: dict[str, Any], measure: int) -> dict[str, Any]:
    """A Dragonfly of 1,056 hosts."""
    return {
        "network": {
            "topology": {"dragonfly": {"p": 4, "a": 8, "h": 4}},
            "links": {"local": {"latency": "15 ns"}, "global": {"latency": "150 ns"}},
            "nic": {"injection_queue": "126 KB"},
            "switch": {"combined_queued": {"pipeline": "90 ns", "output_buffer": "15.75 KB"}},
        },
        "routing": routing,
        "traffic": {"load": 0.3, "packet_size": 10, "pattern": "uniform"},
        "run": {"warmup": 1000, "measure": measure},
    }


def cost(point: dict[str, Any]) -> float:
    """Nanoseconds of CPU time for each packet-hop."""
    begin = time.process_time()
    outcome = deroute.simulate(point)
    return 1e9 * (time.process_time() - begin) / outcome.work.grants


def main() -> int:
    """Measure, and say what is past the bar."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    past: list[str] = []
    print(f"{'routing':<28} {'native':>8} {'Python':>8} {'ratio':>6}   ns/hop, bar {BAR}")
    for name, file, parameters, native in CASES:
        source = (FILES / file).read_text(encoding="utf-8")
        python = {"python": {"name": file, "source": source, "parameters": parameters}}
        points = [spec(native, 10_000), spec(python, 10_000)]
        if deroute.simulate(points[0]) != deroute.simulate(points[1]):  # Compiles it as well.
            print(f"{name}: not the same")
            return 1
        pairs = [(cost(points[0]), cost(points[1])) for _ in range(rounds)]
        ratio = statistics.median(own / other for other, own in pairs)
        costs = [statistics.median(column) for column in zip(*pairs, strict=True)]
        mark = "  past the bar" if ratio > BAR else ""
        print(f"{name:<28} {costs[0]:>8.1f} {costs[1]:>8.1f} {ratio:>6.2f}{mark}", flush=True)
        past += [name] if mark else []
    print("; ".join([f"{len(past)} of {len(CASES)} past the bar of {BAR}", *past]))
    return int(bool(past))


if __name__ == "__main__":
    raise SystemExit(main())

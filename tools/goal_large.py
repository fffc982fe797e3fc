"""Replays a GOAL file of 10 million operations of 4,096 ranks, within two gigabytes of memory.

The file, 460 MB of text, is written first and streamed by the engine. Takes minutes. Measured: at
most 556 MB to read it, and 1,030 MB to replay it.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

from deroute import _engine

RANKS, ROUNDS = 4096, 814
#: Operations of a round: a computation, a send, a receive.
EACH = 3
MOST_BYTES = 2 * 10**9


def block(rank: int, ranks: int, rounds: int) -> str:
    """What a rank does: each round another partner, twice as far away."""
    lines = [f"rank {rank} {{\n"]
    bits = (ranks - 1).bit_length()
    for index in range(rounds):
        far = 1 << index % bits
        to, source = (rank + far) % ranks, (rank - far) % ranks
        lines.append(
            f"c{index}: calc 500\ns{index}: send 4096b to {to} tag {index}\n"
            f"r{index}: recv 4096b from {source} tag {index}\ns{index} requires c{index}\n"
        )
        if index:
            lines.append(f"c{index} requires r{index - 1}\nc{index} requires s{index - 1}\n")
    lines.append("}\n")
    return "".join(lines)


def spec_for(file: Path, ranks: int) -> str:
    """One ideal switch, with a phit of 64 bytes in 10 ns."""
    return json.dumps(
        {
            "units": {"cycle": "10 ns", "phit": "64 B"},
            "network": {
                "topology": {"crossbar": {"hosts": ranks}},
                "switch": {"output_queued": {"pipeline": 10}},
                "flow_control": {"pfc": {"response": 0}},
                "nic": {"latency": 1, "link": {"buffer": 1000}},
            },
            "routing": {"minimal": {}},
            "workload": {
                "packet_size": 64,
                "limit": 10_000_000,
                "jobs": [{"trace": {"file": str(file), "format": "goal"}}],
            },
        }
    )


def peak() -> float:
    """The most megabytes of memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def measure(ranks: int, rounds: int) -> float:
    """Replay it; the most megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.goal"
        with file.open("w", encoding="utf-8") as stream:
            stream.write(f"num_ranks {ranks}\n")
            stream.writelines(block(rank, ranks, rounds) for rank in range(ranks))
        size = file.stat().st_size / 1e6
        print(f"{ranks * rounds * EACH:,} operations of {ranks:,} ranks, {size:.0f} MB of text")
        spec = spec_for(file, ranks)
        _engine.check(spec)
        print(f"at most {peak():.0f} MB to read it")
        outcome, *_ = _engine.simulate(spec)
        job = json.loads(outcome)["workload"]["jobs"][0]
    print(f"{job['messages']['received']:,} messages, ended after {job['time']:,} cycles")
    print(f"at most {peak():.0f} MB to replay it")
    assert job["messages"]["received"] == ranks * rounds
    return peak()


if __name__ == "__main__":
    sys.exit(measure(RANKS, ROUNDS) * 1e6 > MOST_BYTES)

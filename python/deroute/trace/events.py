"""Timelines of simulated jobs in the trace event format of Chrome, which Perfetto opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from deroute.results import Outcome


def write(outcome: Outcome, out: TextIO) -> int:
    """Write the timelines of a point, an event a line: a job is a process, a rank a thread.

    Returns the number of activities; 0 if no job keeps its `timeline`.
    """
    count = 0
    out.write('{"displayTimeUnit": "ns", "traceEvents": [')
    for number, event in enumerate(_events(outcome)):
        out.write(",\n" if number else "\n")
        json.dump(event, out)
        count += event["ph"] == "X"
    out.write("\n]}\n")
    return count


def _events(outcome: Outcome) -> Iterator[dict[str, Any]]:
    us = outcome.cycle_ns / 1000
    named = outcome.workload.jobs if outcome.workload else []
    for process, job in enumerate(named):
        frame = outcome.jobs[job.name].timeline()
        if frame is None:
            continue
        yield _name("process_name", process, 0, job.name)
        for rank in range(job.ranks):
            yield _name("thread_name", process, rank, f"rank {rank}")
        for rank, activity, begin, end in frame.iter_rows():
            yield {
                "name": activity,
                "ph": "X",
                "pid": process,
                "tid": rank,
                "ts": (job.start + begin) * us,
                "dur": (end - begin) * us,
            }


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    """What a process or a thread is called."""
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}

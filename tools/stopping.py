"""Measure how well runs that end when enough is known keep what they say.

Runs points with fresh seeds and `run.precision`, and compares their means with those of long runs
of other seeds, over the second half of the longest time. Says how many cycles a run took, its
bias, how often its error was within what was asked, how often its interval covers, and its
verdicts: of the latency of runs that stopped, or else of the accepted load. An hour or two:

    python tools/stopping.py                              # every point, 100 seeds, 1%
    python tools/stopping.py "MIN UN 0.5" --seeds 40 --precision 2%
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from coverage import POINTS, Point, chosen, run, spec

from deroute.results import Outcome

#: First seed of the runs that end by themselves; the long ones have smaller ones.
FIRST = 10_001


def asked(point: Point, precision: str, most: int) -> dict[str, Any]:
    """The spec of a point that ends when its mean latency is known so well."""
    wanted = spec(point, 1, most)
    del wanted["run"]["warmup"]
    wanted["run"]["precision"] = {"latency": precision}
    return wanted


def judged(means: list[float], halves: list[float], long: list[float], width: float) -> str:
    """Bias, mean error, shares within the width and covered, and how well the truth is known."""
    truth = np.array(long)
    mean, unsure = float(truth.mean()), float(truth.std(ddof=1)) / math.sqrt(len(long))
    errors = np.array(means) - mean
    within = float((np.abs(errors) <= width * mean).mean())
    # What the long runs leave open counts for nobody.
    covers = float((np.abs(errors) <= np.hypot(halves, 1.96 * unsure)).mean())
    return (
        f"{100 * errors.mean() / mean:+7.2f}%{100 * np.abs(errors).mean() / mean:7.2f}%"
        f"{100 * within:7.0f}%{100 * covers:7.0f}%{100 * unsure / mean:7.2f}%"
    )


def row(name: str, found: list[Outcome], long: list[Outcome], width: float) -> str:
    """What the runs of a point did beside the long ones: latency if they stopped, or the load."""
    stopped = [o for o in found if o.stopping is not None and o.stopping.reached]
    states = Counter(outcome.verdict.state for outcome in found)
    told = ", ".join(f"{count} {state}" for state, count in states.most_common())
    cycles = float(np.mean([outcome.work.cycles for outcome in found]))
    if stopped:
        what = "latency"
        means, halves = [o.latency.mean for o in stopped], [o.latency.ci95 for o in stopped]
        truth = [o.latency.mean for o in long]
    else:
        what = "accepted"
        means, halves = [o.load.accepted for o in found], [o.load.accepted_ci95 for o in found]
        truth = [o.load.accepted for o in long]
    known = judged(means, halves, truth, width)
    return f"{name:28}{len(stopped):4} of {len(found):3}{cycles:9,.0f} {what:9}{known}  {told}"


def main() -> None:
    """Measure the points that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", nargs="*", metavar="POINT", help="names; default: all points")
    parser.add_argument("--seeds", type=int, default=100, help="runs of each point (default 100)")
    parser.add_argument("--long", type=int, default=12, help="long runs of each point (default 12)")
    parser.add_argument("--precision", default="1%", help="of the mean latency (default 1%%)")
    parser.add_argument("--most", type=int, default=120_000, help="run.measure (default 120,000)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once (default 2)")
    given = parser.parse_args()
    names = chosen(parser, given.points, POINTS)
    width = float(given.precision.rstrip("%")) / 100
    heads = ("bias", "error", "within", "covers", "truth")
    head = f"{'point':28}{'stopped':>11}{'cycles':>9} {'of':9}"
    print(head + "".join(f"{head:>8}" for head in heads), flush=True)
    half = given.most // 2
    with ProcessPoolExecutor(given.jobs) as pool:
        for name in names:
            long = spec(POINTS[name], half, half)
            truth = list(pool.map(partial(run, long), range(1, given.long + 1)))
            seeds = range(FIRST, FIRST + given.seeds)
            wanted = asked(POINTS[name], given.precision, given.most)
            found = list(pool.map(partial(run, wanted), seeds))
            print(row(name, found, truth, width), flush=True)


if __name__ == "__main__":
    main()

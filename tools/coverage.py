"""Measure how often confidence intervals cover, and how often a verdict is a false alarm.

Runs points of the experiments of this repository with many seeds, which differ in nothing else. An
interval covers if the mean over all seeds lies in it; of intervals that hold what they say, 95% do.
The number in parentheses tells how wide they are: their mean half-width over 1.96 standard
deviations between the seeds. Minutes to hours:

    python tools/coverage.py                    # every point, 60 seeds, 20,000 + 20,000 cycles
    python tools/coverage.py --list
    python tools/coverage.py "PB ADV+1 0.4" --warmup 6000 --measure 6000 --seeds 100
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import deroute
from deroute.cli.point import spec_of
from deroute.experiment import Experiment
from deroute.files import read_document
from deroute.results import Outcome

EXPERIMENTS = Path(__file__).parent.parent / "experiments"
SMALL = "network.topology.dragonfly={ p = 2, a = 4, h = 2 }"
BURSTS = "traffic.injection={ on_off = { burst = 10.0, peak = 1.0 } }"

#: The experiment, labels of its axes, and entries that are set.
Point = tuple[str, list[str], list[str]]
#: Points by their name. The last ones are beyond saturation, where only the accepted load is known.
POINTS: dict[str, Point] = {
    "MIN UN 0.5": ("demo", ["traffic=UN", "routing=MIN", "load=0.5"], []),
    "MIN UN 0.9": ("demo", ["traffic=UN", "routing=MIN", "load=0.9"], []),
    "VLB UN 0.4": ("demo", ["traffic=UN", "routing=VLB", "load=0.4"], []),
    "UGAL UN 0.7": ("demo", ["traffic=UN", "routing=UGAL", "load=0.7"], []),
    "PB ADV+1 0.4": ("demo", ["traffic=ADV+1", "routing=PB", "load=0.4"], []),
    "h=2 MIN UN 0.3": ("demo", ["traffic=UN", "routing=MIN", "load=0.3"], [SMALL]),
    "h=2 MIN UN 0.8": ("demo", ["traffic=UN", "routing=MIN", "load=0.8"], [SMALL]),
    "h=2 UGAL ADV+1 0.25": (
        "demo",
        ["traffic=ADV+1", "routing=UGAL"],
        [SMALL, "traffic.load=0.25"],
    ),
    "h=2 MIN UN 0.4, bursts": (
        "demo",
        ["traffic=UN", "routing=MIN", "load=0.4"],
        [SMALL, BURSTS],
    ),
    "h=2 UGAL ADV+1 0.2, bursts": (
        "demo",
        ["traffic=ADV+1", "routing=UGAL", "load=0.2"],
        [SMALL, BURSTS],
    ),
    "HyperX DOR UR 0.7": ("hyperx", ["traffic=UR", "routing=DOR", "load=0.7"], []),
    "HyperX OmniWAR DCR 0.4": ("hyperx", ["traffic=DCR", "routing=OmniWAR", "load=0.4"], []),
    "HyperX DimWAR UR 0.5": ("hyperx", ["traffic=UR", "routing=DimWAR", "load=0.5"], []),
    "iSLIP 0.8": ("islip", ["switch=iSLIP, 1 iteration", "load=0.8"], []),
    "output queues 0.8": ("islip", ["switch=output queues", "load=0.8"], []),
    "VLB UN 0.9": ("demo", ["traffic=UN", "routing=VLB", "load=0.9"], []),
    "h=2 MIN ADV+1 0.3": ("demo", ["traffic=ADV+1", "routing=MIN", "load=0.3"], [SMALL]),
    "h=2 PB ADV+1 0.7": ("demo", ["traffic=ADV+1", "routing=PB", "load=0.7"], [SMALL]),
}


def spec(point: Point, warmup: int, measure: int) -> dict[str, Any]:
    """The spec of a point."""
    file, where, entries = point
    path = EXPERIMENTS / f"{file}.toml"
    document, text = read_document(path)
    experiment = Experiment.from_document(document, path=path, text=text)
    times = [f"run.warmup={warmup}", f"run.measure={measure}"]
    return spec_of(experiment, where, [*entries, *times])[0]


def run(point: dict[str, Any], seed: int) -> Outcome:
    """One run."""
    return deroute.simulate(point | {"run": point["run"] | {"seed": seed}})


def coverage(means: list[float], halves: list[float]) -> str:
    """Share of the intervals that cover, and how wide they are."""
    sample, half = np.array(means), np.array(halves)
    spread = float(sample.std(ddof=1))
    # The mean over all seeds is known no better than this, and each run is part of it.
    own = math.sqrt(1 - 1 / len(sample))
    covered = float((np.abs(sample - sample.mean()) <= own * half).mean())
    return f"{100 * covered:3.0f}% ({half.mean() / (1.96 * spread):.2f})"


def chosen(parser: argparse.ArgumentParser, names: list[str], known: Iterable[str]) -> list[str]:
    """The names that were asked for, or all; ends the program if one of them is not known."""
    known = list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = "\n".join(known)
        parser.exit(2, f"unknown: {', '.join(unknown)}; there are\n{listed}\n")
    return names or known


def main() -> None:
    """Measure the points that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", nargs="*", metavar="POINT", help="names; default: all points")
    parser.add_argument("--list", action="store_true", help="list the points")
    parser.add_argument("--seeds", type=int, default=60, help="runs of each point (default 60)")
    parser.add_argument("--first", type=int, default=1, help="first seed (default 1)")
    parser.add_argument("--warmup", type=int, default=20_000, help="cycles (default 20,000)")
    parser.add_argument("--measure", type=int, default=20_000, help="cycles (default 20,000)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once (default 2)")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(POINTS))
        return
    names = chosen(parser, asked.points, POINTS)
    if asked.seeds < 2:
        parser.error("--seeds: fewer than 2 have no spread")
    print(f"{'point':28} {'latency':>11} {'accepted':>12}  verdicts", flush=True)
    seeds = range(asked.first, asked.first + asked.seeds)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name in names:
            point = spec(POINTS[name], asked.warmup, asked.measure)
            found = list(pool.map(partial(run, point), seeds))
            latency = coverage([o.latency.mean for o in found], [o.latency.ci95 for o in found])
            load = coverage([o.load.accepted for o in found], [o.load.accepted_ci95 for o in found])
            states = Counter(o.verdict.state for o in found)
            told = ", ".join(f"{count} {state}" for state, count in states.most_common())
            print(f"{name:28} {latency} {load}  {told}", flush=True)


if __name__ == "__main__":
    main()

"""Measure how often runs that end when enough is known tell what long ones do of a knee.

Around the knee of some curves, runs with `run.precision` say whether the network keeps up: it
accepts 98% of what is attempted, and is not saturated, as in `deroute saturation`. The truth is
what most long runs of other seeds say (60,000 + 60,000 cycles). Where long runs do not agree with
each other, how often they agree with most of them is beside it. Minutes:

    python tools/knees.py                                  # every curve, 100 seeds, 1%
    python tools/knees.py "VLB UN" --seeds 20
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from coverage import SMALL, Point, chosen, run, spec
from stopping import FIRST, asked

from deroute.analysis import KEEPS_UP
from deroute.results import Outcome

#: Curves of a Dragonfly of 72 hosts, and loads around their knees.
CURVES = {
    "VLB UN": [0.48, 0.5, 0.51, 0.52, 0.53, 0.54, 0.56],
    "PB UN": [0.88, 0.9, 0.91, 0.92, 0.93, 0.94, 0.96],
    "MIN ADV+1": [0.1, 0.11, 0.12, 0.13, 0.14, 0.15],
    "UGAL ADV+1": [0.37, 0.39, 0.4, 0.41, 0.42, 0.43, 0.45],
    "PB ADV+1": [0.47, 0.49, 0.5, 0.51, 0.52, 0.53, 0.55],
}


def point(curve: str, load: float) -> Point:
    """A load of a curve, as one of those of `coverage.py`."""
    routing, pattern = curve.split()
    return ("demo", [f"traffic={pattern}", f"routing={routing}"], [SMALL, f"traffic.load={load}"])


def keeps_up(outcome: Outcome) -> bool:
    """What a run says of the network."""
    load = outcome.load
    return outcome.verdict.state != "saturated" and load.accepted >= KEEPS_UP * load.attempted


def agreement(found: list[bool], long: list[bool]) -> tuple[float, float]:
    """Shares of the runs, and of the long ones, that say what most long ones say."""
    most = np.mean(long) >= 0.5
    return float(np.mean(np.array(found) == most)), float(np.mean(np.array(long) == most))


def main() -> None:
    """Measure the curves that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("curves", nargs="*", metavar="CURVE", help="names; default: all curves")
    parser.add_argument("--seeds", type=int, default=100, help="runs of each load (default 100)")
    parser.add_argument("--most", type=int, default=120_000, help="cycles (default 120,000)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once (default 2)")
    given = parser.parse_args()
    names = chosen(parser, given.curves, CURVES)
    heads = ("load", "keep up", "of long", "cycles", "agree", "long agree")
    print(f"{'curve':12}" + "".join(f"{head:>11}" for head in heads), flush=True)
    half = given.most // 2
    with ProcessPoolExecutor(given.jobs) as pool:

        def runs(wanted: dict[str, Any], first: int) -> list[Outcome]:
            return list(pool.map(partial(run, wanted), range(first, first + given.seeds)))

        for name in names:
            all_agree = []
            for load in CURVES[name]:
                at = point(name, load)
                long = [keeps_up(outcome) for outcome in runs(spec(at, half, half), 1)]
                found = runs(asked(at, "1%", given.most), FIRST)
                says = [keeps_up(outcome) for outcome in found]
                agree, long_agree = agreement(says, long)
                all_agree.append((agree, long_agree))
                cycles = np.mean([outcome.work.cycles for outcome in found])
                print(
                    f"{name:12}{load:11g}{np.mean(says):11.0%}{np.mean(long):11.0%}"
                    f"{cycles:11,.0f}{agree:11.0%}{long_agree:11.0%}",
                    flush=True,
                )
            agree, long_agree = np.mean(all_agree, axis=0)
            print(f"{name:12}{'all':>11}{'':33}{agree:11.0%}{long_agree:11.0%}", flush=True)


if __name__ == "__main__":
    main()

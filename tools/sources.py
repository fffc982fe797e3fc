"""Measure cells of table 2 of the fat-tree paper for other hosts that send to its hot spots.

Which hosts send, and to which of four hot spots each, is not printed. The paper's network, time in
packets (a cycle of 320 ns, a phit of 4 KB) and registers before the crossbar: nothing but the
sources differs (decision 6, "What is missing in table 2"). Percent after 1 ms, a minute of one core
for each number:

    python tools/sources.py                          # cells of decision 6: half an hour, two cores
    python tools/sources.py "DBBM HS25-4 2TH-1S-K" --readings "in turn" "by switch" --draw 2
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import deroute
from deroute.experiment import Experiment
from deroute.reproduce import Item, Paper, read_paper
from deroute.reproduce.experiments import documents

HOSTS, SUBTREE, LEAF = 11_664, 324, 18
HOT_SPOTS = (600, 3400, 5200, 9500)
CELLS = (
    *("1Q HS10-1 TH-1S-K", "1Q HS25-4 2TH-*S-K", "DBBM HS10-4 2TH-1S-K", "DBBM HS25-4 2TH-1S-K"),
    *("DBBM HS25-4 2TH-*S-K", "vFtree HS25-4 2TH-*S-K", "Flow2SL HS10-4 TH-1S-K/3"),
    *("Flow2SL HS10-4 2TH-1S-K", "Flow2SL HS25-4 2TH-1S-K", "Flow2SL HS25-4 2TH-2S-K"),
    *("Flow2SL HS25-4 D-mod-K", "Flow2SL HS25-1 2TH-1S-K"),
)

#: To which of so many hot spots each of the sources sends.
Deal = Callable[[list[int], int, random.Random], list[int]]
DEALS: dict[str, Deal] = {
    "in turn": lambda hosts, spots, _: [place % spots for place in range(len(hosts))],
    "drawn": lambda hosts, spots, dice: [dice.randrange(spots) for _ in hosts],
    "by switch": lambda hosts, spots, _: [host // LEAF % spots for host in hosts],
    "in quarters": lambda hosts, spots, _: [host * spots // HOSTS for host in hosts],
}
NONE_INSIDE = ", none inside"
READINGS = [*DEALS, *(f"{name}{NONE_INSIDE}" for name in ("in turn", "by switch"))]


def sources(traffic: str, reading: str, draw: int) -> list[tuple[int, list[int]]]:
    """The hot spots of a traffic such as `HS25-4`, and the hosts that send to each."""
    percent, count = map(int, traffic.removeprefix("HS").split("-"))
    spots, dice = HOT_SPOTS[:count], random.Random(draw)
    inside = {spot // SUBTREE for spot in spots} if reading.endswith(NONE_INSIDE) else set()
    free = [h for h in range(HOSTS) if h not in spots and h // SUBTREE not in inside]
    hosts = sorted(dice.sample(free, round(HOSTS * percent / 100)))
    dealt = DEALS[reading.removesuffix(NONE_INSIDE)](hosts, count, dice)
    return [
        (spot, [host for host, to in zip(hosts, dealt, strict=True) if to == n])
        for n, spot in enumerate(spots)
    ]


@cache
def table() -> tuple[Paper, Item]:
    """The paper, and its table 2."""
    paper = read_paper(Path(__file__).parents[1] / "reproduce" / "fat-tree")
    [item] = paper.select("table-2", [])
    return paper, item


@cache
def published() -> dict[str, float]:
    """What the paper prints of the cells with hot spots at hosts, in percent."""
    known = next(each for each in table()[1].tables if each.of == "cells")
    return {
        f"{label['scheme']} {label['traffic']} {routing}": float(known.published[row, column])
        for row, routing in enumerate(known.rows)
        for column, label in enumerate(known.labels())
        if label["traffic"] != "IHS"
    }


def spec(cell: str, reading: str, draw: int) -> dict[str, Any]:
    """The point of a cell, in packets, with these sources."""
    document = documents(*table(), "paper")["cells"]
    wanted = dict(zip(("scheme", "traffic", "routing"), cell.split(), strict=True))
    points = Experiment.from_document(document).points
    found = next(point.spec for point in points if wanted.items() <= point.labels.items())
    found["traffic"]["hotspots"] = [
        {"sources": {"hosts": hosts}, "destinations": {"any": [spot]}}
        for spot, hosts in sources(cell.split()[1], reading, draw)
    ]
    return found


def measure(job: tuple[str, str, int]) -> float:
    """Accepted load in percent."""
    return 100 * deroute.simulate(spec(*job)).load.accepted


def main() -> None:
    """Measure the cells that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cells", nargs="*", metavar="CELL", help="default: those of decision 6")
    parser.add_argument("--readings", nargs="+", choices=READINGS, default=READINGS)
    parser.add_argument("--draw", type=int, default=5, help="which draw of sources (default 5)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")
    asked = parser.parse_args()
    for cell in asked.cells:
        if cell not in published():
            parser.error(f"no cell {cell!r}; scheme, traffic and routing, as in {CELLS[0]!r}")
    jobs = [
        (cell, reading, asked.draw)
        for cell in asked.cells or CELLS
        for reading in asked.readings
        # With one hot spot all are alike but for where they are.
        if cell.split()[1].endswith("-4") or reading.startswith("in turn")
    ]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for (cell, reading, _), percent in zip(jobs, pool.map(measure, jobs), strict=True):
            print(
                f"{cell}, published {published()[cell]:.0f}, {reading}: {percent:.1f}", flush=True
            )


if __name__ == "__main__":
    main()

"""What reproducing a paper takes, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from deroute import cost, plan, runner
from deroute.experiment import Experiment
from deroute.machine import cores
from deroute.reproduce import sharing


@dataclass(frozen=True, slots=True)
class Budget:
    """What an experiment of a paper takes."""

    name: str
    #: Points, and those that this version of the engine has not finished.
    points: int
    left: int
    #: Cycles of the points that are left, at most; a workload counts for none.
    cycles: float
    #: Seconds of one core for them.
    cpu_seconds: float
    #: Wall time of those that it has finished, in seconds, one after the other.
    spent_seconds: float
    #: Bytes of the largest point, beyond saturation and with every queue full (or without limit).
    saturated_bytes: int
    worst_bytes: int | None


def budget(document: Mapping[str, Any], directory: Path, counted: set[str]) -> Budget:
    """Check an experiment of a paper, and try a few of the points that are left for a second.

    Those that other experiments have finished are not left, nor are those that have been counted
    before, finished or not; the others are `counted`, too, then.
    """
    checked = plan.check_experiment(Experiment.from_document(document))
    own = directory / checked.experiment.name
    known = runner.finished(own)
    new = [point for point in checked.runs if point.key not in counted]
    left = [point for point in new if point.key not in known]
    elsewhere = sharing.finished({point.key for point in left}, own)
    left = [point for point in left if point.key not in elsewhere]
    counted |= {point.key for point in new} - elsewhere.keys()
    synthetic = [point for point in left if "workload" not in point.spec]
    return Budget(
        name=checked.experiment.name,
        points=len(checked.runs),
        left=len(left),
        cycles=sum(cost.cycles(point.spec) for point in synthetic),
        cpu_seconds=cost.probe_seconds(left, checked.weights, cores())[0],
        spent_seconds=sum(known[point.key] for point in new if point.key in known),
        saturated_bytes=checked.footprint.saturated_bytes,
        worst_bytes=checked.footprint.worst_bytes,
    )


def table(budgets: list[Budget]) -> Table:
    """A row for each experiment, and their sum."""
    shown = Table(box=None, header_style="bold")
    shown.add_column("experiment", overflow="fold")
    head = ("points", "to run", "Mcycles", "CPU h", "took h", "about MB a point", "at most MB")
    for name in head:
        shown.add_column(name, justify="right", no_wrap=True)
    whole = Budget(
        name="all",
        points=sum(each.points for each in budgets),
        left=sum(each.left for each in budgets),
        cycles=sum(each.cycles for each in budgets),
        cpu_seconds=sum(each.cpu_seconds for each in budgets),
        spent_seconds=sum(each.spent_seconds for each in budgets),
        saturated_bytes=max((each.saturated_bytes for each in budgets), default=0),
        worst_bytes=_worst(budgets),
    )
    for each in (*budgets, whole):
        shown.add_row(
            each.name,
            f"{each.points:,}",
            f"{each.left:,}",
            f"{each.cycles / 1e6:,.3f}",
            f"{each.cpu_seconds / 3600:,.3f}",
            f"{each.spent_seconds / 3600:,.3f}",
            f"{each.saturated_bytes / 1e6:,.0f}",
            "no limit" if each.worst_bytes is None else f"{each.worst_bytes / 1e6:,.0f}",
            style="bold" if each is whole else "",
        )
    return shown


def _worst(budgets: list[Budget]) -> int | None:
    worst = [each.worst_bytes for each in budgets]
    known = [size for size in worst if size is not None]
    return max(known, default=0) if len(known) == len(worst) else None

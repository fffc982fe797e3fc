"""Where a network saturates, by bisection: which loads to run next, and what is known in the end.

A curve is one combination of the labels of all axes but the load and the seed. Loads are multiples
of the precision that is asked for. The highest one is run first: what it accepts is the throughput
at saturation. Then the interval between the highest load that the network keeps up with and the
lowest one that it does not is halved until it is as wide as the precision: the knee lies in it. A
network keeps up that accepts 98% of what is attempted, and whose seeds are not saturated together.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from deroute.analysis import KEEPS_UP, SEED, Estimate, estimate, state_over_seeds
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.frame import Results
from deroute.reader import SEED_PATH, Label

#: What the axis of the load sets.
LOAD = "traffic.load"
#: Suffix of the names of such experiments, and the name of their figure.
SUFFIX, FIGURE = "-saturation", "saturation"

Labels = Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class Measured:
    """A load of a curve, over its seeds."""

    load: float
    accepted: Estimate
    keeps_up: bool
    state: str
    runs: int


@dataclass(frozen=True, slots=True)
class Knee:
    """What is known of a curve; loads in phits per host and cycle."""

    labels: Labels
    #: The highest load that it keeps up with, and the lowest one that it does not, if there are
    #: any.
    kept_up: Measured | None
    fell_behind: Measured | None
    #: The highest load that was run: what it accepts is the throughput at saturation.
    highest: Measured
    #: Loads that were run.
    loads: int


@dataclass(frozen=True)
class Search:
    """A search for the knees of the curves of an experiment, to a precision of the load."""

    experiment: Experiment
    axis: str
    #: Loads are `step`, `2 * step`, ... up to `steps * step`.
    step: float
    steps: int

    @classmethod
    def of(cls, experiment: Experiment, precision: float, highest: float) -> Search:
        """Search up to the highest load. Raises `InputError` if there is no load to vary."""
        if not 1e-4 <= precision <= 0.25:
            raise InputError.of(f"{precision:g} is out of range", "--precision", ["0.0001 to 0.25"])
        if not precision <= highest <= 1:
            raise InputError.of(f"{highest:g} is out of range", "--to", [f"{precision:g} to 1"])
        steps = round(highest / precision)
        if not math.isclose(steps * precision, highest):
            below = math.floor(highest / precision)
            near = [f"{step * precision:g}" for step in (below, below + 1) if step * precision <= 1]
            message = f"{highest:g} is no multiple of the precision, {precision:g}"
            raise InputError.of(message, "--to", near)
        axes = [axis.name for axis in experiment.sweep if _sets_load(axis.values)]
        base = experiment.base.get("traffic", {})
        if not axes and (not isinstance(base, Mapping) or "load" not in base):
            message = "the experiment has no load to vary"
            raise InputError.of(message, "FILE", [f"an axis of `{LOAD}`", f"base.{LOAD}"])
        return cls(experiment, axes[0] if axes else "load", precision, steps)

    def curves(self) -> list[Labels]:
        """Labels of each curve, without those that `[[skip]]` leaves out at every load."""
        found = dict[tuple[tuple[str, Label], ...], None]()
        for point in self.experiment.points:
            others = {k: v for k, v in point.labels.items() if k not in (self.axis, SEED)}
            found[tuple(others.items())] = None
        return [dict(curve) for curve in found]

    def load(self, step: int) -> float:
        """The load of so many steps."""
        return float(f"{step * self.step:.10g}")

    def document(self, loads: Mapping[int, Sequence[int]]) -> dict[str, Any]:
        """The experiment with these steps of each curve (by its number), and a figure of them."""
        document = copy.deepcopy(dict(self.experiment.document))
        document["name"] = self.experiment.name + SUFFIX
        document.pop("reference", None)
        seeds = self.experiment.seeds
        if document.pop("seeds", None) and seeds:
            # As many at every load.
            axis = {
                "name": SEED,
                "path": SEED_PATH,
                "range": {"from": 1, "to": seeds.least, "step": 1},
            }
            document["axis"] = [*document.get("axis", []), axis]
        curves = self.curves()
        steps = sorted({step for found in loads.values() for step in found})
        values = [self.load(step) for step in steps]
        axes = [dict(axis) for axis in document.get("axis", [])]
        load = {"name": self.axis, "path": LOAD, "values": values}
        if any(axis["name"] == self.axis for axis in axes):
            axes = [load if axis["name"] == self.axis else axis for axis in axes]
        else:
            axes.append(load)
        document["axis"] = axes
        own = [skip for skip in document.get("skip", []) if self.axis not in skip]
        for number, curve in enumerate(curves):
            absent = [self.load(step) for step in steps if step not in loads.get(number, ())]
            if absent:
                own.append({**curve, self.axis: absent})
        document["skip"] = own
        document["figure"] = [self._figure(curves)] if curves else []
        return document

    def _figure(self, curves: Sequence[Labels]) -> dict[str, Any]:
        """Accepted load against offered load: two axes as series and panel, the first label of
        others.
        """
        several = [axis for axis in curves[0] if len({curve[axis] for curve in curves}) > 1]
        several.sort(key=lambda axis: -len({curve[axis] for curve in curves}))
        figure: dict[str, Any] = {"name": FIGURE, "kind": "throughput", "x": self.axis}
        figure |= dict(zip(("series", "panel"), several, strict=False))
        if len(several) > 2:
            figure["where"] = {axis: curves[0][axis] for axis in several[2:]}
        return figure

    def measured(self, results: Results, curve: Labels) -> dict[int, Measured]:
        """What has been measured of a curve, by its step; loads with all their seeds only."""
        frame = results.frame
        if frame.is_empty():
            return {}
        for axis, label in curve.items():
            frame = frame.filter(pl.col(axis) == label)
        seeds = len(results.experiment.axes.get(SEED, [0]))
        found = {}
        for (load,), runs in frame.group_by([self.axis], maintain_order=True):
            step = round(float(load) / self.step)
            if len(runs) == seeds and abs(self.load(step) - float(load)) < 1e-9:
                found[step] = _measured(float(load), runs)
        return found

    def next_step(self, known: Mapping[int, Measured]) -> int | None:
        """The load of a curve that teaches most; None if its knee is known."""
        if self.steps not in known:
            return self.steps
        if known[self.steps].keeps_up:
            return None
        low, high = self._bracket(known)
        if high - low <= 1:
            return None
        # Most networks accept beyond saturation what they did at the knee, or a little less: from
        # there in steps that double, until there is a load on either side.
        guess = math.floor(known[self.steps].accepted.mean / KEEPS_UP / self.step)
        guess = min(max(guess, 1), self.steps - 1)
        if high < self.steps and low > 0:
            return (low + high) // 2
        if len(known) == 1:
            return guess
        away = high - (guess + 1 - high) if low == 0 else low + (low - guess + 1)
        return min(max(away, low + 1), high - 1)

    def knee(self, labels: Labels, known: Mapping[int, Measured]) -> Knee:
        """What is known of a curve in the end."""
        highest = known[self.steps]
        low, high = (self.steps, None) if highest.keeps_up else self._bracket(known)
        behind = None if high is None else known[high]
        return Knee(labels, known.get(low), behind, highest, len(known))

    def _bracket(self, known: Mapping[int, Measured]) -> tuple[int, int]:
        """Steps between which it falls behind: the lowest such, where there are several."""
        high = min(step for step, each in known.items() if not each.keeps_up)
        low = max((step for step, each in known.items() if step < high), default=0)
        return low, high


def _sets_load(values: Sequence[Any]) -> bool:
    return all(set(value.assignments) == {LOAD} for value in values)


def _measured(load: float, runs: pl.DataFrame) -> Measured:
    state = state_over_seeds(runs)
    took, tried = runs["load.accepted"].to_numpy(), runs["load.attempted"].to_numpy()
    share = float((took / np.maximum(tried, np.finfo(float).tiny)).mean())
    accepted = estimate(took, float(runs["load.accepted_ci95"][0]))
    return Measured(load, accepted, state != "saturated" and share >= KEEPS_UP, state, len(runs))


def table(knees: Sequence[Knee]) -> Iterator[dict[str, object]]:
    """A row for each curve."""
    for knee in knees:
        kept, behind = knee.kept_up, knee.fell_behind
        top = knee.highest
        yield {
            **knee.labels,
            "kept_up": 0.0 if kept is None else kept.load,
            "fell_behind": None if behind is None else behind.load,
            "accepted_at_knee": None if kept is None else kept.accepted.mean,
            "highest": top.load,
            "throughput": top.accepted.mean,
            "throughput_ci95": top.accepted.ci95,
            "loads": knee.loads,
            "states": ", ".join(
                f"{each.state} at {each.load:g}" for each in (kept, behind) if each is not None
            ),
        }

"""Where a network saturates, by bisection: which loads to run next, and what is known in the end.

A curve is one combination of the labels of all axes but the load and the seed. Loads are multiples
of the precision that is asked for. The highest one is run first: what it accepts is the throughput
at saturation. Then the interval between the highest load that the network keeps up with and the
lowest one that it does not is halved until it is as wide as the precision: the knee lies in it. A
network keeps up that accepts 98% of what is attempted, and whose seeds are not saturated together.

Figures want further loads, where curves bend. Each of them halves the longest piece of the curve of
latency through those before it.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from deroute.analysis import (
    KEEPS_UP,
    SEED,
    Estimate,
    estimate,
    share_of_attempted,
    state_over_seeds,
)
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.figures import CATALOGUE, FigureTable, read_figures
from deroute.figures.latency import HEADROOM
from deroute.figures.throughput import RELATIVE
from deroute.frame import Results
from deroute.reader import SEED_PATH, Label

#: What the axis of the load sets.
LOAD = "traffic.load"
#: Suffix of the names of such experiments, and the name of their figure.
SUFFIX, FIGURE = "-saturation", "saturation"

# The lowest load of a figure, as a share of the knee. Still lower ones have few packets.
_LOWEST = 0.1
# How long the curve is beyond the knee, where there is no latency; below it is one.
_PLATEAU = 0.5

Labels = Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class Measured:
    """A load of a curve, over its seeds."""

    load: float
    accepted: Estimate
    keeps_up: bool
    state: str
    runs: int
    #: In cycles; NaN if there is none.
    latency: float = math.nan

    def height(self, top: float) -> float:
        """Where a figure of latency draws it, as a share of an ordinate that ends at `top`."""
        known = self.state != "saturated" and self.latency < top
        return self.latency / top if known else 1.0


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
    #: Further loads of each curve, for the figures of the experiment; 0: without them.
    further: int = 0

    @classmethod
    def of(
        cls, experiment: Experiment, precision: float, highest: float, further: int = 0
    ) -> Search:
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
        return cls(experiment, axes[0] if axes else "load", precision, steps, further)

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
        """The experiment with these steps of each curve (by its number), and figures of them."""
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
        figures = self._figures() if self.further else []
        if curves and FIGURE not in [figure["name"] for figure in figures]:
            figures.append(self._figure(curves))
        document["figure"] = figures
        return document

    def _figures(self) -> list[dict[str, Any]]:
        """Those of the experiment that have curves over the load, whatever loads there are."""
        known = self.experiment.figures
        tables = read_figures(known, self.experiment.axes)
        return [
            dict(figure) for figure, table in zip(known, tables, strict=True) if self._fits(table)
        ]

    def _fits(self, table: FigureTable) -> bool:
        """Not if it needs a reference, which is not run, or loads or seeds of the file."""
        relative = table.options.get("of") == RELATIVE or "relative." in str(table.options.get("y"))
        named = {self.axis, SEED} & table.where.keys()
        return CATALOGUE[table.kind].uneven and table.x == self.axis and not (relative or named)

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
        """The load of a curve that teaches most; None if its knee is known, and if figures have
        their loads.
        """
        step = self._follow(known)[1]
        return self._further_step(known) if step is None else step

    def _further_step(self, known: Mapping[int, Measured]) -> int | None:
        """The next load that figures want of a curve whose knee is known; None if there are enough.

        The first one is low. Each of the others is in the middle of the longest piece of the curve
        of latency, which goes one to the right up to the knee, `_PLATEAU` from there to the highest
        load, and one up to the top of the axes.
        """
        seen, _ = self._follow(known)
        knee = self.steps if known[self.steps].keeps_up else self._bracket(seen)[0]
        lowest = max(round(_LOWEST * knee), 1)
        for _ in range(self.further):
            step = lowest if lowest < min(seen) else self._middle(seen, knee)
            if step is None or step not in known:
                return step
            seen[step] = known[step]
        return None

    def _middle(self, seen: Mapping[int, Measured], knee: int) -> int | None:
        """That of the longest piece; None if there is no load between any two."""
        steps = sorted(seen)
        top = HEADROOM * seen[steps[0]].latency
        pieces = [(low, high) for low, high in itertools.pairwise(steps) if high - low > 1]

        def length(piece: tuple[int, int]) -> float:
            low, high = piece
            scale = _PLATEAU / (self.steps - knee) if low >= knee else 1 / knee
            return math.hypot(scale * (high - low), seen[high].height(top) - seen[low].height(top))

        if not pieces:
            return None
        low, high = max(pieces, key=length)
        return (low + high) // 2

    def _follow(self, known: Mapping[int, Measured]) -> tuple[dict[int, Measured], int | None]:
        """What the search has looked at of what is known, and where it looks next, if anywhere.

        What figures have added does not move the knee: a low load has few packets, and may
        seem to fall behind. What a search to another precision has left is looked at first.
        """
        seen: dict[int, Measured] = {}
        while (step := self._next_step(seen)) is not None:
            if step not in known:
                low, high = self._bracket(seen) if seen else (0, 0)
                inside = np.array([other for other in sorted(known) if low < other < high])
                if not len(inside):
                    return seen, step
                step = int(inside[np.argmin(np.abs(inside - step))])
            seen[step] = known[step]
        return seen, None

    def _next_step(self, known: Mapping[int, Measured]) -> int | None:
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
        searched, _ = self._follow(known)
        low, high = (self.steps, None) if highest.keeps_up else self._bracket(searched)
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
    took = runs["load.accepted"].to_numpy()
    accepted = estimate(took, float(runs["load.accepted_ci95"][0]))
    keeps_up = state != "saturated" and share_of_attempted(runs).mean >= KEEPS_UP
    latency = float(runs["latency.mean"].to_numpy().mean())
    return Measured(load, accepted, keeps_up, state, len(runs), latency)


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

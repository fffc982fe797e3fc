"""Series of one run, or several runs, side by side as one study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from deroute import analysis
from deroute.compare import Comparison, compare
from deroute.errors import InputError
from deroute.figures.study import Study
from deroute.frame import Results
from deroute.reader import SEED, Label

#: Axis of the runs, and of everything else that tells their curves apart.
RUN, CURVE = "run", "curve"


@dataclass(frozen=True, slots=True)
class Beside:
    """Results with one axis that tells what is compared, one abscissa, and the rest as one axis."""

    study: Study
    #: Axis whose labels are compared.
    by: str
    #: Axis of the abscissa; None if every series is a single point.
    x: str | None
    #: Axes that all of them have, beside those and the seed, with more than one label.
    rest: Sequence[str]
    reference: Label

    def comparisons(self) -> Iterator[Comparison]:
        """Every series beside its reference, in the order of the axis."""
        frame = self.study.frame
        for labels in self._curves():
            rows = analysis.where(frame, labels) if labels else frame
            reference = rows.filter(pl.col(self.by) == self.reference)
            for label in self.study.axes[self.by]:
                other = rows.filter(pl.col(self.by) == label)
                if label == self.reference or reference.is_empty() or other.is_empty():
                    continue
                names = (str(self.reference), str(label))
                yield compare(reference, other, self.x, names=names, labels=labels)

    def _curves(self) -> list[dict[str, Label]]:
        if not self.rest:
            return [{}]
        found = self.study.frame.select(self.rest).unique(maintain_order=True)
        return [dict(row) for row in found.iter_rows(named=True)]


def of_one(study: Study, by: str | None, x: str | None) -> Beside:
    """The series of one run, by the labels of an axis."""
    axes = _several(study)
    if by is None:
        by = _only(
            [axis for axis in axes if not _numeric(study, axis)] or axes,
            "--by",
            "series to compare",
        )
    if by not in study.axes:
        raise InputError.of(f"unknown axis `{by}`", "--by", [axis for axis in axes if axis != x])
    return _beside(study, by, x)


def of_several(studies: Mapping[str, Study], x: str | None) -> Beside:
    """Several runs, by their names."""
    first, *others = studies.values()
    for name, study in studies.items():
        for axis in _several(study):
            if not all(axis in other.axes for other in studies.values()):
                message = f"only {name} has the axis {axis!r}: fix it to one label"
                raise InputError.of(message, "--where", study.axes[axis])
    shared = [axis for axis in first.axes if all(axis in other.axes for other in others)]
    frames = []
    columns = [column for column in first.frame.columns if _everywhere(studies.values(), column)]
    for name, study in studies.items():
        labels = study.frame.select(columns).with_columns(pl.lit(name).alias(RUN))
        frames.append(labels)
    axes: dict[str, Sequence[Label]] = {RUN: list(studies)}
    for axis in shared:
        each = (label for study in studies.values() for label in study.axes[axis])
        axes[axis] = list(dict.fromkeys(each))
    engines = dict.fromkeys(study.engine for study in studies.values())
    try:
        frame = pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise InputError.of(f"the runs have labels of different kinds: {error}") from error
    whole = Study(
        axes=axes,
        frame=frame,
        outcomes=[outcome for study in studies.values() for outcome in study.outcomes],
        engine=" and ".join(engines),
        title=" and ".join(studies),
        specs=[spec for study in studies.values() for spec in study.specs],
        day=max(study.day for study in studies.values()),
    )
    return _beside(whole, RUN, x)


def _everywhere(studies: Any, column: str) -> bool:
    return all(column in study.frame.columns for study in studies)


def _beside(study: Study, by: str, x: str | None) -> Beside:
    others = [axis for axis in _several(study) if axis != by]
    if x is None:
        numeric = [axis for axis in others if _numeric(study, axis)]
        x = "load" if "load" in numeric else next(iter(numeric), None)
    elif x not in study.axes:
        raise InputError.of(f"unknown axis `{x}`", "--x", others)
    rest = [axis for axis in others if axis != x]
    return Beside(study, by, x, rest, next(iter(study.axes[by])))


def _several(study: Study) -> list[str]:
    """Axes with more than one label among the finished points, without the seed."""
    present = [axis for axis in study.axes if axis != SEED and axis in study.frame.columns]
    return [axis for axis in present if study.frame[axis].n_unique() > 1]


def _numeric(study: Study, axis: str) -> bool:
    return study.frame[axis].dtype.is_numeric()


def _only(axes: Sequence[str], option: str, what: str) -> str:
    if not axes:
        raise InputError.of(f"there is no axis with several {what}", option)
    return axes[0]


def chosen(results: Results, study: Study, labels: Mapping[str, Label]) -> Study:
    """The study with the points that have these labels."""
    if not labels:
        return study
    frame = study.frame.with_row_index("row")
    try:
        frame = analysis.where(frame, labels)
    except analysis.AnalysisError:
        raise InputError.of(f"{results.directory}: no point has these labels", "--where") from None
    rows = frame["row"].to_list()
    axes = {axis: list(known) for axis, known in study.axes.items()}
    return Study(
        axes=axes | {axis: [label] for axis, label in labels.items()},
        frame=frame.drop("row"),
        outcomes=[study.outcomes[row] for row in rows],
        engine=study.engine,
        title=study.title,
        specs=[study.specs[row] for row in rows],
        day=study.day,
    )


def names(directories: Sequence[Path]) -> list[str]:
    """What the runs are called: the last parts of their paths that tell them apart."""
    for parts in range(1, 1 + max(len(path.absolute().parts) for path in directories)):
        found = ["/".join(path.absolute().parts[-parts:]) for path in directories]
        if len(set(found)) == len(found):
            return found
    raise InputError.of("the same run is named twice", "DIR")

"""`deroute compare`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deroute import diff, figures, series, units
from deroute.cli import app
from deroute.cli.cells import fits
from deroute.cli.plot import study
from deroute.compare import LATENCY, TAIL, THROUGHPUT, TIME, Comparison, Difference, Point
from deroute.errors import InputError
from deroute.figures import FigureError
from deroute.frame import load_results
from deroute.reader import SEED, Label
from deroute.series import CURVE, Beside
from deroute.writing import blaming

#: Differences of the specs that are printed, and characters of their values.
_SHOWN, _LONGEST = 12, 60
_MARKS = {1: "more", -1: "less", 0: ""}
#: Metrics in the order in which a narrow terminal does without them, all but the last one.
_LEAST_IMPORTANT = (TAIL.name, THROUGHPUT.name, LATENCY.name, TIME.name)


def compare(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Result directories; the first is the reference."),
    ],
    by: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Of one run: the axis whose labels are compared."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="What the others are compared with; default: the first."
        ),
    ] = None,
    x: Annotated[
        str | None, typer.Option("--x", metavar="AXIS", help="Along which axis; default: load.")
    ] = None,
    where: app.Pairs = [],
    to: Annotated[
        Path | None, typer.Option("--dir", help="Draw overlaid figures into this directory.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare runs, or the series of one run: differences with intervals, and a verdict for each.

    A difference matters if its 95% interval, which holds for all points of a series together,
    leaves out 0, and if it is 1% or more. A run of one seed has the intervals within it.

    - `deroute compare runs/demo --by routing --reference MIN`
    - `deroute compare runs/before runs/after --dir runs/compared`
    - `deroute compare runs/demo --by routing --where traffic=UN --json`
    """
    beside = _beside(directories, by, x, where)
    if reference is not None:
        beside = replace(beside, reference=_label(beside, reference))
    found = list(beside.comparisons())
    if not found:
        message = "there is nothing to compare: no two series have finished points in common"
        raise InputError.of(message, "DIR")
    drawn = [] if to is None else _draw(beside, to)
    changed = _changes(beside)
    if as_json:
        print(json.dumps(_document(beside, found, changed, drawn)))
        return
    console = app.out()
    for each in found:
        if each.is_known:
            _print_table(console, each)
        _print_unmatched(each)
        console.print()
    _print_changes(changed)
    for each in found:
        console.print(f"[bold]{escape(_title(each))}[/]: {escape(each.verdict)}", soft_wrap=True)
    for path in drawn:
        print(f"figure: {path}")


def _beside(directories: Sequence[Path], by: str | None, x: str | None, where: list[str]) -> Beside:
    """What is compared."""
    studies = {}
    for name, directory in zip(series.names(directories), directories, strict=True):
        results = load_results(directory)
        if results.frame.is_empty():
            raise InputError.of("no point is finished yet", str(directory))
        labels = app.labels(results.experiment, where)
        studies[name] = series.chosen(results, study(results), labels)
    if len(studies) == 1:
        return series.of_one(next(iter(studies.values())), by, x)
    if by is not None:
        raise InputError.of("several runs are compared with each other", "--by")
    return series.of_several(studies, x)


def _label(beside: Beside, text: str) -> Label:
    known = beside.study.axes[beside.by]
    found = next((label for label in known if str(label) == text), None)
    if found is None:
        raise InputError.of(f"no label {text!r} on the axis {beside.by}", "--reference", known)
    return found


def _title(found: Comparison) -> str:
    labels = ", ".join(f"{axis} = {label}" for axis, label in found.labels.items())
    return f"{found.other} beside {found.reference}" + (f", {labels}" if labels else "")


def _print_table(console: Console, found: Comparison) -> None:
    """Print the table of all metrics, or without some where it is too wide."""
    known = [name for name in _LEAST_IMPORTANT if name in found.differences]
    # First those that say nothing.
    known.sort(key=lambda name: any(each.percent for each in found.differences[name]))
    for count in range(len(known)):
        table = _table(found, known[:count])
        if fits(console, table):
            break
    console.print(table)
    if count:
        console.print(f"Not shown, for want of width: {', '.join(known[:count])}")


def _table(found: Comparison, less: Sequence[str]) -> Table:
    """A row for each place on the axis, four columns for each metric but some."""
    table = Table(title=escape(_title(found)), title_justify="left", box=None, header_style="bold")
    if found.x is not None:
        table.add_column(found.x, justify="right", no_wrap=True)
    differences = {name: each for name, each in found.differences.items() if name not in less}
    for name in differences:
        for column in (f"{name}: {found.reference}", found.other, "difference", ""):
            table.add_column(escape(column), justify="right", overflow="fold")
    for row in zip(*differences.values(), strict=True):
        place = [] if found.x is None else [escape(str(row[0].x))]
        cells = [
            cell for name, each in zip(differences, row, strict=True) for cell in _cells(name, each)
        ]
        table.add_row(*place, *cells)
    return table


def _cells(metric: str, each: Difference) -> list[str]:
    values = [_value(metric, each.reference), _value(metric, each.other)]
    if each.percent is None:
        return [*values, "", ""]
    half = "" if math.isnan(each.percent.ci95) else f" ± {each.percent.ci95:.1f}"
    return [*values, f"{each.percent.mean:+.1f}{half} %", _MARKS[each.sign]]


def _value(metric: str, point: Point) -> str:
    """A value in a unit that a person reads."""
    if metric in (LATENCY.name, TAIL.name) and point.state == "saturated":
        return "saturated"
    if metric == TIME.name:
        return units.time(1000 * point.value.mean)
    if metric in (LATENCY.name, TAIL.name):
        return units.time(point.value.mean)
    return f"{point.value.mean:.3f}"


def _print_unmatched(found: Comparison) -> None:
    if found.unmatched:
        places = ", ".join(str(place) for place in found.unmatched)
        app.out().print(f"Only one of them has {found.x} {places}", markup=False)


def _changes(beside: Beside) -> dict[str, list[tuple[str, str, str]]]:
    """For each label, what differs between the specs of its first point and of the reference's."""
    study, found = beside.study, {}
    frame = study.frame.with_row_index("row")
    # Seeds may be the abscissa.
    places = dict.fromkeys((beside.x, *beside.rest, SEED))
    same = [axis for axis in places if axis in frame.columns]
    for label in study.axes[beside.by]:
        ours = frame.filter(frame[beside.by] == label)
        others = frame.filter(frame[beside.by] == beside.reference)
        pairs = ours.join(others, on=same, suffix="_reference", maintain_order="left")
        if label == beside.reference or pairs.is_empty():
            continue
        here, there = pairs["row_reference"][0], pairs["row"][0]
        found[str(label)] = diff.differences(study.specs[here], study.specs[there])
    return found


def _print_changes(changed: dict[str, list[tuple[str, str, str]]]) -> None:
    """What was changed between the specs, beside what came of it."""
    for label, changes in changed.items():
        title = f"What {escape(label)} changes"
        table = Table(title=title, title_justify="left", box=None)
        for path, here, there in changes[:_SHOWN]:
            table.add_row(escape(path), escape(_short(here)), "->", escape(_short(there)))
        app.out().print(table)
        if len(changes) > _SHOWN:
            print(f"and {len(changes) - _SHOWN} more")
        print()


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _draw(beside: Beside, to: Path) -> list[Path]:
    """Figures with everything that is compared in one panel, a panel for each of the rest."""
    study, panel = beside.study, None
    if beside.rest:
        text = pl.concat_str([pl.col(axis).cast(pl.String) for axis in beside.rest], separator=", ")
        frame = study.frame.with_columns(text.alias(CURVE))
        axes = {**study.axes, CURVE: frame[CURVE].unique(maintain_order=True).to_list()}
        study, panel = replace(study, frame=frame, axes=axes), CURVE
    fixed = {axis: list(study.frame[axis].unique()) for axis in study.axes if axis in study.frame}
    drawn_axes = (beside.by, beside.x, panel, SEED)
    shown = {
        axis: study.axes[axis] if axis in drawn_axes else fixed.get(axis, [])[:1]
        for axis in study.axes
    }
    workload = TIME.column in study.frame.columns
    kinds = ["completion"] if workload else ["latency", "throughput"]
    places = {"series": beside.by}
    if beside.x is None:  # Single points, which are bars of what is compared, or a curve each.
        kinds = ["completion"] if workload else ["distribution"]
        places = {"x": beside.by} if workload else places
    else:
        places["x"] = beside.x
    with blaming("--dir", to):
        to.mkdir(parents=True, exist_ok=True)
    files = []
    for kind in kinds:
        table = {"name": f"compare-{kind}", "kind": kind, **places}
        table |= {"panel": panel} if panel else {}
        try:
            (read,) = figures.read_figures(
                [table], {axis: shown[axis] for axis in shown if axis in drawn_axes}
            )
            with blaming("--dir", to):
                files += figures.draw(study, read, to / read.name, figures.FORMATS)
        except FigureError as error:
            raise InputError.of(error.message, error.path, error.choices) from error
    return files


def _document(
    beside: Beside,
    found: Sequence[Comparison],
    changed: dict[str, list[tuple[str, str, str]]],
    drawn: Sequence[Path],
) -> dict[str, Any]:
    """Everything as JSON has it; times in ns, or in us where there is a workload."""
    return {
        "by": beside.by,
        "x": beside.x,
        "reference": str(beside.reference),
        "changes": {
            label: [{"path": path, "reference": here, "other": there} for path, here, there in each]
            for label, each in changed.items()
        },
        "series": [
            {
                "other": each.other,
                "labels": dict(each.labels),
                "verdict": each.verdict,
                "points": {
                    name: [_point(one) for one in every] for name, every in each.differences.items()
                },
                "only_one_has": list(each.unmatched),
            }
            for each in found
        ],
        "figures": [str(path) for path in drawn],
    }


def _point(each: Difference) -> dict[str, Any]:
    percent = each.percent
    return {
        "x": each.x,
        "reference": _finite(each.reference.value.mean),
        "other": _finite(each.other.value.mean),
        "states": [each.reference.state, each.other.state],
        "percent": None if percent is None else _finite(percent.mean),
        "ci95": None if percent is None else _finite(percent.ci95),
        "matters": each.matters,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

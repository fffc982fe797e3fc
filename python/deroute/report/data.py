"""What a report shows, as plain data: rows of results and the figures that are drawn of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from deroute import analysis, units
from deroute.figures import FigureTable
from deroute.figures.line import title_of
from deroute.figures.style import Dashes, Look, look
from deroute.figures.table import Label
from deroute.frame import Results
from deroute.reader import SEED

#: Series that are told apart by colour, mark and dashes together.
_LOOKS = 24
#: Spreads below this share of a mean come from rounding.
_NO_SPREAD = 1e-9
_SYMBOLS = {
    **{"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"},
    **{"P": "cross", "X": "x", "*": "star", "<": "triangle-left", ">": "triangle-right"},
    "h": "hexagon",
}
#: Columns of the table: the scalar, that of its interval within a run, and whether it is a time.
_COLUMNS = {
    "offered": ("load.offered", None, False),
    "accepted": ("load.accepted", "load.accepted_ci95", False),
    "latency": ("latency.mean", "latency.ci95", True),
    "p99": ("latency.p99", None, True),
    "hops": ("hops_mean", None, False),
    "Jain": ("fairness.jain_routers", None, False),
}
_WORKLOAD_COLUMNS = {
    "time": (analysis.MAKESPAN, None, True),
    "latency": ("latency.mean", None, True),
    "p99": ("latency.p99", None, True),
    "hops": ("hops_mean", None, False),
}
#: Kinds of figures that are drawn anew in the page: the column, the title of the ordinate and its
#: unit, whether it is a time, and whether saturated points have none.
_LIVE: Mapping[str, tuple[str, str, str, bool, bool]] = {
    "latency": ("latency", "Mean packet latency", "", True, True),
    "throughput": ("accepted", "Accepted load", "phits/host/cycle", False, False),
    "completion": ("time", "Completion time", "", True, False),
}


def is_live(table: FigureTable, frame: pl.DataFrame) -> bool:
    """Whether the page draws such a figure itself."""
    usual = table.options.get("of") in (None, "load", "time") and not table.options.get("job")
    if table.kind == "line":
        column = str(table.options["y"])
        return column in frame.columns and frame[column].dtype.is_numeric()
    return table.kind in _LIVE and usual


def of(results: Results, tables: Sequence[FigureTable]) -> dict[str, Any]:
    """Everything that the page works with; `tables` are the figures that it draws itself."""
    axes = {axis: list(labels) for axis, labels in results.experiment.axes.items() if axis != SEED}
    workload = analysis.MAKESPAN in results.frame.columns
    return {
        "axes": [
            {"name": name, "labels": labels} for name, labels in axes.items() if len(labels) > 1
        ],
        "every": axes,
        "rows": list(_rows(results.frame, list(axes), columns(workload=workload), _lines(tables))),
        "figures": [_figure(index, table, results) for index, table in enumerate(tables)],
        "looks": [_look(look(index)) for index in range(_LOOKS)],
    }


def columns(*, workload: bool) -> Mapping[str, tuple[str, str | None, bool]]:
    """Columns of the table, by their names."""
    return _WORKLOAD_COLUMNS if workload else _COLUMNS


def _lines(tables: Sequence[FigureTable]) -> list[str]:
    """Columns that figures of the kind `line` draw."""
    return [str(table.options["y"]) for table in tables if table.kind == "line"]


def _rows(
    frame: pl.DataFrame,
    axes: list[str],
    shown: Mapping[str, tuple[str, str | None, bool]],
    drawn: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """One row for each point, over its seeds."""
    if frame.is_empty():
        return
    by = axes or ["load.offered"]
    for number, (key, runs) in enumerate(frame.group_by(by, maintain_order=True)):
        labels: dict[str, Label] = dict(zip(axes, key, strict=False))
        state = analysis.state_over_seeds(runs)
        values = {name: _value(runs, *column) for name, column in shown.items()}
        cells = [str(label) for label in labels.values()]
        cells += [_cell(value, time=shown[name][2]) for name, value in values.items()]
        means = [_finite(value["mean"]) for value in values.values()]
        for column in drawn:
            values[column] = _value(runs, column, None, units.is_time(column))
        others = analysis.other_states(runs, state)
        yield {
            "id": f"row-{number}",
            "labels": labels,
            "values": values,
            "cells": [*cells, others or str(len(runs))],
            "sort": [*labels.values(), *means, len(runs), state],
            "state": state,
            "why": _why(runs, state),
        }


def _why(runs: pl.DataFrame, state: str) -> str:
    """The reasons of the first seed that has the state of all together."""
    same = runs.filter(pl.col("verdict.state") == state)
    if same.is_empty():
        return ""
    reasons = str(same["verdict.reasons"][0])
    several = len(runs) > 1 and reasons
    return f"seed {same[SEED][0]}: {reasons}" if several else reasons


def _value(runs: pl.DataFrame, column: str, within: str | None, time: bool) -> dict[str, Any]:
    """Mean and half of the interval; times in ns."""
    inside = float(runs[within][0]) if within is not None else math.nan
    scale = float(runs["cycle_ns"][0]) if time else 1.0
    found = analysis.estimate(runs[column].to_numpy(), inside).scaled(scale)
    return {"mean": _finite(found.mean), "ci": _finite(found.ci95)}


def _cell(value: Mapping[str, float | None], *, time: bool) -> str:
    mean, half = value["mean"], value["ci"]
    if mean is None:
        return "-"
    shown = units.time(mean) if time else f"{mean:.4g}"
    if not half or half < _NO_SPREAD * abs(mean):
        return shown
    size, name = 1.0, ""
    if time:
        name, size = units.time_unit(mean)
    number, ci = units.number(mean / size) if time else shown, half / size
    return f"{number} ± {units.half_width(ci)} {name}".rstrip()


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _figure(index: int, table: FigureTable, results: Results) -> dict[str, Any]:
    if table.kind == "line":
        column = str(table.options["y"])
        title, unit, time = title_of(column), "", units.is_time(column)
        cut = time and column.startswith("latency.")
    else:
        column, title, unit, time, cut = _LIVE[table.kind]
    x = str(table.x)
    numeric = not any(isinstance(label, str) for label in results.experiment.axes[x])
    load = x == "load"
    return {
        "id": f"figure-{index}",
        "title": table.title or table.name,
        "kind": "bars" if table.kind == "completion" else "line",
        "x": x,
        "xTitle": "Offered load (phits/host/cycle)" if load else x,
        "numeric": numeric and table.kind != "completion",
        "y": column,
        "yTitle": title,
        "unit": unit,
        "time": time,
        "cut": cut,
        "series": table.series,
        "panel": table.panel,
        "where": {axis: list(labels) for axis, labels in table.where.items() if axis != SEED},
    }


def _look(style: Look) -> dict[str, str]:
    dashes: dict[Dashes, str] = {"-": "solid", (0, (5, 2)): "dash", (0, (1, 1.5)): "dot"}
    return {
        "colour": style.colour,
        "symbol": _SYMBOLS[style.marker],
        "dash": dashes[style.dashes],
    }

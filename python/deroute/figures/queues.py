"""`queues`: lengths of queues against time, beside the limits of their senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from deroute.figures import layout, timeline
from deroute.figures.study import Study
from deroute.figures.style import QUIET, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.queues import QueueSeries
    from deroute.results import Outcome

#: Queues that have a curve of their own, at most: the fullest.
_MOST = 6
#: Points of a curve, about: of the samples of each part of it, the smallest and the largest.
_POINTS = 2000
_LIMITS = {"xoff": ("XOFF", (4, 2)), "xon": ("XON", (1, 1.5))}


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per panel and series, of the first seed, with a curve per queue."""
    names: list[str] = []
    limits: set[str] = set()
    hidden = False

    def curves(panel: Plot, outcome: Outcome) -> None:
        nonlocal hidden
        record, queues = _queues(outcome, table)
        fullest = _fullest(record, queues)
        hidden |= len(queues) > len(fullest)
        for place in fullest.iter_rows(named=True):
            text = _name(place, queues)
            if text not in names:
                names.append(text)
            _curve(panel, outcome, record, place["column"], names.index(text))
        limits.update(_limits(panel, outcome, fullest))

    figure, panels = timeline.records(study, table, "Queue (KB)", curves)
    layout.legend(figure, _handles(panels, names, limits), study, table)
    notes = ["first seed"] if layout.seeds_of(study, table) > 1 else []
    notes += [f"at most the {_MOST} fullest queues, without empty ones"] if hidden else []
    layout.footnote(figure, study, table, notes)
    return figure


def _queues(outcome: Outcome, table: FigureTable) -> tuple[QueueSeries, pl.DataFrame]:
    """The record of a run, and the queues that the figure is about, each with its column."""
    if outcome.queues is None:
        raise FigureError("probes.queues", "this figure needs a record of queues")
    queues = outcome.queues.places_to_polars().with_row_index("column")
    side = str(table.options["side"])
    chosen = queues.filter(pl.col("side") == side)
    host, vc = table.options["host"], table.options["vc"]
    if host is not None:
        chosen = _only(table, chosen, "host", host)
    if vc is not None:
        chosen = _only(table, chosen, "vc", vc)
    if chosen.is_empty():
        message = f"there is no {side} queue in the record"
        raise FigureError(f"figure {table.name!r}.side", message, queues["side"].unique().sort())
    return outcome.queues, chosen


def _only(table: FigureTable, queues: pl.DataFrame, column: str, value: object) -> pl.DataFrame:
    found = queues.filter(pl.col(column) == value)
    if found.is_empty():
        known = queues[column].drop_nulls().unique().sort()
        message = f"no queue of {column} {value} is in the record"
        raise FigureError(f"figure {table.name!r}.{column}", message, known)
    return found


def _fullest(record: QueueSeries, queues: pl.DataFrame) -> pl.DataFrame:
    """The queues that were longest, in their order; those that were always empty if all were."""
    peaks = record.phits[:, queues["column"].to_numpy()].max(axis=0, initial=0).astype(np.int64)
    first = np.argsort(-peaks, kind="stable")[:_MOST]
    used = first[peaks[first] > 0]
    return queues[np.sort(used if len(used) else first)]


def _name(place: dict[str, object], queues: pl.DataFrame) -> str:
    """A queue by what its port leads to."""
    incoming = place["side"] == "input"
    if place["host"] is not None:
        name = f"{'from' if incoming else 'to'} host {place['host']}"
    else:
        name = f"R{place['router']} port {place['port']} {'in' if incoming else 'out'}"
    several = queues["vc"].n_unique() > 1
    return f"{name}, VC {place['vc']}" if several and place["vc"] is not None else name


def _curve(panel: Plot, outcome: Outcome, record: QueueSeries, column: int, index: int) -> None:
    phits = record.phits[:, column].astype(float)
    kept = thinned(phits)
    time_us = record.cycles[kept] * outcome.cycle_ns / 1000
    style = look(index)
    kilobytes = phits[kept] * outcome.phit_bytes / 1000
    panel.plot(time_us, kilobytes, color=style.colour, linestyle=style.dashes, linewidth=1.0)


def thinned(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Which values to draw so that a line through them covers what one through all would."""
    if len(values) <= _POINTS:
        return np.arange(len(values))
    parts = np.array_split(np.arange(len(values)), _POINTS // 2)
    ends = [(part[values[part].argmin()], part[values[part].argmax()]) for part in parts]
    return np.unique(np.array(ends).reshape(-1))


def _limits(panel: Plot, outcome: Outcome, queues: pl.DataFrame) -> set[str]:
    """Lines at the lengths from which and down to which senders are told something."""
    drawn = set()
    for column, (_, dashes) in _LIMITS.items():
        for phits in queues[column].drop_nulls().unique():
            at = phits * outcome.phit_bytes / 1000
            panel.axhline(at, color=QUIET, linewidth=0.9, dashes=dashes, zorder=1)
            drawn.add(column)
    return drawn


def _handles(panels: list[Plot], names: list[str], limits: set[str]) -> list[Line2D]:
    curves: list[Any] = [
        {"color": look(i).colour, "linestyle": look(i).dashes, "label": name}
        for i, name in enumerate(names)
    ]
    lines: list[Any] = [
        {"color": QUIET, "linewidth": 0.9, "dashes": dashes, "label": text}
        for column, (text, dashes) in _LIMITS.items()
        if column in limits
    ]
    handles = [Line2D([], [], **style) for style in (*curves, *lines)]
    return [*handles, *layout.first_handles(panels)]


KIND = FigureKind(
    name="queues",
    summary="lengths of queues against time, with XOFF and XON (`side`, `host`, `vc`: which)",
    draw=draw,
    options={
        "side": Option((str,), default="input", choices=("input", "output")),
        "host": Option((int,)),
        "vc": Option((int,)),
        **timeline.OPTIONS,
    },
)

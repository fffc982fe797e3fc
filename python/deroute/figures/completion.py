"""`completion`: how long a workload takes, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deroute import analysis, units
from deroute.figures import layout
from deroute.figures.study import Study, only
from deroute.figures.style import TWO_COLUMNS, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Label, Option
from deroute.reference import SLOWDOWN

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

    from deroute.results import Outcome

#: What is shown, and the title of the ordinate; a column of a job, but for the makespan.
_TIME, _ITERATION, _COMMUNICATION, SLOWED = "time", "iteration", "communication", "slowdown"
_ORDINATES = {
    _TIME: "Completion time",
    _ITERATION: "Time of an iteration",
    _COMMUNICATION: "Communication time",
    SLOWED: "Time / that on the reference",
}
_COLUMNS = {_TIME: "time", _ITERATION: "iteration_mean", _COMMUNICATION: "communication_mean"}

# Share of the distance between two groups of bars that they fill, and the most of a bar alone.
_FILLED, _ALONE = 0.84, 0.7
_NUMBER_SIZE = 6


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel has its own ordinate, because workloads differ in length."""
    names = table.labels(study.axes, table.panel)
    rows, columns = layout.panel_grid(len(names))
    size = (TWO_COLUMNS, 2.3 * rows + 0.5) if columns > 1 else (4.4, 2.4 * rows + 0.5)
    figure, grid = layout.new_figure(rows, columns, size)
    panels = layout.hide_unused(grid, len(names))
    series = table.labels(study.axes, table.series)
    notes = set[str]()
    unit, scale = _unit(study, table)
    for panel, name in zip(panels, names, strict=True):
        for index, label in enumerate(series):
            rows_of = only(table.panel, name) | only(table.series, label)
            notes |= _bars(
                panel, study, table, rows_of, place=(index, len(series), label), scale=scale
            )
        abscissa(panel, table.labels(study.axes, table.x), size[0] / columns)
        layout.panel_title(panel, table.panel, name)
    layout.axis_titles(figure, str(table.x), _ORDINATES[str(table.options["of"])] + unit)
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, sorted(notes))
    return figure


def abscissa(panel: Plot, labels: Sequence[Label | None], inches: float) -> None:
    """Label the groups of bars."""
    panel.set_xticks(range(len(labels)), [str(label) for label in labels])
    panel.set_xlim(-0.6, len(labels) - 0.4)
    panel.grid(visible=False, axis="x")
    panel.margins(y=0.12)
    longest = max(len(str(label)) for label in labels)
    if 0.065 * longest * len(labels) > 0.85 * inches:
        for text in panel.get_xticklabels():
            text.set(rotation=30, ha="right", rotation_mode="anchor")


def _bars(
    panel: Plot,
    study: Study,
    table: FigureTable,
    chosen: dict[str, Label | None],
    *,
    place: tuple[int, int, Label | None],
    scale: float,
) -> set[str]:
    """Draw the bars of one series; what the footnote has to explain."""
    index, of, label = place
    notes = set[str]()
    width = min(_FILLED / of, _ALONE)
    for position, x in enumerate(table.labels(study.axes, table.x)):
        rows = study.rows(table, **chosen, **only(table.x, x))
        if rows.is_empty():
            continue
        point = analysis.estimate(_values(study, table, rows)).scaled(scale)
        ended = analysis.worst_state(rows["verdict.state"].to_list()) == "completed"
        axis, here = (table.x, x) if table.series is None else (table.series, label)
        known = not np.isnan(point.ci95)
        fill: dict[str, Any] = {"color": look(study.place(axis, here)).fill, "linewidth": 0}
        if not ended:
            fill |= {"hatch": "////", "edgecolor": "white"}
            notes.add("hatched: not at its end at the limit")
        if known:
            notes.add("error bars: 95% confidence over the seeds")
        bars = panel.bar(
            position + (index - (of - 1) / 2) * width,
            point.mean,
            0.94 * width,
            yerr=point.ci95 if known else None,
            error_kw={"elinewidth": 0.6, "ecolor": "#222222"},
            label="_" if label is None else str(label),
            **fill,
        )
        texts = [f"{'' if ended else '>'}{units.number(point.mean)}"]
        panel.bar_label(bars, texts, padding=1.5, fontsize=_NUMBER_SIZE)
    return notes


def _unit(study: Study, table: FigureTable) -> tuple[str, float]:
    """How the title of the ordinate ends, and what values are multiplied by."""
    if table.options["of"] == SLOWED:
        return "", 1.0
    name, size = units.time_unit(1000 * max(_values(study, table, study.rows(table))))
    return f" ({name})", 1000 / size


def _values(study: Study, table: FigureTable, rows: pl.DataFrame) -> list[float]:
    """What the figure shows of each row."""
    if table.options["of"] == SLOWED:
        return [float(value) for value in rows[SLOWDOWN]]
    return [time_us(table, each) for each in study.outcomes_of(rows)]


def time_us(table: FigureTable, outcome: Outcome) -> float:
    """What the figure shows of a point, in microseconds."""
    of, name = str(table.options["of"]), table.options["job"]
    workload = outcome.workload
    if workload is None:
        raise FigureError(f"figure {table.name!r}.kind", "there is no workload in the spec")
    names = [job.name for job in workload.jobs]
    if name is None and of == _TIME:
        return workload.makespan * outcome.cycle_ns / 1000
    if name is None and len(names) > 1:
        raise FigureError(f"figure {table.name!r}.job", "is missing: there are several", names)
    job = workload.job(names[0] if name is None else str(name))
    return float(getattr(job, _COLUMNS[of])) * outcome.cycle_ns / 1000


KIND = FigureKind(
    name="completion",
    summary="bars of the time that a workload takes (`of`), or one `job` of it",
    draw=draw,
    x="routing",
    options={
        "of": Option((str,), default=_TIME, choices=tuple(_ORDINATES)),
        "job": Option((str,)),
    },
)

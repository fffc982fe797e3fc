"""`flows`: how long the flows of a job take, by their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deroute import analysis, units
from deroute.figures import layout
from deroute.figures.completion import abscissa
from deroute.figures.study import Study, only
from deroute.figures.style import TWO_COLUMNS, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Label, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure

    from deroute.jobs import FlowBin, FlowsOutcome
    from deroute.results import Outcome

#: What is shown of the flows of a size: a figure of their times or slowdowns, and a title.
_TIME, _SLOWDOWN = "time", "slowdown"
_SHOWN = {
    "mean": (_TIME, "mean", "Mean completion time (µs)"),
    "p50": (_TIME, "p50", "Median completion time (µs)"),
    "p99": (_TIME, "p99", "99th percentile of the completion time (µs)"),
    "slowdown-mean": (_SLOWDOWN, "mean", "Mean slowdown"),
    "slowdown-p50": (_SLOWDOWN, "p50", "Median slowdown"),
    "slowdown-p99": (_SLOWDOWN, "p99", "99th percentile of the slowdown"),
}


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: panels and series as in a table, sizes along the abscissa."""
    names = table.labels(study.axes, table.panel)
    rows, columns = layout.panel_grid(len(names))
    size = (TWO_COLUMNS, 2.3 * rows + 0.5) if columns > 1 else (4.4, 3.0)
    figure, grid = layout.new_figure(rows, columns, size, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    bounds = _bounds(study, table)
    notes = set[str]()
    for panel, name in zip(panels, names, strict=True):
        for label in table.labels(study.axes, table.series):
            chosen = only(table.panel, name) | only(table.series, label)
            notes |= _line(panel, study, table, chosen, (label, bounds))
        abscissa(panel, [_words(*bound) for bound in bounds], size[0] / columns)
        layout.logarithmic(panel, "y")
        layout.panel_title(panel, table.panel, name)
    shown = _SHOWN[str(table.options["of"])]
    layout.axis_titles(figure, "Size of flows", shown[2])
    layout.legend(figure, layout.first_handles(panels), study, table)
    if shown[0] == _SLOWDOWN:
        notes.add("slowdown: time over that alone in the network")
    layout.footnote(figure, study, table, sorted(notes))
    return figure


def _line(
    panel: Plot,
    study: Study,
    table: FigureTable,
    chosen: dict[str, Label | None],
    drawn: tuple[Label | None, Sequence[tuple[float, float]]],
) -> set[str]:
    """Draw a point per size of a series; what the footnote has to explain."""
    label, bounds = drawn
    outcomes = study.outcomes_of(study.rows(table, **chosen))
    place, notes = look(study.place(table.series, label)), set[str]()
    points: list[tuple[int, analysis.Estimate, bool]] = []
    for at, bound in enumerate(bounds):
        found = [each for outcome in outcomes for each in _bins(table, outcome, bound)]
        times = [_value(table, each, scale) for each, scale in found]
        ended = [time for time in times if time > 0]
        if any(each.unfinished for each, _ in found):
            notes.add("hollow: some flows have not ended, and do not count")
        if ended:
            whole = not any(each.unfinished for each, _ in found)
            points.append((at, analysis.estimate(ended), whole))
    if not points:
        return notes
    ci95 = np.array([value.ci95 for _, value, _ in points])
    known = not np.isnan(ci95).all()
    panel.errorbar(
        [x for x, _, _ in points],
        [value.mean for _, value, _ in points],
        yerr=np.nan_to_num(ci95) if known else None,
        color=place.colour,
        linestyle=place.dashes,
        linewidth=1.1,
        elinewidth=0.6,
        label="_" if label is None else str(label),
    )
    for x, value, whole in points:
        face = place.colour if whole else "white"
        panel.plot(x, value.mean, place.marker, color=place.colour, markerfacecolor=face, ms=4)
    return notes | ({"error bars: 95% confidence over the seeds"} if known else set())


def _value(table: FigureTable, found: FlowBin, cycle_ns: float) -> float:
    """What is shown of the flows of a size in a point."""
    group, figure, _ = _SHOWN[str(table.options["of"])]
    scale = cycle_ns / 1000 if group == _TIME else 1.0
    return float(getattr(getattr(found, group), figure)) * scale


def _flows(table: FigureTable, outcome: Outcome) -> FlowsOutcome:
    """The flows of the job that is shown."""
    jobs = [] if outcome.workload is None else outcome.workload.jobs
    named = {job.name: job.flows for job in jobs if job.flows is not None}
    name = table.options["job"]
    if not named:
        raise FigureError(f"figure {table.name!r}.kind", "no job of the spec has flows")
    if name is None and len(named) > 1:
        raise FigureError(f"figure {table.name!r}.job", "is missing: several have flows", named)
    if name is not None and name not in named:
        raise FigureError(f"figure {table.name!r}.job", f"no job {name!r} has flows", named)
    return named[next(iter(named)) if name is None else str(name)]


def _bins(
    table: FigureTable, outcome: Outcome, bound: tuple[float, float]
) -> list[tuple[FlowBin, float]]:
    """The flows of a point between two sizes, and the length of its cycle."""
    ends = ((each, _ends(each, outcome.phit_bytes)) for each in _flows(table, outcome).bins)
    return [(each, outcome.cycle_ns) for each, own in ends if own == bound]


def _ends(found: FlowBin, phit: float) -> tuple[float, float]:
    """Between how many bytes the flows of a bin are."""
    return found.above * phit, float("inf") if found.up_to is None else found.up_to * phit


def _bounds(study: Study, table: FigureTable) -> list[tuple[float, float]]:
    """The sizes that some flow of some point has."""
    points = study.outcomes_of(study.rows(table))
    found = ((_flows(table, each).bins, each.phit_bytes) for each in points)
    return sorted({_ends(one, phit) for bins, phit in found for one in bins})


def _words(above: float, up_to: float) -> str:
    """Sizes in words."""
    return f"> {_bytes(above)}" if np.isinf(up_to) else f"≤ {_bytes(up_to)}"


def _bytes(size: float) -> str:
    """An amount of data with a unit."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= factor:
            return f"{units.number(size / factor)} {unit}"
    return f"{units.number(size)} B"


KIND = FigureKind(
    name="flows",
    summary="completion of the flows of a `job` by their size: times or slowdowns (`of`)",
    draw=draw,
    options={
        "of": Option((str,), default="mean", choices=tuple(_SHOWN)),
        "job": Option((str,)),
    },
)

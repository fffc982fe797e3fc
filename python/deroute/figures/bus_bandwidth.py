"""`bus_bandwidth`: how fast collectives are, by their size."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import TYPE_CHECKING

from deroute.figures import layout
from deroute.figures.study import Study, only
from deroute.figures.style import look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deroute.jobs import CollectiveUse
    from deroute.results import Outcome

#: Value of `x` that is no axis: all sizes of a point.
_SIZE = "size"


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a curve for each series, and for each algorithm if there are several."""
    points = study.outcomes_of(study.rows(table))
    algorithms = list(dict.fromkeys(use.name for each in points for use in _uses(table, each)))
    names = table.labels(study.axes, table.panel)
    series = table.labels(study.axes, table.series)
    rows, columns = layout.panel_grid(len(names))
    figure, grid = layout.new_figure(rows, columns, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    for panel, name in zip(panels, names, strict=True):
        layout.panel_title(panel, table.panel, name)
        for place, label in enumerate(series):
            labels = only(table.panel, name) | only(table.series, label)
            outcomes = study.outcomes_of(study.rows(table, **labels))
            for index, algorithm in enumerate(algorithms):
                sizes, rates = _curve(table, outcomes, algorithm)
                style = look(place * len(algorithms) + index)
                texts = [str(label)] if label is not None else []
                texts += [algorithm] if len(algorithms) > 1 or not texts else []
                panel.plot(
                    sizes,
                    rates,
                    color=style.colour,
                    marker=style.marker,
                    linestyle=style.dashes,
                    label=", ".join(texts),
                )
        layout.logarithmic(panel, "x")
        layout.from_zero([panel])
    layout.axis_titles(figure, "Size (bytes)", "Bus bandwidth (GB/s)")
    layout.legend(figure, layout.first_handles(panels), study, table)
    layout.footnote(figure, study, table, ["size and bus bandwidth as in nccl-tests"])
    return figure


def _curve(
    table: FigureTable, outcomes: list[Outcome], algorithm: str
) -> tuple[list[float], list[float]]:
    """Sizes in bytes, and the bus bandwidth of each, the mean over points and seeds."""
    found: dict[float, list[float]] = defaultdict(list)
    for outcome in outcomes:
        for use in _uses(table, outcome):
            if use.name == algorithm and use.mean > 0:
                found[use.phits * outcome.phit_bytes].append(use.bus_bandwidth)
    sizes = sorted(found)
    return sizes, [mean(found[size]) for size in sizes]


def _uses(table: FigureTable, outcome: Outcome) -> list[CollectiveUse]:
    """Collectives of the job that is shown, or of the only one that has any."""
    jobs = [] if outcome.workload is None else outcome.workload.jobs
    named = {job.name: job.replay.collectives for job in jobs if job.replay is not None}
    name = table.options["job"]
    if not named:
        message = "no job has collectives by named algorithms"
        raise FigureError(f"figure {table.name!r}.kind", message)
    if name is None and len(named) > 1:
        raise FigureError(f"figure {table.name!r}.job", "is missing: several have them", named)
    if name is not None and name not in named:
        raise FigureError(f"figure {table.name!r}.job", f"no job {name!r} has them", named)
    return named[next(iter(named)) if name is None else str(name)]


KIND = FigureKind(
    name="bus_bandwidth",
    summary="bus bandwidth of the collectives of a `job` by their size, as in nccl-tests",
    draw=draw,
    x=_SIZE,
    x_extra=(_SIZE,),
    options={"job": Option((str,))},
)

"""`ranks`: what each rank of a job spent its time with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from deroute import units
from deroute.figures import layout
from deroute.figures.study import Study
from deroute.figures.style import TWO_COLUMNS, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.jobs import JobArrays
    from deroute.results import Outcome

#: Arrays of a job, from the bottom up, and what they are called.
_PARTS = {
    "rank_computed": "computes",
    "rank_collective": "in collectives",
    "rank_receive": "receives",
    "rank_send": "sends",
    "rank_wait": "waits",
}


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel for each label of `panel` and `series`, of the first seed."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    size = (TWO_COLUMNS, 1.9 * rows + 0.9)
    figure, grid = layout.new_figure(rows, columns, size, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    outcomes = [study.outcomes_of(frame)[0] for _, _, frame in cells]
    splits = [split(table, outcome) for outcome in outcomes]
    longest = 1000 * max(float(np.max(np.sum([*each.values()], axis=0))) for each in splits)
    unit, scale = units.time_unit(longest)
    for panel, (name, label, _), parts in zip(panels, cells, splits, strict=True):
        ranks = len(next(iter(parts.values())))
        edges = np.arange(ranks + 1) - 0.5
        below = np.zeros(ranks)
        for index, (what, time_us) in enumerate(parts.items()):
            above = below + 1000 * time_us / scale
            style = look(index).fill
            panel.stairs(above, edges, baseline=below, fill=True, color=style, label=what)
            below = above
        panel.set_xlim(-0.5, ranks - 0.5)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(visible=False, axis="x")
        texts = [str(each) for each in (name, label) if each is not None]
        panel.set_title(", ".join(texts), loc="left", fontweight="bold")
    layout.axis_titles(figure, "Rank", f"Time ({unit})")
    title = study.title if table.title is None else table.title
    layout.heading(figure, layout.first_handles(panels), title)
    seeds = ["the first seed of each point"] if len(cells) < len(study.rows(table)) else []
    layout.footnote(figure, study, table, seeds)
    return figure


def job_of(table: FigureTable, outcome: Outcome) -> JobArrays:
    """The job that a figure is about. Raises `FigureError` if it does not say which, or none."""
    jobs = outcome.jobs
    name = table.options["job"]
    if not jobs:
        raise FigureError(f"figure {table.name!r}.kind", "there is no workload in the spec")
    if name is None and len(jobs) > 1:
        raise FigureError(f"figure {table.name!r}.job", "is missing: there are several", list(jobs))
    if name is not None and name not in jobs:
        raise FigureError(f"figure {table.name!r}.job", f"there is no job {name!r}", list(jobs))
    return jobs[next(iter(jobs)) if name is None else str(name)]


def split(table: FigureTable, outcome: Outcome) -> dict[str, NDArray[np.float64]]:
    """Time of each rank by what it was spent with, in microseconds."""
    arrays = job_of(table, outcome)
    found = {}
    for part, what in _PARTS.items():
        cycles = getattr(arrays, part)
        if cycles is not None and np.any(cycles):
            found[what] = np.asarray(cycles, float) * outcome.cycle_ns / 1000
    return found


KIND = FigureKind(
    name="ranks",
    summary="what each rank of a `job` spent its time with: computing, collectives, waiting",
    draw=draw,
    options={"job": Option((str,))},
)

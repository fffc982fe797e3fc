"""`gantt`: when each rank of a job does what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.collections import PolyCollection
from matplotlib.ticker import MaxNLocator

from deroute import units
from deroute.figures import layout
from deroute.figures.ranks import job_of
from deroute.figures.study import Study
from deroute.figures.style import TWO_COLUMNS, look
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option
from deroute.jobs import ACTIVITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Height of a rank, of the rest of a panel, and of all panels at the most, in inches.
_RANK, _REST, _MOST = 0.055, 0.9, 9.0


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel for each label of `panel` and `series`, of the first seed."""
    cells = study.cells(table)
    outcomes = [study.outcomes_of(frame)[0] for _, _, frame in cells]
    jobs = [job_of(table, outcome) for outcome in outcomes]
    frames = [job.timeline() for job in jobs]
    if any(frame is None for frame in frames):
        message = "needs a job that keeps its timeline"
        raise FigureError(f"figure {table.name!r}.kind", message, ["`timeline = true` of the job"])
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    height = max(_REST + _RANK * max(len(job.rank_end) for job in jobs), 1.9)
    size = (TWO_COLUMNS, min(rows * height, _MOST) + 0.9)
    figure, grid = layout.new_figure(rows, columns, size, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    ends = [
        int(job.rank_end.max()) * outcome.cycle_ns
        for job, outcome in zip(jobs, outcomes, strict=True)
    ]
    unit, scale = units.time_unit(max(ends))
    shown: set[str] = set()
    paths: list[Line2D] = []
    for panel, (name, label, _), frame, job, outcome in zip(
        panels, cells, frames, jobs, outcomes, strict=True
    ):
        assert frame is not None
        _bars(panel, frame, outcome.cycle_ns / scale)
        shown |= set(frame["activity"].unique())
        paths += _path(panel, job.path(), outcome.cycle_ns / scale)
        panel.set_xlim(0, max(ends) / scale)
        panel.set_ylim(len(job.rank_end) - 0.5, -0.5)
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(visible=False)
        texts = [str(each) for each in (name, label) if each is not None]
        panel.set_title(", ".join(texts), loc="left", fontweight="bold")
    layout.axis_titles(figure, f"Time ({unit})", "Rank")
    handles = [
        panels[0].fill_between([], [], color=look(index).fill, label=what)
        for index, what in enumerate(ACTIVITIES)
        if what in shown
    ]
    title = study.title if table.title is None else table.title
    layout.heading(figure, [*handles, *paths[:1]], title)
    seeds = ["the first seed of each point"] if len(cells) < len(study.rows(table)) else []
    layout.footnote(figure, study, table, seeds)
    return figure


def _bars(panel: Plot, frame: pl.DataFrame, scale: float) -> None:
    """The activities as bars, all of a kind as one object."""
    for index, what in enumerate(ACTIVITIES):
        rows = frame.filter(pl.col("activity") == what)
        begin, end = (rows[column].to_numpy() * scale for column in ("begin", "end"))
        rank = rows["rank"].to_numpy().astype(float)
        corners = [(begin, rank - 0.5), (end, rank - 0.5), (end, rank + 0.5), (begin, rank + 0.5)]
        bars = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
        panel.add_collection(PolyCollection(list(bars), facecolor=look(index).fill, linewidth=0))


def _path(panel: Plot, frame: pl.DataFrame | None, scale: float) -> list[Line2D]:
    """The critical path as a line from rank to rank, if the job has followed it."""
    if frame is None:
        return []
    times = frame.select("begin", "end").to_numpy().ravel() * scale
    ranks = frame.select("from", "rank").to_numpy().ravel()
    return panel.plot(times, ranks, color="black", linewidth=0.9, label="critical path")


KIND = FigureKind(
    name="gantt",
    summary="when each rank of a `job` does what, if it keeps its `timeline`; its critical path",
    draw=draw,
    options={"job": Option((str,))},
)

"""Figures for papers: one file per kind, one line each in the catalogue.

`[[figure]]` tables of an experiment file name a kind and say which axes are the abscissa, the
series and the panels. Figures show only what was measured: a saturated point never appears as a
latency, a point that is not converged is hollow, and every figure carries the engine's version,
the seeds and the run length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deroute.figures import (
    agents,
    bus_bandwidth,
    completion,
    congestion,
    congestion_hosts,
    congestion_map,
    distribution,
    fairness,
    flow,
    flow_times,
    gantt,
    heatmap,
    latency,
    line,
    path_mix,
    paused,
    pauses,
    queues,
    ranks,
    rates,
    stream_loads,
    throughput,
    transient,
)
from deroute.figures.study import Study
from deroute.figures.style import FORMATS, paper, save
from deroute.figures.table import Axes, FigureError, FigureKind, FigureTable, read_tables

__all__ = [
    "CATALOGUE",
    "FORMATS",
    "FigureError",
    "FigureTable",
    "Study",
    "choose",
    "draw",
    "read_figures",
]

#: Every kind of figure, by its name in experiment files.
CATALOGUE: Mapping[str, FigureKind] = {
    kind.name: kind
    for kind in (
        latency.KIND,
        throughput.KIND,
        line.KIND,
        heatmap.KIND,
        distribution.KIND,
        fairness.KIND,
        flow_times.KIND,
        transient.KIND,
        flow.KIND,
        path_mix.KIND,
        agents.KIND,
        congestion.KIND,
        congestion_map.KIND,
        congestion_hosts.KIND,
        completion.KIND,
        queues.KIND,
        rates.KIND,
        pauses.KIND,
        paused.KIND,
        stream_loads.KIND,
        ranks.KIND,
        gantt.KIND,
        bus_bandwidth.KIND,
    )
}


def read_figures(tables: Sequence[Mapping[str, object]], axes: Axes) -> list[FigureTable]:
    """Check the `[[figure]]` tables of an experiment with these axes."""
    return read_tables(tables, axes, CATALOGUE)


def choose(tables: Sequence[FigureTable], names: Sequence[str]) -> list[FigureTable]:
    """Figures with these names; all of them if no name is given."""
    known = [table.name for table in tables]
    for name in names:
        if name not in known:
            raise FigureError("--figure", f"there is no figure {name!r}", known)
    return [table for table in tables if not names or table.name in names]


def draw(
    study: Study,
    table: FigureTable,
    stem: Path,
    formats: Sequence[str],
    style: Path | None = None,
) -> list[Path]:
    """Draw one figure and write it as `stem.FORMAT` for each format, with a style file of
    matplotlib over the style of the house.
    """
    for form in formats:
        if form not in FORMATS:
            raise FigureError("--format", f"unknown format {form!r}", FORMATS)
    if study.rows(table).is_empty():
        raise FigureError(f"figure {table.name!r}", "no finished point to draw yet")
    with paper(style):
        figure = CATALOGUE[table.kind].draw(study, table)
        return save(figure, stem, formats)

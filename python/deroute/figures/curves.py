"""Curves over one axis with their confidence bands: what `latency` and `throughput` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from deroute import analysis
from deroute.figures import layout, streams
from deroute.figures.study import Study, numeric_x, only
from deroute.figures.style import Look, look
from deroute.figures.table import FigureTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Curve:
    """One series in one panel: aggregated points in ascending order of `x`."""

    x: str
    points: pl.DataFrame
    look: Look
    label: str
    #: Place among the series of the figure.
    index: int

    def column(self, name: str, rows: pl.DataFrame | None = None) -> np.ndarray:
        """A column of all points, or of some of them, as numbers."""
        frame = self.points if rows is None else rows
        return np.asarray(frame[name].to_numpy(), dtype=float)


#: How a point that is not converged differs from the other points of its series.
HOLLOW: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "zorder": 3}

DrawCurve = Callable[["Plot", Curve], None]


def draw_panels(
    study: Study, table: FigureTable, value: str, within: str | None, draw: DrawCurve
) -> tuple[Figure, list[Plot]]:
    """A figure with one panel per label and every curve of it drawn by `draw`."""
    by_stream = streams.split(table)
    x = numeric_x(study, table)
    names = table.labels(study.axes, table.panel)
    rows, columns = layout.panel_grid(len(names))
    figure, grid = layout.new_figure(rows, columns, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(names))
    for panel, name in zip(panels, names, strict=True):
        layout.panel_title(panel, table.panel, name)
        empty = True
        labels = streams.names(study) if by_stream else table.labels(study.axes, table.series)
        for index, label in enumerate(labels):
            chosen = only(table.panel, name) | only(table.series, label)
            frame = study.rows(table, **chosen)
            if by_stream:
                frame = streams.rows(frame, str(label))
            if frame.is_empty():
                continue
            points = analysis.over_seeds(frame, [x], value, within).sort(x)
            style = look(index if by_stream else study.place(table.series, label))
            draw(panel, Curve(x, points, style, str(label), index))
            empty = False
        if empty:
            layout.say(panel, "no finished point")
    return figure, panels


@dataclass(slots=True)
class Notes:
    """What a figure shows beside its lines, and how the footer explains it."""

    bands: bool = False
    hollow: bool = False

    def texts(self, seeds: int) -> list[str]:
        """Notes on what there is."""
        spread = "over the seeds" if seeds > 1 else "within the run"
        told = [f"bands: 95% confidence {spread}"] if self.bands else []
        if self.hollow:
            together = ", over all seeds" if seeds > 1 else ""
            told.append(f"hollow: not converged{together}")
        return told


def band(panel: Plot, curve: Curve, points: pl.DataFrame, scale: float = 1.0) -> bool:
    """95% confidence band of some points; whether there is any."""
    mean, half = curve.column("mean", points) * scale, curve.column("ci95", points) * scale
    half = np.nan_to_num(half)
    panel.fill_between(
        curve.column(curve.x, points),
        mean - half,
        mean + half,
        color=curve.look.colour,
        alpha=0.22,
        linewidth=0,
    )
    return bool((half > 0).any())


def doubtful(points: pl.DataFrame) -> np.ndarray:
    """Which points are not converged."""
    return np.asarray((points["state"] == "not-converged").to_numpy(), dtype=bool)


def line(panel: Plot, curve: Curve, points: pl.DataFrame, scale: float = 1.0) -> bool:
    """The curve through some points; whether some are hollow because they are not converged."""
    label = f"_{curve.index}" if curve.label == "None" else curve.label
    shape: dict[str, Any] = {"color": curve.look.colour, "marker": curve.look.marker}
    x, y = curve.column(curve.x, points), curve.column("mean", points) * scale
    panel.plot(x, y, linestyle=curve.look.dashes, label=label, markeredgewidth=0.5, **shape)
    open_ones = doubtful(points)
    if open_ones.any():
        panel.plot(x[open_ones], y[open_ones], **shape, **HOLLOW)
    return bool(open_ones.any())

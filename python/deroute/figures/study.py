"""The finished points of an experiment, arranged for figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from deroute.figures.table import AVERAGED, Axes, FigureError, FigureTable, Label

if TYPE_CHECKING:
    from deroute.results import Outcome

#: Column that leads from a row of the frame to its outcome.
ROW = "row"


@dataclass(frozen=True, slots=True)
class Study:
    """Finished points, the axes they lie on, and what the footnote says about them."""

    axes: Axes
    #: One row per finished point: a column per axis, and the scalars of the outcome.
    frame: pl.DataFrame
    #: Outcomes of the rows, in their order.
    outcomes: Sequence[Outcome]
    #: Version of the engine that computed them.
    engine: str
    #: Routers per group; None where the topology has no groups.
    routers_per_group: int | None = None
    #: Title of the experiment: that of figures without one of their own.
    title: str | None = None
    #: When the traffic changes, in microseconds since the measurement began, for each outcome;
    #: empty if it never does.
    changes_us: Sequence[Sequence[float]] = ()
    #: Specs of the rows, in their order.
    specs: Sequence[Mapping[str, Any]] = ()
    #: Day (UTC) on which the newest point was finished.
    day: str = ""

    def rows(self, table: FigureTable, **labels: Label | None) -> pl.DataFrame:
        """Rows that the figure draws and that carry these labels, with the column `row`."""
        frame = self.frame.with_row_index(ROW)
        wanted = dict(table.where.items())
        wanted |= {axis: (label,) for axis, label in labels.items() if label is not None}
        for axis, values in wanted.items():
            frame = frame.filter(pl.col(axis).is_in(list(values)))
        return frame

    def cells(self, table: FigureTable) -> list[tuple[Label | None, Label | None, pl.DataFrame]]:
        """Panels and series of a figure that have rows, with these."""
        cells = [
            (name, label, self.rows(table, **only(table.panel, name), **only(table.series, label)))
            for name in table.labels(self.axes, table.panel)
            for label in table.labels(self.axes, table.series)
        ]
        return [cell for cell in cells if not cell[2].is_empty()]

    def outcomes_of(self, rows: pl.DataFrame) -> list[Outcome]:
        """Outcomes of rows that came from `rows`."""
        return [self.outcomes[index] for index in rows[ROW].to_list()]

    def changes_of(self, rows: pl.DataFrame) -> set[float]:
        """Times at which the traffic of some of these rows changes, in microseconds."""
        if not self.changes_us:
            return set()
        return {time for index in rows[ROW].to_list() for time in self.changes_us[index]}

    def place(self, axis: str | None, label: Label | None) -> int:
        """Place of a label on its axis: it decides the look of a series."""
        return 0 if axis is None or label is None else list(self.axes[axis]).index(label)


def only(axis: str | None, label: Label | None) -> dict[str, Label | None]:
    """Keyword arguments of `Study.rows` for one label of an optional axis."""
    return {} if axis is None else {axis: label}


def numeric_x(study: Study, table: FigureTable) -> str:
    """The axis of the abscissa; its labels have to be numbers."""
    assert table.x is not None
    if not study.frame[table.x].dtype.is_numeric():
        numbers = [axis for axis in study.axes if study.frame[axis].dtype.is_numeric()]
        raise FigureError(
            f"figure {table.name!r}.x",
            f"the labels of {table.x!r} are not numbers",
            [axis for axis in numbers if axis != AVERAGED],
        )
    return table.x

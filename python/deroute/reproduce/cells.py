"""Measured cells of a published table, beside the published ones: judged, counted and written.

A run keeps the cells of a table beside its verdicts, in `verdicts/ITEM.cells.SCALE.json`. Such
files in the folder of the paper are the published measurements.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deroute.reproduce.tables import Table, place_of_best, rank_correlation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.figures import Study

#: Columns of the list of cells, but for the axes of the table.
_HEAD = ("cell", "table", "published", "measured", "difference", "within", "scale", "engine", "day")
#: Places among ours at which the published best counts as found.
_TOP = 3


@dataclass(frozen=True, slots=True)
class Cells:
    """What was measured for the cells of a table, at one scale."""

    table: Table
    #: Accepted load in percent, `[row][column]`; NaN where nothing was measured.
    measured: NDArray[np.float64]
    scale: str
    #: Version of the engine, and day (UTC) of the newest point.
    engine: str
    day: str

    @classmethod
    def of(cls, table: Table, study: Study, scale: str) -> Cells:
        """From the points of an experiment."""
        return cls(table, table.measured(study), scale, study.engine, study.day)

    @classmethod
    def read(cls, table: Table, scale: str, data: Mapping[str, Any]) -> Cells | None:
        """From a file; None if the table has other rows or columns by now."""
        columns = [(axis, list(labels)) for axis, labels in table.columns.items()]
        rows: Mapping[str, Sequence[float | None]] = data["measured"]
        if list(data["columns"].items()) != columns or list(rows) != list(table.rows):
            return None
        measured = np.array([[np.nan if x is None else x for x in row] for row in rows.values()])
        return cls(table, measured, scale, data["engine"], data["day"])

    def data(self) -> dict[str, Any]:
        """For a file."""
        # Enough decimals for ranks to be those of what was measured.
        rows = ([_rounded(x, 4) for x in row] for row in self.measured)
        return {
            "engine": self.engine,
            "day": self.day,
            "columns": {axis: list(labels) for axis, labels in self.table.columns.items()},
            "measured": dict(zip(self.table.rows, rows, strict=True)),
        }

    def difference(self) -> NDArray[np.float64]:
        """Measured less published, in points of percent; NaN where either is missing."""
        difference: NDArray[np.float64] = self.measured - self.table.published
        return difference

    def within(self) -> NDArray[np.bool_]:
        """Cells that are as near to the published ones as they may be off."""
        # Both have two decimals at most.
        near: NDArray[np.bool_] = np.abs(self.difference()) <= self.table.within + 1e-9
        return near

    def whole(self) -> list[bool]:
        """Columns of which every cell was measured and published."""
        return [not np.isnan(column).any() for column in self.difference().T]

    def place(self, column: int) -> int:
        """Place among ours of the published best of a column."""
        return place_of_best(self.measured[:, column], self.table.published[:, column])

    def counts(self) -> str:
        """How many cells there are, and how near they are to the published ones."""
        measured = int((~np.isnan(self.measured)).sum())
        off = np.abs(self.difference())
        known = int((~np.isnan(off)).sum())
        size = self.measured.size
        parts = [f"{measured} cells" if measured == size else f"{measured} of {size} cells"]
        if not known:
            return f"{parts[0]}, none of them published"
        parts.append(f"{known} of them published" if known < measured else "all published")
        parts.append(f"{np.nanmean(off):.1f} points from them on average")
        if not np.isnan(self.table.within):
            parts.append(f"{int(self.within().sum())} within {self.table.within:g} points")
        places = [self.place(n) for n, whole in enumerate(self.whole()) if whole]
        if places:
            best = sum(place <= _TOP for place in places)
            parts.append(
                f"the published best among our first {_TOP} in {best} of {len(places)} columns"
            )
        return ", ".join(parts)

    def line(self) -> str:
        """All that a list of claims says of the table."""
        said = f"measured by Deroute {self.engine}, scale {self.scale}, {self.day}"
        return f"{self.table.title}: {self.counts()}; {said}"

    def rows(self) -> Iterator[dict[str, str]]:
        """Every cell by itself."""
        table, off, near = self.table, self.difference(), self.within()
        for r, row in enumerate(table.rows):
            for c, labels in enumerate(table.labels()):
                judged = not np.isnan(off[r, c] + table.within)
                yield {
                    "cell": table.cell_id(r, labels),
                    "table": table.title,
                    table.axis: row,
                    **labels,
                    "published": _number(table.published[r, c]),
                    "measured": _number(self.measured[r, c]),
                    "difference": _number(off[r, c]),
                    "within": ("yes" if near[r, c] else "no") if judged else "",
                    "scale": self.scale,
                    "engine": self.engine,
                    "day": self.day,
                }


def keep(file: Path, cells: Sequence[Cells]) -> None:
    """Keep the cells of the tables of an item."""
    part = file.with_suffix(".part")
    part.write_text(_text({each.table.of: each.data() for each in cells}), encoding="utf-8")
    part.replace(file)


def kept(tables: Sequence[Table], scale: str, data: Mapping[str, Any]) -> Iterator[Cells]:
    """The cells of the tables of an item, as far as they are in a file."""
    for table in tables:
        found = Cells.read(table, scale, data[table.of]) if table.of in data else None
        if found is not None:
            yield found


def _text(data: Mapping[str, Any]) -> str:
    """JSON with a line for each row of a table."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    return re.sub(r"\[[^\[\]]*\]", lambda row: " ".join(row[0].split()), text) + "\n"


def listing(cells: Sequence[Cells]) -> str:
    """Every cell of every table, a line each, as CSV."""
    rows = [row for each in cells for row in each.rows()]
    axes = [name for row in rows for name in row if name not in _HEAD]
    head = [*_HEAD[:2], *dict.fromkeys(axes), *_HEAD[2:]]
    text = io.StringIO()
    writer = csv.DictWriter(text, head, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def markdown(cells: Cells) -> str:
    """A section of a page: for every label of the first axis a table, ours beside theirs."""
    table = cells.table
    first, *others = table.columns.items()
    heads = others[-1][1] if others else first[1]
    beside = bool((~np.isnan(cells.difference())).any())
    how = "measured (published)" if beside else "measured"
    lines = [f"## {table.title}", "", f"{cells.line()}.", "", f"Accepted load in percent, {how}."]
    if beside and table.because:
        lines[-1] += f" Bold: more than {table.within:g} points apart. {table.because}"
    lines.append("")
    for label in first[1] if others else ("",):
        columns = table.chosen({first[0]: label} if others else {})
        lines += [f"### {label}", ""] if label else []
        lines += [f"| {table.axis} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
        for r, row in enumerate(table.rows):
            shown = (_cell(cells, r, n) for n in columns)
            lines.append(f"| {row} | {' | '.join(shown)} |")
        lines += [*_feet(cells, columns), ""]
    return "\n".join(lines)


def _feet(cells: Cells, columns: Sequence[int]) -> Iterator[str]:
    """What is said of every column, if any of them is whole."""
    whole = cells.whole()
    if not any(whole[n] for n in columns):
        return

    def foot(title: str, texts: Mapping[int, str]) -> str:
        return f"| {title} | {' | '.join(texts.get(n, '-') for n in columns)} |"

    known = [n for n in columns if whole[n]]
    ours, theirs = cells.measured, cells.table.published
    if not np.isnan(cells.table.within):
        near = cells.within().sum(axis=0)
        yield foot(f"within {cells.table.within:g} points", {n: str(near[n]) for n in known})
    rhos = {n: f"{rank_correlation(ours[:, n], theirs[:, n]):.2f}" for n in known}
    yield foot("rank correlation", rhos)
    yield foot("place of the published best", {n: str(cells.place(n)) for n in known})


def _cell(cells: Cells, row: int, column: int) -> str:
    ours, theirs = cells.measured[row, column], cells.table.published[row, column]
    mine = "-" if np.isnan(ours) else f"{ours:.0f}"
    if np.isnan(theirs):
        return mine
    far = np.abs(ours - theirs) > cells.table.within + 1e-9
    return f"**{mine}** ({theirs:.0f})" if far else f"{mine} ({theirs:.0f})"


def _number(value: float) -> str:
    rounded = _rounded(value, 2)
    return "" if rounded is None else str(rounded)


def _rounded(value: float, decimals: int) -> float | int | None:
    """No decimals of a whole number; None of NaN."""
    if np.isnan(value):
        return None
    rounded = round(float(value), decimals)
    return int(rounded) if rounded.is_integer() else rounded

"""Figures with a curve for each stream of the traffic: `split = "stream"`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from deroute import analysis
from deroute.figures.table import FigureError, FigureTable, Option

if TYPE_CHECKING:
    from deroute.figures.study import Study

#: What a figure can be split by.
OPTIONS: Mapping[str, Option] = {"split": Option((str,), choices=("stream",))}

#: Columns of the whole network, in whose place those of a stream are drawn.
_COLUMNS = (
    "load.offered",
    "load.attempted",
    "load.accepted",
    "load.accepted_ci95",
    "latency.mean",
    "latency.ci95",
)
_STATE = "verdict.state"


def split(table: FigureTable) -> bool:
    """Whether the figure has a curve for each stream."""
    return table.options.get("split") == "stream"


def names(study: Study) -> list[str]:
    """The streams of all points, in their order."""
    found = dict.fromkeys(each.name for outcome in study.outcomes for each in outcome.streams)
    if not found:
        raise FigureError("traffic.stream", "a figure split by stream needs streams")
    return list(found)


def rows(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The points with a stream, as if there were nothing else.

    The stream is saturated if it accepts too little of what its hosts attempt, and steady if it
    keeps up, whatever the others do, unless the point is not converged.
    """
    own = {column: pl.col(f"streams.{name}.{column}") for column in _COLUMNS}
    if own["load.accepted"].meta.output_name() not in frame.columns:
        return frame.clear()
    frame = frame.filter(own["load.accepted"].is_not_null())
    keeps_up = own["load.accepted"] >= analysis.KEEPS_UP * own["load.attempted"]
    unknown = pl.col(_STATE) == "not-converged"
    others = pl.when(unknown).then(pl.lit("not-converged")).otherwise(pl.lit("steady"))
    state = pl.when(~keeps_up).then(pl.lit("saturated")).otherwise(others)
    return frame.with_columns(state.alias(_STATE), **own)

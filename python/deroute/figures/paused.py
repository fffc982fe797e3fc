"""`paused`: the share of time in which senders were told to be silent, against time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize

from deroute.figures import layout, timeline
from deroute.figures.study import ROW, Study
from deroute.figures.style import QUIET
from deroute.figures.table import FigureError, FigureKind, FigureTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.results import Outcome

#: Senders that have a row of their own, at most: the most silent.
_MOST = 16
#: From never to always paused.
_COLOURS = LinearSegmentedColormap.from_list(
    "paused", ["white", *colormaps["YlOrRd"](np.linspace(0.3, 1.0, 64))]
)


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a panel per panel and series, of the first seed, with a row per sender."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=2)
    figure, grid = layout.new_figure(rows, columns, sharex=True)
    panels = layout.hide_unused(grid, len(cells))
    hidden = False
    norm = Normalize(0, 100)
    for panel, (name, label, frame) in zip(panels, cells, strict=True):
        edges_us, senders = shares(study.outcomes[int(frame[ROW][0])])
        silent = [sender for sender, share in senders.items() if share.any()]
        longest = sorted(silent, key=lambda sender: -float(senders[sender].sum()))[:_MOST]
        shown = [sender for sender in silent if sender in longest]
        hidden |= len(silent) > len(shown)
        if shown:
            cells_of = 100 * np.array([senders[sender] for sender in shown])
            rows_at = np.arange(len(shown) + 1) - 0.5
            panel.pcolormesh(edges_us, rows_at, cells_of, cmap=_COLOURS, norm=norm, rasterized=True)
        else:
            panel.text(
                0.5, 0.5, "nothing paused", transform=panel.transAxes, ha="center", color=QUIET
            )
        panel.set_yticks(range(len(shown)), shown)
        panel.grid(visible=False)
        panel.invert_yaxis()
        panel.margins(x=0)
        timeline.bounds(panel, table)
        timeline.changes([panel], study.changes_of(frame.head(1)))
        title = " · ".join(str(part) for part in (name, label) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold")
    figure.supxlabel(timeline.TIME)
    bar = figure.colorbar(ScalarMappable(norm, _COLOURS), ax=panels, aspect=30)
    bar.set_label("Time paused in a bin (%)")
    layout.legend(figure, layout.first_handles(panels), study, table)
    notes = ["a link by its most silent VC of each bin"]
    notes += ["first seed"] if layout.seeds_of(study, table) > 1 else []
    notes += [f"at most the {_MOST} senders that were paused longest"] if hidden else []
    layout.footnote(figure, study, table, notes)
    return figure


def shares(outcome: Outcome) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """The bounds of the bins in microseconds, and by sender the share of it in which it was told to
    be silent: of a link with several VCs, that of the most silent one.
    """
    record = outcome.pauses
    if record is None or record.width == 0:
        key = "probes.pauses" if record is None else "probes.series"
        raise FigureError(key, "this figure needs a record of pauses in time")
    found: dict[str, NDArray[np.float64]] = {}
    lengths = _lengths(outcome)
    for column, name in enumerate(_names(record.to_polars().to_dicts())):
        share = record.paused[:, column] / lengths
        found[name] = np.maximum(found[name], share) if name in found else share
    edges = record.start + np.concatenate([[0.0], np.cumsum(lengths)])
    return edges * outcome.cycle_ns / 1000, found


def _lengths(outcome: Outcome) -> NDArray[np.float64]:
    """Cycles of each bin: the last one may end with the measurement."""
    record = outcome.pauses
    assert record is not None
    starts = record.start + record.width * np.arange(len(record.paused))
    return np.minimum(record.width, outcome.measured_cycles - starts).astype(float)


def _names(rows: Sequence[Mapping[str, int | None]]) -> list[str]:
    """Hosts by their number, links by their routers, and by the port where these have several."""
    ends = {(row["from_router"], row["from_port"], row["router"]) for row in rows}
    links = Counter((sender, receiver) for sender, _, receiver in ends)

    def name(row: Mapping[str, int | None]) -> str:
        if row["host"] is not None:
            return f"host {row['host']}"
        sender, receiver = row["from_router"], row["router"]
        port = f", port {row['from_port']}" if links[sender, receiver] > 1 else ""
        return f"R{sender} to R{receiver}{port}"

    return [name(row) for row in rows]


KIND = FigureKind(
    name="paused",
    summary="the share of time in which senders were told to be silent, against time",
    draw=draw,
    options=timeline.OPTIONS,
)

"""`pauses`: how long senders were told to be silent, drawn on the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.lines import Line2D

from deroute.figures import layout
from deroute.figures.congestion_map import network_of
from deroute.figures.places import curve, dot, host_positions, positions
from deroute.figures.study import ROW, Study
from deroute.figures.style import QUIET, TWO_COLUMNS
from deroute.figures.table import FigureError, FigureKind, FigureTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.economics.network import Network
    from deroute.results import Outcome

# Widths of a link: never paused, and longest.
_IDLE, _LONGEST = 0.3, 2.2
# More would hide each other.
_NUMBERED, _ARROWS = 32, 80
_DARK = "#3a3a3a"
#: Pale yellow would vanish on paper.
_COLOURS = LinearSegmentedColormap.from_list(
    "pauses", colormaps["YlOrRd"](np.linspace(0.3, 1.0, 64))
)


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: a network per panel and series, of the first seed."""
    cells = study.cells(table)
    rows, columns = layout.panel_grid(len(cells), most_columns=3 if len(cells) == 3 else 2)
    size = (TWO_COLUMNS if len(cells) > 1 else 4.4, {1: 3.2, 2: 2.7, 3: 2.2}[columns] * rows + 0.8)
    figure, grid = layout.new_figure(rows, columns, size)
    panels = layout.hide_unused(grid, len(cells))
    found = [links(study.outcomes[int(frame[ROW][0])]) for *_, frame in cells]
    longest = max(float(frame["paused"].max() or 0) for frame in found)  # type: ignore[arg-type]
    norm = Normalize(0, _rounded_up(100 * longest))
    for panel, (name, label, frame), paused in zip(panels, cells, found, strict=True):
        network = network_of(study.specs[int(frame[ROW][0])], table)
        drawn = _draw(panel, network, paused, norm)
        if network.wiring.tree is None:
            _frame(panel, drawn, (size[0] / columns - 0.5) / (size[1] / rows - 0.7))
        silent = paused.filter(pl.col("paused") > 0).height
        say = f"{silent} of {paused.height} links paused" if silent else "nothing paused"
        title = " · ".join(str(part) for part in (name, label, say) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold", fontsize=8)
    bar = figure.colorbar(ScalarMappable(norm, _COLOURS), ax=panels, shrink=0.7, aspect=25)
    bar.set_label("Time paused (%)")
    lost = any(frame["lost_packets"].sum() > 0 for frame in found)
    layout.legend(figure, _handles(lost), study, table)
    notes = ["a link by its longest paused VC", "grey: never paused", "links keep to the right"]
    notes += ["first seed"] if layout.seeds_of(study, table) > 1 else []
    layout.footnote(figure, study, table, notes)
    return figure


def links(outcome: Outcome) -> pl.DataFrame:
    """A row per direction of a link: its ends, the share of the measurement in which its most
    silent VC was paused, and the packets lost at its end.
    """
    if outcome.pauses is None:
        raise FigureError("probes.pauses", "this figure needs a record of pauses")
    ends = ["from_router", "host", "router", "port"]
    share = (pl.col("paused").max() / outcome.measured_cycles).alias("paused")
    rows = outcome.pauses.to_polars().group_by(ends, maintain_order=True)
    return rows.agg(share, pl.col("lost_packets").sum())


def _rounded_up(percent: float) -> float:
    """The end of the scale: the next of 1, 2, 5, 10, 20, 50, 100."""
    return next((end for end in (1, 2, 5, 10, 20, 50) if percent <= end), 100)


def _frame(panel: Plot, places: NDArray[np.float64], ratio: float) -> None:
    """Limits around some places, so many times as wide as high, with equal units."""
    low, high = places.min(axis=0), places.max(axis=0)
    width, height = 1.2 * (high - low) / 2 + 0.05
    width, height = max(width, ratio * height), max(height, width / ratio)
    x, y = (low + high) / 2
    panel.set_xlim(x - width, x + width)
    panel.set_ylim(y - height, y + height)
    panel.set_aspect("equal")


def _draw(
    panel: Plot, network: Network, paused: pl.DataFrame, norm: Normalize
) -> NDArray[np.float64]:
    """Draw a network; where its routers and hosts are."""
    places = positions(network)
    with_hosts = paused["host"].null_count() < paused.height
    hosts = host_positions(network, places) if with_hosts else np.zeros((0, 2))
    straight = network.wiring.tree is not None
    # The least paused first, so that the others are on top.
    for row in paused.sort("paused").iter_rows(named=True):
        line = _line(row, places, hosts, -0.04 if straight else -0.12)
        share = 100 * row["paused"]
        idle = row["paused"] == 0
        width = _IDLE if idle else 0.8 + (_LONGEST - 0.8) * share / norm.vmax
        colour = QUIET if idle else _COLOURS(norm(share))
        panel.add_collection(LineCollection([line], colors=[colour], linewidths=width))
        if not idle and paused.height <= _ARROWS:
            middle = len(line) // 2
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "mutation_scale": 9}
            panel.annotate("", line[middle + 1], line[middle - 1], arrowprops=arrow)
        if row["lost_packets"]:
            panel.plot(*line[-4], marker="x", color="black", markersize=5, zorder=4)
    size = max(dot(network.routers), 14)
    panel.scatter(places[:, 0], places[:, 1], s=size, c=_DARK, zorder=3)
    panel.scatter(
        hosts[:, 0], hosts[:, 1], s=9, c="white", edgecolors=_DARK, linewidths=0.7, zorder=3
    )
    if 0 < len(hosts) <= _NUMBERED:
        centres = places[network.wiring.router_of_host]
        for number, (place, centre) in enumerate(zip(hosts, centres, strict=True)):
            ahead = (place - centre) / np.linalg.norm(place - centre)
            ahead = np.array([0.0, -1.0]) if straight else ahead
            away: Any = {"xytext": tuple(8 * ahead), "textcoords": "offset points"}
            centred: Any = {"ha": "center", "va": "center", "fontsize": 7}
            panel.annotate(str(number), (float(place[0]), float(place[1])), **away, **centred)
    panel.margins(0.1)
    panel.set_axis_off()
    return np.concatenate([places, hosts])


def _line(
    row: dict[str, int], places: NDArray[np.float64], hosts: NDArray[np.float64], bend: float
) -> NDArray[np.float64]:
    """From the sender to the receiver, beside the way back."""
    if row["host"] is not None:
        return curve(hosts[row["host"]], places[row["router"]], 0.0)
    return curve(places[row["from_router"]], places[row["router"]], bend)


def _handles(lost: bool) -> list[Line2D]:
    handles = [
        Line2D([], [], color=_DARK, marker="o", linestyle="none", label="router"),
        Line2D(
            [], [], color="white", marker="o", markeredgecolor=_DARK, linestyle="none",
            label="host",
        ),
    ]  # fmt: skip
    if lost:
        handles.append(
            Line2D([], [], color="black", marker="x", linestyle="none", label="packets lost")
        )
    return handles


KIND = FigureKind(
    name="pauses",
    summary="how long senders were told to be silent, on a drawing of the network",
    draw=draw,
)

"""`agents`: state of the routing agents against time, as curves or as a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from deroute import analysis
from deroute.figures import layout, timeline
from deroute.figures.study import Study
from deroute.figures.style import TWO_COLUMNS
from deroute.figures.table import FigureError, FigureKind, FigureTable, Option

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from deroute.records import AgentSeries
    from deroute.results import Outcome

#: What the rows of a map are.
ROUTERS, STATES = "routers", "states"

#: What the states of the algorithms are, by their names less the offset.
_TITLES = {
    "level": "ACOR level",
    "blocked": "Blocked attempts in the interval",
    "G": "Counter {} (packets)",
    "IL": "Counter {} (packets)",
}

_MEAN = "mean of all routers of the network"
# Colours of a map, which colour-blind readers tell apart.
_MAP = "viridis"
# Rows of a map that get a label each.
_LABELLED = 14


@dataclass(frozen=True, slots=True)
class Record:
    """A state over the seeds of a point: (samples, rows), rows being routers or states."""

    #: Beginning of each sample, in microseconds since the measurement began.
    time_us: NDArray[np.float64]
    values: analysis.Profile
    #: What the rows are called.
    rows: list[str]


def draw(study: Study, table: FigureTable) -> Figure:
    """Draw the figure: curves of the mean over the network, or a map for each panel and series."""
    return _draw_curves(study, table) if table.options["rows"] is None else _draw_maps(study, table)


def _draw_curves(study: Study, table: FigureTable) -> Figure:
    def read(outcomes: Sequence[Outcome]) -> timeline.Course:
        found = record(outcomes, table)
        values = found.values
        return found.time_us, analysis.profile([each[:, 0] for each in values.per_run])

    return timeline.draw(study, table, read, _title(table), [_MEAN])


def _draw_maps(study: Study, table: FigureTable) -> Figure:
    cells = study.cells(table)
    records = [record(study.outcomes_of(frame), table) for _, _, frame in cells]
    rows, columns = layout.panel_grid(len(cells))
    size = (TWO_COLUMNS if columns > 1 else 4.6, 2.1 * rows + 0.8)
    figure, grid = layout.new_figure(rows, columns, size, sharex=True, sharey=True)
    panels = layout.hide_unused(grid, len(cells))
    low = min(float(found.values.mean.min()) for found in records)
    high = max(float(found.values.mean.max()) for found in records)
    for panel, (name, label, frame), found in zip(panels, cells, records, strict=True):
        _map(panel, found, (low, max(high, low + 1)))
        title = " · ".join(str(part) for part in (name, label) if part is not None)
        panel.set_title(title, loc="left", fontweight="bold", fontsize=8)
        timeline.bounds(panel, table)
        timeline.changes([panel], study.changes_of(frame), on_map=True)
    by_router = table.options["rows"] == ROUTERS
    colours = panels[0].collections[0]
    whole = MaxNLocator(integer=True)  # Levels and packets.
    figure.colorbar(colours, ax=panels, pad=0.02, aspect=25, ticks=whole, label=_title(table))
    layout.axis_titles(figure, timeline.TIME, "Router" if by_router else "State")
    layout.legend(figure, layout.first_handles(panels), study, table)
    seeds = layout.seeds_of(study, table)
    notes = ["mean over the seeds"] if seeds > 1 else []
    layout.footnote(figure, study, table, notes if by_router else [_MEAN, *notes])
    return figure


def _state(table: FigureTable) -> str:
    return str(table.options["state"])


def _title(table: FigureTable) -> str:
    """What a state is and its unit, where that is known; else its name."""
    state = _state(table)
    kind = state.rstrip("+-0123456789")
    return _TITLES.get(kind, "{}").format(state)


def record(outcomes: Sequence[Outcome], table: FigureTable) -> Record:
    """The state that a figure shows, from the runs of one point.

    Samples of several runs are taken together from the first one that all of them have.
    """
    sampled = [_agents(outcome) for outcome in outcomes]
    begin = max(agents.start for agents in sampled)
    parts = [_rows(agents, table) for agents in sampled]
    skip = [(begin - agents.start) // agents.width for agents in sampled]
    length = min(len(part) - first for part, first in zip(parts, skip, strict=True))
    values = [part[first : first + length] for part, first in zip(parts, skip, strict=True)]
    cycles = begin + sampled[0].width * np.arange(length)
    names = _named(sampled[0], table)
    if table.options["rows"] == ROUTERS:
        names = [f"R{router}" for router in sampled[0].routers]
    return Record(cycles * outcomes[0].cycle_ns / 1000, analysis.profile(values), names)


def _agents(outcome: Outcome) -> AgentSeries:
    if outcome.agents is None:
        raise FigureError("probes.agents", "an agents figure needs the state of the agents")
    return outcome.agents


def _named(agents: AgentSeries, table: FigureTable) -> list[str]:
    """The state of the table; for a map of states all whose names begin so."""
    wanted = _state(table)
    if table.options["rows"] == STATES:
        found = [name for name in agents.names if name.startswith(wanted)]
    else:
        found = [name for name in agents.names if name == wanted]
    if not found:
        message = f"the agents have no state {wanted!r}"
        raise FigureError(f"figure {table.name!r}.state", message, agents.names)
    return found


def _rows(agents: AgentSeries, table: FigureTable) -> NDArray[np.float64]:
    """Samples x routers of one state, or samples x states of the mean."""
    columns = [agents.names.index(name) for name in _named(agents, table)]
    if table.options["rows"] == ROUTERS:
        return agents.values[:, :, columns[0]]
    return agents.mean[:, columns]


def _map(panel: Plot, found: Record, limits: tuple[float, float]) -> None:
    step = float(found.time_us[1] - found.time_us[0]) if len(found.time_us) > 1 else 1.0
    edges = np.append(found.time_us, found.time_us[-1] + step)
    rows = len(found.rows)
    panel.pcolormesh(
        edges,
        np.arange(rows + 1) - 0.5,
        found.values.mean.T,
        cmap=_MAP,
        vmin=limits[0],
        vmax=limits[1],
        rasterized=True,
    )
    every = -(-rows // _LABELLED)
    panel.set_yticks(range(0, rows, every), found.rows[::every])
    panel.grid(visible=False)


KIND = FigureKind(
    name="agents",
    summary=(
        "a state of the routing agents against time: its mean over the network, or a map of it"
        " (`rows`: routers or states)"
    ),
    draw=draw,
    options={
        "state": Option((str,), required=True),
        "rows": Option((str,), choices=(ROUTERS, STATES)),
        **timeline.OPTIONS,
    },
)

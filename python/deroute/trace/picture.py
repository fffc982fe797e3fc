"""Pictures of a trace: who sends to whom, and when who computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from deroute.figures import layout
from deroute.figures.style import FORMATS, TWO_COLUMNS, look, paper, save
from deroute.telling import Told, nobody
from deroute.trace.free import FreeNetwork, Run
from deroute.trace.ops import Trace
from deroute.trace.sizes import bytes_text
from deroute.trace.statistics import Summary

_SIZE = (4.6, 3.9)
#: Parts of the time of a timeline, and the most ranks that it tells apart.
_PARTS, _RANKS = 1200, 512
#: From waiting to computing.
_SHADES = ListedColormap(
    [(1 - 0.5 * share, 1 - 0.25 * share, 1.0) for share in np.linspace(0, 1, 64)]
)


def formats(file: Path) -> str:
    """The format of a picture by its name. Raises `ValueError` with what there is."""
    form = file.suffix.removeprefix(".")
    if form not in FORMATS:
        raise ValueError(f"{file.name!r} is no picture; there are {', '.join(FORMATS)}")
    return form


def draw(summary: Summary, file: Path, title: str) -> Path:
    """Bytes from rank to rank, messages and collectives together, on a logarithmic scale."""
    total = summary.matrix + summary.collective_matrix
    share = summary.ranks_per_cell
    with paper():
        figure, grid = layout.new_figure(1, 1, _SIZE)
        (panel,) = layout.flatten(grid)
        panel.grid(False)
        panel.set_title(title)
        shown = np.ma.masked_less_equal(total, 0)
        if shown.count():
            edge = summary.ranks - 0.5
            least, most = float(shown.min()), float(shown.max())
            norm = LogNorm(least, max(most, 4 * least))
            extent = (-0.5, edge, edge, -0.5)
            image = panel.imshow(shown, norm=norm, extent=extent, interpolation="nearest")
            for axis in (panel.xaxis, panel.yaxis):
                axis.set_major_locator(MaxNLocator(integer=True))
            bar = figure.colorbar(image, ax=panel)
            bar.ax.yaxis.set_major_locator(LogLocator(base=4))
            bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda size, _: bytes_text(size)))
            bar.ax.minorticks_off()
        else:
            layout.say(panel, "no messages")
        each = "" if share == 1 else f" ({share} to a cell)"
        panel.set_xlabel(f"Destination rank{each}")
        panel.set_ylabel("Source rank")
        (written,) = save(figure, file.with_suffix(""), [formats(file)])
    return written


class Course:
    """How much each rank computes in each part of the time."""

    def __init__(self, ranks: int, ns: int) -> None:
        self.together = -(-ranks // _RANKS)
        self.width = max(1.0, ns / _PARTS)
        self.shares = np.zeros((-(-ranks // self.together), _PARTS))

    def busy(self, rank: int, begin: int, end: int) -> None:
        """A rank computes."""
        row = self.shares[rank // self.together]
        scale = self.width * self.together
        first, last = int(begin / self.width), min(int(end / self.width), _PARTS - 1)
        if first >= last:
            row[min(first, _PARTS - 1)] += (end - begin) / scale
            return
        row[first] += ((first + 1) * self.width - begin) / scale
        row[first + 1 : last] += 1 / self.together
        row[last] += (end - last * self.width) / scale


def course(trace: Trace, run: Run, calls: int = 0, told: Told = nobody) -> Course:
    """The trace is run once more, now that its length is known; `told` as in `FreeNetwork.run`."""
    found = Course(trace.ranks, run.ns)
    FreeNetwork(trace, found.busy).run(calls, told)
    return found


def draw_timeline(ranks: int, run: Run, course: Course, file: Path, title: str) -> Path:
    """When each rank computes on the free network, and the critical path through them."""
    ms = max(run.ns, 1) / 1e6
    height = min(7.0, max(2.6, 0.09 * ranks + 1.2))
    with paper():
        figure, grid = layout.new_figure(1, 1, (TWO_COLUMNS, height))
        (panel,) = layout.flatten(grid)
        panel.grid(False)
        panel.set_title(f"{title}: a network that takes no time")
        extent: Any = (0, ms, ranks - 0.5, -0.5)
        shades: Any = {"cmap": _SHADES, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
        panel.imshow(np.clip(course.shares, 0, 1), extent=extent, aspect="auto", **shades)
        times = [at / 1e6 for _, begin, end in run.path for at in (begin, end)]
        path = [rank for rank, _, _ in run.path for _ in range(2)]
        panel.plot(times, path, color=look(1).colour, linewidth=1.0, label="critical path")
        panel.set_xlim(0, ms)
        panel.set_xlabel("Time (ms); blue: computes, white: waits")
        panel.set_ylabel("Rank")
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.legend(loc="upper right", framealpha=0.9)
        (written,) = save(figure, file.with_suffix(""), [formats(file)])
    return written

"""The communication matrix of a trace as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator

from deroute.figures import layout
from deroute.figures.style import FORMATS, paper, save
from deroute.trace.sizes import bytes_text
from deroute.trace.statistics import Summary

_SIZE = (4.6, 3.9)


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

"""A chart of what networks draw: a panel for each, a stacked bar for each kind of tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from deroute import _engine
from deroute.economics import drawing
from deroute.economics.power import ORGANISATIONS, Census, Constants, draw
from deroute.figures import layout
from deroute.figures.style import TWO_COLUMNS, look, paper, save
from deroute.writing import blaming

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Parts of a bar, from below, as `power.Draw` names them.
PARTS = {
    "logic": "CPU and logic",
    "switching": "switching",
    "optical": "optical ports",
    "electrical": "electrical ports",
    "tables": "forwarding tables",
}
#: Above this multiple of the largest other bar a bar is cut off, and its total is written on it.
_CUT = 1.5


def stacked(title: str, networks: Sequence[Census], constants: Constants) -> Figure:
    """Watts by network, kind of tables and part."""
    wide = min(TWO_COLUMNS, 1.6 + 1.9 * len(networks))
    figure, panels = layout.new_figure(1, len(networks), (wide, 3.6), sharey=True)
    draws = [[draw(each, constants, name) for name in ORGANISATIONS] for each in networks]
    totals = sorted(one.total for each in draws for one in each)
    unit, scale = ("MW", 1e6) if totals[0] >= 1e6 else ("kW", 1e3)
    # What flat TCAMs draw would flatten all else.
    flat = ORGANISATIONS.index("TCAM flat")
    others = [one.total for each in draws for i, one in enumerate(each) if i != flat]
    top = min(totals[-1], _CUT * max(others)) / scale
    for panel, network, mine in zip(panels[0], networks, draws, strict=True):
        heights = [0.0] * len(mine)
        for place, part in enumerate(PARTS):
            values = [getattr(one, part) / scale for one in mine]
            panel.bar(range(len(mine)), values, bottom=heights, color=look(place).colour, width=0.7)
            heights = [height + value for height, value in zip(heights, values, strict=True)]
        _label(panel, heights, top)
        panel.set_title(network.title, loc="left", fontweight="bold")
        panel.set_xticks(range(len(mine)), ORGANISATIONS, rotation=45, ha="right")
        panel.grid(visible=False, axis="x")
        panel.set_ylim(0, top * 1.12)
    layout.axis_titles(figure, "", f"Power ({unit})")
    handles = [
        Patch(color=look(place).colour, label=label) for place, label in enumerate(PARTS.values())
    ]
    layout.heading(figure, handles, title)
    cut = ["↑ bar cut off, with its total"] if totals[-1] / scale > top else []
    layout.foot(figure, [f"Deroute {_engine.VERSION}", constants.note, *cut])
    return figure


def _label(panel: Axes, heights: Sequence[float], top: float) -> None:
    """Totals on the bars; an arrow on those that go on."""
    for place, height in enumerate(heights):
        cut = height > top * 1.001
        digits = 1 if height >= 10 else 2
        panel.annotate(
            f"{height:.{digits}f}" + (" ↑" if cut else ""),
            (place, min(height, top)),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=6.5,
        )
        if cut:
            panel.axhspan(top, top * 1.12, place / len(heights), (place + 1) / len(heights), fc="w")


def write(file: Path, title: str, networks: Sequence[Census], constants: Constants) -> Path:
    """Draw the chart into a PNG, SVG or PDF file."""
    form = drawing.form_of(file)
    with paper():
        figure = stacked(title, networks, constants)
        with blaming("--plot", file):
            return save(figure, file.with_suffix(""), [form])[0]

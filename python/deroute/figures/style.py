"""How every figure looks, and how it is written to disk without a trace of when it was made."""

from __future__ import annotations

import difflib
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from deroute.figures.table import FigureError
from deroute.writing import whole

#: File formats, in the order in which they are offered.
FORMATS = ("png", "svg", "pdf")

#: Width of a figure in inches: one column and two columns of a paper.
ONE_COLUMN, TWO_COLUMNS = 3.5, 7.16

#: Colour of guides, footnotes and everything that is not data.
QUIET = "#6b6b6b"
#: Colour of what is written on bright ground, and of cells that have no value.
INK, NO_VALUE = "#222222", "#d0d0d0"

# Okabe and Ito's colours, which colour-blind readers tell apart, without the yellow that vanishes
# on paper and with a brown in its place; black last.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#7a4b1e",
    "#000000",
)
_DEFAULT_COLOURS = matplotlib.rcParamsDefault["axes.prop_cycle"].by_key()["color"]
# `#` within a value follows a quotation mark.
_COMMENT = re.compile(r"(^|\s)#.*")
# How far the shades of a colour are from it towards white.
_LIGHTER = (0.0, 0.4, 0.7)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
# Pixels between two labels of an axis.
_GAP = 2.0
# How often labels that touch are halved.
_TRIES = 4
Dashes = str | tuple[int, tuple[float, ...]]

_DASHES: tuple[Dashes, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)))

_RC: Any = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.4,
    "text.parse_math": False,
    "svg.hashsalt": "deroute",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}

# What would otherwise carry the time or the version of a library into the file.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, marker and dashes of one series; no two of the first 24 are alike."""

    colour: str
    marker: str
    dashes: Dashes
    #: Of bars, which have neither marks nor dashes: a shade of the colour.
    fill: str


def look(index: int) -> Look:
    """Look of the series at this place of its axis, the same in every figure of an experiment."""
    colours = _own_colours() or _COLOURS
    colour, turn = colours[index % len(colours)], index // len(colours)
    return Look(
        colour=colour,
        marker=_MARKERS[index % len(_MARKERS)],
        dashes=_DASHES[turn % len(_DASHES)],
        fill=_shade(colour, turn),
    )


def _own_colours() -> list[str]:
    """Colours of the user's style; none without one, or if it has none."""
    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key().get("color", [])
    return [] if cycle == _DEFAULT_COLOURS else [to_hex(colour) for colour in cycle]


def _shade(colour: str, turn: int) -> str:
    """The colour itself, then lighter ones."""
    lighter = _LIGHTER[turn % len(_LIGHTER)]
    red, green, blue = (part + lighter * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


@contextmanager
def paper(style: Path | None = None) -> Iterator[None]:
    """Within this context matplotlib draws in the house style, whatever the user's settings; with a
    style file of matplotlib, its entries come after those of the house.

    A letter that no font has is drawn as an empty box, and nothing is said of it.
    """
    own = _read_style(style) if style is not None else {}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from font", UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        matplotlib.rcParams.update(own)
        yield


def _read_style(file: Path) -> Any:
    """The entries of a style file of matplotlib, each of which must be known and possible."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FigureError(
            "--style", f"{file}: {getattr(error, 'strerror', None) or error}"
        ) from None
    entries = {}
    for number, line in enumerate(text.splitlines(), 1):
        stated = _COMMENT.sub("", line).strip()
        if not stated:
            continue
        key, colon, value = (part.strip() for part in stated.partition(":"))
        if not colon:
            raise FigureError("--style", f"{file}:{number}: is no `key: value`")
        if key not in matplotlib.rcParams:
            close = difflib.get_close_matches(key, matplotlib.rcParams, n=5)
            raise FigureError("--style", f"{file}:{number}: matplotlib has no `{key}`", close)
        try:
            entries[key] = matplotlib.rcParams.validate[key](value)
        except ValueError as error:
            message = f"{file}:{number}: {str(error).splitlines()[0]}"
            raise FigureError("--style", message) from None
    return entries


def _freeze_layout(figure: Figure) -> None:
    """Fix the positions that the layout found, rounded.

    The solver's last bits depend on where its variables lie in memory; SVG ids are made of them.
    """
    figure.draw_without_rendering()
    for _ in range(_TRIES):
        touched = [_untangled(panel) for panel in figure.axes]
        if not any(touched):
            break
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for panel in figure.axes:
        left, bottom, width, height = (round(part, 6) for part in panel.get_position().bounds)
        panel.set_position((left, bottom, width, height))
    for text in figure.texts:
        x, y = text.get_position()
        text.set_position((round(x, 6), round(y, 6)))


def _untangled(panel: Axes) -> bool:
    """Fewer numbers, or turned names, where labels of an abscissa touch; whether any did."""
    shown = [label for label in panel.get_xticklabels() if label.get_visible() and label.get_text()]
    boxes = [label.get_window_extent() for label in shown]
    if not any(one.x1 + _GAP > other.x0 for one, other in itertools.pairwise(boxes)):
        return False
    if shown[0].get_rotation() == 0 and isinstance(panel.xaxis.get_major_locator(), FixedLocator):
        for label in shown:
            label.set(rotation=30, ha="right", rotation_mode="anchor")
        return True
    if isinstance(panel.xaxis.get_major_locator(), FixedLocator):
        return False
    fewer = max(2, len(shown) // 2)
    if isinstance(panel.xaxis.get_major_locator(), LogLocator):
        panel.xaxis.set_major_locator(LogLocator(numticks=fewer))
    else:
        panel.xaxis.set_major_locator(MaxNLocator(fewer))
    return True


def save(figure: Figure, stem: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figure as `stem.FORMAT` for each format; same figure, same bytes."""
    _freeze_layout(figure)
    paths = []
    for form in formats:
        path = stem.with_name(f"{stem.name}.{form}")
        with whole(path) as draft:
            figure.savefig(draft, format=form, metadata=_METADATA[form])
        paths.append(path)
    return paths

"""The networks of a run in its report: each as a drawing, on which congestion trees are played."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from deroute import _engine
from deroute.economics.network import Network
from deroute.errors import SpecError
from deroute.figures.style import look
from deroute.frame import Results, labels
from deroute.reader import SEED
from deroute.report import network as drawings
from deroute.report import trees
from deroute.results import Outcome
from deroute.spec import in_order

#: Networks that are drawn; an experiment over sizes has more.
_MOST_NETWORKS = 4
#: Numbers that all frames together take, about, so that a page stays a few megabytes.
_MOST_NUMBERS = 500_000
_PROBE = 'probes.congestion = { every = "1 us", members = true }'


class _Found:
    """A network of the experiment, its points, and its runs that recorded congestion trees."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec = spec
        self.points: list[str] = []
        self.runs: list[tuple[str, Outcome]] = []
        self.left_out = 0


def section(results: Results) -> tuple[str, list[dict[str, Any]]]:
    """The section of the page, and what its script plays."""
    found = _networks(results)
    parts = ['<section id="network"><h2>Network</h2>']
    played: list[dict[str, Any]] = []
    for index, each in enumerate(list(found.values())[:_MOST_NETWORKS]):
        html, plays = _one(each, f"network-{index}", several=len(found) > 1)
        parts.append(html)
        played += plays
    if len(found) > _MOST_NETWORKS:
        parts.append(
            f'<p class="quiet">{len(found) - _MOST_NETWORKS} more networks are not drawn.</p>'
        )
    return "".join([*parts, "</section>"]), played


def _networks(results: Results) -> dict[str, _Found]:
    """Networks by their topology, in the order of the points; of each point its first seed."""
    found: dict[str, _Found] = {}
    missing = {point.key for point in results.missing}
    outcomes = iter(results.outcomes)
    budget = _MOST_NUMBERS
    seen: set[tuple[str, str]] = set()
    for point in results.points:
        topology = json.dumps(point.spec["network"]["topology"], sort_keys=True, default=str)
        network = found.setdefault(topology, _Found(point.spec))
        outcome = None if point.key in missing else next(outcomes)
        told = {axis: label for axis, label in labels(point).items() if axis != SEED}
        name = ", ".join(f"{axis} = {label}" for axis, label in told.items()) or "the run"
        if name not in network.points:
            network.points.append(name)
        if outcome is None or outcome.congestion is None or (topology, name) in seen:
            continue
        seen.add((topology, name))
        budget -= trees.cost(outcome.congestion)
        if budget >= 0 or not network.runs:
            network.runs.append((name, outcome))
        else:
            network.left_out += 1
    return found


def _one(found: _Found, name: str, *, several: bool) -> tuple[str, list[dict[str, Any]]]:
    try:
        network = Network.of(found.spec, _engine.topology(in_order(found.spec)))
    except SpecError as error:
        return f'<p class="quiet">{escape(f"Not drawn: {error}")}</p>', []
    around = trees.largest_root(found.runs[0][1]) if found.runs else 0
    drawing = drawings.of(network, around)
    parts = [f"<h3>{escape(drawing.title)}</h3>"]
    if several:
        first, *others = found.points
        more = f" and {len(others)} more points" if others else ""
        parts.append(f'<p class="quiet">Of {escape(first)}{more}.</p>')
    parts.append(_legend(drawing, coloured=not found.runs))
    if drawing.note:
        parts.append(f'<p class="quiet">{escape(drawing.note)}</p>')
    parts.append('<div class="scene">' + drawings.svg(drawing, name, coloured=not found.runs))
    if not found.runs:
        parts.append(
            '<p class="quiet">Congestion trees would be played here, had they been recorded:'
            f" <code>{escape(_PROBE)}</code>.</p></div>"
        )
        return "".join(parts), []
    parts.append(_controls(name, [label for label, _ in found.runs], found.left_out) + "</div>")
    played = {
        "id": name,
        "places": [[round(float(x), 1), round(float(y), 1)] for x, y in drawing.places],
        "size": drawings.radius(drawing),
        "colours": [look(place).colour for place in range(trees.COLOURED + 1)],
        "runs": [trees.play(outcome, network, drawing) for _, outcome in found.runs],
    }
    return "".join(parts), [played]


def _legend(drawing: drawings.Drawing, *, coloured: bool) -> str:
    """Links of the whole network by their class, in the colour of their lines."""
    swatch = '<span class="swatch" style="background:{}"></span>'
    classes = [
        (swatch.format(look(index).colour) if coloured else "")
        + f"{escape(kind)}: {drawing.counts[kind]:,} link{'s' if drawing.counts[kind] > 1 else ''}"
        for index, kind in enumerate(drawing.lines)
    ]
    hosts = ["small dots: hosts"] if len(drawing.hosts) else []
    return f'<p class="key">{"".join(f"<span>{each}</span>" for each in [*classes, *hosts])}</p>'


def _controls(name: str, runs: Sequence[str], left_out: int) -> str:
    """Which run, play or pause, and the time."""
    options = "".join(f'<option value="{i}">{escape(run)}</option>' for i, run in enumerate(runs))
    note = f" {left_out} more runs would make this file too large." if left_out else ""
    return (
        f'<div class="player" id="{name}-player"><h4>Congestion trees in time</h4>'
        f'<p{"" if len(runs) > 1 else " hidden"}><label class="run">Run <select>{options}</select>'
        "</label></p>"
        '<p class="time"><button type="button">Play</button>'
        '<input type="range" min="0" step="1" value="0" aria-label="Time"></p>'
        '<p class="told"></p><p class="key"></p>'
        '<p class="quiet">A star is the root of a tree: an output port for which packets wait.'
        " Lines are links whose receiving buffers are in the tree, thicker the more phits they"
        " hold. Coloured rims are routers with such a buffer, and hosts whose injection queue is"
        " in the tree."
        f" First seed.{note}</p></div>"
    )

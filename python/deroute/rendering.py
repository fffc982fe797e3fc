"""An outcome as a notebook shows it: a table beside a figure."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from html import escape

import numpy as np
from matplotlib.figure import Figure

from deroute import units
from deroute.figures import layout
from deroute.figures.style import look, paper
from deroute.results import Outcome

_INCHES = (6.6, 2.3)
_STYLE = "display:flex;flex-wrap:wrap;align-items:center;gap:1.5em"


def html(outcome: Outcome) -> str:
    """A table of the main numbers beside the figure."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in _rows(outcome)
    )
    picture = io.BytesIO()
    figure(outcome).savefig(picture, format="svg", metadata={"Date": None})
    data = base64.b64encode(picture.getvalue()).decode()
    image = f"<img alt='latencies and loads' src='data:image/svg+xml;base64,{data}'>"
    return f"<div style='{_STYLE}'><table><tbody>{rows}</tbody></table>{image}</div>"


def _rows(outcome: Outcome) -> Iterator[tuple[str, str]]:
    verdict, load, ns = outcome.verdict, outcome.load, outcome.cycle_ns
    reasons = f": {'; '.join(verdict.reasons)}" if verdict.reasons else ""
    yield "verdict", f"{verdict.state}{reasons}"
    yield "network", f"{outcome.size.hosts:,} hosts, {outcome.size.routers:,} routers"
    if outcome.workload is not None:
        yield "makespan", units.time(outcome.workload.makespan * ns)
    else:
        yield "offered load", f"{load.offered:.4g} phits/host/cycle"
        yield "accepted load", f"{load.accepted:.4g} ± {load.accepted_ci95:.2g}"
    if verdict.state != "saturated":
        mean, half = outcome.latency.mean * ns, outcome.latency.ci95 * ns
        # Runs of a workload have no interval.
        spread = "" if outcome.workload is not None else f" ± {units.time(half)}"
        yield "mean latency", f"{units.time(mean)}{spread}"
        tail = next((p.cycles for p in outcome.latency.percentiles if p.percent == 99), None)
        if tail is not None:
            yield "p99 latency", units.time(tail * ns)
    yield "hops", f"{outcome.hops_mean:.3g}"
    shares = ", ".join(f"{each.kind} {each.share:.0%}" for each in outcome.paths if each.packets)
    if shares:
        yield "paths", shares


def figure(outcome: Outcome) -> Figure:
    """Latencies at the percentiles, and the load that each router injected."""
    with paper():
        drawn = Figure(figsize=_INCHES, layout="constrained")
        left, right = drawn.subplots(1, 2)
        latency, ns = outcome.latency, outcome.cycle_ns
        marks = [(0.0, latency.min), *((p.percent / 100, p.cycles) for p in latency.percentiles)]
        shares, cycles = zip(*marks, (1.0, latency.max), strict=True)
        if outcome.verdict.state == "saturated":
            layout.say(left, "saturated: no latency")
        else:
            left.plot(ns * np.array(cycles), shares, color=look(0).colour, marker=look(0).marker)
        left.set_xlabel(f"Packet latency ({layout.times_across([left], ns * latency.max)})")
        left.set_ylabel("Share of the packets")
        injected = outcome.arrays.injected_by_router
        right.plot(injected, color=look(0).colour, linewidth=0.8)
        right.set_xlabel("Router")
        right.set_ylabel("Injected (phits/host/cycle)")
        right.set_ylim(bottom=0)
    return drawn

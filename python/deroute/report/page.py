"""The page itself. Whatever a user has written stands in it as text."""

from __future__ import annotations

import base64
import importlib.resources
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from deroute import diff, figures, plan, presets
from deroute.analysis import MAKESPAN
from deroute.errors import InputError, Problem
from deroute.figures import FigureError, FigureTable, Study
from deroute.frame import Results
from deroute.reader import SEED
from deroute.report import data, networks
from deroute.writing import whole

#: Nothing is fetched from anywhere, and nothing sent.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
#: Pixels of a point of a figure, so that its small print has eleven.
_PIXELS = 1.4 * 96 / 72


def write(results: Results, study: Study, file: Path) -> None:
    """Write the report of a result directory."""
    tables = _tables(results)
    live = [table for table in tables if data.is_live(table, results.frame)]
    content = data.of(results, live)
    names = list(data.columns(workload=MAKESPAN in results.frame.columns))
    heads = [axis for axis in results.experiment.axes if axis != SEED]
    network, played = networks.section(results)
    parts = [
        _head(results),
        _notes(results, content),
        '<section aria-label="Filters"><div class="filters" id="filters">'
        '<p class="quiet" id="count"></p></div></section>',
        _figures(study, tables, live, content),
        network,
        _rows([*heads, *names, "seeds", "state"]),
        _spec(results),
    ]
    title = escape(results.experiment.title)
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title}</title>
<style>{asset("page.css")}</style>
</head>
<body>
{"".join(parts)}
<script type="application/json" id="data">{_json(content)}</script>
<script type="application/json" id="played">{_json(played)}</script>
<script>{_plotly()}</script>
<script>{asset("network.js")}{asset("page.js")}</script>
</body>
</html>
"""
    with whole(file) as draft:
        draft.write_text(page, encoding="utf-8")


def _tables(results: Results) -> list[FigureTable]:
    """The figures of the experiment; of one without any, latency and throughput."""
    axes, wanted = results.experiment.axes, list(results.experiment.figures)
    if not wanted:
        wanted = list(_usual(results))
    try:
        return figures.read_figures(wanted, axes)
    except FigureError as error:
        raise InputError.of(error.message, error.path, error.choices) from error


def _usual(results: Results) -> Iterator[dict[str, Any]]:
    """Latency and throughput along the load, if the other axes have room in a figure."""
    axes = {a: ls for a, ls in results.experiment.axes.items() if a not in (SEED, "load")}
    several = [axis for axis, labels in axes.items() if len(labels) > 1]
    if "load" not in results.experiment.axes or len(several) > 2:
        return
    places = dict(zip(("series", "panel"), several[::-1], strict=False))
    for kind in ("latency", "throughput"):
        yield {"name": kind, "kind": kind, **places}


def _head(results: Results) -> str:
    points = len(results.points)
    facts = [
        f"{points - len(results.missing)} of {points} points",
        f"Deroute {results.engine}",
        f"finished {results.day}" if results.day else "not finished",
    ]
    links = "".join(
        f'<a href="#{name.lower()}">{name}</a>'
        for name in ("Figures", "Network", "Results", "Spec")
    )
    return (
        f"<header><h1>{escape(results.experiment.title)}</h1>"
        f'<p class="quiet">{escape(" · ".join(facts))}</p><nav>{links}</nav></header>'
    )


def _notes(results: Results, content: Mapping[str, Any]) -> str:
    """Verdicts counted, and what is doubtful."""
    states = Counter(row["state"] for row in content["rows"])
    counted = ", ".join(
        f'<span class="{escape(state)}">{count} {escape(state)}</span>'
        for state, count in states.items()
    )
    notes = [f"<p>Points over all seeds: {counted}.</p>" if counted else "<p>No results yet.</p>"]
    notes += [f'<div class="warning">{text}</div>' for text in _warnings(results)]
    return "".join(notes)


def _warnings(results: Results) -> Iterator[str]:
    if results.missing:
        yield f"<p>{len(results.missing)} points are not finished.</p>"
    if " and " in results.engine:
        yield "<p>Several versions of the engine computed these results.</p>"
    try:
        problems: Sequence[Problem] = plan.check_experiment(results.experiment).warnings
    except InputError as error:
        problems = error.problems
    for problem in problems:
        yield "".join(f"<p>{escape(line)}</p>" for line in problem.lines())


def _figures(
    study: Study,
    tables: Sequence[FigureTable],
    live: Sequence[FigureTable],
    content: Mapping[str, Any],
) -> str:
    """Figures in the order of the file: those that the page draws, and pictures of the others."""
    ids = {table.name: figure["id"] for table, figure in zip(live, content["figures"], strict=True)}
    parts = ['<section id="figures"><h2>Figures</h2>']
    for table in tables:
        parts.append(f"<h3>{escape(table.title or table.name)}</h3>")
        if table.name in ids:
            parts.append(f'<div class="panels" id="{ids[table.name]}"></div>')
        else:
            parts.append(_still(study, table))
    if len(parts) == 1:
        parts.append('<p class="quiet">The experiment has no figures.</p>')
    elif ids:
        parts.append(
            '<p class="quiet">Drag to zoom, double-click to see everything, click a name in a'
            " legend to hide it, and a point to find its row. Open marks are not converged. An open"
            " triangle at the top of a latency figure stands at the first load that is saturated:"
            " there is no latency from there on. Bars are 95% confidence, over the seeds or within"
            " the run.</p>"
        )
    return "".join([*parts, "</section>"])


def _still(study: Study, table: FigureTable) -> str:
    """A figure as the lab draws it, as a picture."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            (path,) = figures.draw(study, table, Path(folder) / "figure", ["svg"])
        except FigureError as error:
            return f'<p class="quiet">{escape(f"Not drawn: {error}")}</p>'
        drawn = path.read_bytes()
    points = re.search(rb'<svg[^>]* width="([0-9.]+)pt"', drawn)
    assert points is not None
    picture, width = base64.b64encode(drawn).decode(), round(_PIXELS * float(points[1]))
    text = escape(f"{table.kind}: {table.title or table.name}", quote=True)
    source = f"data:image/svg+xml;base64,{picture}"
    image = f'<img class="still" alt="{text}" width="{width}" src="{source}">'
    return f"{_wide(f'{table.kind}: {table.title or table.name}')}{image}</div>"


def _wide(label: str) -> str:
    """The beginning of what may be wider than the window, which keys scroll."""
    text = escape(label, quote=True)
    return f'<div class="wide" tabindex="0" role="region" aria-label="{text}">'


def _rows(names: Sequence[str]) -> str:
    heads = "".join(
        f'<th scope="col"><button type="button">{escape(name)}</button></th>' for name in names
    )
    return (
        '<section id="results"><h2>Results</h2><p class="quiet">Averaged over the seeds; loads in'
        " phits per host and cycle. A heading sorts, and below a point stands why it is not"
        " steady.</p>"
        f'{_wide("Table of results")}<table id="rows"><thead><tr>{heads}</tr></thead>'
        "<tbody></tbody></table></div></section>"
    )


def _spec(results: Results) -> str:
    """The base, what it changes of the preset, and what each label sets."""
    experiment = results.experiment
    parts = ['<section id="spec"><h2>Spec</h2>']
    for axis in experiment.sweep:
        parts.append(f"<h3>Axis {escape(axis.name)}</h3>{_wide(f'Axis {axis.name}')}<table><tbody>")
        for value in axis.values:
            sets = [diff.inline({path: new}) for path, new in value.assignments.items()]
            cells = escape(str(value.label)), escape("; ".join(sets) or "the base as it is")
            parts.append(f"<tr><td>{cells[0]}</td><td class='why'>{cells[1]}</td></tr>")
        parts.append("</tbody></table></div>")
    name = str(experiment.document.get(presets.EXTENDS, ""))
    below = presets.base(name)
    if below is not None:
        changes = [
            f"<tr><td>{escape(path)}</td><td class='why'>{escape(there)}</td>"
            f"<td class='why'>{escape(here)}</td></tr>"
            for path, there, here in diff.differences(below, experiment.base)
        ]
        heads = "".join(f'<th scope="col">{each}</th>' for each in ("entry", "there", "here"))
        parts.append(f"<h3>What differs from {escape(name)}</h3>")
        parts.append(_wide(f"What differs from {name}"))
        parts.append(
            f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(changes)}</tbody></table></div>"
        )
    base = "\n".join(f"{path} = {value}" for path, value in diff.leaves(experiment.base))
    parts.append(f"<h3>Base</h3><pre tabindex='0'>{escape(base)}</pre></section>")
    return "".join(parts)


def _json(content: Any) -> str:
    """JSON that ends no script and begins no comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def asset(name: str) -> str:
    """A file that belongs to the pages."""
    return (importlib.resources.files("deroute.report") / name).read_text(encoding="utf-8")


def _plotly() -> str:
    try:
        folder = importlib.resources.files("plotly")
    except ImportError as error:
        message = "a report needs plotly: pip install 'deroute[report]'"
        raise InputError([Problem(message)]) from error
    text = (folder / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")

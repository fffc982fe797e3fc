"""Published claims as a page: measured beside published, to filter by paper, verdict and scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from deroute.report.page import POLICY, asset
from deroute.reproduce.cells import Cells
from deroute.reproduce.report import HEAD, MEASURED, PaperReport, row, summary
from deroute.writing import whole

_TITLE = "Published claims, measured again"
#: What a reader may choose from, by the name of the attribute of a row.
_FILTERS = ("paper", "verdict", "scale")


def write(engine: str, papers: Sequence[PaperReport], file: Path) -> None:
    """Write the page."""
    all_rows = [
        (paper.name, row(paper, report.item, judgement))
        for paper, reports in papers
        for report in reports
        for judgement in report.judgements
    ]
    chosen = {
        "paper": [name for name, _ in all_rows],
        "verdict": [cells["Verdict"] for _, cells in all_rows],
        "scale": [cells["Scale"] for _, cells in all_rows],
    }
    judged = [each for _, reports in papers for report in reports for each in report.judgements]
    filters = "".join(_filter(name, chosen[name]) for name in _FILTERS)
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{_TITLE}</title>
<style>{asset("page.css")}{asset("claims.css")}</style>
</head>
<body>
<header><h1>{_TITLE}</h1>
<p class="quiet">Written by Deroute {escape(engine)}. {escape(summary(judged))}.</p>
<p class="quiet">{escape(MEASURED)}</p></header>
<section aria-label="Filters"><div class="filters">{filters}
<label>text <input type="search" id="words"></label>
<p class="quiet" id="count" aria-live="polite"></p></div></section>
<main>{"".join(_papers(papers))}</main>
<script>{asset("claims.js")}</script>
</body>
</html>
"""
    with whole(file) as draft:
        draft.write_text(page, encoding="utf-8")


def _filter(name: str, values: Iterable[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in sorted(set(values)))
    return (
        f'<label>{name} <select id="{name}"><option value="">all</option>{options}</select></label>'
    )


def _papers(papers: Sequence[PaperReport]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEAD)
    for paper, reports in papers:
        yield f"<section><h2>{escape(paper.title)}</h2>"
        for report in reports:
            title = escape(f"{report.item.name}: {report.item.title}")
            label = escape(title, quote=True)
            yield (
                f'<div class="item"><h3>{title}</h3><div class="wide" tabindex="0" role="region"'
                f' aria-label="{label}"><table class="claims"><thead><tr>{heads}</tr></thead>'
                "<tbody>"
            )
            for judgement in report.judgements:
                yield _row(paper.name, row(paper, report.item, judgement))
            yield "</tbody></table></div>"
            yield from map(_cells, report.tables)
            yield "</div>"
        yield "</section>"


def _cells(cells: Cells) -> str:
    """The cells of a table, one by one, behind a line that sums them up."""
    rows = list(cells.rows())
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in rows[0])
    label = escape(f"{cells.table.title}, {cells.scale}", quote=True)
    lines = (
        f"<tr id='{escape(row['cell'], quote=True)}.{escape(cells.scale, quote=True)}'>"
        f"{''.join(f'<td>{escape(text)}</td>' for text in row.values())}</tr>"
        for row in rows
    )
    return (
        f"<details><summary>{escape(cells.line())}</summary>"
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        "</div></details>"
    )


def _row(paper: str, cells: dict[str, str]) -> str:
    verdict = cells["Verdict"].replace(" ", "-")
    told = {"paper": paper, "verdict": cells["Verdict"], "scale": cells["Scale"]}
    data = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in told.items())
    inside = "".join(
        f"<td class='{verdict if head == 'Verdict' else head.lower()}' data-head='{head}'>"
        f"{escape(text)}</td>"
        for head, text in cells.items()
    )
    return f"<tr id='{escape(cells['Claim'], quote=True)}' {data}>{inside}</tr>"

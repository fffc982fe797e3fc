"""The report of a reproduction: on the terminal, and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deroute.reproduce import cells
from deroute.reproduce.cells import Cells
from deroute.reproduce.experiments import seeds
from deroute.reproduce.paper import Item, Paper
from deroute.reproduce.verdict import (
    DIFFERS,
    NEVER_MEASURED,
    NOT_SETTLED,
    REPRODUCED,
    TESTED,
    Judgement,
)

_STYLE = {
    REPRODUCED: "green",
    DIFFERS: "bold red",
    NOT_SETTLED: "yellow",
    TESTED: "green",
    NEVER_MEASURED: "magenta",
}
_HEAD = ("Claim", "Published", "Measured", "Verdict", "Why")
#: Heads of the columns of a table of claims.
HEAD = (
    *("Claim", "Source", "Statement", "Published", "Measured"),
    *("Verdict", "Scale", "Seeds", "Date", "Why"),
)
#: How measured values are to be read.
MEASURED = (
    "Measured: mean ± 95% confidence interval, over the seeds (Student's t) or, of a single run,\n"
    "within it; without an interval the value is exact, or a single run tells none.\n"
    "A claim is reproduced if whole intervals are where it holds, and differs if one is where it\n"
    "does not; an interval that is in both settles nothing.\n"
    "A semicolon separates checks. Scale `paper` has the runs that a paper asks for, for all\n"
    "points of its figures; `claims` has them for what claims look at; `quick` has shorter ones.\n"
    "Seeds: of how many each point was run, where there were runs.\n"
    "What was not simulated follows from wiring, closed forms, tables or settings.\n"
    "What is derived is not printed in a paper: it follows from its parameters.\n"
    "Where a paper prints no number a bound is ours; the last column says so of those that a\n"
    "verdict narrowly meets or misses."
)


@dataclass(frozen=True, slots=True)
class ItemReport:
    """An item with the judgements on its claims and the figures that were drawn."""

    item: Item
    judgements: Sequence[Judgement]
    figures: list[Path]
    #: Published and measured cells of its tables, at one scale or several.
    tables: Sequence[Cells] = ()


#: A paper, and some of its items or all.
PaperReport = tuple[Paper, Sequence[ItemReport]]


def published_text(value: Any) -> str:
    """The paper's value as text; a dash for a qualitative statement."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(published_text(each) for each in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_item(console: Console, report: ItemReport) -> None:
    """Print one item as a table."""
    title = escape(f"{report.item.name}: {report.item.title}")
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    for head in _HEAD:
        table.add_column(head, overflow="fold", no_wrap=head == "Verdict")
    for judgement in report.judgements:
        table.add_row(*_cells(judgement), _verdict(judgement), escape(_why(judgement)))
    console.print(table)
    for each in report.tables:
        console.print(escape(each.line()), highlight=False)
    for figure in report.figures:
        console.print(f"figure: {figure}", highlight=False, soft_wrap=True, markup=False)


def print_status(console: Console, paper: Paper, reports: Sequence[ItemReport]) -> None:
    """Print the claims of a paper as a table, then why some differ or could not be told."""
    title = escape(f"{paper.name}: {paper.title}")
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for head in ("Claim", "Published", "Measured", "Verdict", "Scale", "Date"):
        table.add_column(head, overflow="fold", no_wrap=head in ("Verdict", "Scale", "Date"))
    for report in reports:
        for judgement in report.judgements:
            when = (judgement.scale or "-", judgement.day or "-")
            table.add_row(*_cells(judgement), _verdict(judgement), *when)
        table.add_section()
    console.print(table)
    for report in reports:
        for each in report.tables:
            console.print(escape(each.line()), highlight=False)
    for judgement in _judgements([(paper, reports)]):
        if judgement.verdict == DIFFERS or judgement.stale:
            told = " and no finding explains it" if judgement.fails else ""
            lead = f"{_verdict(judgement)}{told}: {escape(judgement.claim.id)}"
            console.print(f"{lead}: {escape(_why(judgement))}")


def summary(judgements: Iterable[Judgement]) -> str:
    """How many claims got which verdict."""
    verdicts, simulated, derived = [], 0, 0
    for judgement in judgements:
        verdicts.append(judgement.verdict)
        derived += judgement.claim.derived
        simulated += judgement.verdict == REPRODUCED and judgement.claim.simulated
    counts = [
        f"{verdicts.count(verdict)} {verdict}"
        for verdict in _STYLE
        if verdict not in (TESTED, NEVER_MEASURED) or verdict in verdicts
    ]
    told = counts[0] + (f" ({simulated} of them by simulation)" if simulated else "")
    claims = f"{len(verdicts)} claims" + (f" ({derived} of them derived)" if derived else "")
    return f"{claims}: {', '.join([told, *counts[1:]])}"


def markdown(engine: str, papers: Sequence[PaperReport]) -> str:
    """Everything as Markdown, statements and scopes included."""
    lines = [
        "# Published claims, measured again",
        "",
        f"Written by Deroute {engine}. {summary(_judgements(papers))}.",
        "",
        MEASURED,
    ]
    for paper, reports in papers:
        lines += ["", f"## {paper.title}"]
        for report in reports:
            lines += ["", f"### {report.item.name}: {report.item.title}", ""]
            lines += [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
            rows = [row(paper, report.item, each) for each in report.judgements]
            lines += map(_markdown_row, rows)
            for each in report.tables:
                lines += ["", f"{each.line()}."]
    return "\n".join(lines) + "\n"


def tables_page(engine: str, paper: Paper, scale: str, reports: Sequence[ItemReport]) -> str:
    """All tables of published and measured cells as a page of Markdown."""
    sections = [cells.markdown(each) for report in reports for each in report.tables]
    settings = paper.scales[paper.runs_of(scale)].get("set", {})
    values = ", ".join(f"`{path}` = `{json.dumps(value)}`" for path, value in settings.items())
    lead = f"Written by Deroute {engine}, scale `{scale}`{f': {values}' if values else ''}."
    return "\n".join([f"# Tables: {paper.title}", "", lead, "", *sections])


def cells_list(reports: Sequence[ItemReport]) -> str:
    """All cells of all tables, a line each, as CSV."""
    return cells.listing([each for report in reports for each in report.tables])


def _judgements(papers: Sequence[PaperReport]) -> list[Judgement]:
    return [each for _, reports in papers for report in reports for each in report.judgements]


def _verdict(judgement: Judgement) -> str:
    return f"[{_STYLE[judgement.verdict]}]{judgement.verdict}[/]"


def _cells(judgement: Judgement) -> tuple[str, str, str]:
    """Claim, published and measured value for a terminal."""
    claim = judgement.claim
    return escape(claim.id), escape(_published(judgement)), escape(_measured(judgement))


def _published(judgement: Judgement) -> str:
    claim = judgement.claim
    unit = f" {claim.unit}" if claim.unit and claim.published is not None else ""
    return published_text(claim.published) + unit + (" (derived)" if claim.derived else "")


def _measured(judgement: Judgement) -> str:
    return "; ".join(judgement.measured) or "-"


def _why(judgement: Judgement) -> str:
    scope = f"scope: {judgement.claim.scope}" if judgement.claim.scope else ""
    return "; ".join(part for part in (judgement.why, judgement.stale, scope) if part)


def row(paper: Paper, item: Item, judgement: Judgement) -> dict[str, str]:
    """All that is said of a claim, by the heads of a table."""
    claim, scale = judgement.claim, judgement.scale
    counts = seeds(paper, item, claim, scale) if scale else []
    cells = (
        *(claim.id, claim.source, claim.statement),
        *(_published(judgement), _measured(judgement), judgement.verdict),
        *(scale or "-", ", ".join(map(str, counts)) or "-", judgement.day or "-", _why(judgement)),
    )
    return dict(zip(HEAD, cells, strict=True))


def _markdown_row(cells: dict[str, str]) -> str:
    cells[HEAD[0]] = f"`{cells[HEAD[0]]}`"
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells.values()) + " |"

"""The report of a reproduction: on the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deroute.reproduce.paper import Item, Paper
from deroute.reproduce.verdict import DIFFERS, NOT_SETTLED, REPRODUCED, Judgement

_STYLE = {REPRODUCED: "green", DIFFERS: "bold red", NOT_SETTLED: "yellow"}
_HEAD = ("Claim", "Published", "Measured", "Verdict", "Why")


@dataclass(frozen=True, slots=True)
class ItemReport:
    """An item with the judgements on its claims and the figures that were drawn."""

    item: Item
    judgements: Sequence[Judgement]
    figures: Sequence[Path]


def published_text(value: Any) -> str:
    """The paper's value as text; a dash for a qualitative statement."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(published_text(each) for each in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_item(console: Console, report: ItemReport) -> None:
    """Print one item as a table."""
    title = f"{report.item.name}: {report.item.title}"
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    for head in _HEAD:
        table.add_column(head, overflow="fold", no_wrap=head == "Verdict")
    for judgement in report.judgements:
        style = _STYLE[judgement.verdict]
        row = [escape(cell) for cell in _row(judgement)]
        table.add_row(*row[:3], f"[{style}]{judgement.verdict}[/]", row[4])
    console.print(table)
    for figure in report.figures:
        console.print(f"figure: {figure}", highlight=False, soft_wrap=True)


def summary(judgements: Iterable[Judgement]) -> str:
    """How many claims got which verdict."""
    verdicts = [judgement.verdict for judgement in judgements]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in _STYLE]
    return f"{len(verdicts)} claims: {', '.join(counts)}"


def markdown(
    paper: Paper, scale: str, engine: str, reports: Sequence[ItemReport], day: date | None = None
) -> str:
    """The whole report as Markdown, statements and scopes included."""
    judgements = [each for report in reports for each in report.judgements]
    run = [f"Scale `{scale}`", f"Deroute {engine}", *([day.isoformat()] if day else [])]
    lines = [
        f"# {paper.title}",
        "",
        f"{', '.join(run)}. {summary(judgements)}.",
        "",
        "Measured: mean ± 95% confidence interval where it is known; a semicolon separates checks.",
    ]
    for report in reports:
        lines += ["", f"## {report.item.name}: {report.item.title}", ""]
        lines += ["| Claim | Source | Statement | Published | Measured | Verdict | Why |"]
        lines += ["|---|---|---|---|---|---|---|"]
        lines += [_markdown_row(judgement) for judgement in report.judgements]
    return "\n".join(lines) + "\n"


def _row(judgement: Judgement) -> tuple[str, str, str, str, str]:
    claim = judgement.claim
    published = published_text(claim.published)
    unit = f" {claim.unit}" if claim.unit and claim.published is not None else ""
    scope = f"scope: {claim.scope}" if claim.scope else ""
    why = "; ".join(part for part in (judgement.reason, scope) if part)
    measured = "; ".join(judgement.measured) or "-"
    return claim.id, published + unit, measured, judgement.verdict, why


def _markdown_row(judgement: Judgement) -> str:
    name, published, measured, verdict, why = _row(judgement)
    claim = judgement.claim
    cells = (f"`{name}`", claim.source, claim.statement, published, measured, verdict, why)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

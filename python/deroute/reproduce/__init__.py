"""Reproducing papers: run what their claims need, compare, and say what came out.

The data lives in `reproduce/` at the root of the repository, a folder per paper. A claim ends as
`reproduced`, `differs` or `not settled`, or as `tested` where it is a rule that results do not show
and that tests of the engine hold; it is never dropped because the system it needs is not built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deroute import _engine
from deroute.figures import Study
from deroute.reproduce.cells import Cells
from deroute.reproduce.evidence import Engine, Evidence
from deroute.reproduce.experiments import documents
from deroute.reproduce.paper import (
    Claim,
    Drawing,
    Item,
    Paper,
    PaperError,
    find,
    folders,
    read_paper,
)
from deroute.reproduce.report import ItemReport
from deroute.reproduce.verdict import Judgement, judge

__all__ = [
    "Claim",
    "Drawing",
    "Engine",
    "Item",
    "ItemReport",
    "Judgement",
    "Paper",
    "PaperError",
    "find",
    "folders",
    "read_paper",
    "reproduce_item",
]

#: Runs what is missing of an experiment document, draws its figures, and returns both.
RunDocument = Callable[[Mapping[str, Any]], tuple[Study, list[Path]]]


def reproduce_item(
    paper: Paper, item: Item, scale: str, run: RunDocument, engine: Callable[[], Engine]
) -> ItemReport:
    """Run the experiments of an item and judge all its claims."""
    runs: dict[str, Study] = {}
    figures: list[Path] = []
    for name, document in documents(paper, item, scale).items():
        runs[name], drawn = run(document)
        figures += drawn
    tables = {table.of: table for table in item.tables}
    evidence = Evidence(paper.base, paper.values, runs, engine, tables)
    judgements = [_dated(judge(claim, evidence), scale, runs) for claim in item.claims]
    cells = [Cells.of(each, runs[each.of], scale) for each in item.tables if each.of in runs]
    return ItemReport(item, judgements, figures, cells)


def _dated(judgement: Judgement, scale: str, runs: Mapping[str, Study]) -> Judgement:
    """With the scale, engine and day of the runs that it rests on; today's if it needs none."""
    claim = judgement.claim
    if not claim.checks:
        return judgement
    behind = [study for name, study in runs.items() if name in claim.looks_at]
    engine = " and ".join(sorted({study.engine for study in behind})) or _engine.VERSION
    today = datetime.now(UTC).date().isoformat()
    day = max((study.day for study in behind), default=today)
    return replace(judgement, scale=scale, engine=engine, day=day)

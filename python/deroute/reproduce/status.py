"""Verdicts that outlive a run: what every claim came to when it was last measured.

A run writes one file for each item that it has judged, `verdicts/ITEM.SCALE.json` in its result
directory; runs of other items and scales leave it alone. Such files in the folder of the paper are
the published ones. The cells of tables are kept beside them, see `deroute.reproduce.cells`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from deroute.reproduce import cells
from deroute.reproduce.cells import Cells
from deroute.reproduce.experiments import fingerprints
from deroute.reproduce.paper import Claim, Item, Paper, PaperError
from deroute.reproduce.report import ItemReport
from deroute.reproduce.verdict import NEVER_MEASURED, Judgement, without_runs
from deroute.spec import fingerprint

_LISTS = ("measured", "evidence")
_KEPT = ("verdict", "reason", "explained", "engine", "day", *_LISTS)


def keep(directory: Path, paper: Paper, scale: str, report: ItemReport, item: Item) -> None:
    """Keep the verdicts on the claims of an item in the result directory of its paper.

    Those on other claims of the whole `item` stay, if the report is on some of them alone.
    """
    file = _file(directory, item, scale)
    judged = {judgement.claim.id for judgement in report.judgements}
    others = {claim.id for claim in item.claims} - judged
    known = {name: entry for name, entry in _read(file).items() if name in others} if others else {}
    points = fingerprints(paper, item, scale)
    claims = known | {
        judgement.claim.id: {name: getattr(judgement, name) for name in _KEPT}
        | {"checks": _checks(judgement.claim), "points": _points(judgement.claim, points)}
        for judgement in report.judgements
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(claims, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(file)
    if report.tables:
        file = _file(directory, item, f"cells.{scale}")
        left = [table for table in item.tables if table not in report.item.tables]
        cells.keep(file, [*report.tables, *cells.kept(left, scale, _read(file) if left else {})])


def kept(
    paper: Paper, items: Sequence[Item], places: Sequence[tuple[str, Path]], engine: str
) -> list[ItemReport]:
    """The last verdict on every claim, from places: scales and directories with verdicts of them.

    A measurement by the present version of the engine comes before one by another, and then the
    place that stands later.
    """
    reports = []
    for item in items:
        read = ((scale, _read(_file(where, item, scale))) for scale, where in places)
        files = [
            (scale, fingerprints(paper, item, scale), claims) for scale, claims in read if claims
        ]
        judgements = []
        for claim in item.claims:
            known = list(_known(claim, files))
            # Of equals, `max` takes the first.
            best = max(reversed(known), key=lambda each: each.engine == engine, default=None)
            judgements.append(_with_engine(best, engine) if best else _unmeasured(claim, files))
        reports.append(ItemReport(item, judgements, [], _cells(item, places)))
    return reports


def _cells(item: Item, places: Sequence[tuple[str, Path]]) -> list[Cells]:
    """The cells of its tables at every scale; the place that stands later comes first."""
    found: dict[tuple[str, str], Cells] = {}
    for scale, where in places:
        data = _read(_file(where, item, f"cells.{scale}"))
        found |= {(each.table.of, scale): each for each in cells.kept(item.tables, scale, data)}
    return list(found.values())


def published(paper: Paper, folder: Path, engine: str) -> list[ItemReport]:
    """The published verdict on every claim of a paper, which are in its folder."""
    return kept(paper, paper.items, [(scale, folder) for scale in paper.scales], engine)


def _file(directory: Path, item: Item, scale: str) -> Path:
    return directory / "verdicts" / f"{item.name}.{scale}.json"


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise PaperError(f"{file}: {error}; remove it and run its item again") from error
    return found


def _checks(claim: Claim) -> str:
    """Fingerprint of what a verdict depends on in the claim's file."""
    checks = [asdict(check) for check in (*claim.checks, *claim.evidence)]
    return fingerprint(json.dumps(checks, sort_keys=True))


def _points(claim: Claim, experiments: Mapping[str, str]) -> str:
    """Fingerprint of the points that a claim looks at."""
    looked_at = {name: experiments[name] for name in claim.looks_at if name in experiments}
    return fingerprint(json.dumps(looked_at, sort_keys=True))


#: Scales, what the points of each experiment of an item depend on, and the verdicts on its claims.
_Files = Sequence[tuple[str, Mapping[str, str], Mapping[str, Any]]]


def _known(claim: Claim, files: _Files) -> Iterator[Judgement]:
    """Measurements of a claim as it is now, in the order of the files."""
    if not claim.checks:
        return
    for scale, points, claims in files:
        entry = claims.get(claim.id, {})
        now = {"checks": _checks(claim), "points": _points(claim, points)}
        if entry.keys() >= {*_KEPT} and all(entry.get(name) == now[name] for name in now):
            values = {name: entry[name] for name in _KEPT}
            values |= {name: tuple(values[name]) for name in _LISTS}
            values["explained"] &= claim.finding is not None
            yield Judgement(claim, scale=scale, **values)


def _with_engine(judgement: Judgement, engine: str) -> Judgement:
    """Says so where another version of the engine has measured."""
    if judgement.engine == engine:
        return judgement
    return replace(judgement, stale=f"measured by Deroute {judgement.engine}, not {engine}")


def _unmeasured(claim: Claim, files: _Files) -> Judgement:
    if (known := without_runs(claim)) is not None:
        return known
    changed = any(claim.id in claims for *_, claims in files)
    stale = "its checks or points have changed since the last measurement" if changed else ""
    return Judgement(claim, NEVER_MEASURED, (), "", stale=stale)

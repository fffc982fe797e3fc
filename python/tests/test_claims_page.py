"""The page of published claims."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from deroute import _engine
from deroute import reproduce as papers
from deroute.cli import app
from deroute.report import claims
from deroute.reproduce import status
from deroute.reproduce.report import PaperReport
from test_report import BROWSER, Tags, browse

EVIL = '</td><script>alert("no")</script>'


def known(name: str = "hipineb") -> PaperReport:
    folder = ROOT / "reproduce" / name
    paper = papers.read_paper(folder)
    return paper, status.published(paper, folder, _engine.VERSION)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers; a claim of the first one has a statement that nobody should write."""
    paper, (first, *others) = known()
    judged, *rest = first.judgements
    evil = replace(judged, claim=replace(judged.claim, statement=EVIL))
    first = replace(first, judgements=[evil, *rest])
    file = tmp_path_factory.mktemp("claims") / "claims.html"
    claims.write("0.0.0", [(paper, [first, *others]), known("cee")], file)
    return file


def test_every_claim_is_a_row_that_can_be_chosen(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"<tr id='([^']+)' data-paper=\"(\w+)\" data-verdict=\"([^\"]+)\"", text)
    judged = [
        (each.claim.id, paper.name, each.verdict)
        for paper, reports in (known(), known("cee"))
        for report in reports
        for each in report.judgements
    ]
    assert found == judged
    for verdict in {verdict for _, _, verdict in judged}:
        assert f"<option>{verdict}</option>" in text


def test_texts_are_texts_and_nothing_is_loaded(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.tags.count("script") == 1
    assert tags.links == []
    assert EVIL in "".join(tags.texts)
    assert "default-src 'none'" in text


def test_the_command_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "hipineb", "--status", "--report", "new/claims.html"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new" / "claims.html").read_text().startswith("<!doctype html>")


@BROWSER
@pytest.mark.parametrize("width", [1280, 400])
def test_a_browser_shows_what_is_chosen(page: Path, width: int) -> None:
    document, console = browse(page, width, "--dump-dom")
    assert "CONSOLE" not in console, console
    count = len(re.findall("<tr id=", document))
    assert f"{count} of {count} claims" in document
    chosen = page.with_name("chosen.html")
    text = page.read_text(encoding="utf-8")
    # As if the address ended in this.
    chosen.write_text(text.replace("location.hash", "'#paper=cee&verdict=reproduced&scale=none'"))
    document, _ = browse(chosen, width, "--dump-dom")
    shown = re.findall(r"<tr id=[^>]*>", document)
    assert all(("hidden" in row) != ('"cee"' in row and '"reproduced"' in row) for row in shown)
    wanted = sum("hidden" not in row for row in shown)
    assert 0 < wanted < count
    assert f"{wanted} of {count} claims" in document

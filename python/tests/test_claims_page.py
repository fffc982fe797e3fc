"""The page of published claims."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from browser import BROWSER, CONTROLS, FOCUS_IS_SEEN, Browser, browser, legible
from conftest import ROOT
from deroute import _engine
from deroute import reproduce as papers
from deroute.cli import app
from deroute.report import claims
from deroute.reproduce import status
from deroute.reproduce.report import PaperReport
from test_report import Tags

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


SHOWN = "[...document.querySelectorAll('tr[id]:not([hidden])')].map((row) => row.id)"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@BROWSER
@pytest.mark.parametrize("width", [1280, 400])
def test_a_browser_shows_it(page: Path, tab: Browser, width: int) -> None:
    tab.said.clear()
    tab.asked.clear()
    tab.open(page, width)
    assert tab.said == []
    assert set(tab.asked) == {page.as_uri()}
    legible(tab, width)
    for place in range(tab.value(f"{CONTROLS}.length")):
        tab.press("Tab")
        assert tab.value(f"{CONTROLS}.indexOf(document.activeElement)") == place
        assert tab.value(FOCUS_IS_SEEN), tab.value("document.activeElement.outerHTML")


@BROWSER
def test_claims_are_chosen_by_paper_verdict_and_scale(page: Path, tab: Browser) -> None:
    tab.open(page, 1280)
    every = tab.value(SHOWN)
    for name in ("paper", "verdict", "scale"):
        values = tab.value(
            f"[...document.getElementById('{name}').options].map((each) => each.value)"
        )
        assert len(values) > 2
        for value in values[1:]:
            _choose(tab, name, value)
            wanted = tab.value(
                f"[...document.querySelectorAll('tr[id]')].filter((row) =>"
                f" row.dataset.{name} === {json.dumps(value)}).map((row) => row.id)"
            )
            assert 0 < len(wanted) < len(every)
            assert tab.value(SHOWN) == wanted
            count = f"{len(wanted)} of {len(every)} claims"
            assert tab.value("document.getElementById('count').textContent") == count
        _choose(tab, name, "")
    assert tab.value(SHOWN) == every
    # Several at once, and again when the page is opened at that address.
    _choose(tab, "paper", "cee")
    _choose(tab, "verdict", "reproduced")
    both = tab.value(SHOWN)
    assert 0 < len(both) < len(every)
    assert "paper=cee" in tab.value("location.hash")
    tab.call("Page.reload")
    tab.wait(f"document.readyState === 'complete' && {SHOWN}.length < {len(every)}")
    assert tab.value(SHOWN) == both
    # Words are typed.
    _choose(tab, "paper", "")
    _choose(tab, "verdict", "")
    tab.value("document.getElementById('words').focus()")
    tab.call("Input.insertText", text="alert")
    assert len(tab.value(SHOWN)) == 1


def _choose(tab: Browser, name: str, value: str) -> None:
    element = f"document.getElementById('{name}')"
    tab.value(f"{element}.value = {json.dumps(value)}")
    tab.value(f"{element}.dispatchEvent(new Event('change', {{ bubbles: true }}))")

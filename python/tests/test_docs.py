"""Every block of the documentation is used: files are read, commands run, Python executed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from conftest import ROOT
from deroute import plan
from deroute.cli import app
from deroute.experiment import Experiment

#: Pages that are followed from the first block to the last.
FOLLOWED = (
    *("tutorial.md", "notebook.md", "coming-from.md", "side-by-side.md", "congestion.md"),
    "routing-in-python.md",
)
PAGES = sorted((ROOT / "docs").glob("*.md"))
_BLOCK = re.compile(r"^(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_RUN = CliRunner()


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """The file that a block is to be, its language, and its text."""
    yield from _BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(text: str) -> list[list[str]]:
    """The `deroute` commands of a block."""
    lines = (shlex.split(line, comments=True) for line in text.splitlines())
    return [words[1:] for words in lines if words[:1] == ["deroute"]]


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_page_can_be_followed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    done = 0
    for file, language, text in blocks(ROOT / "docs" / name):
        if file:
            Path(file).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, name, "exec"), names)
            done += 1
        elif language == "sh":
            for words in commands(text):
                result = _RUN.invoke(app, words)
                assert result.exit_code == 0, (words, result.output)
                done += 1
        elif language == "toml":
            tomllib.loads(text)
        elif text.startswith("$ deroute "):  # What a command that fails says.
            command, _, told = text.partition("\n")
            result = _RUN.invoke(app, shlex.split(command)[2:])
            assert result.exit_code != 0
            assert result.output.split() == told.split()
            done += 1
    assert done


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_are_what_they_say(page: Path) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    for file, language, text in blocks(page):
        assert language in ("toml", "python", "sh", "text", "csv", "rust"), language
        if language == "toml":
            document = tomllib.loads(text)
            if "name" in document and not file:
                plan.check_experiment(Experiment.from_document(document))
        elif language == "python":
            compile(text, page.name, "exec")
        elif language == "sh":
            assert {words[0] for words in commands(text)} <= set(known)


def words(schema: object) -> Iterator[str]:
    """Keys and names that a schema has, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        names = (schema.get("const"), *schema.get("enum", []))
        yield from (name for name in names if isinstance(name, str))
    parts = schema.values() if isinstance(schema, dict) else schema
    for part in parts if isinstance(schema, dict | list) else ():
        yield from words(part)


def test_counterparts_of_other_simulators_exist() -> None:
    schema = json.loads((ROOT / "schemas" / "experiment.schema.json").read_text(encoding="utf-8"))
    known = {*words(schema), "local", "global"}  # Classes of links have any name.
    rows = re.findall(
        r"^\| .* \| (.*) \|$", (ROOT / "docs" / "coming-from.md").read_text("utf-8"), re.MULTILINE
    )
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row)]
    named = {
        name
        for span in spans
        if "." in span or "{" in span
        for name in re.findall(r"(?:^|[.{,] ?)([a-z]\w*)", re.sub(r'".*?"', "", span))
    }
    assert len(named) > 60
    assert named <= known, named - known


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>'
        '<a href="https://example.org/x">4</a><img src="none.png"><a href="#top">5</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1><a href="a.html">back</a>')
    command = [sys.executable, str(ROOT / "tools" / "links.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    dead = ["#top", "b.html#there", "c.html", "none.png"]
    assert done.stderr.splitlines() == [f"dead link: a.html: {link}" for link in dead]
    assert done.stdout == "not followed: example.org, on 1 pages\n"

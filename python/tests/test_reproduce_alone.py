"""A claim measured alone, and experiments with the settings of others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from deroute.data import PAPERS
from deroute.reproduce import PaperError, read_paper
from deroute.reproduce.experiments import documents, fingerprints
from test_reproduce_command import call, rows, write

BESIDE = """
[[experiment]]
name = "beside"
axes = { load = [0.1] }
[[claim]]
id = "beside"
source = "section 3.2.2"
statement = "It keeps up."
[[claim.check]]
measure = "accepted"
of = "beside"
where = { load = 0.1 }
at_least = 0.09
"""


def test_a_claim_is_measured_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what it looks at is run, and the verdicts on other claims of its item stay."""
    monkeypatch.chdir(tmp_path)
    item = write("0.1") / "3.2-bound.toml"
    item.write_text(item.read_text() + BESIDE)
    assert "1 claims: 1 reproduced" in call("small", "an-eighth")
    results = Path("runs") / "reproduce" / "small" / "quick"
    assert (results / "3.2-bound.bound").exists()
    assert not (results / "3.2-bound.beside").exists()
    file = results / "verdicts" / "3.2-bound.quick.json"
    assert set(json.loads(file.read_text())) == {"an-eighth"}
    call("small", "beside")
    assert set(json.loads(file.read_text())) == {"an-eighth", "beside"}
    # A verdict on a claim that the item has no more goes when others are written.
    item.write_text(item.read_text().replace('"an-eighth"', '"a-tenth"'))
    call("small", "beside")
    assert set(json.loads(file.read_text())) == {"beside"}
    assert "hosts" in call("--status", "small", "hosts")
    assert "or the ID of a claim" in call("small", "an-eight", code=2)


def test_an_experiment_is_like_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its settings, and none of its axes and figures; what it says itself comes first."""
    monkeypatch.chdir(tmp_path)
    folder = write("0.1")
    item = folder / "3.2-bound.toml"
    short = 'set = { "traffic.packet_size" = 5, "network.nic.injection_queue" = "63 KB" }'
    lines = item.read_text().replace('name = "bound"\n', f'name = "bound"\n{short}\n')
    more = '[[experiment]]\nname = "more"\nlike = "bound"\naxes = { load = [0.1] }\n'
    item.write_text(lines + more)

    def more_of_it() -> dict[str, Any]:
        paper = read_paper(folder)
        return documents(paper, paper.items[0], "quick")["more"]

    found = more_of_it()
    assert found["base"]["traffic"]["packet_size"] == 5
    assert found["base"]["network"]["nic"]["injection_queue"] == "63 KB"
    assert found["axis"][0]["values"] == [0.1]
    assert found["figure"] == []
    item.write_text(lines + more + 'set = { "traffic.packet_size" = 7 }\n')
    found = more_of_it()
    assert found["base"]["traffic"]["packet_size"] == 7
    assert found["base"]["network"]["nic"]["injection_queue"] == "126 KB"
    item.write_text(lines + more.replace('like = "bound"', 'like = "more"'))
    with pytest.raises(PaperError, match="experiment 'more': like 'more'; choose from: bound"):
        more_of_it()


def test_a_verdict_is_that_of_the_points_it_was_measured_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    call("small", "--jobs", "1")
    item, paper = folder / "3.2-bound.toml", folder / "paper.toml"
    item.write_text(item.read_text().replace("The bound", "A bound").replace("throughput", "line"))
    assert rows("small")["an-eighth"][2] == "reproduced"
    for file, before, after in (
        (paper, 'latency = "150 ns"', 'latency = "100 ns"'),
        (paper, "seeds = [1]", "seeds = [1, 2]"),
        (item, "load = [0.05, 0.4]", "load = [0.05, 0.3, 0.4]"),
    ):
        write("0.11")
        assert rows("small")["an-eighth"][2] == "reproduced"
        file.write_text(file.read_text().replace(before, after))
        assert rows("small")["an-eighth"][2] == "never measured", after
    assert rows("small")["hosts"][2] == "reproduced"


def test_titles_are_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    for file, title in ((folder / "paper.toml", "A [/b]"), (folder / "3.2-bound.toml", "B [/s]")):
        lines = file.read_text().lstrip().splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("title"))
        file.write_text("\n".join([*lines[:at], f'title = "{title}"', *lines[at + 1 :]]))
    assert "3.2-bound: B [/s]" in call("small", "--jobs", "1")
    assert "small: A [/b]" in call("--status", "small")


def test_points_are_the_same_wherever_a_paper_is(tmp_path: Path) -> None:
    here = read_paper(PAPERS / "cee")
    there = read_paper(Path(shutil.copytree(PAPERS / "cee", tmp_path / "cee")))
    for one, other in zip(here.items, there.items, strict=True):
        for scale in here.scales:
            assert fingerprints(here, one, scale) == fingerprints(there, other, scale)

"""Tables of published cells, as `deroute reproduce` runs, keeps and writes them."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from test_reproduce_command import SMALL, call, write

CELLS = """
chapter = 5
title = "Cells"
[[experiment]]
name = "cells"
axes = { routing = ["MIN", "VLB"], traffic = ["ADV+1"] }
[[table]]
id = "t7"
title = "Table 7"
of = "cells"
rows = "routing"
columns = ["traffic"]
published = { MIN = [10.0], VLB = [12.0] }
"""

VALUES = """
[values.routing.MIN]
routing = { minimal = {} }
[values.routing.VLB]
routing = { valiant = {} }
"network.links.local.vcs" = 4
"network.links.global.vcs" = 2
[values.traffic."ADV+1"]
"traffic.pattern" = { adversarial = { offset = 1 } }
"""


def test_the_page_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    (folder / "paper.toml").write_text(SMALL.replace("[values]", VALUES))
    (folder / "table-7.toml").write_text(CELLS)
    said = call("small", "table-7", "--tables", "page.md")
    assert "Table 7: 2 cells, all published" in " ".join(said.split())
    page = Path("page.md").read_text()
    assert page.startswith("# Tables: A small network")
    assert "scale `quick`: `run.warmup` = `2000`, `run.measure` = `4000`.\n" in page
    assert "| MIN | 11 (10) |" in page
    assert "| VLB | 11 (12) |" in page
    assert "2 cells, all published, 1." in page
    # What was kept says the same as what is left of the runs.
    shutil.rmtree("runs/reproduce/small/quick/table-7.cells")
    said = call("small", "--status", "--tables", "kept.md")
    assert "Table 7: 2 cells, all published" in " ".join(said.split())
    assert Path("kept.md").read_text() == page
    call("small", "--status", "--tables", "kept.csv")
    lines = Path("kept.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["cell", "t7-r01-adv+1", "t7-r02-adv+1"]
    call("small", "--status", "--report", "claims.html")
    assert "<tr id='t7-r02-adv+1.quick'>" in Path("claims.html").read_text()
    # Published cells stand in the folder of the paper.
    Path("runs/reproduce/small/quick/verdicts").rename(folder / "verdicts")
    call("small", "--status", "--tables", "published.md")
    assert Path("published.md").read_text() == page


def test_the_page_of_a_table_that_is_half_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write("0.11")
    (folder / "paper.toml").write_text(SMALL.replace("[values]", VALUES))
    (folder / "table-7.toml").write_text(CELLS)
    call("small", "--status", "--tables", "new/page.md")
    assert "Table 7" not in Path("new/page.md").read_text()
    call("small", "table-7")
    with sqlite3.connect("runs/reproduce/small/quick/table-7.cells/results.sqlite") as store:
        store.execute("DELETE FROM points WHERE spec LIKE '%valiant%'")
    call("small", "--status", "--tables", "page.md")
    page = Path("page.md").read_text()
    assert "| MIN | 11 (10) |" in page
    assert "| VLB | - (12) |" in page
    assert "1 of 2 cells, all published" in page
    assert "rank correlation" not in page

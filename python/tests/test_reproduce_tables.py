"""Tables of published cells: read, measured, compared and written."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import ROOT
from deroute.reproduce import PaperError, read_paper, status
from deroute.reproduce.cells import Cells, keep, kept, listing, markdown
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call
from deroute.reproduce.tables import Table, place_of_best, rank_correlation

AXES = {"routing": ["a", "b", "c"], "scheme": ["1Q", "DBBM"], "traffic": ["UN", "HS"]}
#: Accepted load by routing: [1Q UN, 1Q HS, DBBM UN, DBBM HS].
LOADS = {"a": [0.1, 0.2, 0.3, 0.4], "b": [0.4, 0.3, 0.2, 0.1], "c": [0.25, 0.25, 0.25, 0.5]}
PUBLISHED = {"a": [10, 20, 30, 40], "b": [42, 26, 20, 12], "c": [20, 30, 20, 50]}


def table(**data: Any) -> Table:
    given = {"title": "T", "of": "cells", "rows": "routing", "columns": ["scheme", "traffic"]}
    return Table.read(given | data, AXES)


def study(missing: int = 0) -> Any:
    """Two seeds around every load."""
    cells = [(s, t) for s in AXES["scheme"] for t in AXES["traffic"]]
    rows = [
        {"routing": r, "scheme": s, "traffic": t, "seed": seed, "verdict.state": "saturated"}
        | {"load.accepted": load + shift}
        for r, loads in LOADS.items()
        for (s, t), load in zip(cells, loads, strict=True)
        for seed, shift in ((1, -0.01), (2, 0.01))
    ]
    return SimpleNamespace(
        frame=pl.DataFrame(rows[2 * missing :]), engine="1.2.3", day="2026-01-02"
    )


def cells(given: Table, missing: int = 0) -> Cells:
    return Cells.of(given, study(missing), "quick")


def evidence(given: Table, runs: Any) -> Evidence:
    return Evidence({}, {}, {"cells": runs}, BuiltEngine, {"cells": given})


def test_cells_are_means_over_the_seeds_in_the_order_of_the_axes() -> None:
    ours = table().measured(study())
    assert ours == pytest.approx(100 * np.array(list(LOADS.values())))
    assert np.isnan(table().measured(study(missing=1))).sum() == 1


def test_measures_of_cells() -> None:
    known = evidence(table(published=PUBLISHED), study())

    def values(name: str, **keys: Any) -> list[float]:
        return [each.mean for each in call(name, known, {"of": "cells"} | keys)]

    assert values("cell_difference") == pytest.approx([(2 + 4 + 2 + 5 + 5 + 5) / 12])
    assert values("cell_difference", where={"traffic": "HS"}) == pytest.approx([(4 + 2 + 5) / 6])
    assert values("cell_rank_correlation", where={"scheme": "1Q"}) == pytest.approx([1.0, 0.5])
    assert values("cell_best_place", where={"traffic": "HS"}) == [2, 1]
    assert values("cell_most", published=20) == pytest.approx([25.0])
    excess = {"row": "c", "others": ["a", "b"], "where": {"scheme": "DBBM"}}
    assert values("cell_excess", **excess) == pytest.approx([-5.0, 10.0])
    dbbm, one = {"scheme": "DBBM"}, {"scheme": "1Q"}
    # Means over the traffic: DBBM 35, 15 and 37.5, 1Q 15, 35 and 25.
    assert values("cell_lead", where=dbbm, over=one) == pytest.approx([2.5])
    rows = {"rows": ["a"], "others": ["b", "c"]}
    assert values("cell_lead", where=dbbm, **rows) == pytest.approx([-2.5])
    assert values("cell_lead", where=dbbm, over=one, **rows) == pytest.approx([0.0])


def test_nothing_is_settled_by_cells_that_are_not_there() -> None:
    for given, runs in ((table(), study()), (table(published=PUBLISHED), study(missing=1))):
        with pytest.raises(NotSettledError):
            call("cell_difference", evidence(given, runs), {"of": "cells"})
    with pytest.raises(NotSettledError):
        call("cell_difference", evidence(table(), study()), {"of": "others"})
    # Cells that a measure does not look at may be missing: the first one is.
    known = evidence(table(), study(missing=1))
    assert len(call("cell", known, {"of": "cells", "where": {"traffic": "HS"}})) == 6
    with pytest.raises(NotSettledError, match="cells without results: 1"):
        call("cell", known, {"of": "cells", "where": {"traffic": "UN"}})


def test_ranks() -> None:
    assert rank_correlation(np.array([1.0, 2, 3]), np.array([3.0, 2, 1])) == pytest.approx(-1)
    # Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3.
    ties = rank_correlation(np.array([1.0, 2, 2, 3]), np.array([1.0, 2, 3, 4]))
    assert ties == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    assert np.isnan(rank_correlation(np.array([1.0, 1]), np.array([1.0, 2])))
    assert place_of_best(np.array([5.0, 9, 7]), np.array([1.0, 0, 1])) == 2


def test_the_page_has_ours_beside_theirs() -> None:
    given = table(published=PUBLISHED, within=2, because="So it is.")
    page = markdown(cells(given))
    assert "12 cells, all published, 1.9 points from them on average, 8 within 2 points" in page
    assert "the published best among our first 3 in 4 of 4 columns" in page
    assert "measured by Deroute 1.2.3, scale quick, 2026-01-02" in page
    assert "Bold: more than 2 points apart. So it is." in page
    assert "### DBBM" in page
    assert "| b | 40 (42) | **30** (26) |" in page
    assert "| within 2 points | 2 | 1 |" in page
    assert "| rank correlation | 1.00 | 0.50 |" in page
    # The first cell is missing, and with it the first column.
    partly = markdown(cells(given, missing=1))
    assert "11 of 12 cells, all published" in partly
    assert "| within 2 points | - | 1 |" in partly
    assert "| rank correlation | - | 0.50 |" in partly
    assert "| place of the published best | - | 2 |" in partly
    unpublished = markdown(cells(table(), missing=1))
    assert "11 of 12 cells, none of them published" in unpublished
    assert "| a | - | 20 |" in unpublished
    assert "(" not in unpublished


def test_every_cell_is_a_line_of_its_own() -> None:
    given = table(
        published=PUBLISHED | {"a": [10, float("nan"), 30, 40]}, id="t", within=2, because="!"
    )
    lines = listing([cells(given, missing=1)]).splitlines()
    head = "cell,table,routing,scheme,traffic,published,measured,difference,within,scale,engine,day"
    assert lines[0] == head
    assert len(lines) == 13
    when = "quick,1.2.3,2026-01-02"
    assert lines[1] == f"t-r01-1q-un,T,a,1Q,UN,10,,,,{when}"
    assert lines[2] == f"t-r01-1q-hs,T,a,1Q,HS,,20,,,{when}"
    assert lines[5] == f"t-r02-1q-un,T,b,1Q,UN,42,40,-2,yes,{when}"
    assert lines[6] == f"t-r02-1q-hs,T,b,1Q,HS,26,30,4,no,{when}"


def test_cells_are_kept_until_the_table_has_other_columns(tmp_path: Path) -> None:
    file, mine = tmp_path / "item.cells.quick.json", cells(table(published=PUBLISHED), missing=1)
    keep(file, [mine])
    text = file.read_text(encoding="utf-8")
    assert '"a": [ null, 20, 30, 40 ]' in text
    [again] = kept([mine.table], "quick", json.loads(text))
    assert (again.engine, again.day) == ("1.2.3", "2026-01-02")
    np.testing.assert_allclose(again.measured, mine.measured, atol=0.005)
    other = Table.read(
        {"title": "T", "of": "cells", "rows": "routing", "columns": ["traffic", "scheme"]}, AXES
    )
    assert list(kept([other], "quick", json.loads(text))) == []


def test_the_cells_of_the_fat_tree_paper_are_claims_one_by_one() -> None:
    paper = read_paper(ROOT / "reproduce" / "fat-tree")
    [item] = [each for each in paper.items if each.name == "table-2"]
    [found] = status.kept(paper, [item], [("paper", paper.folder)], "0")
    cells, in_phits = found.tables
    rows = {row["cell"]: row for row in cells.rows()}
    assert len(rows) == 340
    assert {row["within"] for row in rows.values()} == {"yes", "no"}
    # Table 2: last row, last column, and a cell that decision 6 has.
    assert rows["ft-t2-r17-flow2sl-ihs"]["published"] == "25"
    cell = rows["ft-t2-r10-flow2sl-hs10-4"]
    assert (cell["routing"], cell["published"], cell["measured"]) == ("2TH-*S-K", "59", "40.24")
    assert (cell["difference"], cell["within"]) == ("-18.76", "no")
    assert cell["engine"] == "0.7.0"
    # The same published cells beside another reading.
    np.testing.assert_array_equal(in_phits.table.published, cells.table.published)
    assert "published best among our first 3 in 17 of 20 columns" in cells.counts()
    assert "published best among our first 3 in 13 of 20 columns" in in_phits.counts()


def test_a_tolerance_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="because"):
        table(within=3)


def test_a_table_that_does_not_fit_its_experiment(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text("title='P'\nbase={}\npaths={}\nvalues={}\nscale={}\n")
    item = """chapter = 1
title = "I"
[[experiment]]
name = "cells"
axes = { routing = ["a"], scheme = ["1Q"] }
[[table]]
title = "T"
of = "cells"
rows = "routing"
columns = ["scheme"]
published = { a = [1, 2] }
"""
    (tmp_path / "item.toml").write_text(item)
    with pytest.raises(PaperError, match="table of 'cells'"):
        read_paper(tmp_path)
    (tmp_path / "item.toml").write_text(item.replace("published = { a = [1, 2] }", 'like = "u"'))
    with pytest.raises(PaperError, match="table of 'cells': like 'u'; choose from: none"):
        read_paper(tmp_path)

"""Scales of a reproduction: which points an experiment has at one, how long they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deroute import cost
from deroute.experiment import Experiment
from deroute.reproduce import PaperError, read_paper
from deroute.reproduce.experiments import documents
from test_reproduce import ITEM, PAPER


def test_an_experiment_changes_settings_at_one_scale(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER)
    own = 'load = [0.1], set = { "run.warmup" = 900 }'
    (tmp_path / "one.toml").write_text(ITEM.replace("load = [0.1, 0.5] }", f"{own} }}"))
    paper = read_paper(tmp_path)
    document = documents(paper, paper.items[0], "quick")["curve"]
    assert document["base"]["run"] == {"warmup": 900, "measure": 200}
    assert document["axis"][2]["values"] == [0.1]


def test_a_length_of_ones_own_replaces_a_precision(tmp_path: Path) -> None:
    """A scale by precision: an experiment that says how long it measures has no precision."""
    precise = 'set = { "run.precision" = { latency = "1%" }, "run.measure" = 40000 }'
    old = next(line for line in PAPER.splitlines() if line.startswith("set = ") and "run." in line)
    (tmp_path / "paper.toml").write_text(PAPER.replace(old, precise, 1))
    (tmp_path / "one.toml").write_text(ITEM)

    def base() -> dict[str, Any]:
        paper = read_paper(tmp_path)
        return documents(paper, paper.items[0], "quick")["curve"]["base"]

    assert base()["run"] == {"precision": {"latency": "1%"}, "measure": 40000}
    # What is dropped at first counts, and no warm-up that there is not.
    assert cost.cycles(base()) == 45_000
    own = 'load = [0.1], set = { "run.measure" = 200 }'
    (tmp_path / "one.toml").write_text(ITEM.replace("load = [0.1, 0.5] }", f"{own} }}"))
    assert base()["run"] == {"measure": 200}


BOTH = """
[scale.claims]
points = "quick"
runs = "paper"
[scale.paper]
seeds = [5]
set = { "run.warmup" = 1000, "run.measure" = 2000 }
"""


def test_a_scale_with_the_points_of_one_and_the_runs_of_another(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER + BOTH)
    quick = 'scale.quick = { load = [0.1, 0.5], seeds = [9], set = { "run.warmup" = 1 } }'
    own = 'scale.paper = { routing = ["MIN"], set = { "run.measure" = 3000 } }'
    item = ITEM.replace("scale.quick = { load = [0.1, 0.5] }", f"{quick}\n{own}")
    (tmp_path / "one.toml").write_text(item)
    paper = read_paper(tmp_path)
    document = documents(paper, paper.items[0], "claims")["curve"]
    assert document["base"]["run"] == {"warmup": 1000, "measure": 3000}
    axes = {axis["name"]: axis["values"] for axis in document["axis"]}
    assert (axes["load"], axes["seed"]) == ([0.1, 0.5], [5])
    assert [each["label"] for each in axes["routing"]] == ["MIN"]
    # Every point is one of those whose runs it has.
    whole = documents(paper, paper.items[0], "paper")["curve"]
    points = [
        {point.key for point in Experiment.from_document(each).points} for each in (document, whole)
    ]
    assert points[0] < points[1]


SHOWN = """
figure = [
    { name = "t", where = { routing = ["MIN", "VLB lgl"], traffic = "UN" } },
    { name = "gone", where = { routing = ["VLB lgl"] } },
    { name = "all" },
]
"""


def test_an_experiment_thins_out_a_scale_of_two_others(tmp_path: Path) -> None:
    """On top of the points that this scale takes, with figures that leave out the same lines."""
    (tmp_path / "paper.toml").write_text(PAPER + BOTH)
    skip = '[{ routing = "MIN", load = 0.5 }]'
    own = f'scale.claims = {{ routing = ["MIN"], skip = {skip} }}\n{SHOWN}'
    (tmp_path / "one.toml").write_text(ITEM.replace("[0.1, 0.5] }", f"[0.1, 0.5] }}\n{own}"))
    paper = read_paper(tmp_path)
    document = documents(paper, paper.items[0], "claims")["curve"]
    axes = {axis["name"]: axis["values"] for axis in document["axis"]}
    assert axes["load"] == [0.1, 0.5]
    assert [each["label"] for each in axes["routing"]] == ["MIN"]
    assert [point.labels["load"] for point in Experiment.from_document(document).points] == [0.1]
    where = {"routing": ["MIN"], "traffic": "UN"}
    assert document["figure"] == [{"name": "t", "where": where}, {"name": "all"}]
    both = documents(paper, paper.items[0], "quick")["curve"]["figure"][0]["where"]["routing"]
    assert both == ["MIN", "VLB lgl"]


def test_a_scale_of_two_others_leaves_out_what_no_claim_looks_at(tmp_path: Path) -> None:
    """Experiments that only figures show, or that measure a published table in another reading."""
    (tmp_path / "paper.toml").write_text(PAPER + BOTH)
    shown = ITEM[ITEM.index("[[experiment]]") : ITEM.index("[[claim]]")].replace("curve", "shown")
    again, known = (shown.replace("shown", name) for name in ("again", "known"))
    tables = """
[[table]]
id = "t"
title = "T"
of = "known"
rows = "routing"
columns = ["load"]
[[table]]
id = "t-again"
title = "T again"
of = "again"
like = "t"
"""
    (tmp_path / "one.toml").write_text(f"{ITEM}\n{shown}{again}{known}{tables}")
    paper = read_paper(tmp_path)
    found = {scale: set(documents(paper, paper.items[0], scale)) for scale in paper.scales}
    every = {"curve", "shown", "again", "known"}
    assert found == {"quick": every, "paper": every, "claims": {"curve", "known"}}


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ("scale.claims = { seeds = [3] }", "scale.claims: has the seeds and settings of 'paper'"),
        ("scale.claim = { load = [0.1] }", "scale.claim: choose from: quick, claims, paper"),
    ],
)
def test_what_a_scale_cannot_take_is_refused(tmp_path: Path, own: str, message: str) -> None:
    (tmp_path / "paper.toml").write_text(PAPER + BOTH)
    (tmp_path / "one.toml").write_text(ITEM.replace("[0.1, 0.5] }", f"[0.1, 0.5] }}\n{own}"))
    paper = read_paper(tmp_path)
    with pytest.raises(PaperError, match=message):
        documents(paper, paper.items[0], "quick")


@pytest.mark.parametrize(
    "scale", ["points = 'quick'", "runs = 'paper'", "points = 'quick'\nruns = 'claims'"]
)
def test_a_scale_without_runs_is_refused(tmp_path: Path, scale: str) -> None:
    (tmp_path / "paper.toml").write_text(f"{PAPER}[scale.claims]\n{scale}\n")
    with pytest.raises(PaperError, match=r"scale\.claims: needs `seeds`"):
        read_paper(tmp_path)

"""Claims are read, measured and judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import synthetic
from deroute.figures import Study
from deroute.reproduce import Paper, PaperError, find, read_paper, reproduce_item
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence
from deroute.reproduce.experiments import documents
from deroute.reproduce.measures import call
from deroute.reproduce.report import markdown, summary
from deroute.reproduce.verdict import DIFFERS, NOT_SETTLED, REPRODUCED, TESTED, judge
from dragonfly import FakeEngine

ROOT = Path(__file__).parents[2] / "reproduce"

PAPER = """
title = "A paper"
[base]
units = { cycle = "1 ns", phit = "25 B" }
[base.network.topology.dragonfly]
p = 6
a = 12
h = 6
[base.network.links]
local = { latency = "15 ns", vcs = 4, buffer = "4.5 KB" }
global = { latency = "150 ns", vcs = 2, buffer = "22.5 KB" }
[base.routing]
minimal = {}
[paths]
load = "traffic.load"
[values.routing.MIN]
routing = { minimal = {} }
[values.routing."VLB lgl"]
routing = { valiant = { phase_a = "lgl" } }
[values.traffic.UN]
"traffic.pattern" = "uniform"
[scale.quick]
seeds = [1, 2]
set = { "run.warmup" = 100, "run.measure" = 200 }
"""

ITEM = """
chapter = 2
title = "An item"
[[experiment]]
name = "curve"
axes = { traffic = ["UN"], routing = ["MIN", "VLB lgl"], load = [0.1, 0.5, 1.0] }
scale.quick = { load = [0.1, 0.5] }
[experiment.set]
"traffic.packet_size" = 10

[[claim]]
id = "half"
source = "section 1"
statement = "Valiant accepts half."
published = 0.5
unit = "phits/host/cycle"
derived = true
[[claim.check]]
measure = "accepted"
of = "curve"
where = { routing = "VLB lgl", load = 0.5 }
at_least = 0.45
at_most = 0.5035

[[claim]]
id = "wrong"
source = "section 2"
statement = "MIN | accepts nothing."
[[claim.check]]
measure = "accepted"
of = "curve"
where = { routing = "MIN", load = 0.5 }
at_most = 0.1

[[claim]]
id = "later"
source = "section 3"
statement = "Something else."
unsettled = "it is not built"

[[claim]]
id = "rule"
source = "section 4"
statement = "A rule."
tests = ["rules.rs::it_is_followed"]
"""


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    """A paper with one item of four claims."""
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER)
    (folder / "one.toml").write_text(ITEM)
    return read_paper(folder)


def run(document: Mapping[str, Any]) -> tuple[Study, list[Path]]:
    """A made-up study for any document."""
    labels = {
        axis["name"]: tuple(v["label"] if isinstance(v, dict) else v for v in axis["values"])
        for axis in document["axis"]
    }
    study = synthetic.study(labels["routing"], labels["traffic"], labels["load"], labels["seed"])
    return dataclasses.replace(study, day="2020-02-29"), [Path("figure.png")]


def evidence(paper: Paper) -> Evidence:
    """Evidence without runs, on the independent Dragonfly."""
    return Evidence(paper.base, paper.values, {}, FakeEngine)


def test_documents_merge_base_item_and_scale(paper: Paper) -> None:
    document = documents(paper, paper.items[0], "quick")["curve"]
    assert document["name"] == "one.curve"
    assert document["base"]["run"] == {"warmup": 100, "measure": 200}
    assert document["base"]["traffic"]["packet_size"] == 10
    assert [axis["name"] for axis in document["axis"]] == ["traffic", "routing", "load", "seed"]
    assert document["axis"][2] == {"name": "load", "path": "traffic.load", "values": [0.1, 0.5]}
    assert document["axis"][1]["values"][0]["set"] == {"routing": {"minimal": {}}}
    assert "run" not in paper.base


def test_claims_are_reproduced_differ_or_stay_open(paper: Paper) -> None:
    report = reproduce_item(paper, paper.items[0], "quick", run, FakeEngine)
    verdicts = {each.claim.id: each.verdict for each in report.judgements}
    assert verdicts == {
        "half": REPRODUCED,
        "wrong": DIFFERS,
        "later": NOT_SETTLED,
        "rule": TESTED,
    }
    assert [each.claim.id for each in report.judgements if each.fails] == ["wrong"]
    text = markdown("0.0.0", [(paper, [report])])
    simulated = "1 reproduced (1 of them by simulation)"
    counts = f"{simulated}, 1 differs, 1 not settled, 1 tested"
    assert f"Deroute 0.0.0. 4 claims (1 of them derived): {counts}" in text
    assert "| 0.5 phits/host/cycle (derived) |" in text
    assert "MIN \\| accepts nothing." in text
    assert "| reproduced | quick | 2 | 2020-02-29 |" in text
    assert "| not settled | - | - | - | it is not built |" in text
    assert "| tested | - | - | - | by `make test`: rules.rs::it_is_followed |" in text


def test_a_finding_explains_a_difference(paper: Paper) -> None:
    item = paper.items[0]
    known = tuple(dataclasses.replace(claim, finding="known") for claim in item.claims)
    item = dataclasses.replace(item, claims=known)
    report = reproduce_item(paper, item, "quick", run, FakeEngine)
    assert report.judgements[1].verdict == DIFFERS
    assert report.judgements[1].why == "known"
    assert not any(each.fails for each in report.judgements)
    assert summary(report.judgements).startswith("4 claims")


@pytest.mark.parametrize(("least", "fails"), [(0.0, False), (2.0, True)])
def test_a_finding_explains_only_while_its_evidence_holds(
    paper: Paper, least: float, fails: bool
) -> None:
    item = paper.items[0]
    wrong = item.claims[1]
    basis = (dataclasses.replace(wrong.checks[0], at_least=least, at_most=None),)
    known = dataclasses.replace(wrong, finding="known", evidence=basis)
    item = dataclasses.replace(item, claims=(known,))
    (judgement,) = reproduce_item(paper, item, "quick", run, FakeEngine).judgements
    assert (judgement.verdict, judgement.fails) == (DIFFERS, fails)
    assert judgement.why.startswith("known [evidence: ") != fails
    assert ("the finding does not hold" in judgement.why) == fails


def test_evidence_needs_a_finding(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER)
    basis = '[[claim.evidence]]\nmeasure = "hosts"\nequals = 1\n'
    (tmp_path / "one.toml").write_text(ITEM.partition('[[claim]]\nid = "later"')[0] + basis)
    with pytest.raises(PaperError, match="evidence belongs to a `finding`"):
        read_paper(tmp_path)


def test_missing_points_leave_a_claim_open(paper: Paper) -> None:
    claim = paper.items[0].claims[0]
    found = judge(claim, evidence(paper))
    assert (found.verdict, found.measured) == (NOT_SETTLED, ("-",))
    assert "'curve' has no results" in found.reason


@pytest.mark.parametrize(
    ("measure", "arguments", "values"),
    [
        ("hosts", {"h": 2}, [72]),
        ("routers", {"h": 3}, [114]),
        ("groups", {"h": 2}, [9]),
        ("radix", {"h": 3}, [11]),
        ("group_ports", {"h": 3}, [18, 18]),
        ("group_radix", {"h": 3}, [36]),
        ("balance", {"h": 3}, [2, 2]),
        ("diameter", {"h": 2}, [3]),
        ("minimal_paths", {"h": 3}, [1, 1]),
        ("palmtree_mismatches", {"h": 3}, [0]),
        ("rotation_mismatches", {"h": 3}, [0]),
        ("owners", {"h": 3}, [5]),
        ("neighbour_links", {"h": 6, "offset": 8}, [4, 2]),
        ("longest_path", {"routing": "MIN", "packets": 200}, [3]),
        ("longest_path", {"routing": "VLB lgl", "packets": 300}, [6]),
        ("paths_outside", {"routing": "MIN", "pattern": "l?(gl?)?", "packets": 50}, [0]),
        ("vcs_needed", {"routing": "VLB lgl"}, [4, 2]),
        ("vcs_needed", {"routing": "MIN"}, [2, 1]),
        ("acyclic", {"routing": "MIN"}, [1]),
        ("acyclic", {"routing": "VLB lgl"}, [0]),
        ("vc_buffers", {}, [180, 900]),
    ],
)
def test_measures_of_geometry_and_method(
    paper: Paper, measure: str, arguments: dict[str, Any], values: list[float]
) -> None:
    found = call(measure, evidence(paper), arguments)
    assert [value.mean for value in found] == values


def test_detours_through_source_or_destination_are_minimal(paper: Paper) -> None:
    labels = {"routing": "VLB lgl", "minimal": "MIN", "packets": 3000}
    (found,) = call("degenerate_over_expected", evidence(paper), labels)
    assert abs(found.mean - 1) < 1.5 * found.ci95 < 0.3


@pytest.mark.parametrize("h", [2, 3])
def test_the_engine_is_wired_like_the_independent_dragonfly(h: int) -> None:
    spec = read_paper(ROOT / "thesis")
    real = Evidence(spec.base, spec.values, {}, BuiltEngine)
    ours = Evidence(spec.base, spec.values, {}, FakeEngine)
    wired, expected = (each.wiring(each.spec(h=h)) for each in (real, ours))
    assert wired.class_names == expected.class_names
    for name in ("router_of_host", "peer_router", "peer_port", "link_class"):
        assert np.array_equal(getattr(wired, name), getattr(expected, name)), name


def test_unknown_measures_and_keys_are_named(paper: Paper) -> None:
    with pytest.raises(PaperError, match="unknown measure 'acepted'; choose from: accepted"):
        call("acepted", evidence(paper), {})
    with pytest.raises(PaperError, match="keys: h"):
        call("hosts", evidence(paper), {"size": 2})


def test_a_claim_needs_checks_or_a_reason(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER)
    claim = '[[claim]]\nid = "x"\nsource = ""\nstatement = ""\n'
    for held in ("", "tests = []\n", 'tests = ["a.rs::b"]\nunsettled = "c"\n'):
        (tmp_path / "one.toml").write_text(f'chapter = 1\ntitle = "t"\n{claim}{held}')
        with pytest.raises(PaperError, match="needs checks, or `tests`, or the reason"):
            read_paper(tmp_path)


def test_papers_and_items_are_found_by_name(paper: Paper, tmp_path: Path) -> None:
    assert find("sample", [tmp_path]) == tmp_path / "sample"
    with pytest.raises(PaperError, match="choose from: sample"):
        find("other", [tmp_path])
    with pytest.raises(PaperError, match="choose from: one"):
        paper.select("two", [])
    with pytest.raises(PaperError, match="no items of chapter 9"):
        paper.select(None, [9])


def test_an_item_is_found_by_its_figures(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER)
    (tmp_path / "one.toml").write_text(ITEM.replace("[[exp", 'figures = ["5-7", "5-8"]\n[[exp', 1))
    paper = read_paper(tmp_path)
    for text in ("one", "5-7", "5-8", "figure 5-7", "Figure 5-8", "fig. 5-7"):
        assert [item.name for item in paper.select(text, [])] == ["one"]
    with pytest.raises(PaperError, match="choose from: one; or a figure: 5-7, 5-8"):
        paper.select("5-9", [])
    (tmp_path / "one.toml").write_text(ITEM.replace("[[exp", 'figures = "5-7"\n[[exp', 1))
    with pytest.raises(PaperError, match="list of texts"):
        read_paper(tmp_path)

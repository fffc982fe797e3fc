"""The data of every paper is complete and well formed at every scale; samples of it are run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import synthetic
from deroute import _engine
from deroute.cli import app
from deroute.figures import read_figures
from deroute.reproduce import Claim, read_paper, status
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.experiments import documents
from deroute.reproduce.measures import CATALOGUE, call
from deroute.reproduce.paper import Check
from deroute.reproduce.verdict import NEVER_MEASURED

ROOT = Path(__file__).parents[2] / "reproduce"
PAPERS = ("thesis", "hyperx", "fat-tree", "cee", "hipineb")


def thesis_claims() -> list[tuple[str, Claim]]:
    """Every claim of the thesis with its item."""
    return [
        (item.name, claim) for item in read_paper(ROOT / "thesis").items for claim in item.claims
    ]


@pytest.mark.parametrize("name", PAPERS)
def test_papers_are_well_formed_at_every_scale(name: str) -> None:
    paper = read_paper(ROOT / name)
    assert {*paper.scales} >= {"quick", "paper"}
    for scale, item in product(paper.scales, paper.items):
        found = documents(paper, item, scale)
        for document in found.values():
            axes = {
                axis["name"]: [v["label"] if isinstance(v, dict) else v for v in axis["values"]]
                for axis in document["axis"]
            }
            read_figures(document["figure"], axes)
        for claim in item.claims:
            for check in (*claim.checks, *claim.evidence):
                _points_exist(claim.id, check, found)


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_has_a_published_verdict(name: str) -> None:
    paper = read_paper(ROOT / name)
    for report in status.published(paper, ROOT / name, _engine.VERSION):
        for judgement in report.judgements:
            assert judgement.verdict != NEVER_MEASURED, judgement.claim.id
            assert not judgement.fails, judgement.claim.id


@pytest.mark.parametrize("name", PAPERS)
def test_the_tests_that_hold_a_rule_exist(name: str) -> None:
    for claim in (each for item in read_paper(ROOT / name).items for each in item.claims):
        for test in claim.tests:
            file, function = test.split("::")
            text = (ROOT.parent / file).read_text(encoding="utf-8")
            assert re.search(rf"#\[test\]\s+fn {function}\(", text), f"{claim.id}: {test}"


def _points_exist(claim: str, check: Check, found: Mapping[str, Any]) -> None:
    """The measure exists, and what it looks at is simulated at this scale."""
    assert check.measure in CATALOGUE, claim
    if "of" not in check.arguments:
        return
    axes = {
        axis["name"]: [v["label"] if isinstance(v, dict) else v for v in axis["values"]]
        for axis in found[check.arguments["of"]]["axis"]
    }
    for key in ("where", "over", "under", "less"):
        for axis, label in check.arguments.get(key, {}).items():
            assert label in axes[axis], f"{claim}: {axis} = {label}"


def test_the_thesis_covers_chapters_2_and_3() -> None:
    claims = {claim.id: item for item, claim in thesis_claims()}
    for chapter, count in {"2": 44, "3": 24}.items():
        assert sum(name.startswith(f"thesis-{chapter}.") for name in claims) == count
    assert {"thesis-6.1.2.2-exact-lgl", "thesis-6.3.3-fair-adapt"} <= set(claims)


@pytest.mark.parametrize(
    ("paper", "item", "differ"),
    [
        ("thesis", "3.2-zero-load", 0),
        ("thesis", "4.6-probabilities", 0),
        ("hyperx", "2-scalability", 0),
        ("cee", "4-model", 1),
        ("cee", "2-cee", 0),
    ],
)
def test_a_sample_of_the_claims_is_reproduced(
    tmp_path: Path, paper: str, item: str, differ: int
) -> None:
    """The command itself, at quick scale on the network of the paper."""
    arguments = ["reproduce", str(ROOT / paper), item, "--dir", str(tmp_path / "runs")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    pattern = r"(\d+) claims[^:]*: (\d+) reproduced[^,]*, (\d+) differs?"
    counts = re.search(pattern, result.output)
    assert counts is not None, result.output
    assert int(counts[2]) >= 3
    assert int(counts[3]) == differ, result.output


def test_measures_of_single_routers() -> None:
    study = synthetic.study(("MIN", "PB"), ("ADVC",), (0.5,))
    evidence = Evidence({}, {}, {"runs": study}, BuiltEngine)
    where = {"routing": "PB", "load": 0.5}
    along = {"of": "runs", "where": {"load": 0.5}, "axis": "routing", "router": 11}
    means = [value.mean for value in call("router_along", evidence, along)]
    assert means == pytest.approx([0.97 / (11.97 / 12), 0.4 / (11.4 / 12)])
    (least,) = call("least_injected", evidence, {"of": "runs", "where": where})
    assert least.mean == pytest.approx(0.4 * 0.5, rel=0.01)
    assert least.runs == 3
    assert 0 < least.ci95 < 0.05 * least.mean
    one = Evidence({}, {}, {"runs": synthetic.study(("PB",), ("ADVC",), (0.5,), (1,))}, BuiltEngine)
    (latency,) = call("scalar", one, {"of": "runs", "where": where, "column": "latency.mean"})
    assert (latency.ci95, latency.runs) == (5.0, 1)
    share = {"of": "runs", "where": where, "kind": "minimal", "router": 3}
    (minimal,) = call("router_path_share", evidence, share)
    assert minimal.mean == pytest.approx(0.55 * 0.75, abs=0.002)


def test_accepted_load_from_a_time_on() -> None:
    study = synthetic.study(("MIN", "PB"), ("UN",), (0.5,), series=True)
    evidence = Evidence({}, {}, {"runs": study}, BuiltEngine)

    def load(from_us: float, **keys: Any) -> float:
        given = {"of": "runs", "where": {"routing": "MIN"}, "from_us": from_us}
        (found,) = call("accepted_from", evidence, given | keys)
        return found.mean

    # 200 packets of 10 phits a bin of 100 cycles on 360 hosts; the first bin of 60 has none.
    steady = 2000 / (100 * 360)
    assert load(0.0) == pytest.approx(steady)
    assert load(-10.0) == pytest.approx(steady * 59 / 60)
    assert load(0.0, less={"routing": "PB"}) == pytest.approx(0.0)
    with pytest.raises(NotSettledError, match="after 100"):
        load(100.0)
    bare = Evidence({}, {}, {"runs": synthetic.study(("MIN",), ("UN",), (0.5,))}, BuiltEngine)
    with pytest.raises(NotSettledError, match="time series"):
        call("accepted_from", bare, {"of": "runs", "where": {}, "from_us": 0})


def test_classes_of_the_queuing_schemes() -> None:
    paper = read_paper(ROOT / "fat-tree")
    small = {"rlft": {"ports": 12, "stages": 3}}
    base = paper.base | {"network": paper.base["network"] | {"topology": small}}
    evidence = Evidence(base, paper.values, {}, BuiltEngine)
    # 432 hosts, 6 to a switch: host 200 is on switch 33 of 72 and in the second third.
    hosts = [0, 100, 302, 431]

    def classes(scheme: str) -> list[float]:
        given = {"scheme": scheme, "source": 200, "hosts": hosts}
        return [value.mean for value in call("classes", evidence, given)]

    assert classes("DBBM") == [host % 3 for host in hosts]
    assert classes("vFtree") == [(33 + host // 6) % 3 for host in hosts]
    assert classes("Flow2SL") == [(1 + host * 3 // 432) % 3 for host in hosts]


def test_when_a_routing_with_thresholds_leaves_the_usual_port() -> None:
    paper = read_paper(ROOT / "fat-tree")
    lower = {"routing": {"up_adaptive": {"ties": "mod-k", "trigger": "TH", "low": 0.1}}}
    routings = {**paper.values["routing"], "lower": lower}
    evidence = Evidence(paper.base, {**paper.values, "routing": routings}, {}, BuiltEngine)

    def credits(routing: str) -> float:
        small = {"rlft": {"ports": 4, "stages": 3}}
        given = {"otherwise": "D-mod-K", "topology": small, "buffer": 4000}
        (value,) = call("trigger_credits", evidence, {"routing": routing} | given)
        return value.mean

    # The first phit less than a quarter, or a tenth, of 4000; and whatever waits.
    assert [credits(each) for each in ("TH-*S-K", "lower")] == [999 / 4000, 399 / 4000]
    assert credits("NoTH-*S-K") == 3999 / 4000
    with pytest.raises(NotSettledError, match="does not leave"):
        credits("D-mod-K")


def test_hops_of_a_detour_over_those_of_a_shortest_path() -> None:
    paper = read_paper(ROOT / "hyperx")
    evidence = Evidence(paper.base, paper.values, {}, BuiltEngine)
    given = {"widths": [3, 3, 3], "packets": 500}
    found = {
        each: call("detour", evidence, {"routing": each} | given)[0].mean for each in ("DOR", "VAL")
    }
    assert found == {"DOR": 1, "VAL": 2}

"""The data of every paper is complete and well formed at every scale; samples of it are run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import synthetic
from deroute.cli import app
from deroute.figures import read_figures
from deroute.reproduce import Claim, read_paper
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence
from deroute.reproduce.experiments import documents
from deroute.reproduce.measures import CATALOGUE, call
from deroute.reproduce.paper import Check

ROOT = Path(__file__).parents[2] / "reproduce"


def thesis_claims() -> list[tuple[str, Claim]]:
    """Every claim of the thesis with its item."""
    return [
        (item.name, claim) for item in read_paper(ROOT / "thesis").items for claim in item.claims
    ]


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("name", ["thesis", "hyperx", "fat-tree"])
def test_papers_are_well_formed_at_every_scale(name: str, scale: str) -> None:
    paper = read_paper(ROOT / name)
    for item in paper.items:
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


def _points_exist(claim: str, check: Check, found: Mapping[str, Any]) -> None:
    """The measure exists, and what it looks at is simulated at this scale."""
    assert check.measure in CATALOGUE, claim
    if "of" not in check.arguments:
        return
    axes = {
        axis["name"]: [v["label"] if isinstance(v, dict) else v for v in axis["values"]]
        for axis in found[check.arguments["of"]]["axis"]
    }
    for key in ("where", "over", "under"):
        for axis, label in check.arguments.get(key, {}).items():
            assert label in axes[axis], f"{claim}: {axis} = {label}"


def test_the_thesis_covers_chapters_2_and_3() -> None:
    claims = {claim.id: item for item, claim in thesis_claims()}
    for chapter, count in {"2": 44, "3": 24}.items():
        assert sum(name.startswith(f"thesis-{chapter}.") for name in claims) == count
    assert {"thesis-6.1.2.2-exact-lgl", "thesis-6.3.3-fair-adapt"} <= set(claims)


@pytest.mark.parametrize(
    ("paper", "item"),
    [("thesis", "3.2-zero-load"), ("thesis", "6.2-counters"), ("hyperx", "2-scalability")],
)
def test_a_sample_of_the_claims_is_reproduced(tmp_path: Path, paper: str, item: str) -> None:
    """The command itself, at quick scale on the network of the paper."""
    arguments = ["reproduce", str(ROOT / paper), item, "--dir", str(tmp_path / "runs")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    counts = re.search(r"(\d+) claims: (\d+) reproduced, 0 differs", result.output)
    assert counts is not None, result.output
    assert int(counts[2]) >= 3


def test_measures_of_single_routers() -> None:
    study = synthetic.study(("MIN", "PB"), ("ADVC",), (0.5,))
    evidence = Evidence({}, {}, {}, {"runs": study}, BuiltEngine)
    where = {"routing": "PB", "load": 0.5}
    along = {"of": "runs", "where": {"load": 0.5}, "axis": "routing", "router": 11}
    means = [value.mean for value in call("router_along", evidence, along)]
    assert means == pytest.approx([0.97 / (11.97 / 12), 0.4 / (11.4 / 12)])
    (least,) = call("least_injected", evidence, {"of": "runs", "where": where})
    assert least.mean == pytest.approx(0.4 * 0.5, rel=0.01)
    assert least.runs == 3
    assert 0 < least.ci95 < 0.05 * least.mean
    one = Evidence(
        {}, {}, {}, {"runs": synthetic.study(("PB",), ("ADVC",), (0.5,), (1,))}, BuiltEngine
    )
    (latency,) = call("scalar", one, {"of": "runs", "where": where, "column": "latency.mean"})
    assert (latency.ci95, latency.runs) == (5.0, 1)
    share = {"of": "runs", "where": where, "kind": "minimal", "router": 3}
    (minimal,) = call("router_path_share", evidence, share)
    assert minimal.mean == pytest.approx(0.55 * 0.75, abs=0.002)

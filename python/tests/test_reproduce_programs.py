"""Measures over programs, and the traces that stand beside the claims."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deroute.figures import Study
from deroute.reproduce import experiments, find, read_paper
from deroute.reproduce.engine import BuiltEngine
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call
from deroute.trace import nas, writing

ROOT = Path(__file__).parents[2]
TRACES = sorted((ROOT / "reproduce/cee/traces").glob("[bcfim][tgs]-*.tar.gz"))


def evidence(state: str = "completed") -> Evidence:
    """Two programs on two routings, with two seeds."""
    frame = {
        "routing": ["a"] * 4 + ["b"] * 4,
        "application": ["x", "x", "y", "y"] * 2,
        "seed": [1, 2] * 4,
        "verdict.state": ["completed"] * 7 + [state],
        "relative.slowdown": [1.0, 1.5, 2.0, 2.5, 2.0, 3.0, 4.0, 5.0],
    }
    study = Study({}, pl.DataFrame(frame), [], "0")
    return Evidence({}, {}, {"runs": study}, BuiltEngine)


def mean_slowdowns(known: Evidence, **keys: Any) -> list[float]:
    """Over both programs."""
    arguments = {"of": "runs", "axis": "application"} | keys
    measure = "mean_slowdown_ratio" if "over" in keys else "mean_slowdown"
    return [value.mean for value in call(measure, known, arguments)]


def test_slowdowns_are_averaged_over_programs_and_compared() -> None:
    known = evidence()
    assert mean_slowdowns(known, where={"routing": "a"}) == [1.75]
    ratio = mean_slowdowns(known, where={"routing": "b"}, over={"routing": "a"})
    assert ratio == [pytest.approx(2.0)]


def test_a_program_that_did_not_end_has_no_slowdown() -> None:
    known = evidence(state="unfinished")
    assert mean_slowdowns(known, where={"routing": "a"}) == [1.75]
    with pytest.raises(NotSettledError, match="not at its end within the limit: y"):
        mean_slowdowns(known, where={"routing": "b"})


def test_messages_are_counted_with_what_announces_them() -> None:
    # Reductions and broadcasts of at most 16 bytes, and all-to-alls of 131,072 bytes a pair.
    program = {"benchmark": "ft", "class": "C", "ranks": 128, "iterations": 1}
    keys = {"program": program, "times": 30}
    (largest,) = call("largest_message", evidence(), keys)
    assert largest.mean == 131_072 * 30 / 1e3
    (once,) = call("mean_message", evidence(), keys)
    (thrice,) = call("mean_message", evidence(), keys | {"rendezvous": 0})
    assert once.mean == pytest.approx(3 * thrice.mean, rel=0.02)
    (large,) = call("mean_message", evidence(), keys | {"rendezvous": 1024})
    assert thrice.mean < large.mean < once.mean < largest.mean


@pytest.mark.parametrize("packed", TRACES, ids=lambda path: path.name)
def test_a_trace_is_what_the_generator_writes(packed: Path, tmp_path: Path) -> None:
    name = packed.name.removesuffix(".tar.gz")
    benchmark, letter, ranks = name.split("-")
    made = nas.Benchmark.of(nas.CATALOGUE[benchmark], letter, int(ranks), 1, 1e9)
    note = f"NAS {benchmark} class {letter}, 1 iterations, 1e+09 flops a second"
    writing.write(made, tmp_path, [note])
    with tarfile.open(packed) as archive:
        for rank in (0, 1, int(ranks) - 1):
            file = archive.extractfile(f"{name}/rank{rank}.txt")
            assert file is not None
            assert file.read() == (tmp_path / f"rank{rank}.txt").read_bytes()


def test_files_are_found_beside_the_item() -> None:
    paper = read_paper(find("cee", [ROOT / "reproduce"]))
    (item,) = paper.select("5-traces", [])
    document = experiments.documents(paper, item, "quick")["programs"]
    (application,) = (axis for axis in document["axis"] if axis["name"] == "application")
    files = [value["set"]["workload.jobs[0].trace"]["file"] for value in application["values"]]
    assert all(Path(file).is_file() and Path(file).is_absolute() for file in files)

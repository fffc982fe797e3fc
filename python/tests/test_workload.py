"""Workloads on the command line and in Python: results, files, figures, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import deroute
from conftest import SPEC
from deroute import Experiment, InputError, SpecError, plan
from deroute.cli import app as application
from deroute.compare import compare
from deroute.files import read_document

NETWORK = """\
name = "app"
title = "An application"

[base.network.topology.dragonfly]
p = 2
a = 4
h = 2
[base.network.links]
local = { latency = "15 ns", vcs = 4, buffer = "4.5 KB" }
global = { latency = "150 ns", vcs = 2, buffer = "22.5 KB" }
[base.network.switch.combined_queued]
pipeline = "90 ns"
output_buffer = "15.75 KB"
[base.workload]
packet_size = 10
[[base.workload.jobs]]
name = "app"
ranks = 64
placement = { random = {} }
iterations = 3
steps = [
    { compute = "1 us" },
    { stencil = { shape = [4, 4, 4], messages = { equal = "20 KB" } } },
    { dissemination = { size = 1 } },
]

[[axis]]
name = "routing"
values = [
    { label = "MIN", set = { routing = { minimal = {} } } },
    { label = "VLB", set = { routing = { valiant = {} } } },
]

[[figure]]
name = "bars"
kind = "completion"
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """An experiment of two points."""
    file = tmp_path / "app.toml"
    file.write_text(NETWORK)
    return file


def spec_of(jobs: list[dict[str, Any]], **workload: Any) -> dict[str, Any]:
    """A spec with these jobs."""
    spec = {key: value for key, value in SPEC.items() if key not in ("traffic", "run")}
    return spec | {"workload": {"packet_size": 10, "jobs": jobs} | workload}


def two_jobs() -> dict[str, Any]:
    first = {"name": "a", "ranks": 8, "iterations": 2, "steps": [{"ring": {"size": 80}}]}
    second = {"ranks": 5, "start": 100, "steps": [{"compute": 7}, {"bruck": {"size": 3}}]}
    return spec_of([first, second])


def test_a_typed_result() -> None:
    outcome = deroute.simulate(two_jobs())
    assert outcome.verdict.state == "completed"
    assert outcome.workload is not None
    assert [job.name for job in outcome.workload.jobs] == ["a", "job2"]
    job = outcome.workload.job("job2")
    assert (job.start, job.compute_mean, job.finished) == (100, 7.0, True)
    assert job.messages.sent == job.messages.received == 5 * 3
    assert outcome.workload.makespan == outcome.measured_cycles
    arrays = outcome.jobs["a"]
    assert len(arrays.iteration_end) == 2
    assert arrays.rank_end.max() == arrays.iteration_end[-1] == outcome.workload.job("a").time
    assert outcome.jobs["job2"].rank_computed.tolist() == [7] * 5
    scalars = outcome.scalars()
    assert scalars["workload.makespan"] == outcome.workload.makespan
    assert scalars["workload.jobs.a.time"] == outcome.workload.job("a").time
    assert "workload.jobs.job2.messages.latency.p99" in scalars
    ranks, iterations = outcome.to_polars("ranks"), outcome.to_polars("iterations")
    split = ["collective", "receive", "send", "wait"]
    assert ranks.columns == ["job", "rank", "end", "computed", *split]
    assert (ranks.height, iterations.height) == (13, 3)


def test_one_run_of_a_workload_has_no_interval() -> None:
    outcome = deroute.simulate(two_jobs())
    frame = outcome.to_polars()
    assert np.isnan(frame["latency.ci95"][0])
    assert np.isnan(frame["load.accepted_ci95"][0])
    slower = frame.with_columns(pl.col("latency.mean") * 1.02)
    found = compare(frame, slower, None, names=("A", "B"))
    assert "latency has no interval to tell a difference by" in found.verdict
    assert "±" not in outcome._repr_html_()


def test_a_result_in_json() -> None:
    document = deroute.simulate(two_jobs()).to_json()
    assert json.loads(json.dumps(document)) == document
    assert len(document["workload"]["jobs"][0]["arrays"]["rank_end"]) == 8


def test_without_a_workload_there_are_no_jobs(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec)
    assert outcome.workload is None
    assert outcome.jobs == {}
    with pytest.raises(ValueError, match="workload"):
        outcome.to_polars("ranks")


def test_threads_and_partitions_change_nothing() -> None:
    alone = deroute.simulate(two_jobs()).to_json()
    assert deroute.simulate(two_jobs(), threads=2, partitions=5).to_json() == alone


def test_what_does_not_end_says_so() -> None:
    steps = [{"stencil": {"shape": [8], "messages": {"equal": "9 MB"}}}]
    outcome = deroute.simulate(spec_of([{"ranks": 8, "steps": steps}], limit="2 us"))
    assert outcome.verdict.state == "unfinished"
    assert "rank 0 of job1 waits for a message from rank" in outcome.verdict.reasons[0]


def test_the_memory_is_bounded_and_the_phits_are_known() -> None:
    footprint = deroute.check(spec_of([{"ranks": 8, "steps": [{"dissemination": {"size": 3}}]}]))
    assert footprint.worst_bytes is not None
    assert footprint.fixed_bytes < footprint.worst_bytes
    assert footprint.message_phits == 8 * 3 * 3


@pytest.mark.parametrize(
    ("job", "path", "text"),
    [
        ({"rank": 3}, "workload.jobs[0].rank", "unknown field `rank`"),
        ({"steps": [{"halo": {}}]}, "workload.jobs[0].steps[0]", "unknown variant `halo`"),
        ({"placement": "linaer"}, "workload.jobs[0].placement", "unknown variant `linaer`"),
        ({"ranks": -1}, "workload.jobs[0].ranks", "-1 is not a whole number"),
        ({"placement": {"file": "a"}}, "workload.jobs[0].placement.file", "reads no files"),
    ],
)
def test_mistakes_have_a_path(job: dict[str, Any], path: str, text: str) -> None:
    good = {"ranks": 3, "steps": [{"compute": 1}]}
    with pytest.raises(SpecError, match=text) as caught:
        deroute.check(spec_of([good | job]))
    assert caught.value.path.startswith(path)


def test_neither_traffic_nor_a_workload() -> None:
    spec = {key: value for key, value in SPEC.items() if key != "traffic"}
    with pytest.raises(SpecError, match="is missing") as caught:
        deroute.check(spec)
    assert (caught.value.path, caught.value.choices[-1]) == ("traffic", "a table workload instead")


def test_a_run_from_the_command_line(app: Path, tmp_path: Path) -> None:
    runner, directory = CliRunner(), str(tmp_path / "results")
    checked = runner.invoke(application, ["check", str(app)])
    assert checked.exit_code == 0, checked.output
    assert "unlimited" not in checked.output
    done = runner.invoke(application, ["run", str(app), "--dir", directory])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "results" / "bars.png").exists()
    shown = runner.invoke(application, ["show", directory])
    assert "time us" in shown.output
    assert "completed" in shown.output
    frame = deroute.load_results(directory).frame
    times = dict(frame.select("routing", "workload.makespan").iter_rows())
    assert 3_000 < times["MIN"] < times["VLB"]


def test_files_become_part_of_the_spec(app: Path, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text("# rank: host\n" + "\n".join(map(str, range(71, 7, -1))))
    (tmp_path / "matrix.txt").write_text("0 1 4000\n1 2 4 KB  # and back\n2 0 1KB\n")
    text = NETWORK.replace("{ random = {} }", '{ file = "hosts.txt" }')
    text = text.replace(
        "{ dissemination = { size = 1 } }", '{ exchange = { file = "matrix.txt" } }'
    )
    app.write_text(text)
    (first, _) = Experiment.load(app).points
    (job,) = first.spec["workload"]["jobs"]
    assert job["placement"] == {"hosts": list(range(71, 7, -1))}
    messages = [[0, 1, 4000], [1, 2, "4 KB"], [2, 0, "1KB"]]
    assert job["steps"][2] == {"exchange": {"messages": messages}}
    assert plan.check_file(app).footprint.message_phits > 0
    (tmp_path / "matrix.txt").write_text("0 1 4001\n")
    (changed, _) = Experiment.load(app).points
    assert changed.key != first.key


def _job_of_rings(order: str) -> str:
    """The application, with an all-reduce along rings in its place."""
    ring = f"{{ ring = {{ channels = 2, order = {order} }} }}"
    collective = f"{{ kind = 'allreduce', size = '1 KB', algorithm = {ring} }}"
    return NETWORK.replace("{ dissemination = { size = 1 } }", f"{{ collective = {collective} }}")


def test_rings_are_read(app: Path, tmp_path: Path) -> None:
    rings = [list(range(64)), list(range(63, -1, -1))]
    lines = [" ".join(map(str, ring)) for ring in rings]
    (tmp_path / "rings.txt").write_text(f"# one for each channel\n{lines[0]}\n\n{lines[1]}  # back")
    app.write_text(_job_of_rings('{ file = "rings.txt" }'))
    (first, _) = Experiment.load(app).points
    algorithm = first.spec["workload"]["jobs"][0]["steps"][2]["collective"]["algorithm"]
    assert algorithm["ring"]["order"] == {"members": rings}
    assert plan.check_file(app).footprint.message_phits > 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("0 1 2 3\n0 1 two 3", "rings.txt: line 2: 'two' is not a whole number"),
        ("0 1 2 4", "rings.txt: line 1: 4 is no member of a ring of 4: 0 to 3"),
        ("\n0 1 2 1", "rings.txt: line 2: member 1 is in the ring twice"),
        (None, "rings.txt: No such file"),
        ("3 2 1 0", "a ring of 4 members is not one of 64"),
        ("", "at least one ring"),
    ],
)
def test_rings_that_are_none_are_told(content: str | None, words: str, app: Path) -> None:
    if content is not None:
        (app.parent / "rings.txt").write_text(content)
    app.write_text(_job_of_rings('{ file = "rings.txt" }'))
    with pytest.raises(InputError) as caught:
        plan.check_file(app)
    (problem,) = caught.value.problems
    assert problem.path is not None
    assert problem.path.startswith("base.workload.jobs[0].steps[2].collective.algorithm")
    assert words in str(caught.value)


#: Two ranks that compute a microsecond each, and factors of them from a file.
_PAIR = """num_ranks 2
rank 0 {
a: calc 1000
}
rank 1 {
a: calc 1000
}
"""
_FACTORS = 'trace = { file = "pair.goal", compute_of_rank = { file = "slow.txt" } }'


def _job_of_factors(app: Path, content: str | None) -> None:
    before, _, rest = NETWORK.partition("ranks = 64")
    app.write_text(before + _FACTORS + "\n\n[[axis]]" + rest.partition("[[axis]]")[2])
    (app.parent / "pair.goal").write_text(_PAIR)
    if content is not None:
        (app.parent / "slow.txt").write_text(content)


def test_factors_of_ranks_are_read(app: Path) -> None:
    _job_of_factors(app, "1.5 # the first\n3")
    (first, _) = Experiment.load(app).points
    (job,) = first.spec["workload"]["jobs"]
    assert job["trace"]["compute_of_rank"] == [1.5, 3]
    directory = str(app.parent / "results")
    result = CliRunner().invoke(application, ["run", str(app), "--dir", directory])
    assert result.exit_code == 0, result.output
    frame = deroute.load_results(directory).frame
    assert set(frame["workload.makespan"]) == {3000}
    _job_of_factors(app, "1.5 2")
    (changed, _) = Experiment.load(app).points
    assert changed.key != first.key


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1\nslow", "slow.txt: line 2: 'slow' is not a number"),
        ("1\n\n-1", "slow.txt: line 3: '-1' is no factor: 0 to 1e+09"),
        ("nan 1", "slow.txt: line 1: 'nan' is no factor"),
        (None, "slow.txt: No such file"),
        ("1 2 3", "2 ranks, but compute_of_rank has 3 factors"),
    ],
)
def test_factors_that_are_none_are_told(content: str | None, words: str, app: Path) -> None:
    _job_of_factors(app, content)
    with pytest.raises(InputError) as caught:
        plan.check_file(app)
    assert words in str(caught.value)
    assert "base.workload.jobs[0].trace" in str(caught.value.problems[0].path)


def test_files_in_axes_are_read(app: Path, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text(" ".join(map(str, range(64))))
    axis = """
[[axis]]
name = "where"
values = [{ label = "listed", set = { "workload.jobs[0].placement" = { file = "hosts.txt" } } }]
"""
    app.write_text(NETWORK.replace("\n[[figure]]", axis + "\n[[figure]]"))
    document, _ = read_document(app)
    (value,) = document["axis"][1]["values"]
    assert value["set"]["workload.jobs[0].placement"] == {"hosts": list(range(64))}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "No such file"),
        ("3 4 x", "line 1: 'x' is not a whole number"),
        ("1\n2\n-3", "line 3: '-3' is not a whole number"),
    ],
)
def test_files_that_cannot_be_read(
    app: Path, tmp_path: Path, content: str | None, text: str
) -> None:
    if content is not None:
        (tmp_path / "hosts.txt").write_text(content)
    app.write_text(NETWORK.replace("{ random = {} }", '{ file = "hosts.txt" }'))
    with pytest.raises(InputError) as caught:
        Experiment.load(app)
    (problem,) = caught.value.problems
    assert problem.path == "base.workload.jobs[0].placement"
    assert text in problem.message


@pytest.mark.parametrize(
    ("figure", "path", "text"),
    [
        ('job = "other"', "figure[0].job", "no job 'other'"),
        ('of = "speed"', "figure[0].of", "unknown value 'speed'"),
        ("y_max = 3", "figure[0].y_max", "no such key"),
    ],
)
def test_figures_that_could_not_be_drawn(app: Path, figure: str, path: str, text: str) -> None:
    app.write_text(NETWORK + figure + "\n")
    with pytest.raises(InputError) as caught:
        plan.check_file(app)
    (problem,) = caught.value.problems
    assert problem.path == path
    assert text in problem.message


def test_completion_needs_a_workload(experiment_file: Path) -> None:
    with experiment_file.open("a") as file:
        file.write('[[figure]]\nname = "bars"\nkind = "completion"\nwhere = { load = 0.2 }\n')
    with pytest.raises(InputError) as caught:
        plan.check_file(experiment_file)
    assert "needs a `workload`" in caught.value.problems[0].message

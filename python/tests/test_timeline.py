"""When each rank of a job did what: the frame, the figure, and the file for Perfetto."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import deroute
from deroute import figures
from deroute.cli import app
from deroute.cli.plot import plot_directory, study
from deroute.figures import gantt, ranks

TRACE = ("100 0 recv 1 50 0 0\n0 0 barrier 0", "900 0 ssend 0 50 0 0\n0 0 barrier 0")
EXPERIMENT = """
name = "course"

[base.network]
topology = { crossbar = { hosts = 2 } }
switch = { output_queued = {} }

[base.routing.minimal]

[base.workload]
packet_size = 10

[[base.workload.jobs]]
name = "pair"
timeline = true
critical_path = true
trace = { file = "pair" }

[[axis]]
name = "compute"
path = "workload.jobs[0].trace.compute"
values = [1, 2]

[[figure]]
name = "course"
kind = "gantt"
series = "compute"
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """An experiment of two points that has run, and its results."""
    (tmp_path / "pair").mkdir()
    for rank, lines in enumerate(TRACE):
        text = f"mpi-trace 1\nrank {rank} of 2\n{lines}\n0 0 finalize\n"
        (tmp_path / "pair" / f"rank{rank}.txt").write_text(text)
    (tmp_path / "course.toml").write_text(EXPERIMENT)
    arguments = ["run", str(tmp_path / "course.toml"), "--dir", str(tmp_path / "results")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return tmp_path / "results"


def test_the_activities_of_a_rank_add_up_to_its_time(run: Path) -> None:
    for outcome in deroute.load_results(run).outcomes:
        job = outcome.jobs["pair"]
        frame = job.timeline()
        assert frame is not None
        first = frame.filter(rank=0)
        assert first["activity"].to_list() == ["computes", "receives", "in collectives"]
        assert first["begin"].to_list()[1:] == first["end"].to_list()[:-1]
        assert first["end"].to_list()[-1] == job.rank_end[0]
        assert frame.filter(rank=1)["activity"].to_list()[:2] == ["computes", "sends"]


def test_ranks_are_whole_numbers(run: Path) -> None:
    results = deroute.load_results(run)
    tables = [{"name": kind, "kind": kind, "series": "compute"} for kind in ("gantt", "ranks")]
    of_time, of_ranks = figures.read_figures(tables, results.experiment.axes)
    ticks = [gantt.draw(study(results), of_time).axes[0].get_yticks()]
    ticks += [ranks.draw(study(results), of_ranks).axes[0].get_xticks()]
    assert all(tick == int(tick) for each in ticks for tick in each)


def test_the_figure_has_a_panel_for_each_point(run: Path) -> None:
    (file,) = plot_directory(run, ["svg"])
    text = file.read_text(encoding="utf-8")
    assert text.count("in collectives") == 1
    assert "$" not in text
    assert "computes" in text


def test_64_ranks_can_be_told_apart_in_the_figure(tmp_path: Path) -> None:
    """Each is at least 3 points high, on its own line, in its own order."""
    (tmp_path / "pair").mkdir()
    for rank in range(64):
        text = f"mpi-trace 1\nrank {rank} of 64\n{100 + 10 * rank} 0 barrier 0\n0 0 finalize\n"
        (tmp_path / "pair" / f"rank{rank}.txt").write_text(text)
    text = EXPERIMENT.replace("hosts = 2", "hosts = 64").partition("[[axis]]")
    figure = '[[figure]]\nname = "course"\nkind = "gantt"\n'
    (tmp_path / "course.toml").write_text(text[0] + figure)
    run = tmp_path / "results"
    arguments = ["run", str(tmp_path / "course.toml"), "--dir", str(run)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    results = deroute.load_results(run)
    (outcome,) = results.outcomes
    frame = outcome.jobs["pair"].timeline()
    assert frame is not None
    assert frame.filter(activity="computes")["rank"].to_list() == list(range(64))
    (table,) = figures.read_figures(results.experiment.figures, results.experiment.axes)
    drawn = gantt.draw(study(results), table)
    drawn.canvas.draw()
    (panel,) = drawn.axes
    assert panel.get_ylim() == (63.5, -0.5)
    points = 72 * panel.get_window_extent().height / drawn.dpi
    assert points / 64 >= 3


def test_the_critical_path_of_a_job_adds_up_to_its_time(run: Path) -> None:
    for outcome in deroute.load_results(run).outcomes:
        frame = outcome.jobs["pair"].path()
        (job,) = outcome.workload.jobs
        path = job.critical_path
        assert frame is not None
        assert frame["begin"].to_list() == [0, *frame["end"].to_list()[:-1]]
        assert frame["end"].to_list()[-1] == job.time
        parts = (path.compute, path.send, path.network, path.handshake, path.wait)
        assert sum(parts) == job.time
        assert frame["what"].to_list()[:2] == ["compute", "handshake"]
        first = frame.row(0, named=True)
        assert (first["rank"], first["from"], first["end"]) == (1, 1, max(job_computed(outcome)))
    shown = CliRunner().invoke(app, ["show", str(run)], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert "Critical paths, as shares of the time" in shown.output
    assert "compute, rank 1" in shown.output
    (file,) = plot_directory(run, ["svg"])
    assert "critical path" in file.read_text(encoding="utf-8")


def job_computed(outcome: deroute.Outcome) -> list[int]:
    return [int(cycles) for cycles in outcome.jobs["pair"].rank_computed]


def test_a_point_is_written_for_perfetto(run: Path) -> None:
    to = run.parent / "course.json"
    wanted = ["trace", "timeline", str(run), "--to", str(to)]
    several = CliRunner().invoke(app, wanted)
    assert several.exit_code == 2
    assert "names 2 finished points, not one" in several.output
    assert not to.exists()
    result = CliRunner().invoke(app, [*wanted, "--where", "compute=2"])
    assert result.exit_code == 0, result.output
    events = json.loads(to.read_text())["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    assert {event["args"]["name"] for event in events if event["ph"] == "M"} == {
        "pair",
        "rank 0",
        "rank 1",
    }
    assert next(bar["name"] for bar in bars if bar["tid"] == 0) == "computes"
    (last,) = deroute.load_results(run).outcomes[1:]
    ends = max(bar["ts"] + bar["dur"] for bar in bars)
    assert ends == pytest.approx(last.workload.makespan * last.cycle_ns / 1000)


def test_a_job_without_a_timeline_is_told_so(run: Path) -> None:
    file = run.parent / "course.toml"
    file.write_text(
        EXPERIMENT.replace("timeline = true\n", "").replace("critical_path = true\n", "")
    )
    results = run.parent / "without"
    result = CliRunner().invoke(app, ["run", str(file), "--dir", str(results)])
    assert "needs a job that keeps its timeline" in result.output
    to = run.parent / "none.json"
    wanted = ["trace", "timeline", str(results), "--to", str(to), "--where", "compute=1"]
    result = CliRunner().invoke(app, wanted)
    assert result.exit_code == 2
    assert "keeps its timeline" in result.output
    assert not to.exists()


def test_where_selects_a_point() -> None:
    command: Any = get_command(app)
    options = command.commands["trace"].commands["timeline"].params
    assert {each.name: each.help for each in options}["where"] == "Only points with this label."

"""The commands: what they print, what they leave, how they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from conftest import EXPERIMENT
from deroute.cli import COMMANDS, GROUPS, app, show
from deroute.frame import load_results
from deroute.store import FILE, Store


def call(*arguments: object, code: int = 0) -> Any:
    """Run a command in this process; no exception may escape."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def directory(experiment_file: Path, tmp_path: Path) -> Path:
    """Results of the small experiment."""
    where = tmp_path / "results"
    call("run", experiment_file, "--dir", where)
    return where


def test_run_makes_results_and_figures(experiment_file: Path, tmp_path: Path) -> None:
    where = tmp_path / "results"
    output = call("run", experiment_file, "--dir", where).output
    assert f"results: {where / FILE} (8 points)" in output
    assert f"figure: {where / 'latency.png'}" in output
    names = {"experiment.toml", "latency.pdf", "latency.png", "latency.svg", FILE}
    assert {file.name for file in where.iterdir()} == names
    assert (where / "experiment.toml").read_text() == EXPERIMENT


def test_run_again_repeats_nothing(experiment_file: Path, directory: Path) -> None:
    before = load_results(directory).frame
    connection = sqlite3.connect(directory / FILE)
    times = connection.execute("SELECT key, seconds FROM points").fetchall()
    output = call("run", experiment_file, "--dir", directory).output
    assert "8 of 8 points were done before" in output
    assert connection.execute("SELECT key, seconds FROM points").fetchall() == times
    assert load_results(directory).frame.equals(before)


def test_a_larger_experiment_runs_only_what_is_new(experiment_file: Path, directory: Path) -> None:
    experiment_file.write_text(EXPERIMENT.replace("values = [1, 2]", "values = [1, 2, 3]"))
    assert "8 of 12 points" in call("run", experiment_file, "--dir", directory).output
    assert load_results(directory).frame.height == 12


def test_results_of_another_experiment_are_not_taken_over(
    experiment_file: Path, directory: Path
) -> None:
    experiment_file.write_text(EXPERIMENT.replace('"small"', '"other"'))
    for command in ("check", "run"):
        output = call(command, experiment_file, "--dir", directory, code=2).output
        assert f"--dir: {directory} has results of 'small', not of 'other'" in output
    assert load_results(directory).experiment.name == "small"


def test_check_counts_points_and_probes(experiment_file: Path, directory: Path) -> None:
    output = call("check", experiment_file).output
    assert "8 (2 routing x 3 load x 2 seed less skipped ones); none done" in output
    assert "time" in output
    output = call("check", experiment_file, "--dir", directory).output
    assert "8 done, 0 to run" in output
    assert "MB" in output


def test_show_averages_over_seeds(directory: Path) -> None:
    output = call("show", directory, "--where", "routing=MIN").output
    assert "A small experiment" in output
    assert "offered and accepted in phits/host/cycle" in output
    assert "VLB" not in output
    rows = [line for line in output.splitlines() if " MIN " in line]
    assert len(rows) == 3
    # Accepted load and latency have intervals between the two seeds.
    assert all(row.count("±") == 2 for row in rows)


def test_show_counts_seeds_with_another_verdict(directory: Path) -> None:
    results = load_results(directory)
    first = pl.col("seed") == 1
    state = pl.when(first).then(pl.lit("saturated")).otherwise("verdict.state")
    frame = results.frame.with_columns(state.alias("verdict.state"))
    console = Console(width=200)
    with console.capture() as capture:
        console.print(show._table(results, frame, ()))
    rows = [line for line in capture.get().splitlines() if " MIN " in line]
    assert all("not-converged" in row and "1 of 2 saturated" in row for row in rows)


@pytest.mark.parametrize(("width", "shown"), [(120, True), (70, False)])
def test_show_leaves_out_columns_on_a_narrow_terminal(
    directory: Path, monkeypatch: pytest.MonkeyPatch, width: int, shown: bool
) -> None:
    monkeypatch.setattr(show.app, "out", lambda: Console(width=width))
    output = call("show", directory).output
    assert all(len(line) <= width for line in output.splitlines())
    assert "…" not in output
    assert all(word in output for word in ("accepted", "latency ns", "steady", "MIN"))
    assert ("hops" in output.splitlines()[1]) == shown
    assert ("Not shown, for want of width: Jain, hops" in output) != shown


def test_show_says_when_no_point_has_the_labels(directory: Path) -> None:
    labels = ["--where", "routing=VLB", "--where", "load=0.1"]
    assert "no finished point" in call("show", directory, *labels, code=2).output


def test_export_writes_every_format(directory: Path, tmp_path: Path) -> None:
    call("export", directory)
    call("export", directory, "--format", "csv", "--to", tmp_path / "table")
    frame = load_results(directory).frame
    assert pl.read_parquet(directory / "results.parquet").equals(frame)
    assert pl.read_csv(tmp_path / "table.csv").columns == frame.columns
    call("export", directory, "--format", "csv", "--to", tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "table.csv").read_bytes()


def test_plot_draws_the_chosen_formats(directory: Path) -> None:
    (directory / "latency.svg").unlink()
    (directory / "latency.pdf").unlink()
    assert "latency.svg" in call("plot", directory, "--format", "svg").output
    assert "error: --format: " in call("plot", directory, "--format", "gif", code=2).output
    assert not (directory / "latency.pdf").exists()


def test_point_prints_the_whole_result(experiment_file: Path) -> None:
    result = call("point", experiment_file, "--set", "traffic.load=0.1", "--json")
    document = json.loads(result.stdout)
    assert document["load"]["offered"] == 0.1
    assert len(document["arrays"]["injected_by_host"]) == 72
    result = call("point", experiment_file, "--where", "routing=VLB", "--where", "load=0.2")
    assert "load.offered" in result.stdout
    assert "cycles = " in result.stdout


def test_schema_is_json() -> None:
    assert json.loads(call("schema").stdout)["title"] == "Deroute experiment"


def test_every_command_has_help_with_an_example() -> None:
    for command in COMMANDS:
        assert f"deroute {command.__name__}" in call(command.__name__, "--help").output
    for group, (_, members) in GROUPS.items():
        for command in members:
            name = command.__name__
            assert f"deroute {group} {name}" in call(group, name, "--help").output
    assert "deroute check" in call("--help").output
    assert "deroute" in call("--version").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "nowhere.toml"], ["nowhere.toml", "No such file"]),
        (["check", "."], ["directory"]),
        (["show", "nowhere"], ["nowhere", "deroute run"]),
        (["point", "FILE", "--set", "traffic.lod=1"], ["traffic.lod", "did you mean: load"]),
        (["point", "FILE", "--set", "traffic.load=7"], ["traffic.load: 7", "0.0 to 1.0"]),
        (["point", "FILE", "--set", "traffic.load"], ["--set", "key=value"]),
        (["point", "FILE", "--set", "traffic.load.x=1"], ["traffic.load", "no entries"]),
        (["point", "FILE", "--set", "run.measure=15 KB"], ["run.measure", "ns"]),
        (["point", "FILE", "--where", "routing=XY"], ["--where", "MIN, VLB"]),
        (["point", "FILE", "--where", "route=XY"], ["--where", "routing, load, seed"]),
        (["run", "FILE", "--executor", "cloud"], ["cloud", "local, dask, slurm"]),
        (["run", "missing.toml", "--executor", "cloud"], ["cloud", "local, dask"]),
        (["run", "FILE", "--address", "tcp://a:1"], ["--address: belongs to --executor dask"]),
        (["saturation", "FILE", "--slurm", "time=9"], ["--slurm: belongs to --executor slurm"]),
        (["point", "FILE", "--where", "load=0.1", "--where", "load=0.2"], ["twice: 0.1 and 0.2"]),
        (["run", "fisrt"], ["did you mean: first"]),
        (["run", "FILE", "--jobs", "-1"], ["jobs"]),
        (["run", "FILE", "--jbs", "1"], ["--jbs"]),
        (["shw", "DIR"], ["shw"]),
        (["reproduce", "nonsense"], ["nonsense"]),
    ],
    ids=lambda value: " ".join(value) if "/" not in str(value) else None,
)
def test_bad_input_is_one_screen_and_exit_code_2(
    experiment_file: Path, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    places = {
        "FILE": str(experiment_file),
        "nowhere": str(tmp_path / "nowhere"),
        ".": str(tmp_path),
    }
    result = call(*(places.get(argument, argument) for argument in arguments), code=2)
    for word in words:
        assert word in result.output
    assert len(result.output.splitlines()) < 24


def test_mistakes_in_the_file_name_its_line(experiment_file: Path) -> None:
    experiment_file.write_text(EXPERIMENT.replace("to = 0.3", "to = 2.0"))
    for command in ("check", "run", "point"):
        arguments = ["--where", "load=1.5"] if command == "point" else []
        output = call(command, experiment_file, *arguments, code=2).output
        before, _, _ = experiment_file.read_text().partition("range =")
        line = before.count("\n") + 1
        assert f"{experiment_file}:{line}: axis[1].range: " in output


@pytest.mark.parametrize("command", ["show", "plot", "export", "run", "check"])
def test_a_half_written_store_is_reported(
    command: str, experiment_file: Path, directory: Path
) -> None:
    file = directory / FILE
    file.write_bytes(file.read_bytes()[:20_000])
    before = file.read_bytes()
    arguments = [experiment_file, "--dir"] if command in ("run", "check") else []
    output = call(command, *arguments, directory, code=2).output
    assert str(file) in output
    assert "left as it is" in output
    assert file.read_bytes() == before


#: Two jobs finish `a` and `b`, and then are busy for hours: whenever the run is stopped, there are
#: two points done, two begun and one not begun.
ENDLESS = (
    EXPERIMENT.partition("[[axis]]")[0]
    + """
[[axis]]
name = "run"
values = [
    { label = "a", set = { "run.seed" = 1 } },
    { label = "b", set = { "run.seed" = 2 } },
    { label = "c", set = { "run.seed" = 3, "run.measure" = 1_000_000_000 } },
    { label = "d", set = { "run.seed" = 4, "run.measure" = 1_000_000_000 } },
    { label = "e", set = { "run.seed" = 5, "run.measure" = 1_000_000_000 } },
]
"""
)


def _start(file: Path, directory: Path) -> subprocess.Popen[str]:
    # A shell that runs the tests in the background has them, and so the run, ignore SIGINT.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from deroute.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "run", str(file), "--dir", str(directory)]
    # Three points never end, and begin first.
    command += ["--jobs", "4"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def _stored(directory: Path) -> dict[str, float]:
    if not (directory / FILE).exists():
        return {}
    connection = sqlite3.connect(directory / FILE)
    try:
        return dict(connection.execute("SELECT key, seconds FROM points").fetchall())
    except sqlite3.OperationalError:
        return {}
    finally:
        connection.close()


def _wait_for_points(directory: Path, count: int, process: subprocess.Popen[str]) -> None:
    while len(_stored(directory)) < count:
        assert process.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_an_interrupted_run_continues(name: str, experiment_file: Path, tmp_path: Path) -> None:
    experiment_file.write_text(ENDLESS)
    where = tmp_path / "results"
    process = _start(experiment_file, where)
    _wait_for_points(where, 2, process)
    os.kill(process.pid, getattr(signal, name))
    try:
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    if name != "SIGKILL":
        assert process.returncode == {"SIGINT": 130, "SIGTERM": 143}[name]
        assert "Continue with the same command" in errors
        assert "Traceback" not in errors
    kept = _stored(where)
    assert len(kept) == 2
    experiment_file.write_text(ENDLESS.replace("1_000_000_000", "2000"))
    output = call("run", experiment_file, "--dir", where).output
    assert "2 of 5 points were done before" in output
    after = _stored(where)
    assert len(after) == 5
    # The same times: nothing was computed twice.
    assert after.items() >= kept.items()


def test_a_killed_run_gives_the_results_of_a_whole_one(
    experiment_file: Path, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    call("run", experiment_file, "--dir", whole)
    shutil.copytree(whole, killed)
    connection = sqlite3.connect(killed / FILE)
    connection.execute("DELETE FROM points WHERE rowid % 2")
    connection.commit()
    connection.close()
    call("run", experiment_file, "--dir", killed)
    assert load_results(killed).frame.equals(load_results(whole).frame)


def test_a_second_run_is_refused_in_one_line(experiment_file: Path, tmp_path: Path) -> None:
    where = tmp_path / "results"
    with Store.open(where, create=True):
        output = call("run", experiment_file, "--dir", where, code=2).output
    assert output.split() == f"error: another run is using {where}".split()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["show", "plot"])
def test_output_that_cannot_be_written_is_one_line(command: str, directory: Path) -> None:
    arguments = [sys.executable, "-m", "deroute", command, str(directory)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "No space left" in done.stderr

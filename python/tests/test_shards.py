"""Parts of an experiment at several places, and their results put together."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from conftest import EXPERIMENT
from deroute.cli import app
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.shards import Shard
from deroute.store import FILE, Store


def call(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    return result


def records(directory: Path) -> dict[str, tuple[str, str, bytes]]:
    """Everything but times."""
    with Store.open(directory) as store:
        return {each.key: (each.engine, each.outcome, each.arrays) for each in store.records()}


def test_parts_hold_every_point_once_and_cost_about_the_same(experiment_file: Path) -> None:
    points = Experiment.load(experiment_file).points
    weights = {point.key: 1.0 + index for index, point in enumerate(points)}
    for count in (1, 2, 3, len(points), len(points) + 2):
        parts = [Shard(n, count).of_points(points, weights) for n in range(1, count + 1)]
        keys = [point.key for part in parts for point in part]
        assert sorted(keys) == sorted(point.key for point in points)
        costs = [sum(weights[point.key] for point in part) for part in parts]
        if count <= 3:
            assert max(costs) - min(costs) <= max(weights.values())
        # The order in which they are named does not matter.
        mixed = Shard(1, count).of_points(points[::-1], weights)
        assert {point.key for point in mixed} == {point.key for point in parts[0]}


@pytest.mark.parametrize("text", ["0/2", "3/2", "1/0", "1", "a/b", "-1/2", "1/2/3", ""])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no part"):
        Shard.parse(text)


@pytest.mark.parametrize(("text", "parts"), [("0/3", 3), ("9/8", 8), ("1/0", 16), ("a", 16)])
def test_which_parts_there_are_is_told(text: str, parts: int) -> None:
    with pytest.raises(InputError, match=f"allowed: 1/{parts} to {parts}/{parts}, for {parts}"):
        Shard.parse(text)


def test_merged_parts_are_what_one_run_gives(experiment_file: Path, tmp_path: Path) -> None:
    whole, merged = tmp_path / "whole", tmp_path / "merged"
    call("run", experiment_file, "--dir", whole)
    parts = [tmp_path / f"part{n}" for n in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        told = call("run", experiment_file, "--dir", part, "--shard", f"{number}/3")
        assert "figure" not in told.output
    told = call("merge", *parts[:2], "--dir", merged)
    assert "are not finished" in told.output
    told = call("merge", *parts, "--dir", merged)
    assert "(8 points, 0 are not finished)" in told.output
    assert records(merged) == records(whole)
    assert (merged / "latency.png").exists()
    assert "0 results added, 8 were there" in call("merge", *parts, "--dir", merged).output
    # What is merged is a run like any other.
    again = call("run", experiment_file, "--dir", merged)
    assert "8 of 8 points were done before" in again.output


def test_what_does_not_belong_together_is_not_merged(experiment_file: Path, tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    call("run", experiment_file, "--dir", one, "--shard", "1/8")
    call("run", experiment_file, "--dir", two, "--shard", "1/8")
    file = tmp_path / "other.toml"
    file.write_text(EXPERIMENT.replace("packet_size = 10", "packet_size = 9"))
    call("run", file, "--dir", other, "--shard", "1/8")
    told = call("merge", one, other, "--dir", tmp_path / "all", code=2)
    assert "is not the experiment of" in told.output
    assert not (tmp_path / "all").exists()
    with sqlite3.connect(two / FILE) as connection:
        connection.execute("UPDATE points SET outcome = replace(outcome, 'steady', 'saturated')")
    told = call("merge", one, two, "--dir", tmp_path / "all", code=2)
    assert "has another result in" in told.output
    assert "no results here" in call("merge", tmp_path, "--dir", one, code=2).output

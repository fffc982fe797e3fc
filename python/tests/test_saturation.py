"""The search for the load at which networks saturate."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from conftest import EXPERIMENT
from deroute.analysis import Estimate
from deroute.cli import app
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.frame import load_results
from deroute.saturation import Measured, Search


def cut(text: str) -> str:
    """The experiment of all tests without its loads and skips, with one seed."""
    head, _, rest = text.partition("[[skip]]")
    text = head + rest[rest.index("[[figure]]") :]
    text = text.replace("range = { from = 0.1, to = 0.3, step = 0.1 }", "values = [0.5]")
    return text.replace("values = [1, 2]", "values = [1]")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["saturation", *arguments])


@pytest.mark.parametrize("knee", [1, 2, 37, 62, 98, 99, 100])
@pytest.mark.parametrize("plateau", [0.5, 0.9, 1.0])
def test_the_search_finds_every_knee_with_few_points(knee: int, plateau: float) -> None:
    """The network keeps up with `knee` hundredths, and accepts so much of that beyond."""
    search = Search.of(Experiment.from_document({"name": "x", "base": BASE}), 0.01, 1.0)
    known: dict[int, Measured] = {}
    while (step := search.next_step(known)) is not None:
        assert step not in known
        load, keeps_up = search.load(step), step <= knee
        accepted = load if keeps_up else plateau * knee / 100
        state = "steady" if keeps_up else "saturated"
        known[step] = Measured(load, Estimate(accepted), keeps_up, state, 1)
    found = search.knee({}, known)
    assert found.kept_up is not None
    assert round(100 * found.kept_up.load) == knee
    assert (found.fell_behind is None) == (knee == 100)
    assert found.fell_behind is None or round(100 * found.fell_behind.load) == knee + 1
    # A grid has 100. Few where the plateau tells the knee, and never many.
    assert len(known) <= (5 if plateau == 1.0 else 13)


BASE = {"traffic": {"load": 0.1}}


def test_a_search_goes_on_and_is_an_experiment(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(cut(EXPERIMENT))
    arguments = [str(file), "--dir", str(tmp_path / "out"), "--precision", "0.04", "--jobs", "2"]
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    table = pl.read_csv(tmp_path / "out" / "saturation.csv")
    knees = dict(zip(table["routing"], table["kept_up"], strict=True))
    # VLB uses two links where MIN uses one.
    assert 0.84 <= knees["MIN"] <= 0.96
    assert 0.36 <= knees["VLB"] <= 0.48
    width = table["fell_behind"] - table["kept_up"]
    assert width.to_list() == pytest.approx([0.04, 0.04])
    assert (table["throughput"] > 0.35).all()
    results = load_results(tmp_path / "out")
    points = results.frame.height
    assert points == table["loads"].sum()
    # A grid has 25 loads for each of the two.
    assert points <= 16
    assert f"points: {points}; a grid of the same loads has 50" in first.output
    assert not results.missing
    assert (tmp_path / "out" / "saturation.png").stat().st_size > 10_000
    # Nothing is left to run, and a narrower interval takes what is there for a beginning.
    again = run(*arguments)
    assert "points 0:00" not in again.output
    assert load_results(tmp_path / "out").frame.height == points
    arguments[arguments.index("0.04")] = "0.02"
    finer = run(*arguments)
    assert finer.exit_code == 0, finer.output
    table = pl.read_csv(tmp_path / "out" / "saturation.csv")
    assert (table["fell_behind"] - table["kept_up"]).to_list() == pytest.approx([0.02, 0.02])
    assert load_results(tmp_path / "out").frame.height <= points + 6


def test_seeds_are_one_point_and_curves_that_keep_up_are_told(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(cut(EXPERIMENT).replace("values = [1]", "values = [1, 2]"))
    done = run(str(file), "--dir", str(tmp_path / "out"), "--precision", "0.1", "--to", "0.3")
    assert done.exit_code == 0, done.output
    table = pl.read_csv(tmp_path / "out" / "saturation.csv")
    assert table["loads"].to_list() == [1, 1]
    assert table["fell_behind"].to_list() == [None, None]
    assert load_results(tmp_path / "out").frame.height == 4
    assert "above 0.3" in done.output


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    silent = Experiment.from_document({"name": "x", "base": {}})
    with pytest.raises(InputError, match="no load to vary"):
        Search.of(silent, 0.01, 1.0)
    loaded = Experiment.from_document({"name": "x", "base": BASE})
    for precision, highest in [
        (0.0, 1.0),
        (math.nan, 1.0),
        (0.01, 1.2),
        (0.1, 0.05),
        (0.1, math.nan),
    ]:
        with pytest.raises(InputError, match="out of range"):
            Search.of(loaded, precision, highest)


def test_the_highest_load_is_not_moved() -> None:
    loaded = Experiment.from_document({"name": "x", "base": BASE})
    assert Search.of(loaded, 0.1, 0.3).steps == 3
    for precision, highest, near in [(0.02, 0.55, ("0.54", "0.56")), (0.03, 1.0, ("0.99",))]:
        with pytest.raises(InputError, match="is no multiple of the precision") as caught:
            Search.of(loaded, precision, highest)
        assert caught.value.problems[0].choices == near

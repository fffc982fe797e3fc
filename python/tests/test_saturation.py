"""The search for the load at which networks saturate."""

from __future__ import annotations

import itertools
import math
import tomllib
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


def queue(load: float, knee: float, moved: tuple[float, ...] = ()) -> Measured:
    """What a network measures whose latency grows with its queues; some loads seem to fall behind
    that it keeps up with.
    """
    keeps_up = load <= knee and load not in moved
    state = "steady" if load <= knee else "saturated"
    latency = 100 + 10 * load / (knee + 0.001 - load) if load <= knee else math.nan
    return Measured(load, Estimate(min(load, 0.9 * knee)), keeps_up, state, 1, latency)


def searched(
    further: int, knee: float, moved: tuple[float, ...] = ()
) -> tuple[Search, dict[int, Measured], list[int]]:
    """A search, with what it has measured in the end, and the steps in their order."""
    search = Search.of(Experiment.from_document({"name": "x", "base": BASE}), 0.01, 1.0, further)
    known: dict[int, Measured] = {}
    order = []
    while (step := search.next_step(known)) is not None:
        assert step not in known
        known[step] = queue(search.load(step), knee, moved)
        order.append(step)
    return search, known, order


def test_figures_have_loads_where_curves_bend() -> None:
    """After the search, as many as are asked for; most of them below the knee."""
    bare = searched(0, 0.6)[2]
    search, known, order = searched(8, 0.6)
    assert order[: len(bare)] == bare
    added = order[len(bare) :]
    assert len(added) == 8
    assert added[0] == 6
    assert len([step for step in added if step < 60]) >= 5
    assert max(step for step in added) > 70
    # No long straight piece where latency grows.
    steep = [step for step in sorted(known) if 30 <= step <= 60]
    assert max(high - low for low, high in itertools.pairwise([30, *steep])) <= 15
    # Fewer of them are the first of more, and what is known is not run again.
    assert searched(5, 0.6)[2] == order[:-3]
    for done in range(len(order)):
        assert search.next_step({step: known[step] for step in order[:done]}) == order[done]


@pytest.mark.parametrize("knee", [0.01, 0.02, 0.05, 0.99, 1.0])
def test_figures_have_no_more_loads_than_there_are(knee: float) -> None:
    for further in (1, 9, 200):
        bare, order = searched(0, knee)[2], searched(further, knee)[2]
        assert len(order) == len(set(order)) == min(len(bare) + further, 101 - min(order))


def test_loads_of_figures_do_not_move_the_knee() -> None:
    """A low load has few packets: by chance some are not accepted in time."""
    search, known, order = searched(8, 0.6, moved=(0.06,))
    assert not known[6].keeps_up
    found = search.knee({}, known)
    assert found.kept_up is not None
    assert found.kept_up.load == 0.6
    assert found.loads == len(order)


def test_figures_over_the_load_are_drawn_with_further_loads(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    # The others need one load each, a seed of the file, or an axis of loads that all curves share.
    others = """
[[figure]]
name = "jain"
kind = "line"
y = "fairness.jain_routers"
panel = "routing"
[[figure]]
name = "bars"
kind = "fairness"
series = "routing"
where = { load = 0.5 }
[[figure]]
name = "one"
kind = "latency"
series = "routing"
where = { seed = 1 }
[[figure]]
name = "mix"
kind = "path-mix"
series = "routing"
"""
    file.write_text(cut(EXPERIMENT) + others)
    arguments = [str(file), "--dir", str(tmp_path / "out"), "--precision", "0.04", "--jobs", "2"]
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    bare = load_results(tmp_path / "out").frame.height
    knees = pl.read_csv(tmp_path / "out" / "saturation.csv").drop("loads")
    assert not (tmp_path / "out" / "latency.png").exists()
    done = run(*arguments, "--curve", "3")
    assert done.exit_code == 0, done.output
    drawn = {path.stem for path in (tmp_path / "out").glob("*.png")}
    assert drawn == {"latency", "jain", "saturation"}
    results = load_results(tmp_path / "out")
    assert [figure["name"] for figure in results.experiment.figures] == [
        "latency",
        "jain",
        "saturation",
    ]
    assert results.frame.height == bare + 6
    assert results.frame.group_by("routing").agg(pl.col("load").min())["load"].max() <= 0.08
    table = pl.read_csv(tmp_path / "out" / "saturation.csv")
    assert table.drop("loads").equals(knees)
    assert table["loads"].sum() == bare + 6
    again = run(*arguments, "--curve", "3")
    assert again.exit_code == 0, again.output
    assert load_results(tmp_path / "out").frame.height == bare + 6


def test_a_figure_of_the_name_of_that_of_the_search_takes_its_place() -> None:
    text = cut(EXPERIMENT).replace('name = "latency"', 'name = "saturation"')
    experiment = Experiment.from_document(tomllib.loads(text))
    search = Search.of(experiment, 0.1, 1.0, 2)
    (figure,) = search.document({0: [10], 1: [10]})["figure"]
    assert figure["kind"] == "latency"
    (figure,) = Search.of(experiment, 0.1, 1.0).document({0: [10], 1: [10]})["figure"]
    assert figure["kind"] == "throughput"


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

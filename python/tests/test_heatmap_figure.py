"""Heat maps, distributions, many series, and styles of the user's."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import synthetic
from conftest import EXPERIMENT
from deroute import plan
from deroute.cli import app
from deroute.errors import InputError
from deroute.figures import FigureError, distribution, draw, heatmap, read_figures
from deroute.figures.style import look, paper

LOADS = (0.1, 0.5, 0.9)
AXES: dict[str, Any] = {
    **{"traffic": ("UN",), "routing": ("MIN", "PB"), "load": LOADS, "seed": (1, 2)},
}


def table(**keys: object) -> Any:
    wanted = {"name": "fig", "kind": "heat-map", "series": "routing", "y": "latency.mean"} | keys
    wanted = {key: value for key, value in wanted.items() if value is not None}
    return read_figures([wanted], AXES)[0]


def study() -> Any:
    return synthetic.study(("MIN", "PB"), ("UN",), LOADS, (1, 2))


def test_cells_are_means_over_seeds_and_saturated_ones_have_no_latency() -> None:
    whole = study()
    figure = heatmap.draw(whole, table())
    panel = figure.axes[0]
    shown = np.ma.filled(panel.images[0].get_array().astype(float), np.nan)
    for row, routing in enumerate(("MIN", "PB")):
        for place, load in enumerate(LOADS):
            runs = whole.frame.filter((pl.col("routing") == routing) & (pl.col("load") == load))
            mean = np.mean(runs["latency.mean"].to_numpy())
            assert shown[row, place] == pytest.approx(mean / 1000) or (routing, load) == ("PB", 0.9)
    assert np.isnan(shown[1, 2])
    assert figure.axes[1].get_ylabel() == "Mean packet latency (\u00b5s)"
    assert len(panel.texts) == 5
    assert "grey: saturated, without a latency" in figure.texts[-1].get_text()
    assert [label.get_text() for label in panel.get_yticklabels()] == ["MIN", "PB"]


def test_a_load_is_shown_where_the_network_is_saturated() -> None:
    figure = heatmap.draw(study(), table(y="load.accepted", x="routing", series="load"))
    assert np.isfinite(figure.axes[0].images[0].get_array()).all()
    assert figure.axes[0].images[0].get_array().shape == (3, 2)


def test_a_heat_map_has_two_axes() -> None:
    with pytest.raises(FigureError, match="is missing: the axis of the rows"):
        heatmap.draw(study(), table(series=None, panel="routing"))
    with pytest.raises(FigureError, match=r"no number 'latency.men'"):
        heatmap.draw(study(), table(y="latency.men"))


def distributed(of: str) -> Any:
    return table(kind="distribution", y=None, of=of, where={"load": [0.5]})


def test_a_distribution_of_loads_counts_all_seeds() -> None:
    whole = study()
    (line, _) = distribution.draw(whole, distributed("routers")).axes[0].lines
    x, share = (np.asarray(part) for part in line.get_data())
    assert len(x) == 2 * synthetic.ROUTERS * synthetic.GROUPS
    assert (np.diff(x) >= 0).all()
    assert share[-1] == 1
    assert share[0] == 1 / len(x)


def test_a_distribution_of_latencies_goes_through_the_percentiles() -> None:
    whole = study()
    columns = {"min": 1, "p1": 10, "p50": 500, "p99": 900, "p99.9": 950, "max": 1000}
    frame = whole.frame.with_columns(
        pl.lit(value).alias(f"latency.{name}") for name, value in columns.items()
    )
    figure = distribution.draw(replace(whole, frame=frame), distributed("latency"))
    x, share = figure.axes[0].lines[0].get_data()
    assert list(x) == list(columns.values())
    assert list(share) == [0, 0.01, 0.5, 0.99, pytest.approx(0.999), 1]
    assert figure.get_supxlabel() == "Packet latency (ns)"


def test_a_distribution_of_links_needs_their_probe(tmp_path: Path) -> None:
    none = [SimpleNamespace(arrays=SimpleNamespace(link_use=np.zeros(0))) for _ in range(12)]
    with pytest.raises(FigureError, match=r"probes\.links"):
        distribution.draw(replace(study(), outcomes=none), distributed("links"))
    file = tmp_path / "a.toml"
    figure = '\n[[figure]]\nname = "links"\nkind = "distribution"\nof = "links"\n'
    text = EXPERIMENT + figure + 'series = "routing"\nwhere = { load = 0.2 }\n'
    file.write_text(text)
    with pytest.raises(InputError, match=r"needs `probes\.links`"):
        plan.check_file(file)
    file.write_text(text.replace("[[axis]]", "[base.probes]\nlinks = true\n[[axis]]", 1))
    plan.check_file(file)


def test_many_series_are_told_apart() -> None:
    looks = [look(index) for index in range(24)]
    assert len({(each.colour, each.marker, each.dashes) for each in looks}) == 24
    assert len({each.fill for each in looks}) == 24
    assert all(one != other for one, other in itertools.pairwise(looks))


def test_a_style_comes_after_that_of_the_house(tmp_path: Path) -> None:
    style = tmp_path / "journal.mplstyle"
    style.write_text(
        "# ours\nxtick.labelsize: 11  # more\n"
        "axes.prop_cycle: cycler('color', ['#102030', 'red'])\n"
    )
    draw(study(), table(), tmp_path / "house", ["svg"])
    draw(study(), table(), tmp_path / "ours", ["svg"], style)
    assert (tmp_path / "house.svg").read_bytes() != (tmp_path / "ours.svg").read_bytes()
    with paper(style):
        assert [look(index).colour for index in range(3)] == ["#102030", "#ff0000", "#102030"]
    assert look(0).colour == "#0072b2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("font.sise: 11\n", "journal.mplstyle:1: matplotlib has no `font.sise`"),
        ("font.size: 9\nfont.size: big\n", "journal.mplstyle:2: "),
        ("font.size 9\n", "is no `key: value`"),
        (None, "No such file"),
    ],
)
def test_a_style_that_is_wrong_is_told_with_its_line(
    text: str | None, words: str, tmp_path: Path, experiment_file: Path
) -> None:
    style = tmp_path / "journal.mplstyle"
    if text is not None:
        style.write_text(text)
    with pytest.raises(FigureError, match="--style") as caught:
        draw(study(), table(), tmp_path / "fig", ["png"], style)
    assert words in str(caught.value)


def test_the_command_takes_a_style(experiment_file: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runner = CliRunner()
    assert runner.invoke(app, ["run", str(experiment_file), "--dir", str(runs)]).exit_code == 0
    style = tmp_path / "wrong.mplstyle"
    style.write_text("no.such: 1\n")
    result = runner.invoke(app, ["plot", str(runs), "--style", str(style)])
    assert result.exit_code == 2
    assert "wrong.mplstyle:1" in result.output


def test_cells_that_are_too_small_for_numbers_have_dots_where_they_are_not_converged() -> None:
    loads = tuple(round(0.05 * place, 2) for place in range(1, 13))
    wide = synthetic.study(("MIN", "PB"), ("UN",), loads, (1, 2))
    doubtful = (
        pl.when(pl.col("load") == 0.1).then(pl.lit("not-converged")).otherwise(pl.lit("steady"))
    )
    frame = wide.frame.with_columns(doubtful.alias("verdict.state"))
    wanted = {"name": "fig", "kind": "heat-map", "series": "routing", "y": "latency.mean"}
    (read,) = read_figures([wanted], wide.axes)
    figure = heatmap.draw(replace(wide, frame=frame), read)
    (dots,) = figure.axes[0].collections
    assert dots.get_offsets().tolist() == [[1, 0], [1, 1]]
    assert list(figure.axes[0].texts) == []
    assert "dots: not converged" in figure.texts[-1].get_text()
    assert figure.axes[1].get_ylabel() == "Mean packet latency (ns)"

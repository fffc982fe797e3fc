"""Any column against any axis, told in units that a person reads."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import deroute
import synthetic
from deroute.figures import FigureError, draw, latency, layout, line, read_figures
from deroute.figures.line import title_of, unknown
from deroute.figures.style import paper, save

LOADS = tuple(round(0.05 * step, 2) for step in range(1, 20))


def table(**keys: object) -> Any:
    axes = {"traffic": ("UN",), "routing": ("MIN", "PB"), "load": LOADS, "seed": (1, 2)}
    wanted = {"name": "fig", "kind": "line", "series": "routing", "y": "load.accepted"} | keys
    return read_figures([wanted], axes)[0]


def study() -> Any:
    return synthetic.study(("MIN", "PB"), ("UN",), LOADS, (1, 2))


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_column_is_drawn_as_it_is() -> None:
    figure = line.draw(study(), table())
    (panel,) = (each for each in figure.axes if each.get_visible())
    drawn = [list(each.get_xdata()) for each in panel.get_lines()]
    assert all(x == list(LOADS) for x in drawn if len(x) == len(LOADS))
    assert figure.get_supylabel() == "Accepted load (phits/host/cycle)"
    assert texts(figure) == ["routing:", "MIN", "PB"]


def test_a_latency_leaves_out_saturated_points() -> None:
    figure = line.draw(study(), table(y="latency.mean"))
    panel = figure.axes[0]
    curves = [each for each in panel.get_lines() if len(each.get_xdata())]
    most = {each.get_label(): max(each.get_xdata()) for each in curves}
    assert most["PB"] == 0.65
    assert figure.get_supylabel() == "Mean packet latency (ns)"
    assert "carets: saturated from there on" in figure.texts[-1].get_text()


@pytest.mark.parametrize(
    ("cycle_ns", "unit"), [(1.0, "ns"), (10.0, "\u00b5s"), (20_000.0, "ms"), (2e7, "s")]
)
def test_latencies_have_a_unit_that_a_person_reads(cycle_ns: float, unit: str) -> None:
    whole = study()
    scaled = replace(whole, frame=whole.frame.with_columns(pl.lit(cycle_ns).alias("cycle_ns")))
    wanted = read_figures([{"name": "fig", "kind": "latency", "series": "routing"}], whole.axes)[0]
    figure = latency.draw(scaled, wanted)
    figure.draw_without_rendering()
    assert figure.get_supylabel() == f"Mean packet latency ({unit})"
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert not any("e" in label for label in labels)
    assert all(float(label.replace(",", "")) < 10_000 for label in labels if label)


def test_what_is_no_column_is_told_with_what_is(tmp_path: Path) -> None:
    with pytest.raises(FigureError, match=r"no number 'load.acepted'") as caught:
        draw(study(), table(y="load.acepted"), tmp_path / "fig", ["png"])
    assert "load.accepted" in caught.value.choices
    with pytest.raises(FigureError, match=r"no number 'verdict.state'"):
        draw(study(), table(y="verdict.state"), tmp_path / "fig", ["png"])
    with pytest.raises(FigureError, match="is missing"):
        read_figures([{"name": "fig", "kind": "line"}], {"load": LOADS})


def test_every_number_that_there_is_may_be_drawn(spec: dict[str, Any]) -> None:
    scalars = deroute.simulate(spec).scalars()
    numbers = [name for name, value in scalars.items() if not isinstance(value, str)]
    assert len(numbers) > 40
    assert [name for name in numbers if unknown(name) is not None] == []


@pytest.mark.parametrize("names", [False, True])
def test_labels_of_an_abscissa_do_not_touch(tmp_path: Path, names: bool) -> None:
    with paper():
        figure = Figure(figsize=(2.2, 2), layout="constrained")
        panel = figure.subplots()
        if names:
            panel.set_xticks(range(6), [f"a long name {index}" for index in range(6)])
        else:
            panel.plot([0, 1], [0, 1])
            panel.set_xticks([])
            panel.xaxis.set_major_locator(MaxNLocator(20))
        save(figure, tmp_path / "fig", ["png"])
        boxes = [each.get_window_extent() for each in panel.get_xticklabels() if each.get_text()]
        turned = {each.get_rotation() for each in panel.get_xticklabels()}
    if names:
        assert turned == {30.0}
    else:
        assert len(boxes) >= 2
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_labels_of_a_logarithmic_abscissa_do_not_touch(tmp_path: Path) -> None:
    with paper():
        figure = Figure(figsize=(3, 2), layout="constrained")
        panel = figure.subplots()
        panel.plot([1, 1e9], [0, 1])
        layout.logarithmic(panel, "x")
        save(figure, tmp_path / "fig", ["png"])
        least, most = panel.get_xlim()
        shown = [each for each in panel.get_xticklabels() if least < each.get_position()[0] < most]
        boxes = [each.get_window_extent() for each in shown]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
    assert [each.get_text() for each in shown] == ["1", "10,000", "100,000,000"]


@pytest.mark.parametrize(
    ("column", "title"),
    [
        ("latency.p99.9", "99.9th percentile of packet latency"),
        ("latency.p1", "1st percentile of packet latency"),
        ("links.global.mean", "links.global.mean"),
    ],
)
def test_columns_have_titles(column: str, title: str) -> None:
    assert title_of(column) == title


def test_a_flat_curve_is_shown_whole() -> None:
    """The room above a curve is a share of its height, and not of its range."""
    _, grid = layout.new_figure(1, 2, sharey=True)
    low, high = layout.flatten(grid)
    low.plot([1, 2], [0.2, 0.1])
    high.plot([1, 2], [0.499, 0.498])
    layout.from_zero([low, high])
    assert low.get_ylim() == high.get_ylim() == pytest.approx((0, 1.05 * 0.499))
    (empty,) = layout.flatten(layout.new_figure(1, 1)[1])
    layout.from_zero([empty])
    assert empty.get_ylim() == (0, 1)


@pytest.mark.parametrize("names", [3, 11])
def test_panels_keep_their_height_below_a_long_legend(names: int) -> None:
    figure, grid = layout.new_figure(1, 1)
    (panel,) = layout.flatten(grid)
    for number in range(names):
        panel.plot([0, 1], [0, number], label=f"a name that takes half of the width {number}")
    layout.heading(figure, layout.first_handles([panel]), "A title", "control")
    with paper(), warnings.catch_warnings():
        warnings.simplefilter("error")  # Of axes that collapse.
        figure.draw_without_rendering()
    assert panel.get_position().height * figure.get_figheight() > 1.3

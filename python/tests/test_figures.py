"""Figure tables are checked with useful errors; figures are deterministic and honest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import synthetic
from deroute.figures import CATALOGUE, FORMATS, FigureError, choose, draw, read_figures
from deroute.figures.latency import steady_part
from deroute.figures.table import FigureTable

AXES = {"traffic": ("UN", "ADV+1"), "routing": ("MIN", "PB"), "load": (0.1, 0.5), "seed": (1, 2)}

#: One valid table per kind.
EXAMPLES: dict[str, dict[str, object]] = {
    "latency": {"series": "routing", "panel": "traffic"},
    "throughput": {"series": "routing", "panel": "traffic"},
    "fairness": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "transient": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "path-mix": {"series": "routing", "panel": "traffic"},
}


def read(kind: str = "latency", axes: Any = AXES, **keys: object) -> FigureTable:
    """The checked table of a figure with these keys."""
    table = {"name": "fig", "kind": kind} | EXAMPLES.get(kind, {}) | keys
    return read_figures([table], axes)[0]


def small() -> Any:
    """A study with two of everything."""
    return synthetic.study(("MIN", "PB"), ("UN", "ADV+1"), (0.1, 0.5), (1, 2), series=True)


@pytest.mark.parametrize("kind", CATALOGUE)
def test_every_kind_draws_every_format_and_the_same_bytes_twice(kind: str, tmp_path: Path) -> None:
    study, table = small(), read(kind)
    first = [path.read_bytes() for path in draw(study, table, tmp_path / "a", FORMATS)]
    again = [path.read_bytes() for path in draw(study, table, tmp_path / "b", FORMATS)]
    assert first == again
    assert [path.suffix for path in sorted(tmp_path.glob("a.*"))] == [".pdf", ".png", ".svg"]
    assert b"<dc:date>" not in first[1]
    assert b"CreationDate" not in first[2]


@pytest.mark.parametrize(
    ("keys", "path", "choices"),
    [
        ({"kind": "latencies"}, "figure 'fig'.kind", list(CATALOGUE)),
        ({"colour": "red"}, "figure 'fig'.colour", None),
        ({"series": "rooting"}, "figure 'fig'.series", list(AXES)),
        ({"where": {"trafic": "UN"}}, "figure 'fig'.where.trafic", list(AXES)),
        ({"where": {"traffic": "ADV+2"}}, "figure 'fig'.where.traffic", ["UN", "ADV+1"]),
        ({"where": {"load": 0.3}}, "figure 'fig'.where.load", ["0.1", "0.5"]),
        ({"panel": "routing"}, "figure 'fig'", []),
        ({"y_max": "high"}, "figure 'fig'.y_max", []),
        ({"name": "a/b"}, "figure 'a/b'.name", []),
    ],
)
def test_wrong_tables_name_figure_key_value_and_choices(
    keys: dict[str, object], path: str, choices: list[str] | None
) -> None:
    with pytest.raises(FigureError) as caught:
        read(**keys)  # type: ignore[arg-type]
    assert caught.value.path == path
    if choices is not None:
        assert caught.value.choices == choices


def test_an_axis_that_is_not_drawn_must_be_fixed() -> None:
    with pytest.raises(FigureError, match="'load' is not drawn") as caught:
        read("fairness", where={})
    assert caught.value.choices == ["0.1", "0.5"]


def test_names_are_unique() -> None:
    table = {"name": "fig", "kind": "latency"} | EXAMPLES["latency"]
    with pytest.raises(FigureError, match="used twice"):
        read_figures([table, table], AXES)


def test_a_latency_curve_ends_before_the_first_saturated_point() -> None:
    points = pl.DataFrame(
        {"load": [0.1, 0.2, 0.3, 0.4], "state": ["steady", "not-converged", "saturated", "steady"]}
    )
    assert steady_part(points, along_load=True)["load"].to_list() == [0.1, 0.2]
    assert steady_part(points, along_load=False)["load"].to_list() == [0.1, 0.2, 0.4]


def test_an_unfinished_experiment_is_drawn_as_far_as_it_got(tmp_path: Path) -> None:
    study = small()
    half = study.frame.head(4)
    partly = type(study)(study.axes, half, study.outcomes[:4], "0", synthetic.ROUTERS)
    assert draw(partly, read(), tmp_path / "fig", ["png"])
    nothing = type(study)(study.axes, half.head(0), [], "0", synthetic.ROUTERS)
    with pytest.raises(FigureError, match="no finished point"):
        draw(nothing, read(), tmp_path / "fig", ["png"])


def test_fairness_needs_groups_and_transients_need_series(tmp_path: Path) -> None:
    study = small()
    flat = type(study)(study.axes, study.frame, study.outcomes, "0", None)
    with pytest.raises(FigureError, match="no groups"):
        draw(flat, read("fairness"), tmp_path / "fig", ["png"])
    without = synthetic.study(("MIN", "PB"), ("UN", "ADV+1"), (0.1, 0.5), (1, 2))
    with pytest.raises(FigureError, match="time series"):
        draw(without, read("transient"), tmp_path / "fig", ["png"])


def test_figures_are_chosen_by_name() -> None:
    tables = [read(name="one"), read(name="two")]
    assert choose(tables, []) == tables
    assert choose(tables, ["two"]) == tables[1:]
    with pytest.raises(FigureError, match="one, two"):
        choose(tables, ["three"])


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FigureError, match="png, svg, pdf"):
        draw(small(), read(), tmp_path / "fig", ["jpeg"])

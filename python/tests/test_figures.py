"""Figure tables are checked with useful errors; figures are deterministic and honest."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import synthetic
from deroute.experiment import Experiment
from deroute.figures import (
    CATALOGUE,
    FORMATS,
    FigureError,
    Study,
    agents,
    choose,
    congestion,
    draw,
    read_figures,
)
from deroute.figures.flow import course
from deroute.figures.path_mix import bar_width
from deroute.figures.style import paper
from deroute.figures.table import FigureTable
from deroute.plan import check_experiment
from deroute.spec import microseconds

GUIDE = Path(__file__).parents[2] / "docs" / "experiment-files.md"

AXES = {"traffic": ("UN", "ADV+1"), "routing": ("MIN", "PB"), "load": (0.1, 0.5), "seed": (1, 2)}

#: One valid table per kind.
EXAMPLES: dict[str, dict[str, object]] = {
    "latency": {"series": "routing", "panel": "traffic"},
    "throughput": {"series": "routing", "panel": "traffic"},
    "fairness": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "transient": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "flow": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "path-mix": {"series": "routing", "panel": "traffic"},
    "agents": {"state": "level", "series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "congestion": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "congestion-map": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "congestion-hosts": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "completion": {"panel": "traffic", "where": {"load": 0.5}},
    "flows": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "queues": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "rates": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "pauses": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "paused": {"series": "routing", "panel": "traffic", "where": {"load": 0.5}},
    "line": {"y": "load.accepted", "series": "routing", "panel": "traffic"},
    "streams": {"panel": "traffic", "where": {"load": 0.5}},
    "heat-map": {"y": "load.accepted", "series": "routing", "panel": "traffic"},
    "distribution": {
        **{"of": "routers", "series": "routing", "panel": "traffic"},
        "where": {"load": 0.5},
    },
}


def read(kind: str = "latency", axes: Any = AXES, **keys: object) -> FigureTable:
    """The checked table of a figure with these keys."""
    table = {"name": "fig", "kind": kind} | EXAMPLES.get(kind, {}) | keys
    return read_figures([table], axes)[0]


def small() -> Any:
    """A study with two of everything."""
    return synthetic.study(("MIN", "PB"), ("UN", "ADV+1"), (0.1, 0.5), (1, 2), series=True)


# These need a job that has run: test_applications.py, test_timeline.py and test_rails.py draw them.
OF_JOBS = ("ranks", "gantt", "bus_bandwidth")


@pytest.mark.parametrize("kind", [kind for kind in CATALOGUE if kind not in OF_JOBS])
def test_every_kind_draws_every_format_and_the_same_bytes_twice(kind: str, tmp_path: Path) -> None:
    study, table = small(), read(kind)
    first = [path.read_bytes() for path in draw(study, table, tmp_path / "a", FORMATS)]
    again = [path.read_bytes() for path in draw(study, table, tmp_path / "b", FORMATS)]
    assert first == again
    assert [path.suffix for path in sorted(tmp_path.glob("a.*"))] == [".pdf", ".png", ".svg"]
    assert b"<dc:date>" not in first[1]
    assert b"$" not in first[1], "mathematics that is not read as such"
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
        ({"panel": "routing"}, "figure 'fig'.panel", []),
        ({"y_max": "high"}, "figure 'fig'.y_max", []),
        ({"kind": "agents", "state": None}, "figure 'fig'.state", []),
        ({"kind": "agents", "rows": "hosts"}, "figure 'fig'.rows", ["routers", "states"]),
        ({"kind": "path-mix", "unit": "%"}, "figure 'fig'.unit", ["share", "load"]),
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


def drawn(study: Study, **keys: object) -> Figure:
    """The figure of a table, not saved."""
    table = read(**keys)  # type: ignore[arg-type]
    with paper():
        return CATALOGUE[table.kind].draw(study, table)


def footer(figure: Figure) -> str:
    """Text of the footer of a figure."""
    return next(text.get_text() for text in figure.texts if "Deroute" in text.get_text())


def test_footers_fit_and_explain_only_what_is_there() -> None:
    study = small()
    figure = drawn(study, kind="transient")
    assert "bands" in footer(figure)
    figure.draw_without_rendering()
    for text in figure.texts:
        assert text.get_window_extent().x1 <= figure.bbox.x1
    latency = footer(drawn(study, panel=None, where={"traffic": "UN"}))
    assert not any(word in latency for word in ("hollow", "carets", "arrows"))
    one = synthetic.study(("MIN", "PB"), ("UN", "ADV+1"), (0.1, 0.5), (1,), series=True)
    assert "bands" not in footer(drawn(one, kind="transient"))
    assert "error bars" not in footer(drawn(one, kind="fairness"))


def test_points_that_have_no_place_are_marked_at_the_top() -> None:
    study = synthetic.study(("MIN", "VLB lgl"), ("UN", "ADV+1"), (0.1, 0.5), (1, 2))
    axes = AXES | {"routing": ("MIN", "VLB lgl")}
    assert "carets" in footer(drawn(study, axes=axes))
    doubtful = study.frame.with_columns(pl.lit("not-converged").alias("verdict.state"))
    figure = drawn(replace(study, frame=doubtful), axes=axes, y_max=100)
    assert "arrows" in footer(figure)
    assert "hollow" in footer(figure)
    assert "carets" not in footer(figure)


def test_a_transient_figure_shows_when_the_traffic_changes() -> None:
    study = small()
    changed = replace(study, changes_us=[[2.0]] * len(study.outcomes), title="Costs $5 and $6")
    (legend,) = drawn(changed, kind="transient").legends
    assert "traffic changes" in [text.get_text() for text in legend.get_texts()]
    assert legend.get_title().get_text() == "Costs $5 and $6"
    assert not legend.get_title().get_parse_math()
    (legend,) = drawn(study, kind="transient").legends
    assert "traffic changes" not in [text.get_text() for text in legend.get_texts()]


def test_the_level_of_agents_is_a_mean_or_a_row_per_router() -> None:
    study = small()
    (left, right) = drawn(study, kind="agents").axes
    assert left.get_title(loc="left") == "UN"
    x, y = left.lines[0].get_data()
    # 100 cycles of 1 ns; before the first router rises, and after the last one has.
    assert (x[0], x[1]) == pytest.approx((-1.0, -0.9))
    assert (y[0], y[-1]) == (1.0, 2.0)
    assert right.get_xlim() == left.get_xlim()
    figure = drawn(study, kind="agents", rows="routers", to_us=2)
    assert "mean over the seeds" in footer(figure)
    panel = figure.axes[0]
    (colours,) = panel.collections
    assert colours.get_array().shape == (synthetic.ROUTERS, 40)
    assert [text.get_text() for text in panel.get_yticklabels()][-1] == "R11"
    assert figure.axes[-1].get_ylabel() == "ACOR level"
    assert panel.get_xlim()[1] == 2


def test_a_map_of_states_has_a_row_for_each_that_begins_so() -> None:
    figure = drawn(
        small(),
        kind="agents",
        rows="states",
        state="IL",
        panel=None,
        series=None,
        where={"load": 0.5, "traffic": "UN", "routing": "PB"},
    )
    panel = figure.axes[0]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["IL-1", "IL+1"]
    (colours,) = panel.collections
    below, above = colours.get_array()
    np.testing.assert_allclose(above, 2 * below)
    with pytest.raises(FigureError, match="no state 'IL'") as caught:
        drawn(small(), kind="agents", state="IL")
    assert caught.value.choices == ["level", "IL-1", "IL+1"]


def test_samples_of_runs_are_taken_together_from_the_first_common_one() -> None:
    study = small()
    late = study.outcomes[0].agents
    assert late is not None
    shorter = replace(late, start=-800, values=late.values[2:-5], mean=late.mean[2:-5])
    outcomes: Any = [study.outcomes[0], SimpleNamespace(agents=shorter, cycle_ns=1.0)]
    found = agents.record(outcomes, read("agents"))
    assert (found.time_us[0], len(found.time_us)) == (-0.8, 33)
    assert np.isfinite(found.values.mean).all()
    assert found.values.ci95 == pytest.approx(0)


def test_paths_of_one_group_in_load() -> None:
    study = small()
    arrays = study.outcomes[0].arrays
    for outcome in study.outcomes:
        outcome.arrays.paths_by_router[synthetic.ROUTERS :] = 0
    keys: dict[str, Any] = {"kind": "path-mix", "x": "router", "series": None, "panel": None}
    keys["where"] = {"load": 0.1, "routing": "MIN", "traffic": "UN"}
    heights = []
    for group in (0, 1):
        (panel,) = drawn(study, **keys, group=group, unit="load").axes
        heights.append(sum(float(bar.get_height()) for bar in panel.patches))
    loads = np.mean([each.arrays.injected_by_router[:12].sum() for each in study.outcomes[:2]])
    assert arrays.path_kinds[0] == "minimal"
    assert heights == pytest.approx([loads, 0])


def test_bars_of_completion_are_the_times_of_jobs() -> None:
    study = small()
    (left, _) = drawn(study, kind="completion").axes
    assert [text.get_text() for text in left.get_xticklabels()] == ["MIN", "PB"]
    bars = [float(bar.get_height()) for bar in left.patches]
    assert bars == pytest.approx([20 * 0.53, 20 * 0.57])
    assert left.get_title(loc="left") == "UN"
    for keys, times in (
        ({"job": "first"}, [5.3, 5.7]),
        ({"job": "first", "of": "communication"}, [5.25, 5.65]),
        ({"job": "second", "of": "iteration"}, [5.3, 5.7]),
    ):
        left, _ = drawn(study, kind="completion", **keys).axes
        assert [float(bar.get_height()) for bar in left.patches] == pytest.approx(times)
    with pytest.raises(FigureError, match="there are several") as caught:
        drawn(study, kind="completion", of="iteration")
    assert caught.value.choices == ["first", "second"]


def test_bars_of_streams_stand_beside_what_they_offer() -> None:
    figure = drawn(small(), kind="streams")
    (left, _) = figure.axes
    assert [text.get_text() for text in left.get_xticklabels()] == ["MIN", "PB"]
    assert [float(bar.get_height()) for bar in left.patches] == pytest.approx([25, 25, 50, 50])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["victim", "culprits"]
    offered: list[Any] = [each.get_segments()[0] for each in left.collections]
    assert {float(line[0][1]) for line in offered if len(line) == 2} >= {50.0}


def test_bars_of_what_has_not_ended_are_marked() -> None:
    study = small()
    ended = study.frame.with_columns(pl.lit("completed").alias("verdict.state"))
    figure = drawn(replace(study, frame=ended), kind="completion")
    assert "hatched" not in footer(figure)
    half = pl.when(pl.col("routing") == "MIN").then(pl.lit("unfinished")).otherwise("verdict.state")
    figure = drawn(
        replace(study, frame=ended.with_columns(half.alias("verdict.state"))),
        kind="completion",
        x="routing",
        series=None,
    )
    assert "hatched" in footer(figure)
    first, second = figure.axes[0].patches
    assert (first.get_hatch(), second.get_hatch()) == ("////", None)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == [">10.6", "11.4"]


def test_bars_are_neither_hairlines_nor_walls() -> None:
    assert bar_width(np.array([0.0, 0.001, 1.0])) == pytest.approx(0.015)
    assert bar_width(np.array([0.0, 1.0])) == pytest.approx(0.15)
    assert bar_width(np.array([0.0, 0.1, 0.2, 1.0])) == pytest.approx(0.086)


def test_times_of_changes_in_every_unit() -> None:
    times = [microseconds(time, 2.0) for time in (500, "5 us", " 5us", "700 ns", "0.5 ms", "6 m")]
    assert times == pytest.approx([1.0, 5.0, 5.0, 0.7, 500.0, 0.03])


def test_the_guide_shows_valid_experiments() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    documents = [tomllib.loads(block) for block in blocks]
    whole = [document for document in documents if "name" in document]
    assert whole
    for document in whole:
        check_experiment(Experiment.from_document(document))
    for table in (table for document in documents for table in document.get("figure", [])):
        read_figures([table], {"routing": ("VLB", "PB"), "load": (0.3,), "seed": (1,)})


def test_the_guide_names_every_kind_and_key() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for kind in CATALOGUE.values():
        assert all(f"`{word}`" in text for word in (kind.name, *kind.options))


def test_congestion_is_drawn_against_time() -> None:
    (left, _) = drawn(small(), kind="congestion", value="depth").axes
    x, y = left.lines[0].get_data()
    assert x.tolist() == pytest.approx([-0.2, -0.1, 0.0, 0.1, 0.2])
    assert y.tolist() == [0, 1, 2, 3, 4]
    # 100 n phits are held in sample n, and 50 more are queued at a load of 0.5.
    (left, _) = drawn(small(), kind="congestion").axes
    held = left.lines[0].get_data()[1]
    assert held.tolist() == pytest.approx([100 * n / (n + 0.5) for n in range(5)])


def test_a_congestion_map_shows_the_trees_of_one_moment() -> None:
    def stars(panel: Any) -> list[tuple[float, float]]:
        found = [line.get_data() for line in panel.lines if line.get_marker() == "*"]
        return [(float(x[0]), float(y[0])) for x, y in found]

    late, early = drawn(small(), kind="congestion-map"), drawn(
        small(), kind="congestion-map", at_us=0.02
    )  # fmt: skip
    assert "0.2 µs" in late.axes[0].get_title(loc="left")
    assert "0 µs" in early.axes[0].get_title(loc="left")
    assert (len(stars(late.axes[0])), len(stars(early.axes[0]))) == (2, 1)
    # The largest tree is drawn last.
    assert stars(late.axes[0])[-1] == stars(early.axes[0])[0]
    huge = [synthetic.spec(p=1, a=8, h=4)] * len(small().outcomes)
    with pytest.raises(FigureError, match="too many to draw"):
        drawn(replace(small(), specs=huge), kind="congestion-map")


def test_congestion_figures_need_the_probe() -> None:
    outcome: Any = SimpleNamespace(congestion=None)
    with pytest.raises(FigureError, match="congestion trees"):
        congestion.series(outcome)


def test_flow_is_the_accepted_load_of_every_bin() -> None:
    study = synthetic.study(("MIN",), ("UN",), (0.5,), (1, 2), series=True)
    times, load = course(study.outcomes)
    # 200 packets of 10 phits in 100 cycles from 360 hosts; none in the first bin.
    assert load.mean == pytest.approx([0] + 59 * [2000 / (100 * 360)])
    assert times[:2] == pytest.approx([-0.95, -0.85])

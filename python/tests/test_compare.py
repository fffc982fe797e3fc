"""Two series beside each other: what is said of a difference is there."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from conftest import EXPERIMENT
from deroute import analysis, diff
from deroute.cli import compare as command
from deroute.compare import compare, quantile
from deroute.units import number, time
from test_cli import call

LOADS = [0.1, 0.2, 0.3, 0.4, 0.5]


def curve(
    latency: list[float],
    accepted: list[float] | None = None,
    *,
    noise: float = 0.001,
    seeds: int = 5,
    random: np.random.Generator | None = None,
) -> pl.DataFrame:
    """Rows of a curve, with noise between the seeds."""
    random = random or np.random.default_rng(1)
    rows = []
    for index, load in enumerate(LOADS):
        taken = load if accepted is None else accepted[index]
        for seed in range(seeds):
            rows.append(
                {
                    "load": load,
                    "seed": seed,
                    "cycle_ns": 1.0,
                    "verdict.state": "saturated" if taken < 0.98 * load else "steady",
                    "latency.mean": latency[index] * (1 + noise * random.standard_normal()),
                    "latency.ci95": 0.01 * latency[index],
                    "latency.p99": 2 * latency[index],
                    "latency.histogram_error": 0.01,
                    "load.offered": load,
                    "load.attempted": load,
                    "load.accepted": taken * (1 + 0.001 * random.standard_normal()),
                    "load.accepted_ci95": 0.001,
                }
            )
    return pl.DataFrame(rows)


FLAT = [500.0] * 5


def verdict(one: pl.DataFrame, other: pl.DataFrame) -> str:
    return compare(one, other, "load", names=("A", "B")).verdict


def test_quantiles_are_those_of_tables() -> None:
    for degrees in (1, 2, 5, 10, 30):
        assert quantile(0.975, degrees) == pytest.approx(analysis.student_975(degrees), rel=1e-3)
    assert quantile(0.9995, 4) == pytest.approx(8.610, rel=1e-3)
    assert quantile(0.9995, 1) == pytest.approx(636.62, rel=1e-2)
    assert quantile(0.995, None) == pytest.approx(2.5758, rel=1e-4)


def test_what_hosts_did_not_attempt_is_not_missing() -> None:
    """A run at a low load offers a few percent less than asked, by chance."""
    frames = [
        curve([500.0] * 5, [0.97 * load for load in LOADS]).with_columns(
            pl.lit("steady").alias("verdict.state"),
            (0.97 * pl.col("load")).alias("load.attempted"),
        )
        for _ in range(2)
    ]
    assert verdict(*frames).endswith("neither saturates")


def test_a_difference_is_told_where_it_is() -> None:
    less = [450.0, 450.0, 450.0, 500.0, 500.0]
    text = verdict(curve(FLAT), curve(less, random=np.random.default_rng(2)))
    assert text == "9.9 to 10% less latency up to load 0.3, neither saturates"
    text = verdict(curve(FLAT), curve([500, 500, 550, 600, 500], random=np.random.default_rng(2)))
    assert text.startswith("10 to 20% more latency from load 0.3 to 0.4,")
    text = verdict(curve(FLAT), curve([550.0] * 5))
    assert text.startswith("10% more latency at every load,")


def test_a_difference_in_throughput_names_the_loads() -> None:
    one = curve(FLAT, [0.1, 0.2, 0.3, 0.3, 0.3])
    other = curve(FLAT, [0.1, 0.2, 0.3, 0.39, 0.39])
    # Both fall behind at the same load.
    assert verdict(one, other).endswith(", 30% more throughput")
    whole = curve(FLAT)
    text = verdict(one, whole)
    assert "at least 67% more throughput (saturated not at all, the reference at load 0.4)" in text
    assert "no difference in throughput" in verdict(one, curve(FLAT, [0.1, 0.2, 0.3, 0.3, 0.301]))


def test_saturated_points_have_no_latency_to_compare() -> None:
    one = curve([500, 500, 500, 9000, 9000], [0.1, 0.2, 0.3, 0.3, 0.3])
    found = compare(one, curve([450.0] * 5), "load", names=("A", "B"))
    assert [each.percent is None for each in found.differences["latency"]] == [False] * 3 + [
        True
    ] * 2
    assert found.verdict.startswith("10% less latency up to load 0.3,")


def test_what_is_small_or_unknown_does_not_matter() -> None:
    near = curve([502.0] * 5, random=np.random.default_rng(2))
    assert "no difference in latency" in verdict(curve(FLAT), near)
    single = curve(FLAT, seeds=1), curve([505.0] * 5, seeds=1)
    # 1%, and 1% of either in squares, wide enough for five: sqrt(2) 2.576 / 1.960.
    assert "no difference in latency (less than 2.9%)" in verdict(*single)
    vague = [each.with_columns(pl.lit(100.0).alias("latency.ci95")) for each in single]
    assert "whether latency differs is open (up to " in verdict(*vague)
    assert "10% more latency" in verdict(curve(FLAT, seeds=1), curve([550.0] * 5, seeds=1))


def test_places_that_only_one_has_are_named() -> None:
    found = compare(
        curve(FLAT), curve(FLAT).filter(pl.col("load") != 0.3), "load", names=("A", "B")
    )
    assert list(found.unmatched) == [0.3]


def test_curves_without_a_common_place_cannot_be_compared() -> None:
    low = curve(FLAT).filter(pl.col("load") < 0.3)
    high = curve(FLAT, [0.1, 0.2, 0.2, 0.2, 0.2]).filter(pl.col("load") > 0.3)
    assert verdict(low, high) == "no load is in both"


def test_a_network_that_accepts_nothing_does_not_keep_up() -> None:
    nothing = curve(FLAT, [0.0] * 5)
    assert verdict(nothing, nothing).endswith("cannot be compared: the reference accepts nothing")


@pytest.mark.parametrize("seeds", [2, 3, 6])
def test_equals_hardly_ever_seem_to_differ(seeds: int) -> None:
    """500 series of equals: not in more than 5% of them a point that matters (and 3 sigma)."""
    random = np.random.default_rng(seeds)
    wrong = 0
    for _ in range(300):
        pair = [curve(FLAT, noise=0.05, seeds=seeds, random=random) for _ in range(2)]
        found = compare(*pair, "load", names=("A", "B"))
        wrong += any(each.matters for each in found.differences["latency"])
    assert wrong <= 0.05 * 300 + 3 * (0.05 * 0.95 * 300) ** 0.5


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that differ in the pipeline of their switches."""
    where = tmp_path_factory.mktemp("runs")
    every = EXPERIMENT.replace('[[skip]]\nrouting = "VLB"\nload = [0.1, 0.3]\n', "")
    for name, pipeline in (("short", "90 ns"), ("long", "150 ns")):
        text = every.replace('"small"', f'"{name}"').replace("90 ns", pipeline)
        (where / f"{name}.toml").write_text(text.replace("[1, 2]", "[1, 2, 3]"))
        call("run", where / f"{name}.toml", "--dir", where / name)
    return where


def test_two_runs(runs: Path, tmp_path: Path) -> None:
    output = call("compare", runs / "short", runs / "long", "--dir", tmp_path / "new").output
    assert "long beside short, routing = MIN: " in output
    assert "more latency at every load" in output
    assert 'network.switch.combined_queued.pipeline  "90 ns"  ->  "150 ns"' in output
    for name in ("compare-latency.png", "compare-throughput.svg", "compare-latency.pdf"):
        assert (tmp_path / "new" / name).stat().st_size > 5000
    assert "more latency at every load" in call("compare", runs / "short", runs / "long").output


def test_series_of_one_run(runs: Path) -> None:
    document = json.loads(call("compare", runs / "short", "--json").output)
    assert (document["by"], document["x"], document["reference"]) == ("routing", "load", "MIN")
    (series,) = document["series"]
    assert [point["x"] for point in series["points"]["latency"]] == [0.1, 0.2, 0.3]
    assert all(point["matters"] for point in series["points"]["latency"])
    assert "more latency at every load" in series["verdict"]
    assert {"path": "routing.minimal", "reference": "{}", "other": "-"} in document["changes"][
        "VLB"
    ]
    turned = call("compare", runs / "short", "--reference", "VLB").output
    assert "MIN beside VLB: " in turned
    assert "less latency at every load" in turned
    one = call("compare", runs / "short", "--by", "load", "--x", "routing", "--json").output
    assert json.loads(one)["reference"] == "0.1"
    assert "more latency at every seed" in call("compare", runs / "short", "--x", "seed").output


def test_single_points_are_drawn_as_well(runs: Path, tmp_path: Path) -> None:
    call("compare", runs / "short", "--where", "load=0.2", "--dir", tmp_path / "one")
    assert (tmp_path / "one" / "compare-distribution.png").stat().st_size > 5000


def test_runs_without_a_common_load_have_no_table(runs: Path) -> None:
    text = (runs / "short.toml").read_text().replace("from = 0.1, to = 0.3", "from = 0.4, to = 0.5")
    (runs / "far.toml").write_text(text.replace('"short"', '"far"'))
    call("run", runs / "far.toml", "--dir", runs / "far")
    output = call("compare", runs / "short", runs / "far").output
    assert "far beside short, routing = VLB: no load is in both" in output
    assert "Only one of them has load 0.4, 0.5, 0.1, 0.2, 0.3" in output
    assert "difference" not in output


@pytest.mark.parametrize(
    ("width", "less"),
    [(160, ""), (110, "throughput"), (80, "throughput, p99 latency"), (30, None)],
)
def test_a_narrow_terminal_has_fewer_metrics_and_whole_values(
    runs: Path, monkeypatch: pytest.MonkeyPatch, width: int, less: str | None
) -> None:
    monkeypatch.setattr(command.app, "out", lambda: Console(width=width))
    lines = call("compare", runs / "short").output.splitlines()
    assert all(len(line) <= width or line.startswith("VLB beside") for line in lines)
    table = lines[: lines.index("")]
    assert "…" not in "".join(table)
    assert [line[2:5] for line in table if line.startswith("  0.")] == ["0.1", "0.2", "0.3"]
    if less is not None:
        said = [line for line in table if line.startswith("Not shown")]
        assert said == ([f"Not shown, for want of width: {less}"] if less else [])


def test_metrics_that_say_nothing_give_way_first(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = curve([9000.0] * 5, [0.05] * 5)
    found = compare(one, curve(FLAT), "load", names=("A", "B"))
    console = Console(width=80)
    with console.capture() as capture:
        command._print_table(console, found)
    assert "throughput: A" in capture.get()
    assert "want of width: p99 latency, latency" in capture.get()


def test_mistakes(runs: Path, tmp_path: Path) -> None:
    for arguments, word in [
        (("--by", "router"), "unknown axis `router`"),
        (("--reference", "PB"), "no label 'PB'"),
        (("--x", "size"), "unknown axis `size`"),
        (("--where", "load=7"), "no label '7'"),
        (("--where", "load=0.1", "--where", "load=0.3"), "load is given twice: 0.1 and 0.3"),
        (("--where", "routing=MIN", "--where", "load=0.1"), "--by"),
        ((runs / "short",), "named twice"),
        ((tmp_path,), "there are no results"),
        ((runs / "long", "--by", "routing"), "--by"),
    ]:
        assert word in call("compare", runs / "short", *arguments, code=2).output


def test_specs_differ_where_they_do() -> None:
    one = {"a": {"b": 1, "c": [1, {"d": True}]}, "only": "x"}
    other = {"a": {"b": 2, "c": [1, {"d": False}]}, "new": {"e": []}}
    assert diff.differences(one, other) == [
        ("a.b", "1", "2"),
        ("a.c[1].d", "true", "false"),
        ("only", '"x"', "-"),
        ("new", "-", "{ e = [] }"),
    ]
    assert diff.differences(one, one) == []


def test_a_long_value_is_whole_but_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    changes = diff.differences({"hosts": list(range(50))}, {"hosts": 1})
    assert changes[0][1].endswith("48, 49]")
    command._print_changes({"few": changes})
    assert "..." in capsys.readouterr().out


def test_units_that_a_person_reads() -> None:
    assert [time(ns) for ns in (0, 0.5, 471.3, 999.96, 5160, 5.16e6, 7.2e10)] == [
        "0 ns",
        "0.500 ns",
        "471 ns",
        "1,000 ns",
        "5.16 \u00b5s",
        "5.16 ms",
        "72.0 s",
    ]
    assert [number(value) for value in (0.00123, 0.512, 12345.6, 1e-9, float("nan"))] == [
        "0.00123",
        "0.512",
        "12,346",
        "1.00e-09",
        "-",
    ]


def test_points_without_an_interval_hide_none_that_have_one() -> None:
    one, other = curve(FLAT), curve(FLAT, random=np.random.default_rng(2))
    rows = pl.col("load") == LOADS[0]
    frames = [
        pl.concat(
            [
                frame.filter(rows).head(1).with_columns(pl.lit(math.nan).alias("latency.ci95")),
                frame.filter(~rows),
            ]
        )
        for frame in (one, other)
    ]
    assert "nan" not in verdict(*frames)

"""Streams of traffic on the command line and in Python: results, tables, figures, mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import deroute
from conftest import EXPERIMENT, ROOT
from deroute import SpecError, _engine
from deroute.cli import app
from deroute.figures import streams
from deroute.frame import load_results
from deroute.results import Outcome
from deroute.spec import canonical

STREAMS = [
    {
        "name": "culprits",
        "hosts": {"from": 4, "to": 7},
        "load": 0.45,
        "destinations": {"any": [0]},
        "start": "500 ns",
        "stop": "1500 ns",
    },
    {"name": "victim", "hosts": [70], "load": 0.5, "pattern": "uniform"},
]

TABLES = """
[[base.traffic.stream]]
name = "one"
hosts = { from = 0, to = 20 }
load = 0.2
pattern = "uniform"
[[base.traffic.stream]]
name = "two"
hosts = [70]
load = 0.6
destinations = { any = [3] }
start = 500
[base.probes]
series = 500
"""


@pytest.fixture
def outcome(spec: dict[str, Any]) -> Outcome:
    """Four hosts to one for half of the measurement, and another one all the time."""
    spec["traffic"] |= {"load": 0, "stream": STREAMS}
    spec["probes"] = {"series": 250}
    return deroute.simulate(spec)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """The small experiment with streams, whose figures are split by them."""
    text = EXPERIMENT.replace("[base.run]", TABLES + "[base.run]")
    text = text.replace('series = "routing"', 'split = "stream"\npanel = "routing"')
    for kind in ("throughput", "flow"):
        where = "where = { load = 0.2 }\n" if kind == "flow" else ""
        text += f'[[figure]]\nname = "{kind}"\nkind = "{kind}"\nsplit = "stream"\n'
        text += f'panel = "routing"\n{where}'
    file = tmp_path / "streams.toml"
    file.write_text(text)
    return file


def call(*arguments: object, code: int = 0) -> str:
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_streams_are_objects_frames_and_series(outcome: Outcome) -> None:
    victim, culprits = outcome.stream("victim"), outcome.stream("culprits")
    assert (victim.hosts, culprits.hosts, victim.service_class) == (1, 4, 0)
    assert victim.load.offered == pytest.approx(0.5)
    assert culprits.load.offered == pytest.approx(0.45 / 2)
    assert victim.slowdown.mean >= 1
    frame = outcome.to_polars("streams")
    assert frame["stream"].to_list() == ["culprits", "victim"]
    assert frame["accepted"].to_list() == [culprits.load.accepted, victim.load.accepted]
    series = outcome.stream_series["culprits"]
    assert series.packets.sum() == culprits.packets.measured
    assert (series.packets[:2] == 0).all()
    assert series.packets[3] > 0
    flat = outcome.scalars()
    assert flat["streams.victim.load.accepted"] == victim.load.accepted
    assert flat["streams.culprits.slowdown.p99"] == culprits.slowdown.percentiles[4].ratio


def test_the_guide_reads_streams_as_it_says(outcome: Outcome) -> None:
    guide = (ROOT / "docs" / "experiment-files.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    names: dict[str, Any] = {"outcome": outcome}
    exec(next(block for block in blocks if "outcome.stream(" in block), names)
    assert names["victim"] == outcome.stream("victim")


def test_the_json_is_that_of_the_engine(outcome: Outcome, spec: dict[str, Any]) -> None:
    scalars, arrays = _engine.simulate(canonical(spec))
    written = json.loads(json.dumps(outcome.to_json()["streams"]))
    document = json.loads(scalars)["streams"]
    for stream in document:
        columns = ("packets", "phits", "latency_sum", "nonminimal")
        name = f"streams.{stream['name']}"
        stream["series"] = {column: arrays[f"{name}.{column}"].tolist() for column in columns}
    assert written == document


def test_order_is_part_of_a_result(spec: dict[str, Any]) -> None:
    plain = deroute.simulate(spec)
    assert plain.resequencing is None
    assert "resequencing.held" not in plain.scalars()
    spec["network"]["nic"]["resequencing"] = {}
    spec["routing"] = {"valiant": {}}
    used = deroute.simulate(spec)
    assert used.resequencing is not None
    assert used.scalars()["resequencing.held"] == used.resequencing.held > 0


def test_a_result_without_streams_has_none(spec: dict[str, Any]) -> None:
    plain = deroute.simulate(spec)
    assert (plain.streams, plain.stream_series) == ([], {})
    with pytest.raises(ValueError, match=r"no streams \(traffic.stream\)"):
        plain.to_polars("streams")


def test_figures_and_tables_show_streams(experiment: Path, tmp_path: Path) -> None:
    where = tmp_path / "results"
    output = call("run", experiment, "--dir", where)
    for name in ("latency", "throughput", "flow"):
        assert f"figure: {where / name}.png" in output
        drawn = (where / f"{name}.svg").read_text()
        assert "one" in drawn
        assert "two" in drawn
    table = call("show", where)
    rows = [line.split() for line in table.split("Streams")[1].splitlines()]
    found = [row for row in rows if row[:3] == ["MIN", "0.2", "one"]]
    frame = load_results(where).frame.filter(routing="MIN", load=0.2)
    accepted = frame["streams.one.link_share.accepted"].mean()
    assert len(found) == 1
    assert f"{accepted:.3f}" in found[0]


def test_a_stream_is_judged_for_itself(experiment: Path, tmp_path: Path) -> None:
    where = tmp_path / "results"
    call("run", experiment, "--dir", where)
    frame = load_results(where).frame.with_columns(
        **{
            "verdict.state": pl.lit("saturated"),
            "streams.one.load.attempted": pl.col("streams.one.load.accepted"),
        }
    )
    one, two = streams.rows(frame, "one"), streams.rows(frame, "two")
    assert set(one["verdict.state"]) == {"steady"}
    assert two["load.accepted"].equals(frame["streams.two.load.accepted"], check_names=False)
    assert streams.rows(frame, "three").is_empty()


def test_a_split_figure_has_no_series(experiment: Path) -> None:
    experiment.write_text(experiment.read_text().replace('panel = "routing"', 'series = "routing"'))
    output = call("check", experiment, code=2)
    assert "what a figure is split by is its series" in output


def test_a_stream_cannot_start_after_the_end(experiment: Path) -> None:
    experiment.write_text(experiment.read_text().replace("start = 500", "start = 5000"))
    output = " ".join(call("check", experiment, code=2).split())
    assert "5000 is not before the end of the measurement" in output


def test_mistakes_name_the_stream(spec: dict[str, Any]) -> None:
    spec["traffic"] |= {"stream": [{**STREAMS[1], "class": 1}]}
    with pytest.raises(SpecError) as caught:
        deroute.simulate(spec)
    assert caught.value.path == "traffic.stream[0].class"

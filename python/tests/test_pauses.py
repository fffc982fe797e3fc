"""Queues in time and pauses by link: results, figures, and what `show` says of them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from typer.testing import CliRunner

import deroute
from conftest import ROOT
from deroute.cli import app
from deroute.figures import CATALOGUE, FigureError, Study, paused, pauses, queues, read_figures
from deroute.figures.style import paper

#: Two hosts of a small switch send to a third one, which pauses them; frames of 100 B at 10 Gb/s.
SPEC = """
[units]
cycle = "1 ns"
phit = "1.25 B"
[network]
topology = { crossbar = { hosts = 4 } }
[network.nic]
latency = "100 ns"
link = { buffer = "10 KB" }
[network.switch.input_buffered_output_queued]
pipeline = 0
[network.flow_control]
pfc = { xoff = "8 KB", xon = "4 KB", response = 0 }
[routing.minimal]
[traffic]
load = 1.0
packet_size = "100 B"
pattern = { pairs = { list = [[0, 2, 1], [1, 2, 1]] } }
[run]
warmup = 0
measure = "60 us"
[probes]
series = "5 us"
pauses = true
queues = { every = 50, ports = { hosts = [0, 2] } }
"""


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    return tomllib.loads(SPEC)


@pytest.fixture(scope="module")
def outcome(spec: dict[str, Any]) -> deroute.Outcome:
    return deroute.simulate(spec)


def study(outcome: deroute.Outcome, spec: dict[str, Any]) -> Study:
    """Two points with the same result."""
    cases = ("left", "right")
    rows = [{"case": case, "seed": 1} | outcome.scalars() for case in cases]
    axes: dict[str, tuple[str | int | float, ...]] = {"case": cases, "seed": (1,)}
    return Study(axes, pl.DataFrame(rows), [outcome] * 2, "0.0.0-test", specs=[spec] * 2)


def drawn(study: Study, **keys: object) -> Figure:
    """The figure of a table, not saved."""
    table = {"name": "fig", "panel": "case"} | keys
    (read,) = read_figures([table], study.axes)
    with paper():
        return CATALOGUE[read.kind].draw(study, read)


def test_queues_are_arrays_frames_and_json(outcome: deroute.Outcome) -> None:
    found = outcome.queues
    assert found is not None
    places = found.places_to_polars()
    assert places["side"].to_list() == ["input", "output"] * 2
    assert places["host"].to_list() == [0, 0, 2, 2]
    assert places.row(0, named=True) | {"capacity": 8000} == {
        **{"router": 0, "port": 0, "host": 0, "side": "input", "vc": 0},
        **{"capacity": 8000, "xoff": 6400, "xon": 3200},
    }
    assert found.phits.shape == (1200, 4)
    assert found.cycles[:2].tolist() == [0, 50]
    frame = outcome.to_polars("queues")
    assert frame.columns == ["cycle", "router", "port", "side", "vc", "phits"]
    hot = frame.filter(pl.col("port") == 2, pl.col("side") == "output")
    assert hot["phits"].to_list() == found.phits[:, 3].tolist()
    # Two hosts send to one: buffers are filled beyond XOFF, and not beyond the headroom.
    peak = found.phits[:, 0].max()
    assert 6400 < peak < 8000
    written = outcome.to_json()["queues"]
    assert json.loads(json.dumps(written)) == written
    assert written["places"][0]["xoff"] == 6400
    assert written["phits"][:4] == found.phits[0].tolist()


def test_pauses_are_arrays_frames_and_json(outcome: deroute.Outcome) -> None:
    found = outcome.pauses
    assert found is not None
    frame = outcome.to_polars("pauses")
    assert frame["host"].to_list() == [0, 1, 2, 3]
    assert frame["from_router"].null_count() == 4
    assert (frame["paused"] > 0).to_list() == [True, True, False, False]
    assert outcome.flow_control is not None
    (links,) = outcome.flow_control.links
    assert frame["stops"].sum() == links.stops > 0
    assert frame["buffer_max"].max() == links.buffer_max
    assert frame["headroom_max"].max() == links.buffer_max - 6400
    assert (found.start, found.width, found.paused.shape) == (0, 5000, (12, 4))
    assert found.paused.sum(axis=0).tolist() == frame["paused"].to_list()
    written = outcome.to_json()["pauses"]
    assert json.loads(json.dumps(written)) == written
    assert written["rows"][1] | {"from": None, "to": [0, 1], "host": 1} == written["rows"][1]


def test_what_was_not_asked_for_says_so(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec | {"probes": {}})
    assert outcome.queues is None
    assert outcome.pauses is None
    for table in ("queues", "pauses"):
        with pytest.raises(ValueError, match=f"probes.{table}"):
            outcome.to_polars(table)
    document = outcome.to_json()
    assert document["queues"] is None
    assert document["pauses"] is None
    with pytest.raises(FigureError, match="record of queues"):
        drawn(study(outcome, spec), kind="queues")
    with pytest.raises(FigureError, match="record of pauses"):
        pauses.links(outcome)


def test_the_guide_reads_queues_as_it_says(outcome: deroute.Outcome) -> None:
    guide = (ROOT / "docs" / "experiment-files.md").read_text(encoding="utf-8")
    *_, block = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    assert "outcome.queues" in block
    exec(block, {"outcome": outcome})


def test_a_curve_for_each_queue_beside_its_limits(
    outcome: deroute.Outcome, spec: dict[str, Any]
) -> None:
    figure = drawn(study(outcome, spec), kind="queues", to_us=30)
    left, right = figure.axes
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("left", "right")
    lines: list[Any] = [line.get_data() for line in left.lines]
    curves = [line for line in lines if len(line[0]) > 2]
    # The other one is always empty.
    assert len(curves) == 1
    x, y = curves[0]
    assert outcome.queues is not None
    assert float(np.max(y)) == pytest.approx(outcome.queues.phits[:, 0].max() * 1.25 / 1000)
    assert x[1] == pytest.approx(0.05)
    levels = sorted(float(y[0]) for x, y in lines if len(x) == 2)
    assert levels == pytest.approx([4.0, 8.0])
    assert left.get_xlim()[1] == 30
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["from host 0", "XOFF", "XON"]
    (one, _) = drawn(study(outcome, spec), kind="queues", side="output", host=2).axes
    assert len(one.lines) == 1
    with pytest.raises(FigureError, match="no queue of host 1") as caught:
        drawn(study(outcome, spec), kind="queues", host=1)
    assert caught.value.choices == ["0", "2"]


def test_thinned_curves_keep_their_peaks() -> None:
    values = (np.arange(50_000) % 997).astype(np.float64)
    kept = queues.thinned(values)
    assert len(kept) <= 2000
    assert (np.diff(kept) > 0).all()
    parts = np.array_split(np.arange(50_000), 1000)
    assert all(values[part].max() in values[kept[np.isin(kept, part)]] for part in parts[::97])
    assert queues.thinned(values[:10]).tolist() == list(range(10))


def test_paused_time_by_bin(outcome: deroute.Outcome, spec: dict[str, Any]) -> None:
    edges_us, senders = paused.shares(outcome)
    assert edges_us.tolist() == [5 * bin for bin in range(13)]
    assert list(senders) == ["host 0", "host 1", "host 2", "host 3"]
    record = outcome.pauses
    assert record is not None
    total = sum(float(share.sum()) for share in senders.values()) * record.width
    assert total == pytest.approx(record.paused.sum())
    figure = drawn(study(outcome, spec), kind="paused", to_us=30)
    left, right, bar = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["host 0", "host 1"]
    (cells,) = left.collections
    values = np.asarray(cells.get_array()).reshape(2, -1)
    assert values[1].tolist() == pytest.approx(100 * senders["host 1"])
    assert right.get_xlim()[1] == 30
    assert "(%)" in bar.get_ylabel()
    # The last bin may be shorter.
    odd = spec | {"run": spec["run"] | {"measure": "58 us"}}
    edges, _ = paused.shares(deroute.simulate(odd))
    assert edges[-2:].tolist() == [55, 58]
    flat = spec | {"probes": {"pauses": True}}
    with pytest.raises(FigureError, match=r"pauses in time"):
        paused.shares(deroute.simulate(flat))


def test_links_are_coloured_by_the_time_they_were_paused(
    outcome: deroute.Outcome, spec: dict[str, Any]
) -> None:
    found = pauses.links(outcome)
    assert found.columns == ["from_router", "host", "router", "port", "paused", "lost_packets"]
    assert found["paused"].max() == pytest.approx(0.5, abs=0.1)
    figure = drawn(study(outcome, spec), kind="pauses")
    left, _, bar = figure.axes
    assert left.get_title(loc="left") == "left · 2 of 4 links paused"
    lines: list[Any] = [each for each in left.collections if isinstance(each, LineCollection)]
    widths = sorted(float(line.get_linewidths()[0]) for line in lines)
    assert widths[0] == widths[1] < widths[2]
    assert bar.get_ylim()[1] >= 100 * float(found["paused"].max())  # type: ignore[arg-type]
    assert "(%)" in bar.get_ylabel()
    calm = spec | {"traffic": spec["traffic"] | {"load": 0.1}}
    outcome = deroute.simulate(calm)
    figure = drawn(study(outcome, calm), kind="pauses")
    assert figure.axes[0].get_title(loc="left") == "left · nothing paused"
    assert outcome.flow_control is not None
    assert "nothing was paused" in outcome.flow_control.says[0]


def test_show_says_what_flow_control_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = re.sub(r"^\[(?!\[)", "[base.", SPEC, flags=re.M)
    axis = '[[axis]]\nname = "load"\npath = "traffic.load"\nvalues = [0.1, 1.0]\n'
    file = tmp_path / "pauses.toml"
    file.write_text(f'name = "pauses"\ntitle = "Pauses"\n{base}\n{axis}')
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(app, ["run", str(file), "--dir", "runs"]).exit_code == 0
    said = " ".join(runner.invoke(app, ["show", "runs"]).stdout.split())
    assert "- 0.1: nothing was paused: the fullest buffer, of host, held" in said
    assert re.search(r"- 1\.0: senders were told \d+ times to be silent", said)
    said = " ".join(runner.invoke(app, ["show", "runs", "--where", "load=0.1"]).stdout.split())
    assert "Flow control: nothing was paused" in said

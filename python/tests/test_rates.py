"""Rates in time: results and their figure."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import polars as pl
import pytest

import deroute
from deroute.cli import show
from deroute.ethernet import EntropyUse
from deroute.figures import CATALOGUE, FigureError, Study, read_figures
from deroute.figures.style import paper
from test_cli import call

#: Two hosts of a small switch send to a third one at 10 Gb/s, whose switch tells them of its queue.
SPEC = """
[units]
cycle = "40 ns"
phit = "50 B"
[network]
topology = { crossbar = { hosts = 4 } }
classes = { count = 2 }
congestion_point = { qcn = { q_eq = "20 KB" } }
[network.nic]
latency = "400 ns"
link = { buffer = "1 MB" }
reaction_point = { qcn = {} }
[network.switch.input_buffered_output_queued]
[network.flow_control.pfc]
[routing.minimal]
[traffic]
load = 1.0
packet_size = "1500 B"
pattern = { pairs = { list = [[0, 2], [1, 2]] } }
[run]
warmup = 0
measure = "2 ms"
[probes]
rates = { every = "10 us", flows = { pairs = [[0, 2], [1, 2], [3, 2]] } }
"""


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    return tomllib.loads(SPEC)


@pytest.fixture(scope="module")
def outcome(spec: dict[str, Any]) -> deroute.Outcome:
    return deroute.simulate(spec)


def drawn(outcome: deroute.Outcome, spec: dict[str, Any], **keys: object) -> Any:
    """The figure of a study with one point."""
    axes: dict[str, tuple[str | int | float, ...]] = {"case": ("one",), "seed": (1,)}
    rows = pl.DataFrame([{"case": "one", "seed": 1} | outcome.scalars()])
    study = Study(axes, rows, [outcome], "0.0.0-test", specs=[spec])
    table = {"name": "fig", "kind": "rates", "panel": "case"} | keys
    (read,) = read_figures([table], axes)
    with paper():
        return CATALOGUE[read.kind].draw(study, read)


def test_rates_are_arrays_frames_and_json(outcome: deroute.Outcome) -> None:
    found = outcome.rates
    assert found is not None
    assert found.rates.shape == (200, 3)
    assert found.cycles[:2].tolist() == [0, 250]
    assert found.flows_to_polars().rows() == [(0, 2), (1, 2), (3, 2)]
    frame = outcome.to_polars("rates")
    assert frame.columns == ["cycle", "host", "destination", "rate"]
    first = frame.filter(pl.col("host") == 0)
    assert first["rate"].to_list() == found.rates[:, 0].tolist()
    # Both senders are cut from the rate of their links; who sends nothing is not.
    assert found.rates[0].tolist() == [1, 1, 1]
    assert (found.rates.min(axis=0) < 0.9).tolist() == [True, True, False]
    assert found.rates.min() == pytest.approx(outcome.scalars()["reaction_point.rate_min"], abs=0.1)
    written = outcome.to_json()["rates"]
    assert json.loads(json.dumps(written)) == written
    assert written["flows"][0] == {"host": 0, "destination": 2}
    assert written["rates"][:3] == [1, 1, 1]


def test_rates_of_hosts_have_no_destination(spec: dict[str, Any]) -> None:
    probes = {"rates": {"every": "10 us", "flows": {"hosts": [1]}}}
    found = deroute.simulate(spec | {"probes": probes}).rates
    assert found is not None
    assert found.flows_to_polars().rows() == [(1, None)]


def test_a_curve_for_each_flow(outcome: deroute.Outcome, spec: dict[str, Any]) -> None:
    figure = drawn(outcome, spec)
    (panel,) = figure.axes
    assert len(panel.lines) == 3
    x, y = panel.lines[0].get_data()
    assert outcome.rates is not None
    assert y.tolist() == outcome.rates.rates[:, 0].tolist()
    assert x[1] == pytest.approx(10)
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["host 0 to 2", "host 1 to 2", "host 3 to 2"]
    (one,) = drawn(outcome, spec, host=1).axes
    assert len(one.lines) == 1
    with pytest.raises(FigureError, match="no flow of host 2") as caught:
        drawn(outcome, spec, host=2)
    assert caught.value.choices == ["0", "1", "3"]


def test_what_was_not_asked_for_says_so(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec | {"probes": {}})
    assert outcome.rates is None
    assert outcome.to_json()["rates"] is None
    with pytest.raises(ValueError, match=r"probes\.rates"):
        outcome.to_polars("rates")
    with pytest.raises(FigureError, match="record of rates"):
        drawn(outcome, spec)


def test_windows_are_beside_rates(outcome: deroute.Outcome, spec: dict[str, Any]) -> None:
    """Hosts with windows on links that trim: both are recorded and drawn."""
    network = spec["network"] | {"flow_control": {"trim": {}}, "congestion_point": {"int": {}}}
    network["nic"] = network["nic"] | {
        "link": {"buffer": "6 KB"},
        "notification_point": {"acknowledgement": {}},
        "reaction_point": {"hpcc": {"base_rtt": "5 us", "increase": "80 B"}},
        "retransmission": {},
    }
    own = spec | {"network": network}
    found = deroute.simulate(own)
    record = found.rates
    assert record is not None
    assert record.windows.shape == record.rates.shape
    assert record.windows.min() < record.windows.max()
    frame = found.to_polars("rates")
    assert frame.columns == ["cycle", "host", "destination", "rate", "window"]
    assert len(found.to_json()["rates"]["windows"]) == record.windows.size
    assert found.retransmission is not None
    assert found.scalars()["retransmission.trimmed"] == found.retransmission.trimmed
    assert found.packets.lost == 0
    (panel,) = drawn(found, own, of="window").axes
    kilobytes = record.windows[:, 0] * found.phit_bytes / 1000
    assert panel.lines[0].get_data()[1].tolist() == kilobytes.tolist()
    with pytest.raises(FigureError, match="no windows"):
        drawn(outcome, spec, of="window")


def test_show_says_what_all_parts_that_say_something_did() -> None:
    told = {
        f"{name}.says"
        for name, field in deroute.Outcome.model_fields.items()
        for part in get_args(field.annotation)
        if "says" in getattr(part, "model_fields", {})
    }
    assert told == set(show._SAYS.values())
    values = {"packets": 2, "recycled": 0, "recycled_share": 0.0, "heard": 0, "marked": 0}
    said = EntropyUse(says=["sprayed", "not frozen"], freezes=0, **values).scalars()
    assert said == values | {"freezes": 0, "says": "sprayed; not frozen"}


def test_show_says_what_congestion_control_did(outcome: deroute.Outcome, tmp_path: Path) -> None:
    scalars = outcome.scalars()
    assert outcome.reaction_point is not None
    assert scalars["reaction_point.says"] == "; ".join(outcome.reaction_point.says)
    file = tmp_path / "qcn.toml"
    base = re.sub(r"^\[", "[base.", SPEC, flags=re.M)
    file.write_text(f'name = "qcn"\n{base}')
    call("run", file, "--dir", tmp_path / "runs")
    said = " ".join(call("show", tmp_path / "runs").stdout.split())
    assert f"Notifications: {scalars['notifications.says']}" in said
    assert f"Reaction points: {scalars['reaction_point.says']}" in said
    one = pl.DataFrame([{"case": "on", "seed": 1} | scalars])
    both = pl.concat([one, one.select("seed", case=pl.lit("off"))], how="diagonal")
    results: Any = SimpleNamespace(experiment=SimpleNamespace(axes={"case": (), "seed": ()}))
    told = ["Notifications", f"- on: {scalars['notifications.says']}"]
    assert show._said(results, both, "Notifications") == told

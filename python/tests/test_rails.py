"""Nodes and rails: the experiment, and the figure of bus bandwidths."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import deroute
from conftest import ROOT
from deroute.cli import app
from deroute.cli.plot import plot_directory
from deroute.experiment import Experiment
from deroute.plan import check_experiment

SMALL = """
name = "small"

[base.network]
topology = { crossbar = { hosts = 8 } }
switch = { output_queued = {} }

[base.routing.minimal]

[base.workload]
packet_size = 100

[[base.workload.jobs]]
name = "gpus"
ranks = 8
node = { ranks = 4, bandwidth = "900%", latency = "1 us" }
steps = [{ collective = { kind = "allreduce", size = 8000 } }]

[[axis]]
name = "algorithm"
values = [
    { label = "ring", set = { "workload.jobs[0].steps[0].collective.algorithm.ring" = {} } },
    { label = "nodes", set = { "workload.jobs[0].steps[0].collective.algorithm" = NODES } },
]

[[axis]]
name = "size"
path = "workload.jobs[0].steps[0].collective.size"
values = [800, 8000]

[[figure]]
name = "bus"
kind = "bus_bandwidth"
series = "algorithm"
""".replace("NODES", "{ hierarchical = { group = 4 } }")


def test_rails_keep_an_allreduce_off_the_switches_above() -> None:
    experiment = Experiment.load(ROOT / "experiments" / "applications" / "rails.toml")
    assert len(check_experiment(experiment).points) == 24
    rates = {}
    for point in experiment.points:
        labels = point.labels
        if labels["collective"] == "all-reduce 16 MB":
            outcome = deroute.simulate(point.spec)
            assert outcome.verdict.state == "completed"
            (used,) = outcome.workload.jobs[0].replay.collectives
            assert used.members == 128
            assert used.phits * outcome.phit_bytes == pytest.approx(16e6)
            rates[labels["wiring"], labels["above"]] = used.bus_bandwidth
    text = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
    assert f"| all-reduce | {' | '.join(f'{rate:.1f}' for rate in rates.values())} |" in text
    assert rates["rails", "4:1"] == rates["rails", "1:1"] > rates["plain", "1:1"]
    assert rates["plain", "1:1"] > 1.2 * rates["plain", "4:1"]


def test_bus_bandwidth_by_size(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    arguments = ["run", str(file), "--dir", str(tmp_path / "results")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    (figure,) = plot_directory(tmp_path / "results", ["svg"])
    text = figure.read_text(encoding="utf-8")
    assert "Bus bandwidth (GB/s)" in text
    assert "nodes, allreduce, hierarchical" in text
    assert "$" not in text


def test_a_job_without_collectives_has_no_bus_bandwidth(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    start, axes = SMALL.split("[[axis]]", 1)
    steps = start.replace('{ collective = { kind = "allreduce", size = 8000 } }', "{ compute = 5 }")
    figure = axes.partition("[[figure]]")[2].replace('series = "algorithm"\n', "")
    file.write_text(f"{steps}[[figure]]{figure}")
    result = CliRunner().invoke(app, ["run", str(file), "--dir", str(tmp_path / "results")])
    assert "no job has collectives by named algorithms" in result.output

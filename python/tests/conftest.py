"""Small specs and experiments that every test may use."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine, however slow it is.
settings.register_profile(
    "deroute", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deroute")

ROOT = Path(__file__).resolve().parents[2]

SPEC: dict[str, Any] = {
    "network": {
        "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2}},
        "links": {
            "local": {"latency": "15 ns", "vcs": 4, "buffer": "4.5 KB"},
            "global": {"latency": "150 ns", "vcs": 2, "buffer": "22.5 KB"},
        },
        "nic": {"injection_queue": "126 KB"},
        "switch": {"combined_queued": {"pipeline": "90 ns", "output_buffer": "15.75 KB"}},
    },
    "routing": {"minimal": {}},
    "traffic": {"load": 0.3, "packet_size": 10, "pattern": "uniform"},
    "run": {"seed": 1, "warmup": 1000, "measure": 2000},
}

EXPERIMENT = """\
name = "small"
title = "A small experiment"

[base.network.topology.dragonfly]
p = 2
a = 4
h = 2
[base.network.links]
local = { latency = "15 ns", vcs = 4, buffer = "4.5 KB" }
global = { latency = "150 ns", vcs = 2, buffer = "22.5 KB" }
[base.network.nic]
injection_queue = "126 KB"
[base.network.switch.combined_queued]
pipeline = "90 ns"
output_buffer = "15.75 KB"
[base.routing.minimal]
[base.traffic]
load = 0.3
packet_size = 10
pattern = "uniform"
[base.run]
warmup = 1000
measure = 2000

[[axis]]
name = "routing"
values = [
    { label = "MIN", set = { routing = { minimal = {} } } },
    { label = "VLB", set = { routing = { valiant = { phase_a = "lgl" } } } },
]

[[axis]]
name = "load"
path = "traffic.load"
range = { from = 0.1, to = 0.3, step = 0.1 }

[[axis]]
name = "seed"
path = "run.seed"
values = [1, 2]

[[skip]]
routing = "VLB"
load = [0.1, 0.3]

[[figure]]
name = "latency"
kind = "latency"
series = "routing"
"""


@pytest.fixture
def spec() -> dict[str, Any]:
    """A Dragonfly of 72 hosts at a low load; a run takes some milliseconds."""
    return copy.deepcopy(SPEC)


@pytest.fixture
def experiment_file(tmp_path: Path) -> Path:
    """An experiment of eight points."""
    file = tmp_path / "small.toml"
    file.write_text(EXPERIMENT)
    return file

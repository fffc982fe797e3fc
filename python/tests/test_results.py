"""Results as typed objects, frames and JSON."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import deroute
from conftest import EXPERIMENT, ROOT
from deroute import _engine
from deroute.cli import app
from deroute.errors import InputError
from deroute.jobs import Part
from deroute.results import Outcome
from deroute.spec import canonical


@pytest.fixture
def agents(spec: dict[str, Any]) -> Outcome:
    """A result with two samples of two states of three routers."""
    scalars, arrays = _engine.simulate(canonical(spec))
    described = {"start": -100, "width": 100, "names": ["level", "blocked"], "routers": [0, 1, 2]}
    sampled = {
        "agents.values": np.arange(12.0).reshape(2, 3, 2),
        "agents.mean": np.array([[0.5, 1.5], [2.5, 3.5]]),
    }
    document = json.loads(scalars) | {"agents": described}
    return Outcome.read(json.dumps(document), lambda: arrays | sampled)


def test_agents_are_arrays_over_samples_routers_and_names(agents: Outcome) -> None:
    found = agents.agents
    assert found is not None
    assert (found.values.shape, found.mean.shape) == ((2, 3, 2), (2, 2))
    assert found.cycles.tolist() == [-100, 0]
    assert found.values[1, 2, found.names.index("blocked")] == 11


def test_agents_as_a_frame(agents: Outcome) -> None:
    frame = agents.to_polars("agents")
    assert frame.columns == ["cycle", "router", "level", "blocked"]
    assert frame.row(4) == (0, 0, 6.0, 7.0)
    means = frame.filter(frame["router"].is_null())
    assert means.rows() == [(-100, None, 0.5, 1.5), (0, None, 2.5, 3.5)]


def test_agents_as_json(agents: Outcome) -> None:
    written = agents.to_json()["agents"]
    assert written["mean"] == [[0.5, 1.5], [2.5, 3.5]]
    assert (written["start"], written["routers"]) == (-100, [0, 1, 2])
    assert json.loads(json.dumps(written)) == written


def test_congestion_is_arrays_frames_and_json(spec: dict[str, Any]) -> None:
    spec["network"]["nic"] = {"injection_queue": 64}
    spec["traffic"] |= {"load": 1.0, "hotspots": [{"destinations": {"any": [0]}, "share": 0.5}]}
    spec["probes"] = {"congestion": {"every": 100, "members": True}}
    outcome = deroute.simulate(spec)
    found = outcome.congestion
    assert found is not None
    frame, roots, members = found.to_polars(), found.roots_to_polars(), found.members_to_polars()
    assert outcome.to_polars("congestion").equals(frame)
    assert frame["trees"].sum() == len(roots) > 0
    hot = roots.filter(roots["host"] == 0)
    assert set(hot["router"]) == {0}
    assert roots["host"].is_in([-1]).sum() == 0
    # What a tree says of itself is what its buffers say.
    per_tree = members.group_by("tree", maintain_order=True).agg(
        pl.col("phits").sum(), pl.col("level").max(), pl.len()
    )
    assert per_tree["tree"].to_list() == list(range(len(roots)))
    assert per_tree["phits"].to_list() == roots["phits"].to_list()
    assert per_tree["level"].to_list() == roots["depth"].to_list()
    assert per_tree["len"].to_list() == (roots["buffers"] + roots["hosts"]).to_list()
    assert frame["held"].sum() == roots["phits"].sum()
    written = outcome.to_json()["congestion"]
    assert written["roots"][0] == roots.row(0, named=True)
    assert written["trees"] == frame["trees"].to_list()
    assert deroute.simulate(spec | {"probes": {}}).congestion is None


def test_results_without_agents_say_so(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec)
    assert outcome.agents is None
    with pytest.raises(ValueError, match=r"probes\.agents"):
        outcome.to_polars("agents")
    with pytest.raises(ValueError, match=r"probes\.congestion"):
        outcome.to_polars("congestion")


def test_names_that_do_not_exist_are_told(spec: dict[str, Any]) -> None:
    bulk = {"name": "bulk", "hosts": [0], "load": 0.1, "pattern": "uniform"}
    spec["traffic"] |= {"load": 0, "stream": [bulk]}
    outcome = deroute.simulate(spec)
    with pytest.raises(InputError, match=r"there is no stream 'bluk'\n.*mean: bulk"):
        outcome.stream("bluk")
    with pytest.raises(InputError, match=r"there is no table 'host'\n.*mean: hosts"):
        outcome.to_polars("host")  # type: ignore[arg-type]


def test_the_guide_reads_workloads_as_it_says() -> None:
    guide = (ROOT / "docs" / "experiment-files.md").read_text(encoding="utf-8")
    experiments = re.findall(r"^```toml\n(.*?)^```", guide, re.M | re.S)
    document = next(tomllib.loads(text) for text in experiments if "[base.workload]" in text)
    outcome = deroute.simulate(deroute.Experiment.from_document(document).points[0].spec)
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    block = next(block for block in blocks if "outcome.workload" in block)
    names: dict[str, Any] = {"outcome": outcome}
    exec(block, names)
    assert names["job"].finished
    assert names["job"].iterations == 4
    with pytest.raises(InputError, match=r"there is no job 'none'\n.*allowed: "):
        outcome.workload.job("none")


def test_the_guide_reads_results_as_it_says(
    experiment_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = (ROOT / "docs" / "experiment-files.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    block = next(block for block in blocks if "load_results" in block)
    acor = 'values = [{ label = "ACOR", set = { routing = { valiant = { phase_a.acor = {} } } } }]'
    text = re.sub(r"values = \[\n.*?\n\]", acor, EXPERIMENT, count=1, flags=re.S)
    text = text.replace('routing = "VLB"', 'routing = "ACOR"')
    probes = "measure = 2000\n[base.probes]\nseries = 100\nagents = { every = 100 }\n"
    probes += "congestion = { every = 100 }"
    experiment_file.write_text(text.replace("measure = 2000", probes))
    monkeypatch.chdir(tmp_path)
    command = ["run", str(experiment_file), "--dir", "runs/guide"]
    assert CliRunner().invoke(app, command).exit_code == 0
    names: dict[str, Any] = {"deroute": deroute}
    exec(block, names)
    agents = names["outcome"].agents
    assert agents.names == ["level", "blocked"]
    assert agents.values.shape == (20, 4, 2)
    assert agents.mean.shape == (20, 2)
    assert agents.values[:, :, 0].min() == 1
    assert agents.to_polars().height == 20 * 5


def _parts(of: type[Part]) -> list[type[Part]]:
    return [each for part in of.__subclasses__() for each in [part, *_parts(part)]]


def test_parts_have_the_fields_of_the_engine() -> None:
    """A field that only one of both has would be an error at the end of a run."""
    schema = json.loads(_engine.schema("outcome"))
    definitions = {**schema["$defs"], "Outcome": schema}
    # These are arrays, which are read apart.
    records = {"arrays", "series", "agents", "congestion", "queues", "rates", "pauses"}
    arrays = {"Outcome": records, "JobOutcome": {"arrays"}, "StreamOutcome": {"series"}}
    known = {part.__name__: part for part in _parts(Part)}
    assert {"EntropyUse", "JobOutcome", "Outcome", "PauseUse"} <= known.keys() & definitions.keys()
    for name in known.keys() & definitions.keys():
        fields = known[name].model_fields
        found = {field.alias or key for key, field in fields.items()}
        assert set(definitions[name]["properties"]) - arrays.get(name, set()) == found, name


def test_a_series_has_a_row_for_each_bin_of_its_longer_half(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec | {"probes": {"series": 7}})
    series = outcome.series
    assert series is not None
    generated, delivered = series.by_generation.packets, series.by_delivery.packets
    assert len(generated) < len(delivered)
    frame = outcome.to_polars("series")
    assert len(frame) == len(delivered)
    assert frame["by_delivery.packets"].to_list() == delivered.tolist()
    assert frame["by_generation.packets"].to_list()[: len(generated)] == generated.tolist()
    rest = frame["by_generation.packets"][len(generated) :]
    assert (rest.len(), rest.sum()) == (len(delivered) - len(generated), 0)


def test_without_packets_there_is_no_latency(tmp_path: Path) -> None:
    file, folder = tmp_path / "none.toml", tmp_path / "none"
    axis = '[[axis]]\nname = "load"\npath = "traffic.load"\nvalues = [0.0, 0.1]\n'
    figure = '[[figure]]\nname = "latency"\nkind = "latency"\n'
    file.write_text(f"{EXPERIMENT.partition('[[axis]]')[0]}{axis}{figure}", encoding="utf-8")
    run = CliRunner().invoke(app, ["run", str(file), "--dir", str(folder), "--jobs", "1"])
    assert run.exit_code == 0, run.output
    frame = deroute.load_results(folder).frame
    none = frame.filter(frame["load.offered"] == 0.0)
    assert none["latency.mean"].is_nan().all()
    assert none["latency.p99"].is_nan().all()
    assert frame.filter(frame["load.offered"] > 0.0)["latency.mean"].is_finite().all()
    shown = CliRunner().invoke(app, ["show", str(folder)])
    assert " ? " in shown.output

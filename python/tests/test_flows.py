"""Flows: their files, what becomes of them, and how their number is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import deroute
from deroute import figures, matrices
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.plan import check_file

EXPERIMENT = """
name = "flows"
[base]
units = { cycle = "10 ns", phit = "50 B" }
network.topology.crossbar.hosts = 6
network.switch.combined_queued.output_buffer = 40
routing = { minimal = {} }
[base.workload]
packet_size = 20
[[base.workload.jobs]]
flows = FLOWS
[[axis]]
name = "seed"
path = "run.seed"
values = [1]
[[figure]]
name = "times"
kind = "flows"
of = "slowdown-mean"
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Any:
    """Write an experiment with these flows beside files, and give its path."""

    def write(flows: str, **files: str) -> Path:
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        file = tmp_path / "flows.toml"
        file.write_text(EXPERIMENT.replace("FLOWS", flows), encoding="utf-8")
        return file

    return write


def spec_of(flows: dict[str, Any]) -> dict[str, Any]:
    return {
        "units": {"cycle": "10 ns", "phit": "50 B"},
        "network": {
            "topology": {"crossbar": {"hosts": 6}},
            "switch": {"combined_queued": {"output_buffer": 40}},
        },
        "routing": {"minimal": {}},
        "workload": {"packet_size": 20, "jobs": [{"name": "all", "flows": flows}]},
    }


def test_flows_by_size_and_one_by_one() -> None:
    outcome = deroute.simulate(spec_of({"table": True, "incast": {"size": "20 KB"}}))
    assert outcome.workload is not None
    flows = outcome.workload.job("all").flows
    assert flows is not None
    assert [(each.above, each.up_to, each.flows) for each in flows.bins] == [(200, 2000, 5)]
    table = outcome.to_polars("flows")
    assert table.columns[2:] == ["source", "destination", "phits", "start", "time", "alone"]
    assert table["time"].max() == flows.time.max == 5 * 400
    assert set(table["alone"]) == {400}
    scalars = outcome.scalars()
    assert scalars["workload.jobs.all.flows.slowdown.max"] == 5.0
    assert scalars["workload.jobs.all.flows.above_200.flows"] == 5
    document = outcome.to_json()
    assert document["workload"]["jobs"][0]["arrays"]["flow_phits"] == [400] * 5


def test_a_file_of_flows(experiment: Any, tmp_path: Path) -> None:
    text = "source,destination,size,start,class\n# two of them\n0, 1, 1 KB\n2,3,40,10 us,0\n"
    file = experiment('{ file = "list.csv", table = true }', list=text)
    checked = check_file(file)
    assert checked.footprint.flows == 2
    flows = checked.experiment.document["base"]["workload"]["jobs"][0]["flows"]
    assert flows["list"] == [
        {"source": 0, "destination": 1, "size": "1 KB"},
        {"source": 2, "destination": 3, "size": 40, "start": "10 us", "class": 0},
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no flow in it"),
        ("0,1\n", "line 1: '0,1' is not a source, a destination, a size"),
        ("0,1,10\n0,-1,10\n", "line 2: '-1' is not the number of a host"),
        ("0,1,10\n0,6,10\n", r"list\.csv:2: .*no rank 6"),
        ("0,1,10\n0,2,-5 B\n", r"list\.csv:2: .*-5 B"),
        ("0,1,10,9 ms\n0,2,5,200 ms\n", r"list\.csv:2: .*the run is over"),
    ],
)
def test_mistakes_in_a_file_of_flows(experiment: Any, text: str, told: str) -> None:
    file = experiment('{ file = "list.csv" }', list=text)
    with pytest.raises(InputError, match=told):
        check_file(file)


def test_a_file_of_sizes(tmp_path: Path, experiment: Any) -> None:
    file = tmp_path / "sizes.csv"
    file.write_text("bytes,share\n100,0.5\n1 MB,1\n", encoding="utf-8")
    assert matrices.sizes(file) == {"list": [["100 B", 0.5], ["1 MB", 1.0]]}
    flows = '{ poisson = { load = 0.5, within = "1 ms", sizes = { file = "sizes.csv" } } }'
    assert check_file(experiment(flows)).footprint.flows > 10
    with pytest.raises(InputError, match=r"sizes\.csv:2: .*0\.4"):
        check_file(experiment(flows, sizes="100,0.5\n900,0.4\n"))
    with pytest.raises(InputError, match="there is no size in it"):
        check_file(experiment(flows, sizes="# nothing\n"))


def test_the_number_of_flows_is_told() -> None:
    assert deroute.check(spec_of({"all_to_all": {"size": 1}})).flows == 30


def test_other_jobs_have_no_figure_of_flows(experiment: Any) -> None:
    experiment_ = Experiment.load(experiment("{ permutation = { size = 9 } }"))
    (table,) = figures.read_figures(experiment_.document["figure"], {"seed": (1,)})
    assert table.kind == "flows"

"""The binding: every export is wrapped, arrays are not copied, errors and interrupts arrive."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deroute
from conftest import SPEC
from deroute import _engine, api, jobs, results
from deroute.spec import assign, canonical


def test_the_stub_matches_the_module(tmp_path: Any) -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "deroute._engine"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout


def _fields(schema: dict[str, Any], name: str) -> set[str]:
    table = schema if name == schema["title"] else schema["$defs"][name]
    return set(table["properties"])


@pytest.mark.parametrize(
    "name",
    [
        "Verdict",
        "Size",
        "Load",
        "Packets",
        "Latency",
        "Percentile",
        "Fairness",
        "PathShare",
        "LinkUse",
        "Work",
        "Arrays",
        "Series",
        "SeriesColumns",
        "AgentSeries",
        "CongestionSeries",
        "WorkloadOutcome",
        "JobOutcome",
        "Messages",
        "MessageLatency",
        "JobArrays",
    ],
)
def test_results_have_the_fields_of_the_engine(name: str) -> None:
    schema = json.loads(_engine.schema("outcome"))
    model = getattr(results, name, None) or getattr(jobs, name)
    if issubclass(model, results.Part):
        known = {field.alias or key for key, field in model.model_fields.items()}
    else:
        known = set(get_type_hints(model))
    # Arrays are read when they are asked for.
    assert known | ({"arrays"} if name == "JobOutcome" else set()) == _fields(schema, name)


def test_every_part_of_the_outcome_is_modelled() -> None:
    schema = json.loads(_engine.schema("outcome"))
    records = {"arrays", "series", "agents", "congestion", "queues", "rates", "pauses"}
    known = set(results.Outcome.model_fields) | records
    assert known == _fields(schema, "Outcome")


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="spec"):
        _engine.schema("nonsense")


def test_simulate_gives_a_typed_outcome(spec: dict[str, Any]) -> None:
    outcome = deroute.simulate(spec)
    assert outcome.verdict.state in {"steady", "not-converged"}
    assert outcome.load.accepted == pytest.approx(0.3, abs=0.03)
    assert outcome.size.hosts == 72
    assert outcome.arrays.injected_by_host.shape == (72,)
    assert outcome.arrays.paths_by_router.shape == (36, len(outcome.arrays.path_kinds))
    assert outcome.series is None
    assert outcome.to_polars().item(0, "latency.mean") == outcome.latency.mean
    assert outcome.to_polars("hosts").height == 72
    assert outcome.to_polars("routers").height == 36
    assert "latency.p99" in outcome.scalars()


def test_arrays_are_the_memory_of_the_engine(spec: dict[str, Any]) -> None:
    _, arrays = _engine.simulate(canonical(spec))
    host = arrays["arrays.injected_by_host"]
    # NumPy owns no copy: the memory belongs to a Rust object.
    assert not host.flags.owndata
    assert host.base is not None
    assert host.dtype == np.float64


def test_series_and_links_on_request(spec: dict[str, Any]) -> None:
    spec["probes"] = {"series": 100, "series_before": 500, "links": True}
    outcome = deroute.simulate(spec)
    assert outcome.series is not None
    assert outcome.series.start == -500
    assert outcome.to_polars("series")["cycle"][:2].to_list() == [-500, -400]
    assert outcome.to_polars("links").height == outcome.size.links
    with pytest.raises(ValueError, match=r"probes\.series"):
        deroute.simulate(spec | {"probes": {}}).to_polars("series")


def test_json_round_trip(spec: dict[str, Any]) -> None:
    spec["probes"] = {"series": 100, "links": True}
    document = deroute.simulate(spec).to_json()
    assert set(document) == _fields(json.loads(_engine.schema("outcome")), "Outcome")
    assert json.loads(json.dumps(document)) == document


def test_threads_and_partitions_change_nothing(spec: dict[str, Any]) -> None:
    alone = deroute.simulate(spec).to_json()
    assert deroute.simulate(spec, threads=2, partitions=3).to_json() == alone


@pytest.mark.parametrize(("number", "name"), [(0, "threads"), (-1, "threads"), (-1, "partitions")])
def test_fewer_than_one_thread_or_partition_is_refused(
    spec: dict[str, Any], number: int, name: str
) -> None:
    with pytest.raises(deroute.InputError, match=f"^{name}: {number} is less than 1$"):
        deroute.simulate(spec, **{name: number})
    with pytest.raises(deroute.InputError, match=r"^threads: 0 is less than 1$"):
        deroute.sweep(spec, {"run.seed": [1]}, threads=0)


def _set(path: str, value: Any) -> Any:
    def change(spec: dict[str, Any]) -> None:
        assign(spec, path, value)

    return change


BAD_SPECS = [
    (_set("traffic.lod", 1), "traffic.lod", "load"),
    (_set("traffic.load", 1.5), "traffic.load", "0.0 to 1.0"),
    (_set("traffic.load", float("nan")), "traffic.load", None),
    (_set("traffic.pattern", "unifrm"), "traffic.pattern", "uniform"),
    (_set("network.links.local.latency", "15 KB"), "network.links.local.latency", "ns"),
    (_set("network.links.local.latency", "15.5 ns"), "network.links.local.latency", None),
    (_set("network.links.global.vcs", 0), "network.links.global.vcs", None),
    (_set("network.topology.dragonfly.groups", 99), "network.topology.dragonfly.groups", None),
    (_set("network.topology.dragonfly.a", -1), "network.topology.dragonfly.a", None),
    (_set("network.topology", {}), "network.topology", None),
    (lambda spec: spec.pop("routing"), "routing", None),
    (_set("run.seed", -3), "run.seed", None),
]


@pytest.mark.parametrize(("change", "path", "choice"), BAD_SPECS, ids=[b[1] for b in BAD_SPECS])
def test_errors_have_path_and_choices(
    spec: dict[str, Any], change: Any, path: str, choice: str | None
) -> None:
    change(spec)
    with pytest.raises(deroute.SpecError) as caught:
        deroute.check(spec)
    error = caught.value
    assert error.path == path
    assert error.message
    assert choice is None or any(choice in each for each in error.choices)


def test_too_few_vcs_says_how_many(spec: dict[str, Any]) -> None:
    spec["routing"] = {"valiant": {}}
    spec["network"]["links"]["global"]["vcs"] = 1
    with pytest.raises(deroute.SpecError, match="2") as caught:
        deroute.check(spec)
    assert caught.value.path == "network.links.global.vcs"


def test_spec_errors_can_be_pickled(spec: dict[str, Any]) -> None:
    spec["traffic"]["load"] = 2
    with pytest.raises(deroute.SpecError) as caught:
        deroute.check(spec)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert copied.path == "traffic.load"


def test_check_gives_the_footprint(spec: dict[str, Any]) -> None:
    bounded = deroute.check(spec)
    assert bounded.worst_bytes is not None
    sizes = (bounded.fixed_bytes, bounded.flowing_bytes, bounded.saturated_bytes)
    assert 0 < sizes[0] < sizes[1] < sizes[2] < bounded.worst_bytes
    del spec["network"]["nic"]
    assert deroute.check(spec).worst_bytes is None


def test_the_gil_is_released(spec: dict[str, Any]) -> None:
    spec["run"]["measure"] = 200_000
    runs = [threading.Thread(target=deroute.simulate, args=(copy.deepcopy(spec),)) for _ in "ab"]
    for run in runs:
        run.start()
    ticks = 0
    while any(run.is_alive() for run in runs):
        time.sleep(0.005)
        ticks += 1
    assert ticks > 3


def test_an_exception_of_the_callback_ends_the_run(spec: dict[str, Any]) -> None:
    spec["run"]["measure"] = 50_000_000

    def stop(cycle: int, of: int) -> None:
        assert 0 <= cycle <= of
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        deroute.simulate(spec, progress=stop)


def test_ctrl_c_ends_the_run(spec: dict[str, Any]) -> None:
    spec["run"]["measure"] = 50_000_000
    code = (
        "import json, signal, sys, threading, os, deroute\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    deroute.simulate(json.loads(sys.argv[1]))\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    command = [sys.executable, "-c", code, json.dumps(spec)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "interrupted\n"


def test_topology_is_symmetric(spec: dict[str, Any]) -> None:
    wiring = _engine.topology(canonical(spec))
    router, port = wiring["peer_router"], wiring["peer_port"]
    assert len(wiring["router_of_host"]) == 72
    here = np.argwhere(router >= 0)
    there = router[tuple(here.T)], port[tuple(here.T)]
    assert (router[there] == here[:, 0]).all()
    assert (port[there] == here[:, 1]).all()


def test_files_are_specs_or_experiments(experiment_file: Any) -> None:
    assert api.check(experiment_file).fixed_bytes > 0
    text = experiment_file.read_text().replace("load = 0.3\n", "load = 3\n")
    experiment_file.write_text(text)
    with pytest.raises(deroute.InputError) as caught:
        deroute.simulate(experiment_file)
    (problem,) = caught.value.problems
    line = text.splitlines().index("load = 3") + 1
    assert (problem.file, problem.line, problem.path) == (
        experiment_file,
        line,
        "base.traffic.load",
    )


def test_the_example_of_the_package_runs() -> None:
    assert deroute.__doc__ is not None
    block = deroute.__doc__.split("One point in a notebook:\n")[1].split("\nA whole experiment")[0]
    code = "\n".join(line.removeprefix("    ") for line in block.splitlines())
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["outcome"].load.accepted > 0


def _paths(table: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[str]:
    for key, value in table.items():
        yield ".".join((*above, key))
        if isinstance(value, dict):
            yield from _paths(value, (*above, key))


_ANYWHERE = st.sampled_from(
    [
        *_paths(SPEC),
        *("traffic.injection", "traffic.then", "run.warmup", "checks.watchdog", "units.phit"),
        *("probes.series", "network.topology.dragonfly.trunk", "network.nic.latency"),
    ]
)
_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, 2, 65535, 65536, 2**32 - 1, 2**63, 2**64 - 1, -1, 0.5, 1e300])
    | st.sampled_from(["", "1 ns", "1e9 ns", "99999999999999999999 s", "0.0000001 KB", "uniform"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["min", "max", "adversarial", "offset", "mix", "on_off", "interval"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)


@settings(max_examples=400)
@given(st.lists(st.tuples(_ANYWHERE, _ANYTHING), min_size=1, max_size=3))
def test_any_spec_is_possible_or_refused(changes: list[tuple[str, Any]]) -> None:
    spec = copy.deepcopy(SPEC)
    for path, value in changes:
        try:
            assign(spec, path, value)
        except deroute.InputError:
            continue
    try:
        _engine.check(json.dumps(spec))
    except deroute.SpecError as caught:
        refused = caught
    else:
        return
    assert refused.path
    assert refused.message

"""The result store: durable, never repeated, never destroyed."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deroute import _engine, executors, lock, runner
from deroute.errors import InputError
from deroute.executors import Done, Failed, Resources
from deroute.executors.cluster import _simulate
from deroute.experiment import Experiment, Point
from deroute.frame import load_results
from deroute.store import FILE, Store, Stored, read_arrays

POINT = Stored("key", "1.0", "{}", "{}", 0.5)
ARRAYS = {"arrays.a": np.arange(6, dtype=np.uint32).reshape(2, 3), "series.b": np.zeros(0)}


def test_what_is_put_is_there(tmp_path: Path) -> None:
    with Store.open(tmp_path / "new" / "dir", create=True) as store:
        store.put(POINT, ARRAYS)
        assert store.finished("1.0") == {"key": 0.5}
        assert store.finished("2.0") == {}
    with Store.open(tmp_path / "new" / "dir") as store:
        assert store.points() == [POINT]
    arrays = read_arrays(store.file, "key", "1.0")
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert array.dtype == ARRAYS[name].dtype


def test_a_point_is_never_overwritten(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True) as store:
        store.put(POINT, ARRAYS)
        store.put(Stored("key", "1.0", "{}", '{"other": 1}', 9.0), {})
        store.put(Stored("key", "2.0", "{}", "{}", 1.0), {})
        assert [(point.engine, point.outcome) for point in store.points()] == [
            ("1.0", "{}"),
            ("2.0", "{}"),
        ]


def test_a_store_is_read_while_a_run_writes(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True) as one, Store.open(tmp_path) as other:
        one.put(POINT, ARRAYS)
    with Store.open(tmp_path, create=True) as one:
        one.put(Stored("second", "1.0", "{}", "{}", 1.0), ARRAYS)
        with Store.open(tmp_path) as other:
            assert one.finished("1.0").keys() == other.finished("1.0").keys() == {"key", "second"}
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_a_second_run_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True):
        with pytest.raises(InputError) as caught, Store.open(tmp_path, create=True):
            pass
        assert str(caught.value) == f"another run is using {tmp_path}"
    (tmp_path / lock.FILE).touch()
    with Store.open(tmp_path, create=True) as store:
        store.put(POINT, ARRAYS)


def test_readers_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path, create=True) as store:
        store.put(POINT, ARRAYS)
    connect, uris = sqlite3.connect, list[str]()

    def refusing(file: Any, **options: Any) -> sqlite3.Connection:
        uris.append(str(file))
        if "immutable" not in str(file):
            raise sqlite3.OperationalError("unable to open database file")
        return connect(file, **options)

    monkeypatch.setattr(sqlite3, "connect", refusing)
    with Store.open(tmp_path) as store:
        assert store.points() == [POINT]
        with pytest.raises(InputError, match="readonly"):
            store.put(POINT, ARRAYS)
    assert ["mode=ro" in uri for uri in uris] == [True, True]


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match=r"is full$"):
            store.put(POINT, {"arrays.a": np.random.default_rng(1).random(50_000)})
        assert store.points() == []


def _garbage(file: Path) -> None:
    file.write_bytes(b"this is no database" * 100)


def _truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _foreign(file: Path) -> None:
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE photos (name)")
    connection.commit()
    connection.close()


def _newer(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _scribbled(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\xa5" * 4096
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [_garbage, _truncated, _foreign, _newer, _scribbled])
def test_a_damaged_store_is_an_error_and_left_alone(tmp_path: Path, damage: Any) -> None:
    file = tmp_path / FILE
    with Store.open(tmp_path, create=True) as store:
        store.set_experiment({"name": "x"})
        store.put(POINT, {"arrays.a": np.random.default_rng(1).random(5000)})
    damage(file)
    before = file.read_bytes()
    with pytest.raises(InputError, match="cannot be used") as caught, Store.open(tmp_path) as store:
        store.points()
    assert caught.value.problems[0].file == file
    assert file.read_bytes() == before


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with Store.open(tmp_path) as store:
        assert store.points() == []


def test_a_missing_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="deroute run"), Store.open(tmp_path):
        pass


def _run(experiment: Experiment, points: list[Point], directory: Path) -> runner.Report:
    report = runner.Report(len(points), 0)
    pool = executors.make("local", Resources(jobs=2))
    events: list[Any] = []
    runner.run_points(experiment, points, directory, pool, report=report, watch=events.append)
    ends = [event.point.key for event in events if isinstance(event, Done | Failed)]
    assert sorted(ends) == sorted(point.key for point in points)
    return report


def test_results_come_back_in_the_order_of_the_file(experiment_file: Path, tmp_path: Path) -> None:
    experiment = Experiment.load(experiment_file)
    directory = tmp_path / "results"
    assert runner.unfinished(experiment.points, directory) == experiment.points
    _run(experiment, experiment.points[::-1][:6], directory)
    results = load_results(directory)
    assert results.frame.height == len(results.outcomes) == 6
    assert list(results.missing) == experiment.points[:2]
    assert results.frame.columns[:3] == ["routing", "load", "seed"]
    assert results.frame["load"].to_list() == [0.2, 0.2, 0.3, 0.3, 0.2, 0.2]
    assert results.engine == _engine.VERSION
    for row, outcome in zip(results.frame.iter_rows(named=True), results.outcomes, strict=True):
        assert row["latency.mean"] == outcome.latency.mean
        assert outcome.arrays.injected_by_host.shape == (72,)
    _run(experiment, runner.unfinished(experiment.points, directory), directory)
    assert not load_results(directory).missing
    assert not runner.unfinished(experiment.points, directory)


def test_the_local_results_are_those_of_simulate(experiment_file: Path, tmp_path: Path) -> None:
    experiment = Experiment.load(experiment_file)
    point = experiment.points[0]
    _run(experiment, [point], tmp_path / "results")
    (stored,) = load_results(tmp_path / "results").outcomes
    scalars, arrays = _engine.simulate(point.canonical)
    alone = type(stored).read(scalars, lambda: arrays)
    assert stored.to_json() == alone.to_json()


def test_results_of_an_older_engine_are_shown_but_run_again(
    experiment_file: Path, tmp_path: Path
) -> None:
    experiment = Experiment.load(experiment_file)
    directory = tmp_path / "results"
    _run(experiment, experiment.points[:1], directory)
    connection = sqlite3.connect(directory / FILE)
    connection.execute("UPDATE points SET engine = '0.0.1'")
    connection.commit()
    connection.close()
    assert load_results(directory).engine == "0.0.1"
    assert runner.unfinished(experiment.points, directory) == experiment.points
    _run(experiment, experiment.points[:1], directory)
    assert load_results(directory).engine == _engine.VERSION


def test_an_unreadable_result_names_its_point(experiment_file: Path, tmp_path: Path) -> None:
    experiment = Experiment.load(experiment_file)
    directory = tmp_path / "results"
    _run(experiment, experiment.points[:1], directory)
    connection = sqlite3.connect(directory / FILE)
    connection.execute("UPDATE points SET outcome = substr(outcome, 1, 100)")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match=experiment.points[0].key):
        load_results(directory)


def test_a_failing_point_does_not_stop_the_others(experiment_file: Path, tmp_path: Path) -> None:
    experiment = Experiment.load(experiment_file)
    good = experiment.points[0]
    bad = Point({"routing": "?"}, good.spec | {"routing": {"nonsense": {}}})
    report = _run(experiment, [bad, good], tmp_path / "results")
    assert (report.done, [failure.point for failure in report.failed]) == (1, [bad])
    assert "nonsense" in report.failed[0].message


def test_the_dask_executor_gives_the_same_results(experiment_file: Path) -> None:
    distributed = pytest.importorskip("distributed")
    experiment = Experiment.load(experiment_file)
    points = experiment.points[:2]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        pool = executors.make("dask", Resources(address=cluster.scheduler_address))
        assert pool.jobs == 2
        done = {event.point.key: event for event in pool.run(points) if isinstance(event, Done)}
    for point in points:
        scalars, _ = _engine.simulate(point.canonical)
        assert done[point.key].outcome == scalars


def test_killed_dask_workers_lose_nothing(spec: dict[str, Any]) -> None:
    distributed = pytest.importorskip("distributed")
    loads = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    run = {"run": {"warmup": 1000, "measure": 20_000}}
    specs = [spec | run | {"traffic": spec["traffic"] | {"load": load}} for load in loads]
    points = [Point({"load": load}, each) for load, each in zip(loads, specs, strict=True)]
    done: dict[str, Done] = {}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        pool = executors.make("dask", Resources(address=cluster.scheduler_address))
        for event in pool.run(points):
            assert isinstance(event, Done), event
            done[event.point.key] = event
            if len(done) in {1, 3}:
                worker = list(cluster.workers.values())[len(done) // 2]
                os.kill(worker.pid, signal.SIGKILL)
    assert len(done) == len(points)
    for point in points:
        scalars, arrays = _engine.simulate(point.canonical)
        assert done[point.key].outcome == scalars
        assert all((done[point.key].arrays[name] == arrays[name]).all() for name in arrays)


def test_results_of_another_engine_are_not_taken(
    spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither from a worker, nor from a scheduler that has a result of the same point."""
    distributed = pytest.importorskip("distributed")
    point = Point({}, spec)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        with distributed.Client(address) as other:
            # Held as long as `kept` is.
            kept = other.submit(str, "another", key=point.key)
            distributed.wait(kept)
            (event,) = executors.make("dask", Resources(address=address)).run([point])
        assert isinstance(event, Done)
        monkeypatch.setattr(_engine, "VERSION", "0.0.1")
        with pytest.raises(RuntimeError, match="the worker has engine"):
            _simulate(point.canonical, 1, "9")


def test_unknown_executors_are_refused() -> None:
    with pytest.raises(InputError, match="local, dask"):
        executors.make("cloud", Resources())
    with pytest.raises(InputError, match="--address"):
        executors.make("dask", Resources())
    with pytest.raises(InputError, match="no scheduler"):
        executors.make("dask", Resources(address="nonsense"))

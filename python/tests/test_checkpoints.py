"""Long points that are interrupted go on from where they were."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import deroute
from conftest import SPEC
from deroute import _engine, checkpoints
from deroute.cli import app
from deroute.executors import slurm
from deroute.results import RawArrays
from deroute.spec import canonical
from deroute.store import Store
from deroute.writing import toml_value

#: Cycles that take most of a second: the engine looks up every 50 ms.
LONG = 1_000_000


def spec(measure: int = LONG) -> dict[str, Any]:
    document = copy.deepcopy(SPEC)
    document["run"]["measure"] = measure
    return document


def halfway(text: str) -> tuple[int, bytes]:
    """Where a run ends a quarter of its way or later, and its checkpoint there."""
    cycles: list[int] = []
    found: list[bytes] = []

    def keep(checkpoint: bytes) -> None:
        if cycles[-1] > LONG // 4:
            found.append(checkpoint)
            raise InterruptedError

    with pytest.raises(InterruptedError):
        _engine.simulate(text, 1, None, lambda cycle, _: cycles.append(cycle), None, (keep, 0.0))
    return cycles[-1], found[0]


def test_a_network_is_warmed_up_once() -> None:
    document = spec(2_000)
    warm = deroute.warm_up(document)
    assert deroute.simulate(document, warm=warm, threads=2) == deroute.simulate(document)
    other = copy.deepcopy(document)
    other["run"] |= {"seed": 5, "measure": 3_000}
    assert deroute.simulate(other, warm=warm) != deroute.simulate(other)
    other["traffic"]["packet_size"] = 3
    with pytest.raises(deroute.CheckpointError, match="it is of another spec"):
        deroute.simulate(other, warm=warm)
    with pytest.raises(deroute.CheckpointError, match="damaged checkpoint"):
        deroute.simulate(document, warm=b"")
    document["run"]["warmup"] = {"interval": 50, "limit": 3000}
    with pytest.raises(deroute.CheckpointError, match="is a time"):
        deroute.warm_up(document)


def watched(monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """The checkpoints from which the engine is asked to go on."""
    taken: list[bytes | None] = []
    simulate = _engine.simulate

    def watch(*given: Any) -> Any:
        taken.append(given[4])
        return simulate(*given)

    monkeypatch.setattr(_engine, "simulate", watch)
    return taken


@pytest.fixture(scope="module")
def text() -> str:
    return canonical(spec())


@pytest.fixture(scope="module")
def whole(text: str) -> tuple[str, RawArrays]:
    """What the long point gives without a break."""
    return _engine.simulate(text)


def test_a_run_goes_on_from_a_checkpoint(text: str, whole: tuple[str, RawArrays]) -> None:
    cycle, checkpoint = halfway(text)
    seen: list[int] = []
    outcome, arrays = _engine.simulate(text, 2, None, lambda now, _: seen.append(now), checkpoint)
    assert min(seen) > cycle
    assert outcome == whole[0]
    assert arrays.keys() == whole[1].keys()
    assert all(np.array_equal(array, whole[1][name]) for name, array in arrays.items())


def test_a_checkpoint_that_does_not_fit_is_refused(text: str) -> None:
    other = canonical(spec() | {"routing": {"valiant": {}}})
    for wrong, why in [(halfway(other)[1], "of another spec"), (b"seed = 1", "damaged checkpoint")]:
        with pytest.raises(_engine.CheckpointError, match=why):
            _engine.simulate(text, checkpoint=wrong)


def test_what_does_not_fit_is_dropped_and_costs_only_time(tmp_path: Path) -> None:
    text, file = canonical(spec(2_000)), checkpoints.place(tmp_path, "key")
    file.parent.mkdir()
    file.write_bytes(b"half of a chec")
    outcome, _ = checkpoints.simulate(text, 1, None, file)
    assert outcome == _engine.simulate(text)[0]
    assert not file.exists()
    assert checkpoints.kept(tmp_path) == []


CODE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from deroute import checkpoints; checkpoints.EVERY = 0.1\n"
    "from deroute.cli import main; main()"
)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_an_interrupted_point_goes_on(
    name: str, whole: tuple[str, RawArrays], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, where = tmp_path / "long.toml", tmp_path / "results"
    tables = "\n".join(f"{key} = {toml_value(value)}" for key, value in spec().items())
    file.write_text(f'name = "long"\n[base]\n{tables}\n')
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "run", str(file), "--dir", str(where)],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not checkpoints.kept(where):
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, getattr(signal, name))
    process.communicate(timeout=120)
    (left,) = checkpoints.kept(where)
    said = CliRunner().invoke(app, ["status", str(where)]).output
    assert "0 of 1 points are finished; 1 point is kept on the way (" in said
    kept, taken = left.read_bytes(), watched(monkeypatch)
    result = CliRunner().invoke(app, ["run", str(file), "--dir", str(where)])
    assert result.exit_code == 0, result.output
    assert taken == [kept]
    assert not left.parent.exists()
    with Store.open(where) as store:
        assert [point.outcome for point in store.points()] == [whole[0]]


@pytest.mark.skipif(os.name != "posix", reason="needs a timer that signals")
def test_a_job_that_its_limit_cuts_goes_on(
    text: str, whole: tuple[str, RawArrays], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 0.1)
    (tmp_path / slurm.RESULTS).mkdir()
    job = slurm.Chunk([("0a", text)], tmp_path, 1, _engine.VERSION)

    def limit(*_: object) -> None:
        if checkpoints.kept(tmp_path):
            raise SystemExit

    before = signal.signal(signal.SIGALRM, limit)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(SystemExit):
            job()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    (left,) = checkpoints.kept(tmp_path)
    kept, taken = left.read_bytes(), watched(monkeypatch)
    job()
    assert taken == [kept]
    assert checkpoints.kept(tmp_path) == []
    with np.load(tmp_path / slurm.RESULTS / "0a.npz") as result:
        assert result["outcome"].tobytes().decode() == whole[0]

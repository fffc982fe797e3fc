"""What is told of the time that points take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from deroute import _engine, cost
from deroute.experiment import Experiment


def _estimated(
    monkeypatch: pytest.MonkeyPatch, file: Path, looks: Iterable[tuple[float, int, int]]
) -> float:
    """Seconds told of a point, whose looks take so long and say these cycles of so many."""
    now = 0.0

    def simulate(_: str, progress: Callable[[int, int], None]) -> None:
        nonlocal now
        for seconds, cycle, of in looks:
            now += seconds
            progress(cycle, of)

    monkeypatch.setattr(_engine, "simulate", simulate)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(time, "thread_time", lambda: now)
    point = Experiment.load(file).points[0]
    return cost.estimate_seconds([point], {point.key: 1.0}, 1)


def test_a_probe_goes_by_the_pace_of_its_second_half(
    monkeypatch: pytest.MonkeyPatch, experiment_file: Path
) -> None:
    """As queues fill up, cycles take longer."""
    looks = [(0.05 if cycle < 10 else 0.1, cycle, 100) for cycle in range(1, 101)]
    seconds = _estimated(monkeypatch, experiment_file, looks)
    assert seconds == pytest.approx(9 * 0.05 + 91 * 0.1)


def test_a_probe_looks_at_a_program_twice(
    monkeypatch: pytest.MonkeyPatch, experiment_file: Path
) -> None:
    """When nothing of it has arrived, all that is known is that it takes long."""
    looks = [(1.5, 1000 * look, 10**9 if look == 1 else 100_000) for look in range(1, 101)]
    assert _estimated(monkeypatch, experiment_file, looks) == pytest.approx(150)

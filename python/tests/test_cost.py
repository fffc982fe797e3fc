"""What is told of the time that points take."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deroute import _engine, cost
from deroute.experiment import Experiment


def test_a_probe_goes_by_the_pace_of_its_second_half(
    monkeypatch: pytest.MonkeyPatch, experiment_file: Path
) -> None:
    """As queues fill up, cycles take longer."""
    now = 0.0

    def simulate(_: str, progress: Callable[[int, int], None]) -> None:
        nonlocal now
        for cycle in range(1, 101):
            now += 0.05 if cycle < 10 else 0.1
            progress(cycle, 100)

    monkeypatch.setattr(_engine, "simulate", simulate)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(time, "thread_time", lambda: now)
    point = Experiment.load(experiment_file).points[0]
    seconds = cost.estimate_seconds([point], {point.key: 1.0}, 1)
    assert seconds == pytest.approx(9 * 0.05 + 91 * 0.1)


def test_a_probe_looks_at_a_program_twice(
    monkeypatch: pytest.MonkeyPatch, experiment_file: Path
) -> None:
    """When nothing of it has arrived, all that is known is that it takes long."""
    now = 0.0

    def simulate(_: str, progress: Callable[[int, int], None]) -> None:
        nonlocal now
        for look in range(1, 101):
            now += 1.5
            progress(1000 * look, 10**9 if look == 1 else 100_000)

    monkeypatch.setattr(_engine, "simulate", simulate)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(time, "thread_time", lambda: now)
    point = Experiment.load(experiment_file).points[0]
    seconds = cost.estimate_seconds([point], {point.key: 1.0}, 1)
    assert seconds == pytest.approx(150)

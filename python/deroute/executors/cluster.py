"""On a Dask cluster, by the address of its scheduler. Every worker needs Deroute installed."""

from __future__ import annotations

import importlib
import time
from collections.abc import Generator, Sequence
from typing import Any

from deroute import _engine
from deroute.errors import InputError
from deroute.executors.base import Done, Event, Failed, Resources
from deroute.experiment import Point
from deroute.results import RawArrays


class DaskExecutor:
    """Workers of a Dask cluster."""

    def __init__(self, resources: Resources) -> None:
        """Connect to the scheduler."""
        if resources.address is None:
            message = "the dask executor needs the address of a scheduler: tcp://host:8786"
            raise InputError.of(message, "--address")
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            message = "needs `pip install deroute[dask]`"
            raise InputError.of(message, "--executor dask") from error
        self._distributed = distributed
        self._threads = resources.threads
        try:
            self._client = distributed.Client(resources.address, timeout=10)
        except (OSError, ValueError) as error:
            message = f"no scheduler answers at {resources.address}: {error}"
            raise InputError.of(message, "--address") from error

    @property
    def jobs(self) -> int:
        """Points simulated at the same time."""
        threads: int = sum(self._client.nthreads().values())
        return max(1, threads // self._threads)

    def run(self, points: Sequence[Point]) -> Generator[Event]:
        """Simulate every point."""
        # Schedulers share results by name, also those of others, whose engine may be another.
        names = {f"deroute-{_engine.VERSION}-{point.key}": point for point in points}
        submit = self._client.submit
        futures = [
            submit(_simulate, point.canonical, self._threads, _engine.VERSION, key=name)
            for name, point in names.items()
        ]
        try:
            for future in self._distributed.as_completed(futures):
                yield _event(names[future.key], future)
                future.release()
        finally:
            self._client.cancel(futures)
            self._client.close()


def _event(point: Point, future: Any) -> Event:
    error = future.exception()
    if error is not None:
        return Failed(point, str(error))
    outcome, arrays, seconds = future.result()
    return Done(point, outcome, arrays, seconds)


def _simulate(spec: str, threads: int, version: str) -> tuple[str, RawArrays, float]:
    """Runs on a worker."""
    if version != _engine.VERSION:
        raise RuntimeError(f"the worker has engine {_engine.VERSION}, not {version}")
    begin = time.perf_counter()
    outcome, arrays = _engine.simulate(spec, threads)
    return outcome, dict(arrays), time.perf_counter() - begin

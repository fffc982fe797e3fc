"""In this process: a pool of threads. The engine releases the GIL, so they use every core."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from queue import SimpleQueue

from deroute import _engine, checkpoints
from deroute.executors.base import Done, Event, Failed, Resources, Running
from deroute.experiment import Point
from deroute.machine import cores
from deroute.results import RawArrays


class LocalExecutor:
    """A pool of threads in this process."""

    def __init__(self, resources: Resources) -> None:
        """Use these resources."""
        self.threads = resources.threads
        self.jobs = resources.jobs or max(1, cores() // resources.threads)
        self._directory = resources.directory

    def run(self, points: Sequence[Point]) -> Generator[Event]:
        """Simulate every point."""
        todo, events, stop = deque(points), SimpleQueue[Event](), threading.Event()

        def work() -> None:
            while not stop.is_set():
                try:
                    point = todo.popleft()
                except IndexError:
                    return
                events.put(self._simulate(point, events, stop))

        workers: list[threading.Thread] = []
        try:
            for _ in range(min(self.jobs, len(points))):
                workers.append(threading.Thread(target=work))
                workers[-1].start()
            left = len(points)
            while left:
                event = events.get()
                left -= not isinstance(event, Running)
                yield event
        finally:
            stop.set()
            for worker in workers:
                if worker.ident is not None:
                    worker.join()

    def _simulate(
        self, point: Point, events: SimpleQueue[Event], stop: threading.Event
    ) -> Done | Failed:
        def progress(cycle: int, of: int) -> None:
            if stop.is_set():
                raise InterruptedError
            events.put(Running(point, cycle / of))

        begin = time.perf_counter()
        try:
            outcome, arrays = self._run(point, progress)
        # A panic of the engine is no Exception; it must not end the pool either.
        except BaseException as error:
            return Failed(point, str(error) or type(error).__name__)
        return Done(point, outcome, arrays, time.perf_counter() - begin)

    def _run(self, point: Point, progress: checkpoints.Progress) -> tuple[str, RawArrays]:
        if self._directory is None:
            return _engine.simulate(point.canonical, self.threads, None, progress)
        file = checkpoints.place(self._directory, point.key)
        return checkpoints.simulate(point.canonical, self.threads, progress, file)

"""What every executor offers: points in, events out."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from deroute.experiment import Point
from deroute.results import RawArrays


@dataclass(frozen=True, slots=True)
class Resources:
    """How much an executor may use."""

    #: Points simulated at the same time; 0 means as many as there are cores.
    jobs: int = 0
    #: Threads inside each simulation.
    threads: int = 1
    #: Scheduler of a cluster.
    address: str | None = None
    #: Where results go: executors may leave files there.
    directory: Path | None = None
    #: Options of the batch system.
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Running:
    """A point has come this far."""

    point: Point
    #: 0 to 1.
    fraction: float


@dataclass(frozen=True, slots=True)
class Done:
    """A point is finished."""

    point: Point
    #: Scalars as the engine's JSON.
    outcome: str
    arrays: RawArrays
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A point has no result: what the engine said. The others go on."""

    point: Point
    message: str


Event = Running | Done | Failed


class Executor(Protocol):
    """Simulates points.

    Closing the iterator (which leaving a loop by an exception such as Ctrl-C does when it is used
    under `contextlib.closing`) stops the points in flight.
    """

    def __init__(self, resources: Resources) -> None: ...

    @property
    def jobs(self) -> int:
        """Points simulated at the same time."""

    def run(self, points: Sequence[Point]) -> Generator[Event]:
        """Simulate every point; each ends in one `Done` or `Failed`, in any order."""

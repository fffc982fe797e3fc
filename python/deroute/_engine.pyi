"""The engine, as `crates/deroute-py` wraps it."""

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

__all__ = [
    "ROUTING_FUNCTIONS",
    "VERSION",
    "CheckpointError",
    "SimulationError",
    "SpecError",
    "check",
    "destinations",
    "locate",
    "path",
    "paths",
    "schema",
    "simulate",
    "topology",
    "warm_up",
]

#: Version of the engine. Results of two versions may differ.
VERSION: str

#: Functions that a routing in Python may call, in the order of their numbers.
ROUTING_FUNCTIONS: tuple[str, ...] | list[str]

class SpecError(ValueError):
    """A spec is wrong: where, what, and what is allowed there."""

    path: str
    message: str
    choices: list[str]

class SimulationError(RuntimeError):
    """A simulation stopped because of what it found: a deadlock or a broken invariant."""

class CheckpointError(RuntimeError):
    """A simulation cannot go on from a checkpoint: it is damaged, or that of another one."""

def check(
    spec: str,
) -> tuple[
    tuple[int, int, int, int | None],
    tuple[int, int, int, int],
    tuple[int, int, int] | None,
    list[tuple[str, int]],
    list[tuple[str, float]],
]: ...
def simulate(
    spec: str,
    threads: int = 1,
    partitions: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    checkpoint: bytes | None = None,
    keep: tuple[Callable[[bytes], object], float] | None = None,
) -> tuple[str, dict[str, NDArray[Any]]]: ...
def warm_up(
    spec: str,
    threads: int = 1,
    partitions: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> bytes: ...
def topology(spec: str) -> dict[str, Any]: ...
def path(
    spec: str, source: int, destination: int, seed: int
) -> list[tuple[int, int, int]] | None: ...
def paths(
    spec: str, pairs: Sequence[tuple[int, int]], seed: int
) -> list[list[tuple[int, int, int]] | None]: ...
def destinations(spec: str, waiting: int | None = None) -> NDArray[Any]: ...
def schema(kind: str = "spec") -> str: ...
def locate(text: str, path: Sequence[str | int]) -> tuple[int, int] | None: ...

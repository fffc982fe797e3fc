"""Calling the engine: one point in, one typed result out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from deroute import _engine, errors
from deroute.errors import InputError, SpecError, parse_path
from deroute.files import read_document
from deroute.results import Outcome
from deroute.spec import canonical
from deroute.tables.files import in_dumps
from deroute.warmup import Ramp

_T = TypeVar("_T")
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a simulation takes. What is likely is within 30% of what runs have taken
    (`tools/memory.py`), Python and the code of the engine beside; at the edge of saturation a run
    takes something between `flowing_bytes` and `saturated_bytes`.
    """

    #: Memory at once, in bytes.
    fixed_bytes: int
    #: What it is likely to take while the network keeps up with its traffic, in bytes.
    flowing_bytes: int
    #: The same beyond saturation, when the queues of the sources have filled.
    saturated_bytes: int
    #: With every queue full; None if a queue is unlimited.
    worst_bytes: int | None
    #: Phits of all messages of the workload: what the time of a run follows.
    message_phits: int = 0
    #: Flows of the workload.
    flows: int = 0
    #: Phits of the largest packet.
    packet_phits: int = 0
    #: Of a temporary file, in bytes: what traces have beyond their room in memory.
    file_bytes: int = 0
    #: Times beside the warm-up; None if the spec does not fix it.
    ramp: Ramp | None = None
    #: What the spec leaves to the engine: paths, and values in VCs or phits.
    filled: tuple[tuple[str, int], ...] = ()
    #: Buffers that are too small for their links: paths, and the share that one VC gets through.
    throttles: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, text: str) -> Footprint:
        """Of a canonical spec."""
        memory, work, times, filled, throttles = _engine.check(text)
        ramp = None if times is None else Ramp(*times)
        return cls(*memory, *work, ramp, tuple(filled), tuple(throttles))


def check(spec: Mapping[str, Any] | Path | str) -> Footprint:
    """Build the network of a spec without simulating it.

    Raises `SpecError` (or, for a file, `InputError` with the line) if the spec is wrong.
    """
    return _with_lines(spec, Footprint.of)


def simulate(
    spec: Mapping[str, Any] | Path | str,
    *,
    threads: int = 1,
    partitions: int | None = None,
    progress: Progress | None = None,
    warm: bytes | None = None,
) -> Outcome:
    """Simulate one point.

    `spec` is a table, or a TOML file: a spec, or an experiment, whose base is taken. The result is
    the same for any number of `threads` and `partitions`. `progress(cycle, of)` is called now and
    then; the simulation ends if it raises, and on Ctrl-C. Other Python threads keep running.

    With `warm`, what `warm_up` has returned, it goes on from that network. `traffic.load`,
    `run.seed`, `run.warmup` and `run.measure` may be others; times count from the beginning of
    the warm-up. With the same spec the result is that of a run without a break. Raises
    `CheckpointError` if the network is of another spec or another version of the engine.
    """
    require_one(threads=threads, partitions=partitions)

    def run(text: str) -> Outcome:
        scalars, arrays = _engine.simulate(text, threads, partitions, progress, warm)
        return Outcome.read(scalars, lambda: arrays)

    return _with_lines(spec, run)


def warm_up(
    spec: Mapping[str, Any] | Path | str,
    *,
    threads: int = 1,
    partitions: int | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Warm the network of a spec up, and return its state for `simulate`.

    It is that of `run.warmup` without its last cycles, in which what is measured may be granted.

    Another load begins in a network that carries one already; its `run.warmup` is to be longer, so
    that the network can settle. With other seeds one warm-up serves many measurements, of which
    only the traffic is independent.

    Raises `CheckpointError` if `run.warmup` is no time, or beside a workload or streams.
    """
    require_one(threads=threads, partitions=partitions)
    return _with_lines(spec, lambda text: _engine.warm_up(text, threads, partitions, progress))


def require_one(**numbers: int | None) -> None:
    """Refuse a number below 1."""
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise InputError.of(f"{number} is less than 1", name)


def _with_lines(spec: Mapping[str, Any] | Path | str, call: Callable[[str], _T]) -> _T:
    """Calls with the canonical spec; the errors of a file get its lines."""
    if isinstance(spec, Mapping):
        return call(canonical(spec))
    file = Path(spec)
    document, text = read_document(file)
    base: tuple[str, ...] = ("base",) if "base" in document else ()
    try:
        return call(canonical(document["base"] if base else document))
    except SpecError as error:
        place = (*base, *parse_path(error.path))
        message = in_dumps(error.message, document, place)
        problem = errors.in_file(message, place, file=file, text=text, choices=error.choices)
        raise InputError([problem]) from error

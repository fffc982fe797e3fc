"""Long points on their way: a checkpoint of each lies beside the store, from which a run goes on.

A point that takes less than a minute leaves none. No result needs one: a checkpoint that cannot be
written, or that does not fit, costs the time that has gone into it and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from deroute import _engine
from deroute._engine import CheckpointError
from deroute.results import RawArrays
from deroute.writing import draft_of, whole

#: In a result directory.
FOLDER = "checkpoints"
#: Seconds between two of a point.
EVERY = 60.0

Progress = Callable[[int, int], object]


def place(directory: Path, key: str) -> Path:
    """Where the checkpoint of a point is kept."""
    return directory / FOLDER / key


def kept(directory: Path) -> list[Path]:
    """Those of a result directory."""
    with suppress(OSError):
        return sorted(file for file in (directory / FOLDER).iterdir() if file.suffix != ".part")
    return []


def simulate(
    spec: str, threads: int, progress: Progress | None, file: Path
) -> tuple[str, RawArrays]:
    """Simulate a spec, from the checkpoint in `file` on if there is one, which is renewed."""

    def keep(checkpoint: bytes) -> None:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole(file) as draft:
                draft.write_bytes(checkpoint)

    def run(checkpoint: bytes | None) -> tuple[str, RawArrays]:
        return _engine.simulate(spec, threads, None, progress, checkpoint, (keep, EVERY))

    checkpoint = None
    with suppress(OSError):
        checkpoint = file.read_bytes()
    try:
        return run(checkpoint)
    except CheckpointError:
        # Of another version of the engine, or damaged.
        drop(file)
        return run(None)


def drop(file: Path) -> None:
    """The point has ended: it is not needed any more, nor is the folder if it was the last one."""
    with suppress(OSError):
        file.unlink(missing_ok=True)
        draft_of(file).unlink(missing_ok=True)
        file.parent.rmdir()

"""Files that appear whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A file to write in place of `file`, which it becomes when it is complete.

    What was there stays if anything goes wrong, such as a disk that fills up.
    """
    draft = file.with_name(f".{file.name}.part")
    try:
        yield draft
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)

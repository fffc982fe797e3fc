"""Files that appear whole or not at all, and values of TOML in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A file to write in place of `file`, which it becomes when it is complete.

    What was there stays if anything goes wrong, such as a disk that fills up.
    """
    draft = draft_of(file)
    try:
        yield draft
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def draft_of(file: Path) -> Path:
    """Where it is written: stays there if the process is killed at it."""
    return file.with_name(f".{file.name}.part")


def toml_value(value: Any) -> str:
    """A value of TOML on one line."""
    match value:
        case Mapping():
            inside = ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case _:
            return json.dumps(value)


def _key(key: str) -> str:
    return json.dumps(key) if "." in key else key

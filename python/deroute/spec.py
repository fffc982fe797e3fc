"""Specs as plain tables: paths, a canonical form, and the key under which a result is kept."""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deroute import graphs
from deroute.errors import InputError, Problem, SpecError, parse_path, show_path

Spec = dict[str, Any]

#: Times that quantities may have, in microseconds; a metre of cable is one as well.
_MICROSECONDS = {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 5e-3}
_TIME = re.compile(rf"([0-9.]+) *({'|'.join(_MICROSECONDS)})")


def read_toml(file: Path) -> tuple[dict[str, Any], str]:
    """The document in a TOML file, and its text."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError([Problem(error.strerror or str(error), file=file)]) from error
    except UnicodeDecodeError as error:
        raise InputError([Problem(f"is not UTF-8 text: {error}", file=file)]) from error
    try:
        return graphs.resolve(tomllib.loads(text), file.parent), text
    except tomllib.TOMLDecodeError as error:
        raise InputError([Problem(f"is not TOML: {error}", file=file)]) from error


def assign(spec: Spec, path: str, value: Any) -> None:
    """Set the entry at a dotted path, creating tables on the way."""
    *parents, last = parse_path(path) or ("",)
    place: Any = spec
    for done, step in enumerate(parents):
        if isinstance(place, dict):
            place = place.setdefault(str(step), {})
        else:
            place = _item(place, path, parents[: done + 1])
    if isinstance(place, dict):
        place[str(last)] = value
        return
    _item(place, path, [*parents, last])
    place[last] = value


def _item(place: Any, path: str, steps: list[str | int]) -> Any:
    index = steps[-1]
    if isinstance(place, list) and isinstance(index, int):
        if index < len(place):
            return place[index]
        raise InputError.of(f"the list has {len(place)} entries", show_path(steps))
    inside = show_path(steps[:-1])
    raise InputError.of(f"{inside} is {place!r}, which has no entries", path)


def canonical(spec: Mapping[str, Any]) -> str:
    """The spec as JSON: keys sorted, whole numbers without a point, nothing but JSON values."""
    return json.dumps(_plain(spec, ()), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def in_order(spec: Mapping[str, Any]) -> str:
    """The spec as JSON, keys in the order in which they were written.

    The engine reports the first mistake: so it is a misspelt key of the file, and not what then
    is missing from a table that a sweep axis has created.
    """
    return json.dumps(_plain(spec, ()), ensure_ascii=False)


def _plain(value: Any, path: tuple[str | int, ...]) -> Any:
    match value:
        case bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
        case Mapping():
            return {str(key): _plain(item, (*path, str(key))) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, (*path, index)) for index, item in enumerate(value)]
        case _:
            raise spec_error(show_path(path), f"{value} is neither a finite number nor a text")


def microseconds(time: int | str, cycle_ns: float) -> float:
    """A time of a spec that the engine has accepted: cycles, or a number and a unit."""
    parts = _TIME.fullmatch(str(time).strip())
    if parts is None:
        return float(time) * cycle_ns / 1000
    return float(parts[1]) * _MICROSECONDS[parts[2]]


def spec_error(path: str, message: str, choices: tuple[str, ...] = ()) -> SpecError:
    """A spec error found on this side of the engine."""
    error = SpecError(f"{path}: {message}")
    error.path, error.message, error.choices = path, message, list(choices)
    return error


def fingerprint(canonical_spec: str) -> str:
    """Key of a point: the first 128 bits of the SHA-256 of its canonical spec, in hex."""
    return hashlib.sha256(canonical_spec.encode()).hexdigest()[:32]

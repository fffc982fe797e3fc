"""Specs as plain tables: paths, a canonical form, and the key under which a result is kept."""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from deroute import graphs
from deroute.errors import InputError, Problem, SpecError, parse_path, show_path

Spec = dict[str, Any]

#: Times that quantities may have, in microseconds; a metre of cable is one as well.
_MICROSECONDS = {
    **{"ps": 1e-6, "ns": 1e-3, "us": 1.0, "\u00b5s": 1.0, "\u03bcs": 1.0, "ms": 1e3, "s": 1e6},
    **{"m": 5e-3, "km": 5.0},
}
#: Duration of a cycle unless the spec says otherwise.
_DEFAULT_CYCLE = "1 ns"
#: Levels of tables and lists.
_DEEPEST = 100
_DEEP = f"has tables or lists of more than {_DEEPEST} levels, or one that holds itself"
#: Bits of a whole number; the engine's have up to 64.
_MOST_BITS = 1000
_TIME = re.compile(rf"([0-9.]+)\s*({'|'.join(_MICROSECONDS)})")


def read_toml(file: Path) -> tuple[dict[str, Any], str]:
    """The document in a TOML file, and its text."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError([Problem(error.strerror or str(error), file=file)]) from error
    except UnicodeDecodeError as error:
        raise InputError([Problem(f"is not UTF-8 text: {error}", file=file)]) from error
    try:
        document = tomllib.loads(text)
        not_deep(document)
    except ValueError as error:
        raise InputError([Problem(f"is not TOML: {error}", file=file)]) from error
    except RecursionError as error:
        raise InputError([Problem(_DEEP, file=file)]) from error
    return graphs.resolve(document, file.parent), text


def not_deep(document: Any) -> None:
    """Refuse a document, with a `RecursionError`, whose tables do not end or hardly so."""
    level = [document]
    for _ in range(_DEEPEST):
        below = (value.values() if isinstance(value, Mapping) else value for value in level)
        tables = (item for items in below for item in items)
        # Each once, however often it is in others.
        found = {id(item): item for item in tables if isinstance(item, Mapping | list | tuple)}
        level = list(found.values())
        if not level:
            return
    raise RecursionError(_DEEP)


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


def plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table of nothing but JSON values: no scalars of NumPy, no tuples."""
    found: dict[str, Any] = _plain(table, ())
    return found


def in_order(spec: Mapping[str, Any]) -> str:
    """The spec as JSON, keys in the order in which they were written.

    The engine reports the first mistake: so it is a misspelt key of the file, and not what then
    is missing from a table that a sweep axis has created.
    """
    return json.dumps(_plain(spec, ()), ensure_ascii=False)


def _plain(value: Any, path: tuple[str | int, ...]) -> Any:
    if len(path) > _DEEPEST:
        raise spec_error(show_path(path[:3]), _DEEP)
    match value:
        case bool() | np.bool_():
            return bool(value)
        case str():
            return _text(value, path)
        case Integral():
            if int(value).bit_length() > _MOST_BITS:
                raise spec_error(show_path(path), "the number is too large")
            return int(value)
        case Real() if math.isfinite(value):
            number = float(value)
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
        case Mapping():
            named = {_text(str(key), path): item for key, item in value.items()}
            return {key: _plain(item, (*path, key)) for key, item in named.items()}
        case list() | tuple():
            return [_plain(item, (*path, index)) for index, item in enumerate(value)]
        case _:
            raise spec_error(show_path(path), f"{value} is neither a finite number nor a text")


def _text(text: str, path: tuple[str | int, ...]) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        message = f"{text!a} is no text: half of a character stands alone in it"
        raise spec_error(show_path(path), message) from None
    return str(text)


def microseconds(time: int | str, cycle_ns: float) -> float:
    """A time of a spec that the engine has accepted: cycles, or a number and a unit."""
    parts = _TIME.fullmatch(str(time).strip())
    if parts is None:
        return float(time) * cycle_ns / 1000
    return float(parts[1]) * _MICROSECONDS[parts[2]]


def cycle_ns(spec: Mapping[str, Any]) -> float:
    """Duration of a cycle of a spec that the engine has accepted."""
    return 1000 * microseconds(spec.get("units", {}).get("cycle", _DEFAULT_CYCLE), 0)


def spec_error(path: str, message: str, choices: tuple[str, ...] = ()) -> SpecError:
    """A spec error found on this side of the engine."""
    error = SpecError(f"{path}: {message}")
    error.path, error.message, error.choices = path, message, list(choices)
    return error


def fingerprint(canonical_spec: str) -> str:
    """Key of a point: the first 128 bits of the SHA-256 of its canonical spec, in hex."""
    return hashlib.sha256(canonical_spec.encode()).hexdigest()[:32]

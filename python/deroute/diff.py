"""What differs between two specs, or between two tables of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deroute.errors import DocumentPath, show_path

#: What stands for an entry that is not there.
ABSENT = "-"


def differences(one: Any, other: Any) -> list[tuple[str, str, str]]:
    """Path, value here and value there of every entry that is not the same in both."""
    return [
        (show_path(path), _shown(here), _shown(there))
        for path, here, there in _walk(one, other, ())
    ]


def leaves(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Path and value of everything in a table."""
    return [(show_path(path), _shown(value)) for path, value in _leaves(table, ())]


_NOTHING = object()


def _leaves(value: Any, path: DocumentPath) -> Iterator[tuple[DocumentPath, Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    else:
        yield path, value


def _walk(one: Any, other: Any, path: DocumentPath) -> Iterator[tuple[DocumentPath, Any, Any]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            yield from _walk(one.get(key, _NOTHING), other.get(key, _NOTHING), (*path, str(key)))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (here, there) in enumerate(zip(one, other, strict=True)):
            yield from _walk(here, there, (*path, index))
    elif one != other:
        yield path, one, other


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return ABSENT
    return inline(value)


def inline(value: Any) -> str:
    """A value as TOML writes it in one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case Mapping():
            inside = ", ".join(f"{key} = {inline(item)}" for key, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case list():
            return f"[{', '.join(inline(item) for item in value)}]"
    return str(value)

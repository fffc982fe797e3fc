"""The scalars of an outcome by their dotted names: columns of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Scalar = str | int | float

#: How the names of half-widths of 95% intervals end.
INTERVAL = "ci95"


def flatten(name: str, value: Any, into: dict[str, Scalar]) -> None:
    """Put what is below a name into a flat table."""
    match value:
        case {"percent": percent, "cycles": at} | {"percent": percent, "ratio": at}:
            into[f"{name.rpartition('.')[0]}.p{percent:g}"] = at
        case Mapping():
            for key, item in value.items():
                flatten(f"{name}.{key}", item, into)
        case [str(), *_] | []:
            into[name] = "; ".join(value)
        case list():
            for item in value:
                flatten(name, item, into)
        case _:
            into[name] = value

"""Groups of routers, as the specs of an experiment describe them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Groups:
    """Equal groups of routers."""

    routers: int
    count: int


def groups(spec: Mapping[str, Any]) -> Groups | None:
    """Groups of a spec that the engine accepts; None if its topology has none."""
    size = spec["network"]["topology"].get("dragonfly")
    if size is None:
        return None
    most = size["a"] * size["h"] // size.get("trunk", 1) + 1
    return Groups(size["a"], size.get("groups", most))


def routers_per_group(specs: Iterable[Mapping[str, Any]]) -> int | None:
    """Routers of a group, if all of these specs have groups of the same size."""
    sizes = {None if found is None else found.routers for found in map(groups, specs)}
    return sizes.pop() if len(sizes) == 1 else None

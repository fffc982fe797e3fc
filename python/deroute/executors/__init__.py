"""Where points are simulated: one file per executor, one line each in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deroute.errors import InputError
from deroute.executors import cluster, local
from deroute.executors.base import Done, Event, Executor, Failed, Resources, Running

__all__ = [
    "CATALOGUE",
    "Done",
    "Event",
    "Executor",
    "Failed",
    "Resources",
    "Running",
    "make",
]

#: Every executor, by its name on the command line.
CATALOGUE: Mapping[str, Callable[[Resources], Executor]] = {
    "local": local.LocalExecutor,
    "dask": cluster.DaskExecutor,
}


def make(name: str, resources: Resources) -> Executor:
    """The executor of this name."""
    if name not in CATALOGUE:
        raise InputError.of(f"unknown executor {name!r}", "--executor", CATALOGUE)
    return CATALOGUE[name](resources)

"""Where points are simulated: one file per executor, one line each in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deroute.errors import InputError
from deroute.executors import cluster, local, slurm
from deroute.executors.base import Done, Event, Executor, Failed, Resources, Running

__all__ = [
    "CATALOGUE",
    "Done",
    "Event",
    "Executor",
    "Failed",
    "Resources",
    "Running",
    "known",
    "make",
]

#: Every executor, by its name on the command line.
CATALOGUE: Mapping[str, Callable[[Resources], Executor]] = {
    "local": local.LocalExecutor,
    "dask": cluster.DaskExecutor,
    "slurm": slurm.SlurmExecutor,
}


def known(name: str) -> None:
    """Refuse a name that is no executor's."""
    if name not in CATALOGUE:
        raise InputError.of(f"unknown executor {name!r}", "--executor", CATALOGUE)


def make(name: str, resources: Resources) -> Executor:
    """The executor of this name."""
    known(name)
    return CATALOGUE[name](resources)

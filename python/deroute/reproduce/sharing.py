"""Points that experiments of a paper have in common are simulated once.

Figures show the same curves again and again. Each experiment has a result directory of its own, as
any has; what another one beside it has finished is copied from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from deroute import _engine
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.store import FILE, Store


def copied(experiment: Experiment, keys: Collection[str], directory: Path) -> dict[str, Path]:
    """Of these points of an experiment, those that others beside its directory have.

    They are copied into its own store, which lacks them, as this version of the engine has
    finished them.
    """
    found = finished(keys, directory)
    if not found:
        return found
    with Store.open(directory, create=True) as store:
        store.set_experiment(experiment.document)
        for beside in sorted(set(found.values())):
            with Store.open(beside) as other:
                wanted = [key for key, place in found.items() if place == beside]
                for record in other.records_of(wanted, _engine.VERSION):
                    store.add(record)
    return found


def finished(keys: Collection[str], directory: Path) -> dict[str, Path]:
    """Of these points, those that other result directories beside one have, and which."""
    found: dict[str, Path] = {}
    for beside in _others(directory):
        left = {*keys} - found.keys()
        if not left:
            break
        # One that is damaged is none of their business.
        with suppress(InputError), Store.open(beside) as store:
            found |= dict.fromkeys(left & store.finished(_engine.VERSION).keys(), beside)
    return found


def _others(directory: Path) -> Iterator[Path]:
    for file in sorted(directory.parent.glob(f"*/{FILE}")):
        if file.parent != directory:
            yield file.parent

"""What claims are judged by: results of experiments, and the engine itself for geometry."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deroute.spec import assign
from deroute.wiring import Wiring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.figures import Study
    from deroute.reproduce.tables import Table

Hop = tuple[int, int, int]


class NotSettledError(Exception):
    """The evidence that a claim needs is not there; the message says what."""


class Engine(Protocol):
    """What geometry claims ask of the engine. Specs are JSON."""

    def topology(self, spec: str) -> Mapping[str, Any]:
        """Wiring: see `Wiring`."""

    def path(self, spec: str, source: int, target: int, seed: int) -> Sequence[Hop]:
        """Router, output port and VC of every step of one packet through the empty network."""

    def destinations(self, spec: str, waiting: int | None) -> NDArray[Any]:
        """Numbers of destinations to which packets leave, by router and port."""

    def check(self, spec: str) -> object:
        """Build the network; a `SpecError` says why it cannot be."""

    def simulate(self, spec: str) -> object:
        """Run a point; a `SimulationError` reports a deadlock or a cycle of dependencies."""


@dataclass(slots=True)
class Evidence:
    """Results by experiment name, and the engine behind the paper's base spec."""

    base: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Mapping[str, Any]]]
    runs: Mapping[str, Study]
    #: Fetched when first needed, so that claims about runs work without it.
    engine: Callable[[], Engine]
    #: Published tables by the experiment that measures their cells.
    tables: Mapping[str, Table] = field(default_factory=dict)
    _wirings: dict[str, Wiring] = field(default_factory=dict)
    _destinations: dict[tuple[str, int | None], NDArray[Any]] = field(default_factory=dict)

    def of(self, experiment: str) -> Study:
        """Results of an experiment of the item."""
        if experiment not in self.runs:
            raise NotSettledError(f"the experiment {experiment!r} has no results")
        return self.runs[experiment]

    def table(self, experiment: str) -> Table:
        """The published table whose cells an experiment measures."""
        if experiment not in self.tables:
            raise NotSettledError(f"no table belongs to the experiment {experiment!r}")
        return self.tables[experiment]

    def spec(self, h: int | None = None, routing: str | None = None, **paths: Any) -> str:
        """The paper's base spec as JSON, for a balanced Dragonfly, a named routing, and more.

        Keyword arguments are spec paths with `__` for the dots.
        """
        tree = copy.deepcopy(dict(self.base))
        settings: dict[str, Any] = {}
        if h is not None:
            settings["network.topology"] = {"dragonfly": {"p": h, "a": 2 * h, "h": h}}
        if routing is not None:
            settings |= self.values["routing"][routing]
        settings |= {path.replace("__", "."): value for path, value in paths.items()}
        for path, value in settings.items():
            assign(tree, path, copy.deepcopy(value))
        return json.dumps(tree)

    def wiring(self, spec: str) -> Wiring:
        """Wiring of a spec, computed once."""
        if spec not in self._wirings:
            self._wirings[spec] = Wiring.of(self.engine().topology(spec))
        return self._wirings[spec]

    def destinations(self, spec: str, waiting: int | None) -> NDArray[Any]:
        """Destinations through every port, counted once; `waiting` phits wait on the full ones."""
        if (spec, waiting) not in self._destinations:
            counts = np.asarray(self.engine().destinations(spec, waiting))
            self._destinations[spec, waiting] = counts
        return self._destinations[spec, waiting]

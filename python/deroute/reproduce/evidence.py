"""What claims are judged by: results of experiments, and the engine itself for geometry."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deroute.spec import assign

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deroute.figures import Study

#: Link class of a port that leads to a host, and of one that leads nowhere.
HOST_PORT, UNUSED = -2, -1

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


@dataclass(frozen=True, slots=True)
class Tree:
    """Levels of a fat tree, from the hosts up."""

    #: Level of every router, from 1.
    level: NDArray[np.int32]
    #: Children of a switch, parents of a node of the level below, links to each.
    children: tuple[int, ...]
    parents: tuple[int, ...]
    parallel: tuple[int, ...]

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Tree | None:
        """From what the engine's `topology` returns."""
        if "level" not in arrays:
            return None
        shape = (tuple(arrays[name]) for name in ("children", "parents", "parallel"))
        return cls(np.asarray(arrays["level"], dtype=np.int32), *shape)

    def block(self, levels: int) -> int:
        """Switches of a subtree of so many levels, which are numbered in a row."""
        count = twins = 0
        for children, parents in zip(self.children[:levels], self.parents, strict=False):
            twins = (twins or 1) * parents
            count = children * count + twins
        return count


@dataclass(frozen=True, slots=True)
class Wiring:
    """A topology as arrays over routers and ports."""

    router_of_host: NDArray[np.int32]
    #: Neighbour and its port behind each port; -1 where there is no router.
    peer_router: NDArray[np.int32]
    peer_port: NDArray[np.int32]
    #: Index into `class_names`, or `HOST_PORT`, or `UNUSED`.
    link_class: NDArray[np.int32]
    class_names: tuple[str, ...]
    #: The fat tree that the routers form, if they do.
    tree: Tree | None = None

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Wiring:
        """From what the engine's `topology` returns."""
        names = ("router_of_host", "peer_router", "peer_port", "link_class")
        parts = {name: np.asarray(arrays[name], dtype=np.int32) for name in names}
        return cls(**parts, class_names=tuple(arrays["class_names"]), tree=Tree.of(arrays))

    def ports(self, name: str) -> NDArray[np.bool_]:
        """Mask of the ports of one link class."""
        mask: NDArray[np.bool_] = self.link_class == self.class_names.index(name)
        return mask


@dataclass(slots=True)
class Evidence:
    """Results by experiment name, and the engine behind the paper's base spec."""

    base: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Mapping[str, Any]]]
    scales: Mapping[str, Mapping[str, Any]]
    runs: Mapping[str, Study]
    #: Fetched when first needed, so that claims about runs work without it.
    engine: Callable[[], Engine]
    _wirings: dict[str, Wiring] = field(default_factory=dict)
    _destinations: dict[tuple[str, int | None], NDArray[Any]] = field(default_factory=dict)

    def of(self, experiment: str) -> Study:
        """Results of an experiment of the item."""
        if experiment not in self.runs:
            raise NotSettledError(f"the experiment {experiment!r} has no results")
        return self.runs[experiment]

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

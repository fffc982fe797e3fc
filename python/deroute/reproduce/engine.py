"""The engine as geometry claims use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from deroute import _engine
from deroute.reproduce.evidence import Hop, NotSettledError


class BuiltEngine:
    """The engine that this package was built with."""

    def topology(self, spec: str) -> Mapping[str, Any]:
        """Wiring of the network."""
        return _engine.topology(spec)

    def path(self, spec: str, source: int, target: int, seed: int) -> Sequence[Hop]:
        """Path of one packet through the empty network."""
        hops = _engine.path(spec, source, target, seed)
        if hops is None:
            raise NotSettledError(f"the packet from host {source} does not reach host {target}")
        return hops

    def destinations(self, spec: str, waiting: int | None) -> NDArray[Any]:
        """Destinations that leave through every port."""
        return _engine.destinations(spec, waiting)

    def check(self, spec: str) -> object:
        """Build the network."""
        return _engine.check(spec)

    def simulate(self, spec: str) -> object:
        """Run a point."""
        return _engine.simulate(spec)

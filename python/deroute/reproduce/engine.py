"""The engine as geometry claims use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deroute import _engine
from deroute.reproduce.evidence import Hop, NotSettledError


class BuiltEngine:
    """The engine that this package was built with."""

    def topology(self, spec: str) -> Mapping[str, Any]:
        """Wiring of the network."""
        return _engine.topology(spec)

    def path(self, spec: str, source: int, target: int, seed: int) -> Sequence[Hop]:
        """Path of one packet through the empty network."""
        trace = getattr(_engine, "path", None)
        if trace is None:
            raise NotSettledError("this build of the engine does not trace single paths")
        hops: Sequence[Hop] = trace(spec, source, target, seed)
        return hops

    def check(self, spec: str) -> object:
        """Build the network."""
        return _engine.check(spec)

    def simulate(self, spec: str) -> object:
        """Run a point."""
        return _engine.simulate(spec)

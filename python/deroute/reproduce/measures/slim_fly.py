"""Measures over Slim Flies, which the engine wires as graphs.

The graphs are those of McKay, Miller and Siran (1998): two sets of q x q routers for a prime
q = 4w + 1.
"""

from __future__ import annotations

from typing import Any

from deroute.analysis import Estimate
from deroute.economics.comparison import wired
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.paper import PaperError


def moore_share(evidence: Evidence, q: int) -> list[Estimate]:
    """Routers over the most that a graph of the same degree k and diameter 2 could have, 1 + k^2.

    Raises `NotSettledError` if the routers are farther than two links from each other.
    """
    network = wired(slim_fly(q), evidence.engine().topology)
    # A host each.
    degree = network.radix()[1] - 1
    distances = network.distances()
    if distances is None or distances.links != 2:
        raise NotSettledError(f"the diameter of the Slim Fly with q = {q} is not known to be 2")
    return [Estimate(network.routers / (1 + degree**2))]


def slim_fly(q: int) -> dict[str, Any]:
    """The topology of a spec: 2 q^2 routers with (3q - 1)/2 links and a host each.

    Router (s, x, y) has the number s q^2 + x q + y. (0, x, y) and (0, x, z) are neighbours if
    y - z is an even power of a primitive root of q, (1, m, c) and (1, m, d) if c - d is an odd
    one, (0, x, y) and (1, m, c) if y = m x + c.
    """
    if q % 4 != 1 or any(q % divisor == 0 for divisor in range(2, q)):
        raise PaperError(f"{q} is not a prime of the form 4w + 1")
    root = next(
        each for each in range(2, q) if len({pow(each, n, q) for n in range(q - 1)}) == q - 1
    )
    steps = [{pow(root, 2 * n + side, q) for n in range((q - 1) // 2)} for side in (0, 1)]
    own = [
        [(side * q + x) * q + y, (side * q + x) * q + z]
        for side in (0, 1)
        for x in range(q)
        for y in range(q)
        for z in range(y + 1, q)
        if z - y in steps[side]
    ]
    across = [
        [x * q + (m * x + c) % q, (q + m) * q + c]
        for x in range(q)
        for m in range(q)
        for c in range(q)
    ]
    return {"graph": {"edges": own + across, "hosts": 1}}


MEASURES = (moore_share,)

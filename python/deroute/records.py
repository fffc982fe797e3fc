"""What a simulation point records in time, as typed objects.

Times are in cycles, relative to the beginning of the measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SeriesColumns:
    """Columns of a time series, one entry per bin."""

    packets: NDArray[np.uint64]
    phits: NDArray[np.uint64]
    #: Sum of the latencies, in cycles.
    latency_sum: NDArray[np.uint64]
    #: Packets that took a non-minimal path.
    nonminimal: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Series:
    """Time series: bin `i` covers `start + i * width` up to `start + (i + 1) * width` cycles,
    relative to the beginning of the measurement.
    """

    start: int
    width: int
    #: By the cycle in which a packet was generated (packets that were delivered).
    by_generation: SeriesColumns
    #: By the cycle in which a packet was delivered.
    by_delivery: SeriesColumns

    def to_polars(self) -> pl.DataFrame:
        """A row per bin, with its first cycle."""
        columns: dict[str, NDArray[np.uint64]] = {
            f"{kind}.{name}": getattr(getattr(self, kind), name)
            for kind in ("by_generation", "by_delivery")
            for name in SeriesColumns.__dataclass_fields__
        }
        # Each ends with the last bin that has a packet: beyond it there is none.
        bins = max(map(len, columns.values()))
        frame = pl.DataFrame(
            {name: np.pad(column, (0, bins - len(column))) for name, column in columns.items()}
        )
        start = pl.int_range(pl.len(), dtype=pl.Int64) * self.width + self.start
        return frame.select(start.alias("cycle"), pl.all())


@dataclass(frozen=True, slots=True)
class AgentSeries:
    """State of the routing agents in time: sample `i` is taken at the beginning of cycle
    `start + i * width`, relative to the beginning of the measurement.
    """

    start: int
    width: int
    #: What is sampled, in the words of the routing algorithm.
    names: list[str]
    #: Routers given one by one: those of the domain in `probes.agents`.
    routers: list[int]
    #: (samples, routers, names)
    values: NDArray[np.float64]
    #: (samples, names) mean over all routers of the network.
    mean: NDArray[np.float64]

    @property
    def cycles(self) -> NDArray[np.int64]:
        """(samples,) cycle of each sample, relative to the beginning of the measurement."""
        return self.start + self.width * np.arange(len(self.mean), dtype=np.int64)

    def to_polars(self) -> pl.DataFrame:
        """A row per sample and router, and one per sample with the mean over the network, whose
        `router` is null; a column per name.
        """
        routers = pl.Series("router", [*self.routers, None], dtype=pl.UInt32)
        rows = np.concatenate([self.values, self.mean[:, np.newaxis]], axis=1)
        columns = dict(zip(self.names, rows.reshape(-1, len(self.names)).T, strict=True))
        samples = len(self.mean)
        cycle = pl.Series("cycle", np.repeat(self.cycles, len(routers)))
        router = pl.concat([routers] * samples) if samples else routers.clear()
        return pl.DataFrame([cycle, router, *(pl.Series(n, v) for n, v in columns.items())])


#: Columns of `CongestionSeries.roots` and `CongestionSeries.members`.
_ROOT = ("sample", "router", "port", "host", "depth", "routers", "buffers", "hosts", "phits")
_MEMBER = ("tree", "router", "port", "vc", "level", "phits")


@dataclass(frozen=True, slots=True)
class CongestionSeries:
    """Congestion trees in time: sample `i` is taken at the beginning of cycle `start + i * width`,
    relative to the beginning of the measurement.

    The tree of an output port, its root, is what waits for it, directly or for credits of buffers
    that do. A buffer is a VC of an input port, or an injection queue.
    """

    start: int
    width: int
    #: (samples,) trees, and links between a root and the farthest buffer of its tree, at most.
    trees: NDArray[np.uint32]
    depth: NDArray[np.uint32]
    #: (samples,) buffers of VCs, and injection queues, that are part of a tree.
    buffers: NDArray[np.uint32]
    hosts: NDArray[np.uint32]
    #: (samples,) phits in all buffers, and in those that are part of a tree.
    queued: NDArray[np.uint64]
    held: NDArray[np.uint64]
    #: (samples,) phits of packets that could go, were they not behind a head that cannot.
    blocked: NDArray[np.uint64]
    #: (trees of all samples, 9): sample, router and output port of the root, its host (-1 if it
    #: leads to a router), depth, routers, buffers, injection queues, phits.
    roots: NDArray[np.int64]
    #: (buffers of all trees, 6): row of `roots`, router, input port, VC, links to the root, phits;
    #: empty unless the spec asks for them in `probes.congestion.members`.
    members: NDArray[np.uint32]

    @property
    def cycles(self) -> NDArray[np.int64]:
        """(samples,) cycle of each sample, relative to the beginning of the measurement."""
        return self.start + self.width * np.arange(len(self.trees), dtype=np.int64)

    def to_polars(self) -> pl.DataFrame:
        """A row per sample."""
        names = ("trees", "depth", "buffers", "hosts", "queued", "held", "blocked")
        return pl.DataFrame({"cycle": self.cycles} | {name: getattr(self, name) for name in names})

    def to_json(self) -> dict[str, Any]:
        """As the engine writes it."""
        lists = self.to_polars().drop("cycle").to_dict(as_series=False)
        trees = {"roots": self.roots_to_polars(), "members": self.members_to_polars()}
        tables = {name: frame.to_dicts() for name, frame in trees.items()}
        return {"start": self.start, "width": self.width} | lists | tables

    def roots_to_polars(self) -> pl.DataFrame:
        """A row per tree; `host` is null if the root leads to a router."""
        frame = pl.DataFrame(self.roots, schema=list(_ROOT))
        return frame.with_columns(pl.col("host").replace(-1, None))

    def members_to_polars(self) -> pl.DataFrame:
        """A row per buffer of a tree; `tree` is the row of `roots_to_polars`."""
        return pl.DataFrame(self.members, schema=list(_MEMBER))

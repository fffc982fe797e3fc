"""The result of a simulation point as typed objects.

Times are in cycles, loads in phits per host and cycle; `cycle_ns` and `phit_bytes` convert. The
field names are those of the engine's outcome. Arrays are NumPy arrays, taken over from the engine
without a copy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from deroute.jobs import (
    JobArrays,
    Part,
    Percentile,
    WorkloadOutcome,
    iterations_frame,
    ranks_frame,
)
from deroute.records import AgentSeries, CongestionSeries, Series, SeriesColumns

RawArrays = Mapping[str, NDArray[Any]]
Scalar = str | int | float


class Verdict(Part):
    """Whether the numbers describe a steady state, and why."""

    state: Literal["steady", "saturated", "not-converged", "completed", "unfinished"]
    reasons: list[str]


class Size(Part):
    """Size of the network; `links` counts each direction."""

    hosts: int
    routers: int
    links: int


class Load(Part):
    """Loads over the measurement, in phits per host and cycle."""

    offered: float
    attempted: float
    generated: float
    injected: float
    accepted: float
    accepted_ci95: float


class Packets(Part):
    """Packets over the whole run: `generated = delivered + lost + in_flight`."""

    generated: int
    refused: int
    injected: int
    delivered: int
    #: Lost for want of room.
    lost: int = 0
    in_flight: int
    measured: int


class Latency(Part):
    """Latency from generation to the consumption of the last phit, in cycles."""

    mean: float
    ci95: float
    #: Length of the measurement in correlation times, roughly; 0 in results of versions before 0.6.
    correlation_times: float = 0.0
    injection_mean: float
    network_mean: float
    min: int
    max: int
    percentiles: list[Percentile]
    histogram_error: float


class Trend(Part):
    """Rise of straight lines through latency and packets in the network, as fractions of their
    means, from the beginning to the end of the measurement.
    """

    latency: float
    latency_ci95: float
    in_flight: float
    in_flight_ci95: float


class Fairness(Part):
    """Jain's index and largest over smallest, of the load that left the injection queues."""

    jain_hosts: float
    jain_routers: float
    max_min_hosts: float
    max_min_routers: float


class PathShare(Part):
    """Packets that took one kind of path, and their fraction of all packets injected."""

    kind: str
    packets: int
    share: float


class LinkUse(Part):
    """Utilisation of the links of one class, as a fraction of the link rate."""

    #: Link class of the topology, or `ejection`; `class` in the files.
    link_class: str = Field(alias="class")
    links: int
    mean: float
    min: float
    max: float


class PauseUse(Part):
    """Pauses and losses on the links of a class: of the whole run, shares of the measurement."""

    #: Link class of the topology, or `host`; `class` in the files.
    link_class: str = Field(alias="class")
    links: int
    frames: int
    stops: int
    paused_mean: float
    paused_max: float
    buffer_max: int
    buffer: int
    xoff: int | None
    lost_packets: int
    lost_phits: int


class FlowControlUse(Part):
    """What a flow control that pauses or loses packets did, in words and by link class."""

    says: list[str]
    links: list[PauseUse]


class Work(Part):
    """Work done by the whole run: cycles simulated, switch traversals."""

    cycles: int
    grants: int


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays over the measurement."""

    #: (hosts,) load that left the injection queue of each host.
    injected_by_host: NDArray[np.float64]
    #: (hosts,) load consumed by each host.
    accepted_by_host: NDArray[np.float64]
    #: (routers,) mean over the hosts of each router of `injected_by_host`.
    injected_by_router: NDArray[np.float64]
    #: (routers, path kinds) packets injected.
    paths_by_router: NDArray[np.uint32]
    #: Columns of `paths_by_router`.
    path_kinds: list[str]
    #: (links,) utilisation of every link between routers; empty unless `probes.links`.
    link_use: NDArray[np.float64]
    #: (links, 2) router and port of each entry of `link_use`.
    link_at: NDArray[np.uint32]


Table = Literal[
    "summary", "hosts", "routers", "links", "series", "agents", "congestion", "iterations", "ranks"
]


class Outcome(Part):
    """The result of one simulation point."""

    verdict: Verdict
    cycle_ns: float
    phit_bytes: float
    size: Size
    measured_from: int
    measured_cycles: int
    load: Load
    packets: Packets
    latency: Latency
    #: None with a workload, and in results of versions before 0.6.
    trend: Trend | None = None
    hops_mean: float
    fairness: Fairness
    paths: list[PathShare]
    links: list[LinkUse]
    blocked_attempts_mean: float
    work: Work
    #: None without a workload.
    workload: WorkloadOutcome | None = None
    #: What the flow control did, where it pauses or loses packets.
    flow_control: FlowControlUse | None = None

    _path_kinds: list[str] = PrivateAttr()
    _series: dict[str, Any] | None = PrivateAttr()
    _agents: dict[str, Any] | None = PrivateAttr()
    _congestion: dict[str, Any] | None = PrivateAttr()
    _load: Callable[[], RawArrays] = PrivateAttr()

    @classmethod
    def read(cls, text: str, load_arrays: Callable[[], RawArrays]) -> Outcome:
        """From the engine's JSON; `load_arrays` is called when an array is first asked for."""
        scalars = json.loads(text)
        path_kinds = scalars.pop("arrays")["path_kinds"]
        series = scalars.pop("series")
        # Results of the first versions have none.
        agents = scalars.pop("agents", None)
        congestion = scalars.pop("congestion", None)
        for job in (scalars.get("workload") or {"jobs": []})["jobs"]:
            del job["arrays"]
        outcome = cls.model_validate(scalars)
        outcome._path_kinds, outcome._load = path_kinds, load_arrays
        outcome._series, outcome._agents = series, agents
        outcome._congestion = congestion
        return outcome

    @cached_property
    def _raw(self) -> RawArrays:
        return self._load()

    @cached_property
    def arrays(self) -> Arrays:
        """Arrays per host, router and link."""
        return Arrays(path_kinds=self._path_kinds, **_below(self._raw, "arrays."))

    @cached_property
    def series(self) -> Series | None:
        """Time series; None unless the spec asks for them in `probes.series`."""
        if self._series is None:
            return None
        return Series(
            start=self._series["start"],
            width=self._series["width"],
            by_generation=SeriesColumns(**_below(self._raw, "series.by_generation.")),
            by_delivery=SeriesColumns(**_below(self._raw, "series.by_delivery.")),
        )

    @cached_property
    def agents(self) -> AgentSeries | None:
        """State of the routing agents in time; None unless the spec asks for `probes.agents`."""
        if self._agents is None:
            return None
        arrays: dict[str, Any] = self._agents | _below(self._raw, "agents.")
        return AgentSeries(**arrays)

    @cached_property
    def congestion(self) -> CongestionSeries | None:
        """Congestion trees in time; None unless the spec asks for `probes.congestion`."""
        if self._congestion is None:
            return None
        arrays: dict[str, Any] = _below(self._raw, "congestion.")
        start, width = self._congestion["start"], self._congestion["width"]
        return CongestionSeries(start=start, width=width, **arrays)

    @cached_property
    def jobs(self) -> dict[str, JobArrays]:
        """Times of the iterations and ranks of each job of the workload, by its name."""
        names = [job.name for job in self.workload.jobs] if self.workload else []
        return {name: JobArrays(**_below(self._raw, f"jobs.{name}.")) for name in names}

    def scalars(self) -> dict[str, Scalar]:
        """Every scalar by its dotted name: `latency.mean`, `latency.p99`, `paths.lgl.share`; with
        a workload also `workload.makespan`, `workload.jobs.NAME.time`.
        """
        flat: dict[str, Scalar] = {}
        lists = {"paths": "kind", "links": "class"}
        if self.workload is not None:
            _flatten("workload", self.workload.scalars(), flat)
        for link in self.flow_control.links if self.flow_control else []:
            used = link.model_dump(exclude={"link_class"}, exclude_none=True)
            _flatten(f"flow_control.{link.link_class}", used, flat)
        unknown = {"workload", "flow_control"} | ({"trend"} if self.trend is None else set())
        for name, value in self.model_dump(by_alias=True, exclude=unknown).items():
            named = {item.pop(lists[name]): item for item in value} if name in lists else value
            _flatten(name, named, flat)
        return flat

    def to_polars(self, table: Table = "summary") -> pl.DataFrame:
        """The outcome as a frame: one row of scalars (`summary`), or one row per host, router,
        link (needs `probes.links`), bin of the time series (needs `probes.series`), sample and
        router (`agents`, needs `probes.agents`; see `AgentSeries.to_polars`), sample of the
        congestion trees (needs `probes.congestion`), or iteration or rank of a job (needs a
        `workload`).
        """
        arrays = self.arrays
        match table:
            case "summary":
                return pl.DataFrame([self.scalars()])
            case "hosts":
                injected, accepted = arrays.injected_by_host, arrays.accepted_by_host
                return _indexed("host", {"injected": injected, "accepted": accepted})
            case "routers":
                names = [f"paths.{kind}" for kind in self._path_kinds]
                kinds = dict(zip(names, arrays.paths_by_router.T, strict=True))
                return _indexed("router", {"injected": arrays.injected_by_router, **kinds})
            case "links":
                router, port = arrays.link_at.T
                return pl.DataFrame({"router": router, "port": port, "use": arrays.link_use})
            case "series":
                return _series_frame(self.series)
            case "agents":
                if self.agents is None:
                    raise ValueError("the spec asked for no state of the agents (probes.agents)")
                return self.agents.to_polars()
            case "congestion":
                if self.congestion is None:
                    raise ValueError("the spec asked for no congestion trees (probes.congestion)")
                return self.congestion.to_polars()
            case "iterations" | "ranks":
                if self.workload is None:
                    raise ValueError("the spec asked for no workload")
                return (iterations_frame if table == "iterations" else ranks_frame)(self.jobs)

    def to_json(self) -> dict[str, Any]:
        """The whole outcome, arrays included, as the engine writes it."""
        document = self.model_dump(by_alias=True)
        document["arrays"] = {"path_kinds": self._path_kinds} | {
            name: array.tolist() for name, array in _below(self._raw, "arrays.").items()
        }
        document["series"] = None
        if self._series is not None:
            document["series"] = {"start": self._series["start"], "width": self._series["width"]}
            for kind in ("by_generation", "by_delivery"):
                columns = _below(self._raw, f"series.{kind}.")
                document["series"][kind] = {name: all.tolist() for name, all in columns.items()}
        document["agents"] = None
        if self._agents is not None:
            arrays = {name: all.tolist() for name, all in _below(self._raw, "agents.").items()}
            document["agents"] = self._agents | arrays
        document["congestion"] = None
        if self._congestion is not None:
            found = self.congestion
            assert found is not None
            lists = found.to_polars().drop("cycle").to_dict(as_series=False)
            trees = {"roots": found.roots_to_polars(), "members": found.members_to_polars()}
            tables = {name: frame.to_dicts() for name, frame in trees.items()}
            document["congestion"] = self._congestion | lists | tables
        for job in (document["workload"] or {"jobs": []})["jobs"]:
            below = _below(self._raw, f"jobs.{job['name']}.")
            job["arrays"] = {name: array.tolist() for name, array in below.items()}
        return document


def _below(raw: RawArrays, prefix: str) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: array for name, array in raw.items() if name.startswith(prefix)}


def _flatten(name: str, value: Any, into: dict[str, Scalar]) -> None:
    match value:
        case {"percent": percent, "cycles": cycles}:
            into[f"{name.rpartition('.')[0]}.p{percent:g}"] = cycles
        case Mapping():
            for key, item in value.items():
                _flatten(f"{name}.{key}", item, into)
        case [str(), *_] | []:
            into[name] = "; ".join(value)
        case list():
            for item in value:
                _flatten(name, item, into)
        case _:
            into[name] = value


def _indexed(name: str, columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    return pl.DataFrame(columns).with_row_index(name)


def _series_frame(series: Series | None) -> pl.DataFrame:
    if series is None:
        raise ValueError("the spec asked for no time series (probes.series)")
    columns = {
        f"{kind}.{name}": getattr(getattr(series, kind), name)
        for kind in ("by_generation", "by_delivery")
        for name in SeriesColumns.__dataclass_fields__
    }
    frame = pl.DataFrame(columns)
    start = pl.int_range(pl.len(), dtype=pl.Int64) * series.width + series.start
    return frame.select(start.alias("cycle"), pl.all())

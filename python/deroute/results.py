"""The result of a simulation point as typed objects.

Times are in cycles, loads in phits per host and cycle; `cycle_ns` and `phit_bytes` convert. The
field names are those of the engine's outcome. Arrays are NumPy arrays, taken over from the engine
without a copy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from deroute.errors import InputError
from deroute.ethernet import (
    AdaptationUse,
    CongestionPointUse,
    EntropyUse,
    FlowControlUse,
    NotificationUse,
    ReactionPointUse,
    RetransmissionUse,
    RetryUse,
)
from deroute.jobs import JobArrays, Part, WorkloadOutcome, by_name, job_frame
from deroute.notebook import Value
from deroute.queues import PauseSeries, QueueSeries, pause_series, queue_series
from deroute.rates import RateSeries, rate_series
from deroute.records import AgentSeries, CongestionSeries, Series, SeriesColumns
from deroute.scalars import INTERVAL, Scalar, flatten
from deroute.steadiness import Stopping, Trend, Verdict
from deroute.streams import Latency, ResequencingUse, StreamOutcome, streams_frame

RawArrays = Mapping[str, NDArray[Any]]


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


Records = Literal[
    "series", "agents", "congestion", "queues", "rates", "pauses", "iterations", "ranks", "flows"
]
Table = Literal["summary", "hosts", "routers", "links", "streams", Records]

#: What is recorded in time, or of every link, where the spec asks for it: in words.
_RECORDS = {
    "series": "time series",
    "agents": "state of the agents",
    "congestion": "congestion trees",
    "queues": "queues",
    "rates": "rates",
    "pauses": "pauses",
}


class Outcome(Value, Part):
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
    #: None without `run.precision`.
    stopping: Stopping | None = None
    hops_mean: float
    fairness: Fairness
    paths: list[PathShare]
    links: list[LinkUse]
    blocked_attempts_mean: float
    work: Work
    #: None without a workload.
    workload: WorkloadOutcome | None = None
    #: What each stream of the traffic did.
    streams: list[StreamOutcome] = Field(default_factory=list)
    #: What receiving hosts did to put packets in order; None unless `network.nic.resequencing`.
    resequencing: ResequencingUse | None = None
    #: What the flow control did, where it pauses or loses packets.
    flow_control: FlowControlUse | None = None
    #: What links did that send broken frames again; None unless some do.
    retry: RetryUse | None = None
    #: What hosts sent again; None unless `network.nic.retransmission`.
    retransmission: RetransmissionUse | None = None
    #: What the congestion points did, if there are any.
    congestion_point: CongestionPointUse | None = None
    #: What congestion or notification points that send notifications did, if there are any.
    notifications: NotificationUse | None = None
    #: What the entropies of packets did, if hosts give any.
    entropy: EntropyUse | None = None
    #: What the reaction points of hosts did, if there are any.
    reaction_point: ReactionPointUse | None = None
    #: What the routing did by what it was told, if it is one that says so.
    adaptation: AdaptationUse | None = None

    _path_kinds: list[str] = PrivateAttr()
    #: What the engine says of each record, beside its arrays; None of one that was not asked for.
    _heads: dict[str, dict[str, Any] | None] = PrivateAttr()
    _load: Callable[[], RawArrays] = PrivateAttr()

    @classmethod
    def read(cls, text: str, load_arrays: Callable[[], RawArrays]) -> Outcome:
        """From the engine's JSON; `load_arrays` is called when an array is first asked for."""
        scalars = json.loads(text)
        path_kinds = scalars.pop("arrays")["path_kinds"]
        # Results of the first versions have fewer.
        heads = {name: scalars.pop(name, None) for name in _RECORDS}
        for job in (scalars.get("workload") or {"jobs": []})["jobs"]:
            del job["arrays"]
        for stream in scalars.get("streams", []):
            stream.pop("series", None)
        outcome = cls.model_validate(scalars)
        outcome._path_kinds, outcome._load, outcome._heads = path_kinds, load_arrays, heads
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
        head = self._heads["series"]
        if head is None:
            return None
        return Series(
            start=head["start"],
            width=head["width"],
            by_generation=SeriesColumns(**_below(self._raw, "series.by_generation.")),
            by_delivery=SeriesColumns(**_below(self._raw, "series.by_delivery.")),
        )

    @cached_property
    def stream_series(self) -> dict[str, SeriesColumns]:
        """By delivery, for each stream, in the bins of `series`; empty unless there are any."""
        recorded = self.streams if self._heads["series"] is not None else []
        names = [stream.name for stream in recorded]
        return {name: SeriesColumns(**_below(self._raw, f"streams.{name}.")) for name in names}

    def stream(self, name: str) -> StreamOutcome:
        """The stream of this name."""
        return by_name(self.streams, name, "stream")

    @cached_property
    def agents(self) -> AgentSeries | None:
        """State of the routing agents in time; None unless the spec asks for `probes.agents`."""
        head = self._heads["agents"]
        arrays: dict[str, Any] = _below(self._raw, "agents.") if head else {}
        return None if head is None else AgentSeries(**head | arrays)

    @cached_property
    def congestion(self) -> CongestionSeries | None:
        """Congestion trees in time; None unless the spec asks for `probes.congestion`."""
        head = self._heads["congestion"]
        if head is None:
            return None
        return CongestionSeries(head["start"], head["width"], **_below(self._raw, "congestion."))

    @cached_property
    def queues(self) -> QueueSeries | None:
        """Lengths of queues in time; None unless the spec asks for `probes.queues`."""
        head = self._heads["queues"]
        return None if head is None else queue_series(head, _below(self._raw, "queues."))

    @cached_property
    def rates(self) -> RateSeries | None:
        """Rates of hosts in time; None unless the spec asks for `probes.rates`."""
        head = self._heads["rates"]
        return None if head is None else rate_series(head, _below(self._raw, "rates."))

    @cached_property
    def pauses(self) -> PauseSeries | None:
        """Pauses of every link and VC; None unless the spec asks for `probes.pauses`."""
        head = self._heads["pauses"]
        return None if head is None else pause_series(head, _below(self._raw, "pauses."))

    @cached_property
    def jobs(self) -> dict[str, JobArrays]:
        """Times of the iterations and ranks of each job of the workload, by its name."""
        names = [job.name for job in self.workload.jobs] if self.workload else []
        return {name: JobArrays(**_below(self._raw, f"jobs.{name}.")) for name in names}

    def scalars(self) -> dict[str, Scalar]:
        """Every scalar by its dotted name: `latency.mean`, `latency.p99`, `paths.lgl.share`; with
        a workload also `workload.makespan`, `workload.jobs.NAME.time`, and no intervals (NaN): it
        has no steady state. Without a packet in the measurement all of `latency` is NaN.
        """
        flat: dict[str, Scalar] = {}
        lists = {"paths": "kind", "links": "class"}
        if self.workload is not None:
            flatten("workload", self.workload.scalars(), flat)
        if self.flow_control is not None:
            flat["flow_control.says"] = "; ".join(self.flow_control.says)
            for name, used in self.flow_control.by_class():
                flatten(f"flow_control.{name}", used, flat)
        acted = (
            *("retry", "retransmission", "congestion_point", "notifications", "entropy"),
            *("reaction_point", "adaptation"),
        )
        for part in (getattr(self, name) for name in acted):
            if part is not None:
                flatten(part.name, part.scalars(), flat)
        for stream in self.streams:
            flatten(f"streams.{stream.name}", stream.scalars(), flat)
        unknown = {"workload", "streams", "flow_control", *acted}
        others = ("trend", "stopping", "resequencing")
        unknown |= {name for name in others if getattr(self, name) is None}
        for name, value in self.model_dump(by_alias=True, exclude=unknown).items():
            named = {item.pop(lists[name]): item for item in value} if name in lists else value
            flatten(name, named, flat)
        if self.workload is not None:
            # The engine has 0 where there is no interval.
            flat |= dict.fromkeys((name for name in flat if name.endswith(INTERVAL)), math.nan)
        if self.packets.measured == 0:
            # Nor a latency where nothing was measured.
            flat |= dict.fromkeys((name for name in flat if name.startswith("latency.")), math.nan)
        return flat

    def to_polars(self, table: Table = "summary") -> pl.DataFrame:
        """The outcome as a frame: one row of scalars (`summary`), or one row per host, router,
        link (needs `probes.links`), stream (needs `traffic.stream`), bin of the time series (needs
        `probes.series`), sample and router (`agents`, needs `probes.agents`; see
        `AgentSeries.to_polars`), sample of the congestion trees (needs `probes.congestion`), sample
        and queue (needs `probes.queues`) or flow (`rates`, needs `probes.rates`), link and VC
        (`pauses`, needs `probes.pauses`), or iteration, rank or flow of a job (needs a `workload`;
        flows that of a job that asks for it).
        """
        if table not in get_args(Table):
            raise InputError.of(f"there is no table {table!r}", choices=get_args(Table))
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
            case "streams":
                return streams_frame(self.streams)
            case "series" | "agents" | "congestion" | "queues" | "rates" | "pauses":
                record = getattr(self, table)
                if record is None:
                    words = f"the spec asked for no {_RECORDS[table]} (probes.{table})"
                    raise ValueError(words)
                frame: pl.DataFrame = record.to_polars()
                return frame
            case "iterations" | "ranks" | "flows":
                return job_frame(table, self.jobs)

    def to_json(self) -> dict[str, Any]:
        """The whole outcome, arrays included, as the engine writes it."""
        document = self.model_dump(by_alias=True)
        document["arrays"] = {"path_kinds": self._path_kinds} | {
            name: array.tolist() for name, array in _below(self._raw, "arrays.").items()
        }
        document |= dict.fromkeys(_RECORDS)
        head = self._heads["series"]
        if head is not None:
            document["series"] = {"start": head["start"], "width": head["width"]}
            for kind in ("by_generation", "by_delivery"):
                columns = _below(self._raw, f"series.{kind}.")
                document["series"][kind] = {name: all.tolist() for name, all in columns.items()}
        for stream in document["streams"] if self._heads["series"] is not None else []:
            columns = _below(self._raw, f"streams.{stream['name']}.")
            stream["series"] = {name: all.tolist() for name, all in columns.items()}
        head = self._heads["agents"]
        if head is not None:
            arrays = {name: all.tolist() for name, all in _below(self._raw, "agents.").items()}
            document["agents"] = head | arrays
        for name in ("congestion", "queues", "rates", "pauses"):
            record = getattr(self, name)
            document[name] = None if record is None else record.to_json()
        for job in (document["workload"] or {"jobs": []})["jobs"]:
            below = _below(self._raw, f"jobs.{job['name']}.")
            job["arrays"] = {name: array.tolist() for name, array in below.items()}
        return document


def _below(raw: RawArrays, prefix: str) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: array for name, array in raw.items() if name.startswith(prefix)}


def _indexed(name: str, columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    return pl.DataFrame(columns).with_row_index(name)

"""What the jobs of a workload did, as typed objects. Times are in cycles, from the job's start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from deroute.errors import InputError

#: What a rank does, as timelines count it.
ACTIVITIES = ("computes", "in collectives", "receives", "sends", "waits", "not kept")

#: What a part of a critical path is, as results count it.
PATH = ("compute", "send", "network", "handshake", "wait")


class Part(BaseModel):
    """A part of an outcome: read only, exactly the engine's fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Kind = TypeVar("_Kind", bound=_Named)


def by_name(parts: Sequence[_Kind], name: str, what: str) -> _Kind:
    """The part of this name."""
    found = next((part for part in parts if part.name == name), None)
    if found is None:
        choices = [part.name for part in parts]
        raise InputError.of(f"there is no {what} {name!r}", choices=choices)
    return found


class Percentile(Part):
    """`percent` of the packets, or messages, are not slower than `cycles`."""

    percent: float
    cycles: int


class MessageLatency(Part):
    """Latency from the send to the consumption of the last phit, in cycles."""

    mean: float
    min: int
    max: int
    percentiles: list[Percentile]
    histogram_error: float


class Messages(Part):
    """Messages of a job, and the packets that had to wait for an earlier one of their message."""

    sent: int
    received: int
    phits: int
    packets: int
    resequenced: int
    resequenced_share: float
    #: Most phits that waited so at one host.
    resequencing_buffer_max: int
    latency: MessageLatency


@dataclass(frozen=True, slots=True)
class JobArrays:
    """Times of a job, in cycles from its start."""

    #: (iterations,) when the last rank ended each iteration.
    iteration_end: NDArray[np.uint64]
    #: (ranks,) when each rank ended.
    rank_end: NDArray[np.uint64]
    #: (ranks,) time that each rank computed.
    rank_computed: NDArray[np.uint64]
    #: (ranks,) time that it was in a collective, was held up by a receive, by a send, or waited;
    #: results of earlier versions have none.
    rank_collective: NDArray[np.uint64] | None = None
    rank_receive: NDArray[np.uint64] | None = None
    rank_send: NDArray[np.uint64] | None = None
    rank_wait: NDArray[np.uint64] | None = None
    #: Activities of all ranks, one after the other, if the job keeps its `timeline`: (ranks + 1,)
    #: where those of each rank begin and the last ones end; when each began; an index of
    #: `ACTIVITIES`.
    timeline_ranks: NDArray[np.uint64] | None = None
    timeline_begin: NDArray[np.uint64] | None = None
    timeline_activity: NDArray[np.uint8] | None = None
    #: (parts,) of the critical path, if that is asked for: an index of `PATH`; the rank, of a
    #: message the one that it is for; the rank that began it, of a message its sender; when it
    #: began and ended.
    path_what: NDArray[np.uint8] | None = None
    path_rank: NDArray[np.uint32] | None = None
    path_from: NDArray[np.uint32] | None = None
    path_begin: NDArray[np.uint64] | None = None
    path_end: NDArray[np.uint64] | None = None
    #: (flows,) if the job keeps a `table` of its flows: the ranks that send and receive each, its
    #: phits, when it begins, how long it takes (0 if it has not ended), and how long alone.
    flow_source: NDArray[np.uint32] | None = None
    flow_destination: NDArray[np.uint32] | None = None
    flow_phits: NDArray[np.uint32] | None = None
    flow_start: NDArray[np.uint64] | None = None
    flow_time: NDArray[np.uint64] | None = None
    flow_alone: NDArray[np.uint64] | None = None

    def timeline(self) -> pl.DataFrame | None:
        """A row per activity: `rank`, `activity`, `begin` and `end`, by rank and then by time.

        None unless the job keeps its `timeline`.
        """
        if self.timeline_ranks is None or self.timeline_begin is None:
            return None
        assert self.timeline_activity is not None
        bounds, begin = self.timeline_ranks.astype(np.int64), self.timeline_begin
        end = np.append(begin[1:], np.uint64(0))
        busy = bounds[1:] > bounds[:-1]
        end[bounds[1:][busy] - 1] = self.rank_end[busy]
        kinds = pl.Enum(ACTIVITIES)
        names = np.array(ACTIVITIES)[self.timeline_activity]
        columns = {
            "rank": pl.Series(np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))),
            "activity": pl.Series(names.tolist(), dtype=kinds),
            "begin": pl.Series(begin),
            "end": pl.Series(end),
        }
        return pl.DataFrame(columns)

    def path(self) -> pl.DataFrame | None:
        """A row per part of the critical path: `what`, `rank`, `from`, `begin` and `end`, in time.

        Of a message, `rank` is the one that it is for and `from` its sender. None unless the job
        asks for its `critical_path`, and has ended.
        """
        if self.path_what is None:
            return None
        names = np.array(PATH)[self.path_what]
        columns = {
            "what": pl.Series(names.tolist(), dtype=pl.Enum(PATH)),
            "rank": pl.Series(self.path_rank),
            "from": pl.Series(self.path_from),
            "begin": pl.Series(self.path_begin),
            "end": pl.Series(self.path_end),
        }
        return pl.DataFrame(columns)


class CollectiveUse(Part):
    """Collectives of one algorithm, number of members and size; bandwidths as in nccl-tests."""

    name: str
    #: The algorithm that was asked for, if it does not fit so many members or their sizes.
    asked: str | None = None
    members: int
    #: Of an all-to-all with unequal blocks, the most that one rank sends or receives.
    phits: int
    #: Parts that ranks took in them, and how long, in cycles.
    parts: int
    mean: float
    min: int
    max: int
    #: In bytes a nanosecond.
    algorithm_bandwidth: float
    bus_bandwidth: float


class ReplayOutcome(Part):
    """What a job did that follows a trace, or has collectives by named algorithms."""

    says: list[str]
    #: Messages that asked whether data may be sent, or said that it may.
    control_messages: int
    #: Messages that nobody had received at the end.
    unreceived: int
    collectives: list[CollectiveUse]


class PathPart(Part):
    """A part of a critical path; times in cycles from the start of the job."""

    #: One of `PATH`.
    what: str
    #: The rank, of a message the one that it is for, and the one that began it: its sender.
    rank: int
    from_: int = Field(alias="from")
    begin: int
    cycles: int
    #: Of a message.
    phits: int
    #: The call that began it, and where it stands; empty if the protocol did.
    call: str


class CriticalPath(Part):
    """What the time of a job is made of, in cycles: their sum is its time."""

    compute: int
    #: A rank could not go on before its message had left its host.
    send: int
    #: A message with data was on its way.
    network: int
    #: A message was that asks whether data may be sent, or says that it may.
    handshake: int
    #: A rank did nothing, because its program says so.
    wait: int
    #: Their number, and the longest of them.
    parts: int
    longest: list[PathPart]


class FlowFigures(Part):
    """Mean, median, 99th percentile and maximum; 0 when no flow has ended."""

    mean: float
    p50: float
    p99: float
    max: float


class FlowBin(Part):
    """Flows of more phits than `above`, and no more than `up_to`."""

    above: int
    up_to: int | None = None
    flows: int
    #: Nothing else counts these.
    unfinished: int
    #: In cycles.
    time: FlowFigures
    #: How much longer than alone in the network.
    slowdown: FlowFigures


class FlowsOutcome(Part):
    """How long the flows of a job took: all of them, and by size."""

    flows: int
    unfinished: int
    time: FlowFigures
    slowdown: FlowFigures
    bins: list[FlowBin]

    def scalars(self) -> dict[str, Any]:
        """All, and each bin under what its flows have more phits than."""
        document = self.model_dump()
        bins = {f"above_{each.pop('above')}": each for each in document.pop("bins")}
        for each in bins.values():
            each.pop("up_to")
        return document | bins


class JobOutcome(Part):
    """What one job did."""

    name: str
    ranks: int
    #: All of them ended.
    finished: bool
    #: Cycle in which it began.
    start: int
    #: Time until the last rank had ended and the last message had arrived.
    time: int
    iterations: int
    iteration_mean: float
    compute_mean: float
    communication_mean: float
    communication_max: int
    messages: Messages
    replay: ReplayOutcome | None = None
    flows: FlowsOutcome | None = None
    #: If the job asks for it, and has ended.
    critical_path: CriticalPath | None = None


class WorkloadOutcome(Part):
    """What the jobs of a workload did."""

    #: Cycle in which the last job ended.
    makespan: int
    jobs: list[JobOutcome]

    def job(self, name: str) -> JobOutcome:
        """The job of this name."""
        return by_name(self.jobs, name, "job")

    def scalars(self) -> dict[str, Any]:
        """The makespan, and each job under its name."""
        document = self.model_dump()
        named = {job.pop("name"): job for job in document["jobs"]}
        for job in self.jobs:
            if job.critical_path is None:
                named[job.name].pop("critical_path")
            if job.flows is None:
                named[job.name].pop("flows")
            else:
                named[job.name]["flows"] = job.flows.scalars()
        return {"makespan": self.makespan, "jobs": named}


def job_frame(table: str, arrays: dict[str, JobArrays]) -> pl.DataFrame:
    """A row per job and iteration, rank or flow."""
    frames = {"iterations": iterations_frame, "ranks": ranks_frame, "flows": flows_frame}
    return frames[table](arrays)


def iterations_frame(arrays: dict[str, JobArrays]) -> pl.DataFrame:
    """A row per job and iteration: when its last rank ended it."""
    columns = ("iteration_end",)
    return _frame("iteration", columns, arrays)


def ranks_frame(arrays: dict[str, JobArrays]) -> pl.DataFrame:
    """A row per job and rank: when it ended, and what it spent its time with."""
    columns = ["rank_end", "rank_computed"]
    split = ("rank_collective", "rank_receive", "rank_send", "rank_wait")
    if all(getattr(each, name) is not None for each in arrays.values() for name in split):
        columns += split
    return _frame("rank", columns, arrays)


def flows_frame(arrays: dict[str, JobArrays]) -> pl.DataFrame:
    """A row per job and flow: who sends it to whom, how much, when, and how long it takes."""
    kept = {job: each for job, each in arrays.items() if each.flow_time is not None}
    if not kept:
        raise ValueError("the spec asked for no table of flows (workload.jobs.flows.table)")
    names = ("source", "destination", "phits", "start", "time", "alone")
    return _frame("flow", [f"flow_{name}" for name in names], kept)


def _frame(index: str, names: Sequence[str], arrays: dict[str, JobArrays]) -> pl.DataFrame:
    if not arrays:
        raise ValueError("the spec asked for no workload")
    frames = [
        pl.DataFrame({name.partition("_")[2]: getattr(each, name) for name in names})
        .with_row_index(index)
        .select(pl.lit(job).alias("job"), pl.all())
        for job, each in arrays.items()
    ]
    return pl.concat(frames)

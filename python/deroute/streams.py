"""What the streams of the traffic did, as typed objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from pydantic import Field

from deroute.jobs import Part, Percentile


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


class StreamLoad(Part):
    """Loads over the measurement, whether the stream sends all the time or not."""

    offered: float
    attempted: float
    accepted: float
    accepted_ci95: float


class StreamPackets(Part):
    """Packets over the whole run, and those delivered in the measurement."""

    generated: int
    refused: int
    delivered: int
    lost: int
    measured: int


class SlowdownPercentile(Part):
    """`percent` of the packets take no more than `ratio` times what they would alone."""

    percent: float
    ratio: float


class Slowdown(Part):
    """Latencies over those of the same packets on the same paths, had they never waited."""

    mean: float
    max: float
    percentiles: list[SlowdownPercentile]


class StreamOutcome(Part):
    """What one stream did."""

    name: str
    #: Class of service; `class` in the files.
    service_class: int = Field(alias="class")
    #: Hosts that send it.
    hosts: int
    #: In phits per sending host and cycle.
    load: StreamLoad
    #: As shares of the link of a host.
    link_share: StreamLoad
    packets: StreamPackets
    latency: Latency
    slowdown: Slowdown
    #: Packets delivered in the measurement after a later one of the same source and destination.
    out_of_order: int
    out_of_order_share: float

    def scalars(self) -> dict[str, Any]:
        """All but the name."""
        return self.model_dump(by_alias=True, exclude={"name"})


class ResequencingUse(Part):
    """What receiving hosts did to put packets in order, in the measurement."""

    packets: int
    #: Arrived after a later one of the same stream, source and destination.
    out_of_order: int
    out_of_order_share: float
    #: Had to wait for an earlier one.
    held: int
    held_share: float
    #: Cycles that one of them waited.
    wait_mean: float
    #: Phits that wait at a host, mean over hosts and time, and the most at one.
    buffer_mean: float
    buffer_max: int
    #: Found no room to wait.
    dropped: int


def streams_frame(streams: Sequence[StreamOutcome]) -> pl.DataFrame:
    """A row per stream: its means, and the percentiles `p50` and `p99` of latency and slowdown."""
    if not streams:
        raise ValueError("the spec asked for no streams (traffic.stream)")
    rows = []
    for stream in streams:
        latency = {each.percent: each.cycles for each in stream.latency.percentiles}
        slowdown = {each.percent: each.ratio for each in stream.slowdown.percentiles}
        rows.append(
            {
                "stream": stream.name,
                "class": stream.service_class,
                "hosts": stream.hosts,
                "offered": stream.load.offered,
                "attempted": stream.load.attempted,
                "accepted": stream.load.accepted,
                "link_share": stream.link_share.accepted,
                "latency": stream.latency.mean,
                "latency_p50": latency[50.0],
                "latency_p99": latency[99.0],
                "slowdown": stream.slowdown.mean,
                "slowdown_p50": slowdown[50.0],
                "slowdown_p99": slowdown[99.0],
                "out_of_order_share": stream.out_of_order_share,
                "packets": stream.packets.measured,
            }
        )
    return pl.DataFrame(rows)

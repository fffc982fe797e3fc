"""What flow control and congestion points did: parts of an outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field

from deroute.jobs import Part


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
    #: None if no packet was trimmed.
    trimmed_packets: int | None = None


class MarkUse(Part):
    """What left the outputs of one link class in the measurement, and what was marked there."""

    #: Link class of the topology, or `ejection`; `class` in the files.
    link_class: str = Field(alias="class")
    #: Class of service.
    service: int
    packets: int
    marked: int
    share_max: float
    queue_max: int


class PortMarks(Part):
    """What left one output in the measurement, and what was marked there."""

    router: int
    port: int
    service: int
    packets: int
    marked: int


class CongestionPointUse(Part):
    """What the congestion points did, in words and by link class; marks as they were delivered."""

    name: ClassVar[str] = "congestion_point"

    says: list[str]
    marked: int
    marked_share: float
    queues: list[MarkUse]
    #: With `probes.links`.
    ports: tuple[PortMarks, ...] = ()

    def scalars(self) -> dict[str, int | float | str]:
        """What there is one of in a run."""
        counts = {"marked": self.marked, "marked_share": self.marked_share}
        return {"says": "; ".join(self.says), **counts}


class SampledQueues(Part):
    """What samples of the outputs of one link class found, over the whole run."""

    #: Link class of the topology, or `ejection`; `class` in the files.
    link_class: str = Field(alias="class")
    #: Class of service.
    service: int
    samples: int
    congested: int
    sent: int
    queue_mean: float
    queue_max: int


class PortSamples(Part):
    """What samples of one output found, over the whole run."""

    router: int
    port: int
    service: int
    samples: int
    congested: int
    sent: int
    queue_max: int


class EntropyUse(Part):
    """What the entropies that hosts gave packets did, over the whole run."""

    name: ClassVar[str] = "entropy"

    says: list[str]
    #: Packets that got an entropy, and those of them that got one which had come back.
    packets: int
    recycled: int
    recycled_share: float
    #: Packets that hosts heard of, and those of them that were marked.
    heard: int
    marked: int
    #: Times that a timeout froze the entropies for a destination.
    freezes: int

    def scalars(self) -> dict[str, int | float | str]:
        """What there is one of in a run."""
        return self.model_dump(exclude={"says"}) | {"says": "; ".join(self.says)}


class NotificationUse(Part):
    """What those that send notifications did, in words and by link class."""

    name: ClassVar[str] = "notifications"

    says: list[str]
    #: Class of service of the notifications.
    service: int
    sent: int
    received: int
    lost: int
    queues: list[SampledQueues]
    #: With `probes.links`.
    ports: tuple[PortSamples, ...] = ()

    def scalars(self) -> dict[str, int | str]:
        """What there is one of in a run."""
        counts = {"sent": self.sent, "received": self.received, "lost": self.lost}
        return {"says": "; ".join(self.says), **counts}


class WindowUse(Part):
    """What the windows of flows did, over the whole run."""

    #: Times that the next packet of a flow did not fit, and that an acknowledgement made a window
    #: larger.
    held: int
    raises: int
    #: Smallest and largest window, in phits; 0 if no flow had one.
    least: float
    most: float
    #: Most phits of a flow that were under way at once.
    under_way_max: int


class ReactionPointUse(Part):
    """What the reaction points of hosts did, over the whole run."""

    name: ClassVar[str] = "reaction_point"

    says: list[str]
    #: Times that a rate was cut, each by a notification, or a window by an acknowledgement.
    cuts: int
    #: Times that a flow got a rate limiter or a window, and flows that had one at the end.
    limited: int
    limited_at_end: int
    #: Most limiters or windows of one host at once.
    limiters_max: int
    #: Lowest rate that a cut left, as a share of the link of a host.
    rate_min: float
    #: What windows did, if flows have any.
    windows: WindowUse | None = None

    def scalars(self) -> dict[str, int | float | str]:
        """What there is one of in a run."""
        own = self.model_dump(exclude={"says", "windows"}) | {"says": "; ".join(self.says)}
        windows = self.windows.model_dump() if self.windows else {}
        return own | {f"window_{key}": value for key, value in windows.items()}


class AdaptationUse(Part):
    """What a routing did that adapts by pauses or notifications, over the whole run."""

    name: ClassVar[str] = "adaptation"

    says: list[str]
    #: How often it did what; the reference of the routing says what these count.
    counts: dict[str, int]

    def scalars(self) -> dict[str, int | str]:
        """What there is one of in a run."""
        return {"says": "; ".join(self.says), **self.counts}


class SharedUse(Part):
    """Memory that the ports of a switch share: of all, and most that was in use in one switch."""

    size: int
    used_max: int


class CreditUse(Part):
    """Credits that came back in messages on the links of one class, over the whole run."""

    link_class: str = Field(alias="class")
    links: int
    messages: int
    lost_messages: int
    #: Phits of the buffer of a VC, and cycles until a credit is back at the latest.
    buffer: int
    round_trip: int
    #: Share of the rate of its link that a VC alone has at the least, where its receiver keeps up.
    sustained: float


class RetryLinks(Part):
    """Frames of the links of one class that can break, over the whole run."""

    link_class: str = Field(alias="class")
    links: int
    frames: int
    errors: int
    #: Share of the time in which links were sending that they did not lose by errors.
    goodput: float
    #: Most phits that a sender kept for the case of an error.
    replay_max: int


class RetryUse(Part):
    """What links did that send broken frames again."""

    name: ClassVar[str] = "retry"

    says: list[str]
    links: list[RetryLinks]

    def scalars(self) -> dict[str, int | float | str]:
        """What there is one of in a run, or of a link class."""
        flat: dict[str, int | float | str] = {"says": "; ".join(self.says)}
        for link in self.links:
            used = link.model_dump(exclude={"link_class"})
            flat |= {f"{link.link_class}.{key}": value for key, value in used.items()}
        return flat


class RetransmissionUse(Part):
    """What hosts sent again, of the whole run."""

    name: ClassVar[str] = "retransmission"

    says: list[str]
    trimmed: int
    nacks: int
    timeouts: int
    retransmitted: int
    duplicates: int

    def scalars(self) -> dict[str, int | str]:
        """What there is one of in a run."""
        return self.model_dump(exclude={"says"}) | {"says": "; ".join(self.says)}


class FlowControlUse(Part):
    """What a flow control did that pauses, loses packets, or has credits in messages."""

    says: list[str]
    links: list[PauseUse]
    #: If credits come back in messages.
    credits: list[CreditUse] = Field(default_factory=list)
    #: If ports share memory.
    shared: SharedUse | None = None

    def by_class(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What was counted on the links of each class."""
        for link in self.links:
            yield link.link_class, link.model_dump(exclude={"link_class"}, exclude_none=True)
        for credit in self.credits:
            yield credit.link_class, credit.model_dump(exclude={"link_class"})

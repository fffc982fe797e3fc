"""Whether the numbers of a result describe a steady state, as typed objects."""

from __future__ import annotations

from typing import Literal

from deroute.jobs import Part


class Verdict(Part):
    """Whether the numbers describe a steady state, and why."""

    state: Literal["steady", "saturated", "not-converged", "completed", "unfinished"]
    reasons: list[str]


class Trend(Part):
    """Rise of straight lines through latency and packets in the network, as fractions of their
    means, from the beginning to the end of the measurement.
    """

    latency: float
    latency_ci95: float
    in_flight: float
    in_flight_ci95: float


class Stopping(Part):
    """How a run with `run.precision` came to its end: whether the means were known as well as was
    asked, how often that was looked at, and how often all that had been measured was dropped
    because it showed a trend.
    """

    reached: bool
    looks: int
    restarts: int

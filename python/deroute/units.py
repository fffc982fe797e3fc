"""Numbers in units that a person reads."""

from __future__ import annotations

import math

#: Units of time, in ns.
TIMES = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))


#: Times of jobs, by the last part of their names.
_JOB_TIMES = (
    *("makespan", "start", "time", "iteration_mean", "compute_mean"),
    *("communication_mean", "communication_max"),
)
_NO_TIMES = ("histogram_error", "correlation_times")


def is_time(name: str) -> bool:
    """Whether a scalar of an outcome is a time, in cycles."""
    group, last = name.partition(".")[0], name.rpartition(".")[2]
    if last in _NO_TIMES:
        return False
    job = group == "workload" and (last in _JOB_TIMES or ".latency." in name)
    return job or group in ("latency", "measured_from", "measured_cycles")


def time_unit(ns: float) -> tuple[str, float]:
    """The largest unit of time in which so many ns are 1 or more, and what it is in ns."""
    fitting = [unit for unit in TIMES if abs(ns) >= unit[1] * (1 - 1e-9)]
    return fitting[-1] if fitting else TIMES[0]


def time(ns: float) -> str:
    """A time with three digits or more that count: `471 ns`, `5.32 µs`."""
    if not math.isfinite(ns):
        return "-"
    name, size = time_unit(ns)
    return f"{number(ns / size)} {name}"


def number(value: float) -> str:
    """Three digits that count, without an exponent where a person would write none."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    if digits > 6:
        return f"{value:.2e}"
    return f"{value:,.{digits}f}"


def half_width(value: float) -> str:
    """The half of an interval: two digits that count, as a person writes them (`150`, `0.0042`)."""
    if value == 0 or not math.isfinite(value):
        return number(value)
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:.1e}" if digits > 6 else f"{value:,.{digits}f}"

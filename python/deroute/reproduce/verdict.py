"""Judging a claim: measure, compare, say what was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deroute.analysis import AnalysisError, Estimate
from deroute.reproduce.evidence import Evidence, NotSettledError
from deroute.reproduce.measures import call
from deroute.reproduce.paper import Check, Claim

REPRODUCED, DIFFERS, NOT_SETTLED = "reproduced", "differs", "not settled"
#: Of a rule that tests of the engine hold, because results do not show it.
TESTED = "tested"
#: Of a claim that could be measured, but no run has done it.
NEVER_MEASURED = "never measured"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim, what was measured for it, and the verdict."""

    claim: Claim
    verdict: str
    #: One entry per check.
    measured: tuple[str, ...]
    reason: str
    #: What was measured for the evidence of the finding, one entry per check.
    evidence: tuple[str, ...] = ()
    #: A finding explains the difference, and its evidence holds.
    explained: bool = False
    #: Scale, version of the engine and day (UTC) of the measurement; empty if there is none.
    scale: str = ""
    engine: str = ""
    day: str = ""
    #: Why this is not what the present engine says of the claim as it is now; empty if it is.
    stale: str = ""

    @property
    def why(self) -> str:
        """The finding that explains the difference, as it is worded now, or else the reason."""
        if not self.explained:
            return self.reason
        known = f" [evidence: {'; '.join(self.evidence)}]" if self.evidence else ""
        return f"{self.claim.finding}{known}"

    @property
    def fails(self) -> bool:
        """A difference that nobody has explained yet."""
        return self.verdict == DIFFERS and not self.explained


def without_runs(claim: Claim) -> Judgement | None:
    """The verdict on a claim that no run can settle; None if it has checks."""
    if claim.tests:
        return Judgement(claim, TESTED, (), f"by `make test`: {', '.join(claim.tests)}")
    if claim.unsettled is not None:
        return Judgement(claim, NOT_SETTLED, (), claim.unsettled)
    return None


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """Settle a claim by all its checks: one that differs decides, then one that is not settled."""
    if (known := without_runs(claim)) is not None:
        return known
    verdict, measured, reason = _settle(claim.checks, evidence)
    if verdict != DIFFERS or claim.finding is None:
        return Judgement(claim, verdict, measured, reason)
    # Not whole intervals: a finding says what was measured, and stands as long as that is measured.
    holds, numbers, doubt = _settle(claim.evidence, evidence, whole=False)
    if holds != REPRODUCED:
        return Judgement(claim, verdict, measured, f"{reason}; the finding does not hold: {doubt}")
    return Judgement(claim, verdict, measured, reason, evidence=numbers, explained=True)


def _settle(
    checks: Sequence[Check], evidence: Evidence, *, whole: bool = True
) -> tuple[str, tuple[str, ...], str]:
    """Overall verdict, what was measured for each check, and why."""
    verdicts, measured, reasons = [REPRODUCED], [], []
    for check in checks:
        try:
            values = call(check.measure, evidence, check.arguments)
        except (NotSettledError, AnalysisError) as missing:
            verdict, text, reason = NOT_SETTLED, "-", str(missing)
        else:
            verdict, reason = compare(check, values, whole=whole)
            text = describe(values)
        verdicts.append(verdict)
        measured.append(text)
        if reason and reason not in reasons:
            reasons.append(reason)
    order = (DIFFERS, NOT_SETTLED, REPRODUCED)
    return min(verdicts, key=order.index), tuple(measured), "; ".join(reasons)


def compare(check: Check, values: Sequence[Estimate], *, whole: bool = True) -> tuple[str, str]:
    """Verdict of one check, by the 95% confidence intervals of what was measured.

    Outside the range a value differs, within it the claim is reproduced, and an interval that is in
    both settles nothing; with `whole` false, a mean within the range is enough.
    """
    if check.equals is not None:
        if len(values) != len(check.equals):
            return DIFFERS, f"{len(values)} values instead of {len(check.equals)}"
        whole = False  # An interval never lies within a single value.
        ranges = [(float(value), float(value)) for value in check.equals]
    else:
        low = -math.inf if check.at_least is None else check.at_least
        high = math.inf if check.at_most is None else check.at_most
        ranges = [(low, high)] * len(values)
    verdict, reason = REPRODUCED, ""
    for value, (low, high) in zip(values, ranges, strict=True):
        found, told = _within(value, low, high, whole=whole)
        if found == DIFFERS:
            return found, told
        if found == NOT_SETTLED:
            verdict, reason = found, told
    return verdict, reason


def _within(value: Estimate, low: float, high: float, *, whole: bool) -> tuple[str, str]:
    """Verdict on one value and a range of those it may have."""
    expected = _range_text(low, high)
    if math.isnan(value.mean):
        return NOT_SETTLED, f"nothing was measured that could be {expected}"
    slack = 1e-9 * max(abs(value.mean), 1.0) if math.isfinite(value.mean) else 0.0
    low, high = low - slack, high + slack
    least, most = value.interval
    if low <= least and most <= high:
        return REPRODUCED, ""
    if most < low or least > high:
        return DIFFERS, f"{value} is not {expected}"
    if not low <= value.mean <= high:
        return NOT_SETTLED, f"{value} is not {expected}, but its confidence interval reaches it"
    if value.at_least or value.at_most:
        return NOT_SETTLED, f"{value}, which need not be {expected}"
    if whole:
        return NOT_SETTLED, f"{value} is {expected}, but its confidence interval is not"
    return REPRODUCED, ""


def describe(values: Sequence[Estimate]) -> str:
    """Measured values as text: all of a few, the range of many."""
    if len(values) <= 6:
        return ", ".join(str(value) for value in values)
    means = [value.mean for value in values]
    return f"{min(means):.4g} to {max(means):.4g} ({len(means)} values)"


def _range_text(low: float, high: float) -> str:
    if low == high:
        return f"{low:.6g}"
    if math.isinf(low):
        return f"at most {high:.6g}"
    if math.isinf(high):
        return f"at least {low:.6g}"
    return f"in [{low:.6g}, {high:.6g}]"

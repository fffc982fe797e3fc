"""Quantities in the words of a data sheet."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import deroute
from deroute.errors import SpecError
from deroute.spec import microseconds


@pytest.mark.parametrize(
    ("path", "plain", "other"),
    [
        (("network", "links", "global", "latency"), "150 ns", "0.03 km"),
        (("network", "links", "global", "latency"), "150 ns", "0.15 \u00b5s"),
        (("network", "links", "global", "latency"), "150 ns", "0.15 \u03bcs"),
        (("network", "links", "global", "buffer"), "22.5 KB", "22.5 kB"),
        (("run", "measure"), "2 us", "2 \u00b5s"),
        (("network", "links", "local", "rate"), "100 Gb/s", "100 Gbps"),
        (("network", "links", "local", "rate"), "100 Gb/s", "12.5 GB/s"),
        (("network", "links", "local", "rate"), "100 Gb/s", "0.1 Tbit/s"),
    ],
)
def test_spellings_of_a_quantity_are_the_same_run(
    spec: dict[str, Any], path: tuple[str, ...], plain: str, other: str
) -> None:
    *above, last = path
    outcomes = []
    for text in (plain, other):
        trial = copy.deepcopy(spec)
        place = trial
        for step in above:
            place = place[step]
        place[last] = text
        outcomes.append(deroute.simulate(trial).to_json())
    assert outcomes[0] == outcomes[1]


def test_a_link_rate_says_what_a_phit_is(spec: dict[str, Any]) -> None:
    plain = deroute.simulate(spec)
    spec["units"] = {"link_rate": "200 Gb/s"}
    assert deroute.simulate(spec).to_json() == plain.to_json()
    spec["units"] = {"link_rate": "400 Gb/s"}
    assert deroute.simulate(spec).phit_bytes == 50
    spec["units"] = {"link_rate": "400 Gb/s", "phit": "50 B"}
    with pytest.raises(SpecError, match="leave out one of them"):
        deroute.check(spec)
    spec["units"] = {"link_rate": "400 GHz"}
    with pytest.raises(SpecError, match="200 Gb/s"):
        deroute.check(spec)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2 us", 2), ("2\t\u00b5s", 2), ("2\u03bcs", 2), ("1 km", 5), ("3 m", 0.015), (2000, 2)],
)
def test_times_are_read_as_the_engine_does(text: str | int, expected: float) -> None:
    assert microseconds(text, 1.0) == pytest.approx(expected)

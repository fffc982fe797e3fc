"""What claims can measure: small named functions, one file per source of evidence.

A measure takes the evidence and the keys of the claim's check, and returns one estimate or more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deroute.analysis import Estimate
from deroute.reproduce.evidence import Evidence
from deroute.reproduce.measures import (
    cabling,
    cells,
    chapter4,
    chapter5,
    chapter6,
    counters,
    ethernet,
    geometry,
    method,
    notified,
    paths,
    programs,
    runs,
    scaling,
    slim_fly,
    trees,
)
from deroute.reproduce.paper import PaperError

Measure = Callable[..., Sequence[Estimate]]

#: Every measure, by its name in claim files.
CATALOGUE: Mapping[str, Measure] = {
    measure.__name__: measure
    for module in (
        runs,
        cells,
        geometry,
        scaling,
        slim_fly,
        cabling,
        paths,
        trees,
        method,
        notified,
        chapter4,
        chapter5,
        chapter6,
        counters,
        ethernet,
        programs,
    )
    for measure in module.MEASURES
}


def call(name: str, evidence: Evidence, arguments: Mapping[str, Any]) -> Sequence[Estimate]:
    """Run a measure; unknown names and keys are errors of the claim file."""
    if name not in CATALOGUE:
        raise PaperError(f"unknown measure {name!r}; choose from: {', '.join(CATALOGUE)}")
    measure = CATALOGUE[name]
    try:
        inspect.signature(measure).bind(evidence, **arguments)
    except TypeError as error:
        keys = list(inspect.signature(measure).parameters)[1:]
        raise PaperError(f"measure {name!r}: {error}; keys: {', '.join(keys)}") from error
    return measure(evidence, **arguments)

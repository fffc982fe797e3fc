"""What a simulation point records of the rates and windows of hosts, as typed objects.

Rates are shares of the link of a host, windows in phits, times in cycles, relative to the beginning
of the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RateSeries:
    """Rates and windows in time: sample `i` is taken at the beginning of cycle
    `start + i * width`, relative to the beginning of the measurement.
    """

    start: int
    width: int
    #: (flows, 2): host that sends, and host to which it does; -1 for the slowest flow of the host.
    flows: NDArray[np.int64]
    #: (samples, flows) shares of the link of the host; 1 without a limiter.
    rates: NDArray[np.float64]
    #: (samples, flows) windows in phits, the smallest of a host; no samples if flows have none.
    windows: NDArray[np.float64]

    @property
    def cycles(self) -> NDArray[np.int64]:
        """(samples,) cycle of each sample, relative to the beginning of the measurement."""
        return self.start + self.width * np.arange(len(self.rates), dtype=np.int64)

    def flows_to_polars(self) -> pl.DataFrame:
        """A row per flow, in the order of the columns of `rates`."""
        frame = pl.DataFrame(self.flows, schema=["host", "destination"], orient="row")
        return frame.with_columns(pl.col("destination").replace(-1, None))

    def to_polars(self) -> pl.DataFrame:
        """A row per sample and flow; `window` if flows have windows."""
        samples, flows = self.rates.shape
        which = pl.Series(np.tile(np.arange(flows), samples), dtype=pl.UInt32)
        cycle = pl.Series("cycle", np.repeat(self.cycles, flows))
        rate = pl.Series("rate", self.rates.reshape(-1))
        columns = [cycle, *self.flows_to_polars()[which], rate]
        if len(self.windows):
            columns.append(pl.Series("window", self.windows.reshape(-1)))
        return pl.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        """As the engine writes it."""
        flows = self.flows_to_polars().to_dicts()
        rates = self.rates.reshape(-1).tolist()
        head = {"start": self.start, "width": self.width, "flows": flows, "rates": rates}
        windows = self.windows.reshape(-1).tolist()
        return head | {"windows": windows}


def rate_series(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> RateSeries:
    """From what the engine says of the record, and its arrays."""
    rates = arrays["rates"]
    # Results of the first versions have none.
    windows = arrays.get("windows", rates[:0])
    return RateSeries(head["start"], head["width"], arrays["flows"], rates, windows)

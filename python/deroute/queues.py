"""What a simulation point records of queues, pauses and losses, as typed objects.

Lengths are in phits, times in cycles, relative to the beginning of the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: Columns of `QueueSeries.places`, and the sides of a port.
_PLACE = ("router", "port", "host", "side", "vc", "capacity", "xoff", "xon")
_SIDES = ("input", "output")


@dataclass(frozen=True, slots=True)
class QueueSeries:
    """Lengths of queues in time: sample `i` is taken at the beginning of cycle
    `start + i * width`, relative to the beginning of the measurement.
    """

    start: int
    width: int
    #: (queues, 8): router, port, host behind the port, side (0 input, 1 output), VC or class of
    #: service (-1 for all of the port together), phits that it holds, XOFF and XON; -1 for none.
    places: NDArray[np.int64]
    #: (samples, queues) phits.
    phits: NDArray[np.uint32]

    @property
    def cycles(self) -> NDArray[np.int64]:
        """(samples,) cycle of each sample, relative to the beginning of the measurement."""
        return self.start + self.width * np.arange(len(self.phits), dtype=np.int64)

    def places_to_polars(self) -> pl.DataFrame:
        """A row per queue, in the order of the columns of `phits`."""
        frame = pl.DataFrame(self.places, schema=list(_PLACE), orient="row")
        side = pl.col("side").replace_strict(dict(enumerate(_SIDES)), return_dtype=pl.String)
        return frame.with_columns(side, pl.exclude("side").replace(-1, None))

    def to_polars(self) -> pl.DataFrame:
        """A row per sample and queue."""
        samples, queues = self.phits.shape
        names = ["router", "port", "side", "vc"]
        places = self.places_to_polars().select(names)
        cycle = pl.Series("cycle", np.repeat(self.cycles, queues))
        phits = pl.Series("phits", self.phits.reshape(-1))
        which = pl.Series(np.tile(np.arange(queues), samples), dtype=pl.UInt32)
        return pl.DataFrame([cycle, *places[which], phits])

    def to_json(self) -> dict[str, Any]:
        """As the engine writes it."""
        places = self.places_to_polars().to_dicts()
        phits = self.phits.reshape(-1).tolist()
        return {"start": self.start, "width": self.width, "places": places, "phits": phits}


def queue_series(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> QueueSeries:
    """From what the engine says of the record, and its arrays."""
    return QueueSeries(head["start"], head["width"], arrays["places"], arrays["phits"])


#: Columns of `PauseSeries.rows`.
_PAUSE = (
    *("from_router", "from_port", "router", "port", "host", "vc", "class", "frames", "stops"),
    *("paused", "buffer_max", "headroom_max", "lost_packets", "lost_phits"),
    "trimmed_packets",
)
#: Those that may be absent.
_ENDS = ("from_router", "from_port", "host", "vc")


@dataclass(frozen=True, slots=True)
class PauseSeries:
    """Pauses and losses of every link and VC: bin `i` covers `start + i * width` up to
    `start + (i + 1) * width` cycles, relative to the beginning of the measurement.
    """

    start: int
    #: 0 without `probes.series`.
    width: int
    #: (rows, 15), a row per link and VC: router and output port that send, router and input port
    #: that receive, host that sends, VC (-1 for all of the link), class of the link (an element of
    #: `flow_control.links`), frames, those that told the sender to be silent, cycles of the
    #: measurement in which it was, most phits in the buffer, most of them above XOFF, packets lost,
    #: their phits, packets trimmed; -1 for none.
    rows: NDArray[np.int64]
    #: (bins, rows) cycles in which the sender was told to be silent.
    paused: NDArray[np.uint32]

    def to_polars(self) -> pl.DataFrame:
        """A row per link and VC."""
        frame = pl.DataFrame(self.rows, schema=list(_PAUSE), orient="row")
        return frame.with_columns(pl.col(_ENDS).replace(-1, None))

    def to_json(self) -> dict[str, Any]:
        """As the engine writes it."""
        rows = []
        for row in self.to_polars().to_dicts():
            sender = [row.pop("from_router"), row.pop("from_port")]
            ends = {"from": None if sender[0] is None else sender}
            ends["to"] = [row.pop("router"), row.pop("port")]
            if row["trimmed_packets"] == 0:
                del row["trimmed_packets"]
            rows.append(ends | row)
        paused = self.paused.reshape(-1).tolist()
        return {"start": self.start, "width": self.width, "rows": rows, "paused": paused}


def pause_series(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> PauseSeries:
    """From what the engine says of the record, and its arrays."""
    return PauseSeries(head["start"], head["width"], arrays["rows"], arrays["paused"])

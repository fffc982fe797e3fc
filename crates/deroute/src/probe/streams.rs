//! What one partition records of the packets of a stream. Whole numbers only, as in `collect.rs`.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::collect::{Batch, Collector, Delivery, batches};
use super::histogram;
use crate::ids::Cycle;

/// Binary digits of a slowdown behind the point.
pub(crate) const FRACTION: u32 = 20;
/// Slowdowns are in the histogram in parts of so many.
pub(crate) const PARTS: u64 = 1_000;

/// A stream in one partition.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StreamRecord {
    /// As of all packets.
    pub(crate) collector: Collector,
    /// Packets that arrived after a later one of the same source and destination, in the measurement.
    pub(crate) late: u64,
    /// Latencies over those of the same packets, had they never waited: sum and largest, in units of
    /// 2^-[`FRACTION`].
    pub(crate) slowdown: u64,
    pub(crate) most_slowdown: u64,
    /// The same in parts of [`PARTS`].
    #[serde(with = "histogram")]
    pub(crate) slowdowns: Histogram<u64>,
}

impl StreamRecord {
    pub(crate) fn new() -> Self {
        Self {
            collector: Collector::new(),
            late: 0,
            slowdown: 0,
            most_slowdown: 0,
            slowdowns: histogram::new(),
        }
    }

    /// As [`Collector::forget`].
    pub(crate) fn forget(&mut self) {
        let mut fresh = Self::new();
        std::mem::swap(&mut fresh.collector, &mut self.collector);
        fresh.collector.forget();
        *self = fresh;
    }

    /// Bytes of a record, for a measurement of so many cycles; those of a time series do not count.
    pub(crate) fn bytes(measure: Cycle) -> u64 {
        let histogram = size_of::<u64>() * histogram::new().distinct_values();
        let batches = size_of::<Batch>() * batches(measure).1 as usize;
        (size_of::<Self>() + 2 * histogram + batches) as u64
    }

    /// A packet was, or will be, consumed, which would have taken `unloaded` cycles, had it never waited.
    pub(crate) fn deliver(&mut self, sample: &Delivery, unloaded: Cycle, late: bool) {
        self.collector.delivered += 1;
        if !self.collector.deliver(sample) {
            return;
        }
        self.late += u64::from(late);
        let (latency, unloaded) =
            (u64::from(sample.delivered - sample.generated), u64::from(unloaded));
        debug_assert!(latency >= unloaded, "{latency} cycles are fewer than {unloaded}");
        let slowdown = (latency << FRACTION) / unloaded;
        self.slowdown += slowdown;
        self.most_slowdown = self.most_slowdown.max(slowdown);
        self.slowdowns.saturating_record(PARTS * latency / unloaded);
    }

    /// Adds what another partition recorded, in the same cycles.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.collector.merge(&other.collector);
        self.late += other.late;
        self.slowdown += other.slowdown;
        self.most_slowdown = self.most_slowdown.max(other.most_slowdown);
        let same_bounds = self.slowdowns.add(&other.slowdowns);
        debug_assert!(same_bounds.is_ok());
    }
}

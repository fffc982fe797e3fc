//! What one partition records. Whole numbers only, so that merging in any order gives the same
//! bytes.

use serde::{Deserialize, Serialize};

use super::PathKind;
use super::histogram::Latencies;
use super::retransmission::RetransmissionRecord;
use crate::ids::Cycle;

/// Most batches of a measurement; a long one has more than half as many.
const BATCHES: Cycle = 256;

/// Sums over some packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) packets: u64,
    pub(crate) phits: u64,
    pub(crate) latency: u64,
    pub(crate) nonminimal: u64,
}

impl Sums {
    #[inline]
    fn add(&mut self, sample: &Delivery) {
        self.packets += 1;
        self.phits += u64::from(sample.size);
        self.latency += u64::from(sample.delivered - sample.generated);
        self.nonminimal += u64::from(sample.kind != PathKind::Minimal);
    }

    fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.phits += other.phits;
        self.latency += other.latency;
        self.nonminimal += other.nonminimal;
    }
}

/// Sums over the packets delivered in a batch: a part of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) packets: u64,
    pub(crate) phits: u64,
    pub(crate) latency: u64,
}

impl Batch {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.phits += other.phits;
        self.latency += other.latency;
    }
}

/// A packet that reaches its host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) generated: Cycle,
    /// Cycle of its first grant.
    pub(crate) injected: Cycle,
    /// Cycle after the consumption of the last phit.
    pub(crate) delivered: Cycle,
    pub(crate) size: u16,
    pub(crate) hops: u8,
    pub(crate) kind: PathKind,
    /// A switch has marked it.
    pub(crate) marked: bool,
}

/// Notifications of congestion, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notices {
    pub(crate) sent: u64,
    /// Those that are at their host, or whose switch has granted them its port.
    pub(crate) received: u64,
    /// Those that found no room on their way.
    pub(crate) lost: u64,
}

/// Consecutive bins of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bins {
    start: Cycle,
    width: Cycle,
    bins: Vec<Sums>,
    /// Bins kept at most.
    limit: usize,
}

impl Bins {
    pub(crate) fn new(start: Cycle, width: Cycle, limit: usize) -> Self {
        Self { start, width, bins: Vec::new(), limit }
    }

    /// Records so many bins.
    pub(crate) fn lengthen(&mut self, limit: usize) {
        self.limit = limit;
    }

    #[inline]
    fn add(&mut self, at: Cycle, sample: &Delivery) {
        if self.width == 0 || at < self.start {
            return;
        }
        let bin = ((at - self.start) / self.width) as usize;
        if bin >= self.limit {
            return;
        }
        if bin >= self.bins.len() {
            self.reach(bin);
        }
        self.bins[bin].add(sample);
    }

    #[cold]
    fn reach(&mut self, bin: usize) {
        if bin >= self.bins.capacity() {
            let room = (2 * self.bins.capacity()).clamp(bin + 1, self.limit);
            self.bins.reserve_exact(room - self.bins.len());
        }
        self.bins.resize(bin + 1, Sums::default());
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), Sums::default());
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.merge(theirs);
        }
    }

    pub(crate) fn bins(&self) -> &[Sums] {
        &self.bins
    }
}

/// How a measurement of so many cycles is divided: batches of `1 << bits` cycles, and their number.
pub(crate) fn batches(cycles: Cycle) -> (u32, u32) {
    let mut bits = 0;
    while cycles.div_ceil(1 << bits) > BATCHES {
        bits += 1;
    }
    (bits, cycles.div_ceil(1 << bits))
}

/// The measurement of one partition.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Collector {
    /// Cycles measured; empty until the warm-up has ended.
    pub(crate) from: Cycle,
    pub(crate) to: Cycle,
    // Over the whole run.
    pub(crate) generated: u64,
    pub(crate) refused: u64,
    pub(crate) injected: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) grants: u64,
    // Over the measurement, by the time of each event.
    pub(crate) attempted_phits: u64,
    pub(crate) generated_phits: u64,
    pub(crate) injected_packets: u64,
    pub(crate) injected_phits: u64,
    pub(crate) blocked: u64,
    // Packets delivered in the measurement.
    pub(crate) injection_latency: u64,
    pub(crate) hops: u64,
    pub(crate) marked: u64,
    pub(crate) notices: Notices,
    pub(crate) retransmission: RetransmissionRecord,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) histogram: Latencies,
    /// Consecutive batches of `1 << batch_bits` cycles; the last one may be shorter.
    pub(crate) batches: Vec<Batch>,
    pub(crate) batch_bits: u32,
    pub(crate) by_generation: Bins,
    pub(crate) by_delivery: Bins,
    /// Mean latency in intervals from the start of the run, for the automatic warm-up.
    pub(crate) intervals: Bins,
}

impl Collector {
    pub(crate) fn new() -> Self {
        Self {
            from: Cycle::MAX,
            to: Cycle::MAX,
            generated: 0,
            refused: 0,
            injected: 0,
            delivered: 0,
            lost: 0,
            grants: 0,
            attempted_phits: 0,
            generated_phits: 0,
            injected_packets: 0,
            injected_phits: 0,
            blocked: 0,
            injection_latency: 0,
            hops: 0,
            marked: 0,
            notices: Notices::default(),
            retransmission: RetransmissionRecord::default(),
            min: u32::MAX,
            max: 0,
            histogram: Latencies::new(),
            batches: Vec::new(),
            batch_bits: 0,
            by_generation: Bins::default(),
            by_delivery: Bins::default(),
            intervals: Bins::default(),
        }
    }

    /// Measures the cycles `from..to`.
    pub(crate) fn open(&mut self, from: Cycle, to: Cycle) {
        (self.from, self.to) = (from, to);
        let (bits, count) = batches(to.saturating_sub(from));
        self.batch_bits = bits;
        self.batches = vec![Batch::default(); count as usize];
    }

    /// Measures until cycle `to`, which is later than what it said before.
    pub(crate) fn extend(&mut self, to: Cycle) {
        let (bits, count) = batches(to.saturating_sub(self.from));
        let each = 1 << (bits - self.batch_bits);
        let joined = self.batches.chunks(each).map(|batches| {
            let mut sums = Batch::default();
            batches.iter().for_each(|batch| sums.merge(batch));
            sums
        });
        self.batches = joined.collect();
        self.batches.resize(count as usize, Batch::default());
        (self.to, self.batch_bits) = (to, bits);
    }

    /// Forgets what was measured, but not what is counted over the whole run.
    pub(crate) fn forget(&mut self) {
        let before = std::mem::replace(self, Self::new());
        self.generated = before.generated;
        self.refused = before.refused;
        self.injected = before.injected;
        self.delivered = before.delivered;
        self.lost = before.lost;
        self.grants = before.grants;
        self.notices = before.notices;
        self.retransmission = before.retransmission;
    }

    /// Sums over all batches.
    pub(crate) fn sums(&self) -> Batch {
        let mut sums = Batch::default();
        for batch in &self.batches {
            sums.merge(batch);
        }
        sums
    }

    /// Is this cycle measured?
    #[inline]
    pub(crate) fn covers(&self, at: Cycle) -> bool {
        at >= self.from && at < self.to
    }

    /// Cycles of `start..start + length` that are measured.
    #[inline]
    pub(crate) fn overlap(&self, start: Cycle, length: u32) -> u32 {
        let end = start + length;
        // Mostly all of them or none.
        if start >= self.from && end <= self.to {
            return length;
        }
        end.min(self.to).saturating_sub(start.max(self.from))
    }

    /// A host wants to send so many phits; is the packet refused?
    #[inline]
    pub(crate) fn count_attempt(&mut self, now: Cycle, size: u32, refused: bool) {
        let phits = u64::from(self.covers(now)) * u64::from(size);
        self.attempted_phits += phits;
        if refused {
            self.refused += 1;
            return;
        }
        self.generated += 1;
        self.generated_phits += phits;
    }

    /// A packet was, or will be, consumed. Says whether it counts for the measurement.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, sample: &Delivery) -> bool {
        self.intervals.add(sample.delivered, sample);
        self.by_generation.add(sample.generated, sample);
        // The last phit is consumed in the cycle before `delivered`.
        self.by_delivery.add(sample.delivered - 1, sample);
        if !self.covers(sample.delivered - 1) {
            return false;
        }
        let latency = sample.delivered - sample.generated;
        self.injection_latency += u64::from(sample.injected - sample.generated);
        self.hops += u64::from(sample.hops);
        self.marked += u64::from(sample.marked);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.histogram.record(latency);
        let batch = (sample.delivered - 1 - self.from) >> self.batch_bits;
        let batch = &mut self.batches[batch as usize];
        batch.packets += 1;
        batch.phits += u64::from(sample.size);
        batch.latency += u64::from(latency);
        true
    }

    /// Adds what another partition measured, in the same cycles.
    pub(crate) fn merge(&mut self, other: &Self) {
        (self.from, self.to, self.batch_bits) = (other.from, other.to, other.batch_bits);
        self.batches.resize(other.batches.len(), Batch::default());
        self.generated += other.generated;
        self.refused += other.refused;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.grants += other.grants;
        self.attempted_phits += other.attempted_phits;
        self.generated_phits += other.generated_phits;
        self.injected_packets += other.injected_packets;
        self.injected_phits += other.injected_phits;
        self.blocked += other.blocked;
        self.injection_latency += other.injection_latency;
        self.hops += other.hops;
        self.marked += other.marked;
        self.notices.sent += other.notices.sent;
        self.notices.received += other.notices.received;
        self.notices.lost += other.notices.lost;
        self.retransmission.add(&other.retransmission);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
        for (mine, theirs) in self.batches.iter_mut().zip(&other.batches) {
            mine.merge(theirs);
        }
        self.by_generation.merge(&other.by_generation);
        self.by_delivery.merge(&other.by_delivery);
        self.intervals.merge(&other.intervals);
    }
}

//! What one partition records of the order in which packets arrive. Whole numbers only, as in `collect.rs`.

use crate::ids::Cycle;
use serde::{Deserialize, Serialize};

/// What became of a packet that has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// It came after a later one.
    pub(crate) late: bool,
    /// It has to wait for an earlier one, or cannot.
    pub(crate) held: bool,
    pub(crate) dropped: bool,
}

/// Packets that arrive in the measurement, and what hosts hold in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderRecord {
    /// Cycles measured; empty until the warm-up has ended.
    pub(crate) from: Cycle,
    pub(crate) to: Cycle,
    pub(crate) arrived: u64,
    pub(crate) late: u64,
    pub(crate) held: u64,
    pub(crate) dropped: u64,
    /// Packets that waited and go on, and the cycles that they have waited.
    pub(crate) released: u64,
    pub(crate) waited: u64,
    /// Phits that hosts held, summed over hosts and cycles, and the most that one held.
    pub(crate) phit_cycles: u64,
    pub(crate) most: u32,
}

impl OrderRecord {
    /// The last phit of a packet is consumed in the cycle before `now`.
    pub(crate) fn count(&mut self, now: Cycle, arrival: Arrival) {
        if !(self.from..self.to).contains(&(now - 1)) {
            return;
        }
        self.arrived += 1;
        self.late += u64::from(arrival.late);
        self.held += u64::from(arrival.held);
        self.dropped += u64::from(arrival.dropped);
    }

    /// A packet goes on that has waited.
    pub(crate) fn waited(&mut self, now: Cycle, cycles: Cycle) {
        if (self.from..self.to).contains(&(now - 1)) {
            self.released += 1;
            self.waited += u64::from(cycles);
        }
    }

    /// A host has held so many phits in the cycles `since..until`, and then `next`.
    pub(crate) fn hold(&mut self, phits: u32, (since, until): (Cycle, Cycle), next: u32) {
        let measured = until.min(self.to).saturating_sub(since.max(self.from));
        self.phit_cycles += u64::from(phits) * u64::from(measured);
        if measured > 0 {
            self.most = self.most.max(phits);
        }
        if (self.from..self.to).contains(&until) {
            self.most = self.most.max(next);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        (self.from, self.to) = (other.from, other.to);
        self.arrived += other.arrived;
        self.late += other.late;
        self.held += other.held;
        self.dropped += other.dropped;
        self.released += other.released;
        self.waited += other.waited;
        self.phit_cycles += other.phit_cycles;
        self.most = self.most.max(other.most);
    }
}

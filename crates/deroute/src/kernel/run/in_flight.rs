//! Packets in the network, counted from time to time while it is measured.

use crate::ids::Cycle;
use serde::{Deserialize, Serialize};

/// Most counts of a measurement; of one that is long beside a window there are at least half as many.
const COUNTS: Cycle = 64;

/// Counts at equal steps, from the beginning of the measurement on.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InFlight {
    next: Cycle,
    step: Cycle,
    end: Cycle,
    pub(super) counts: Vec<u64>,
}

impl InFlight {
    /// Counts in the cycles `from..to`, after whole windows where these are short.
    pub(super) fn new(from: Cycle, to: Cycle, window: Cycle) -> Self {
        let cycles = to.saturating_sub(from);
        let step = (cycles / COUNTS).next_multiple_of(window).min(2 * (cycles / COUNTS)).max(1);
        Self { next: from, step, end: to, counts: Vec::new() }
    }

    /// The measurement ends later: counts go on at the same steps.
    pub(super) fn extend(&mut self, to: Cycle) {
        self.end = to;
    }

    /// Cycle of the next count.
    pub(super) fn next(&self) -> Cycle {
        if self.next < self.end { self.next } else { Cycle::MAX }
    }

    /// Takes a count, in the cycle in which it is due.
    pub(super) fn take(&mut self, packets: u64) {
        self.counts.push(packets);
        self.next = self.next.saturating_add(self.step);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cycle, InFlight};

    #[test]
    fn counts_are_many_and_after_whole_windows() {
        for (cycles, window, step) in [(6_000, 150, 150), (64_000, 150, 1_050), (640, 1_000, 20)] {
            let mut counts = InFlight::new(500, 500 + cycles, window);
            let mut last = None;
            while counts.next() < Cycle::MAX {
                assert!(last.is_none_or(|last| counts.next() == last + step), "{cycles}");
                last = Some(counts.next());
                counts.take(1);
            }
            assert_eq!(counts.counts.len() as Cycle, cycles.div_ceil(step));
            assert!(last < Some(500 + cycles));
        }
    }
}

//! When queues were told to be silent.

use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// The silence of a queue in the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SilenceRecord {
    /// Cycles in which it was told to be silent.
    pub(crate) measured: u64,
    /// The same in each bin, as far as they are recorded.
    pub(crate) bins: Vec<u32>,
}

/// Bins of a record: the first cycle, their width and their number.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SilenceBins {
    pub(crate) start: Cycle,
    pub(crate) width: Cycle,
    pub(crate) count: usize,
}

/// When a queue was told to be silent.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Silence {
    since: Cycle,
    until: Cycle,
    /// Cycles of the measurement in which it was.
    measured: u64,
}

/// All queues.
#[derive(Serialize, Deserialize)]
pub(super) struct Silences {
    /// Of so many queues, once one of them has been told anything.
    count: usize,
    queues: Vec<Silence>,
    bins: SilenceBins,
    /// By queue the cycles of each bin, up to the last one in which it was silent; none unless they are recorded.
    binned: Vec<Vec<u32>>,
}

impl Silences {
    /// Bytes of a queue while none has been told anything.
    pub(super) fn bytes(model: &Model) -> usize {
        let recorded = model.pause_probe && model.times.series.is_some();
        if recorded { size_of::<Vec<u32>>() } else { 0 }
    }

    /// Bytes of a queue besides from then on.
    pub(super) fn most_bytes() -> usize {
        size_of::<Silence>()
    }

    pub(super) fn new(queues: usize) -> Self {
        let bins = SilenceBins::default();
        Self { count: queues, queues: Vec::new(), bins, binned: Vec::new() }
    }

    /// A queue that is told something.
    fn told(&mut self, queue: usize) -> &mut Silence {
        if self.queues.is_empty() {
            self.queues = vec![Silence::default(); self.count];
        }
        &mut self.queues[queue]
    }

    /// What a queue has been told.
    fn of(&self, queue: usize) -> Silence {
        self.queues.get(queue).copied().unwrap_or_default()
    }

    /// Records bins from now on.
    pub(super) fn record_bins(&mut self, bins: SilenceBins) {
        self.bins = bins;
        self.binned.resize(self.count, Vec::new());
    }

    /// A queue falls silent.
    pub(super) fn begin(&mut self, queue: usize, now: Cycle) {
        self.told(queue).since = now;
    }

    /// Its silence ends in this cycle.
    pub(super) fn end(&mut self, core: &Core, queue: usize, at: Cycle) {
        let silence = self.told(queue);
        let since = silence.since;
        silence.measured += u64::from(core.collector.overlap(since, at - since));
        if let Some(bins) = self.binned.get_mut(queue) {
            add(bins, self.bins, since, at);
        }
    }

    /// Forgets what was measured.
    pub(super) fn forget(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.measured = 0);
        self.binned.iter_mut().for_each(Vec::clear);
    }

    /// When a queue fell silent last.
    pub(super) fn since(&self, queue: usize) -> Cycle {
        self.of(queue).since
    }

    /// When the silence of a queue ends by itself.
    pub(super) fn until(&self, queue: usize) -> Cycle {
        self.of(queue).until
    }

    pub(super) fn last_until(&mut self, queue: usize, until: Cycle) {
        self.told(queue).until = until;
    }

    /// What was recorded of a queue, which may be silent now, and may have ceased to be by itself.
    pub(super) fn record(
        &self,
        core: &Core,
        queue: usize,
        (silent, ends): (bool, bool),
    ) -> SilenceRecord {
        let Silence { since, mut measured, until } = self.of(queue);
        let mut bins = self.binned.get(queue).cloned().unwrap_or_default();
        if silent {
            let end = if ends { until.min(core.now) } else { core.now };
            measured += u64::from(core.collector.overlap(since, end - since));
            add(&mut bins, self.bins, since, end);
        }
        SilenceRecord { measured, bins }
    }
}

/// Adds some cycles to the bins in which they are.
fn add(to: &mut Vec<u32>, bins: SilenceBins, from: Cycle, end: Cycle) {
    let SilenceBins { start, width, count } = bins;
    if count == 0 {
        return;
    }
    let mut at = from.max(start);
    while at < end {
        let bin = ((at - start) / width) as usize;
        if bin >= count {
            return;
        }
        let next = end.min(start.saturating_add((bin as u32 + 1).saturating_mul(width)));
        if bin >= to.len() {
            to.resize(bin + 1, 0);
        }
        to[bin] += next - at;
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::{SilenceBins, add};

    #[test]
    fn cycles_are_shared_out_among_bins() {
        let bins = SilenceBins { start: 100, width: 10, count: 4 };
        let mut found = Vec::new();
        add(&mut found, bins, 50, 90);
        assert!(found.is_empty(), "before the first bin");
        add(&mut found, bins, 95, 103);
        add(&mut found, bins, 107, 121);
        add(&mut found, bins, 121, 122);
        assert_eq!(found, [6, 10, 2]);
        add(&mut found, bins, 138, 1_000);
        assert_eq!(found, [6, 10, 2, 2]);
        add(&mut found, SilenceBins::default(), 0, 1_000);
        assert_eq!(found, [6, 10, 2, 2], "nothing is recorded");
    }
}

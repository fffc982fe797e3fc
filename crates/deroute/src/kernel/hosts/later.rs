//! What is due at interfaces in cycles that no timing wheel reaches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::Cycle;

/// Something that is to be scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Item {
    /// A host, by its index, whose rank goes on.
    Host(u32),
    /// What a rank is told, by its slot.
    News(u32),
}

/// Items in order of their cycles.
#[derive(Serialize, Deserialize)]
pub(super) struct Later {
    items: BTreeSet<(Cycle, Item)>,
    /// The cycle of the first of them.
    first: Cycle,
}

impl Later {
    pub(super) fn new() -> Self {
        Self { items: BTreeSet::new(), first: Cycle::MAX }
    }

    pub(super) fn add(&mut self, at: Cycle, item: Item) {
        self.items.insert((at, item));
        self.first = self.first.min(at);
    }

    /// Cycle in which something is to be scheduled, for the next one.
    pub(super) fn due(&self) -> Cycle {
        self.first.saturating_sub(1)
    }

    /// Takes an item that is due in the cycle after this one.
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<Item> {
        if self.due() > now {
            return None;
        }
        let (_, item) = self.items.pop_first()?;
        self.first = self.items.first().map_or(Cycle::MAX, |(at, _)| *at);
        Some(item)
    }
}

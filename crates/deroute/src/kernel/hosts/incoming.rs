//! Messages that have arrived in part.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::table::Table;
use crate::workload::process::Kind;

/// A message to one of the ranks of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct MessageId {
    pub(super) to: u32,
    pub(super) from: u32,
    pub(super) kind: Kind,
    /// Number among the messages of its sender to this rank.
    pub(super) sequence: u32,
}

impl Hash for MessageId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let of = u64::from(self.from) << 32 | u64::from(self.sequence);
        state.write_u64(of ^ u64::from(self.to) << 16 ^ (self.kind as u64) << 62);
    }
}

/// The messages of a host of which packets have arrived, put back into their order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Incoming {
    /// Phits of each in order: the packet that begins there is the next one.
    ready: Table<MessageId, u32>,
    /// Packets that wait for one before them: where they begin, and their phits.
    waiting: BTreeMap<(MessageId, u32), u32>,
    /// Phits of all these.
    held: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// No packet of its message had arrived.
    pub(super) first: bool,
    /// It waits for one before it, and the host holds so many phits now.
    pub(super) held: Option<u32>,
    /// The message is whole.
    pub(super) whole: bool,
}

impl Incoming {
    /// A packet of a message of so many phits, which begins after `offset` of them, and is not all of it.
    pub(super) fn place(&mut self, id: MessageId, (offset, phits): (u32, u32), of: u32) -> Placed {
        let (first, mut ready) = match self.ready.entry(id) {
            Entry::Occupied(ready) => (false, ready),
            Entry::Vacant(none) => (true, none.insert_entry(0)),
        };
        if offset != *ready.get() {
            self.waiting.insert((id, offset), phits);
            self.held += phits;
            return Placed { first, held: Some(self.held), whole: false };
        }
        let mut end = offset + phits;
        while self.held > 0
            && let Some(phits) = self.waiting.remove(&(id, end))
        {
            end += phits;
            self.held -= phits;
        }
        ready.insert(end);
        let whole = end == of;
        if whole {
            ready.remove();
        }
        Placed { first, held: None, whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_put_in_order() {
        let mut all = Incoming::default();
        let id = MessageId { to: 1, from: 2, kind: Kind::Eager, sequence: 3 };
        let placed = |first, held, whole| Placed { first, held, whole };
        assert_eq!(all.place(id, (4, 4), 12), placed(true, Some(4), false));
        let other = MessageId { to: 0, ..id };
        assert_eq!(all.place(other, (4, 2), 6), placed(true, Some(6), false));
        assert_eq!(all.place(id, (8, 2), 12), placed(false, Some(8), false));
        assert_eq!(all.place(id, (0, 4), 12), placed(false, None, false));
        assert_eq!(all.place(id, (10, 2), 12), placed(false, None, true));
        assert_eq!(all.place(other, (0, 4), 6), placed(false, None, true));
        assert_eq!((all.held, all.ready.len()), (0, 0));
    }
}

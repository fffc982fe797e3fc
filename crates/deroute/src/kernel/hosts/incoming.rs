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
    /// Which of them.
    pub(super) worker: u32,
    pub(super) from: u32,
    pub(super) kind: Kind,
    /// Number among the messages of its sender to this rank.
    pub(super) sequence: u32,
}

impl Hash for MessageId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let of = u64::from(self.from) << 32 | u64::from(self.sequence);
        state.write_u64(of ^ u64::from(self.worker) << 16 ^ (self.kind as u64) << 62);
    }
}

/// A message of which packets have arrived.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ready {
    /// Phits in order: the packet that begins there is the next one.
    to: u32,
    /// Phits in all, once its last packet has arrived.
    of: u32,
}

/// The messages of a host of which packets have arrived, put back into their order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Incoming {
    ready: Table<MessageId, Ready>,
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
    /// The message is whole, and has so many phits.
    pub(super) whole: Option<u32>,
}

impl Incoming {
    /// A packet of a message, which begins after `offset` phits of it, may be its last one, and is not all of it.
    pub(super) fn place(
        &mut self,
        id: MessageId,
        (offset, phits): (u32, u32),
        last: bool,
    ) -> Placed {
        let (first, mut entry) = match self.ready.entry(id) {
            Entry::Occupied(ready) => (false, ready),
            Entry::Vacant(none) => (true, none.insert_entry(Ready { to: 0, of: u32::MAX })),
        };
        let ready = entry.get_mut();
        if last {
            ready.of = offset + phits;
        }
        if offset != ready.to {
            self.waiting.insert((id, offset), phits);
            self.held += phits;
            return Placed { first, held: Some(self.held), whole: None };
        }
        let mut end = offset + phits;
        while self.held > 0
            && let Some(phits) = self.waiting.remove(&(id, end))
        {
            end += phits;
            self.held -= phits;
        }
        ready.to = end;
        let whole = (end == ready.of).then_some(end);
        if whole.is_some() {
            entry.remove();
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
        let id = MessageId { worker: 1, from: 2, kind: Kind::Eager, sequence: 3 };
        let placed = |first, held, whole| Placed { first, held, whole };
        assert_eq!(all.place(id, (4, 4), false), placed(true, Some(4), None));
        let other = MessageId { worker: 0, ..id };
        assert_eq!(all.place(other, (4, 2), true), placed(true, Some(6), None));
        assert_eq!(all.place(id, (8, 2), false), placed(false, Some(8), None));
        assert_eq!(all.place(id, (0, 4), false), placed(false, None, None));
        assert_eq!(all.place(id, (10, 2), true), placed(false, None, Some(12)));
        assert_eq!(all.place(other, (0, 4), false), placed(false, None, Some(6)));
        assert_eq!((all.held, all.ready.len()), (0, 0));
    }
}

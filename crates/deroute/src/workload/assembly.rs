//! Messages that arrive in pieces.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A message of which packets have arrived, put back into their order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Assembly {
    /// Phits in order: the packet that begins here is the next one.
    ready: u32,
    /// Packets that wait for one before them: where they begin, and their phits.
    held: BTreeMap<u32, u32>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It was the next one; so many phits that were held follow it.
    InOrder {
        /// Phits that are not held any more.
        released: u32,
    },
    /// It waits for a packet before it.
    Held,
}

impl Assembly {
    /// A packet of the message that begins after `offset` phits.
    pub fn place(&mut self, offset: u32, phits: u32) -> Placed {
        if offset != self.ready {
            self.held.insert(offset, phits);
            return Placed::Held;
        }
        self.ready += phits;
        let mut released = 0;
        while let Some(phits) = self.held.remove(&self.ready) {
            self.ready += phits;
            released += phits;
        }
        Placed::InOrder { released }
    }

    /// Phits that have arrived in order.
    pub fn ready(&self) -> u32 {
        self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_put_in_order() {
        let mut message = Assembly::default();
        assert_eq!(message.place(4, 4), Placed::Held);
        assert_eq!(message.place(8, 2), Placed::Held);
        assert_eq!(message.ready(), 0);
        assert_eq!(message.place(0, 4), Placed::InOrder { released: 6 });
        assert_eq!(message.ready(), 10);
        assert_eq!(message.place(10, 4), Placed::InOrder { released: 0 });
    }
}

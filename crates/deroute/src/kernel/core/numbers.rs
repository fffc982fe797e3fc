//! The numbers of packets in their flows, where sources send again what does not come.

use serde::{Deserialize, Serialize};

/// Those of a partition, by the words of packets, beside their cargo.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Numbers {
    of: Vec<u32>,
}

impl Numbers {
    /// Bytes of so many packets, besides their cargo.
    pub(crate) fn bytes(packets: u64) -> u64 {
        packets.saturating_mul(size_of::<u32>() as u64)
    }

    /// A packet with this word has a number.
    pub(crate) fn set(&mut self, word: u32, number: u32) {
        if self.of.len() <= word as usize {
            self.of.resize(word as usize + 1, 0);
        }
        self.of[word as usize] = number;
    }

    /// The number of a packet; that of one which has none is any.
    pub(crate) fn of(&self, word: u32) -> u32 {
        self.of.get(word as usize).copied().unwrap_or(0)
    }
}

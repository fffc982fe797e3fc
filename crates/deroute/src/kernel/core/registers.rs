//! Registers before the crossbar, each of which may hold the head of a queue.

use serde::{Deserialize, Serialize};

/// Which packets are in a register, one bit for each place in the pool.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Registers(Vec<u64>);

impl Registers {
    /// A packet moves into one.
    pub(crate) fn insert(&mut self, packet: u32) {
        let word = packet as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (packet % 64);
    }

    /// Is a packet in one?
    pub(crate) fn hold(&self, packet: u32) -> bool {
        self.0.get(packet as usize / 64).is_some_and(|word| word >> (packet % 64) & 1 == 1)
    }

    /// A packet goes on; says whether it was in one.
    pub(crate) fn let_go(&mut self, packet: u32) -> bool {
        let held = self.hold(packet);
        if held {
            self.0[packet as usize / 64] &= !(1 << (packet % 64));
        }
        held
    }

    /// Bytes for so many packets.
    pub(crate) fn bytes(packets: u64) -> u64 {
        packets / 8
    }
}

//! What is recorded of the entropies that hosts give packets.

use serde::{Deserialize, Serialize};

/// What the hosts of a partition did, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntropyRecord {
    /// Packets with an entropy, and those of them that got one once more.
    pub(crate) packets: u64,
    pub(crate) recycled: u64,
    /// Packets that hosts heard of, and those of them that were marked.
    pub(crate) heard: u64,
    pub(crate) marked: u64,
    /// Times that a timeout froze the entropies for a destination.
    pub(crate) freezes: u64,
}

impl EntropyRecord {
    /// Adds those of another partition.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.recycled += other.recycled;
        self.heard += other.heard;
        self.marked += other.marked;
        self.freezes += other.freezes;
    }
}

//! What is recorded of packets that are sent again.

use serde::{Deserialize, Serialize};

/// Over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RetransmissionRecord {
    /// Packets of which switches left the header.
    pub(crate) trimmed: u64,
    /// Packets that receivers asked for (NACK).
    pub(crate) nacks: u64,
    /// Packets whose timeout was over.
    pub(crate) timeouts: u64,
    /// Packets that were to be sent again, and those of them that came before.
    pub(crate) resent: u64,
    pub(crate) spared: u64,
    /// Packets that came though their host had them.
    pub(crate) duplicates: u64,
}

impl RetransmissionRecord {
    /// Adds those of another partition.
    pub(crate) fn add(&mut self, other: &Self) {
        self.trimmed += other.trimmed;
        self.nacks += other.nacks;
        self.timeouts += other.timeouts;
        self.resent += other.resent;
        self.spared += other.spared;
        self.duplicates += other.duplicates;
    }
}

//! What is recorded of packets that are sent again.

use serde::{Deserialize, Serialize};

/// Over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgainRecord {
    /// Packets of which switches left the header.
    pub(crate) trimmed: u64,
    /// Packets that receivers asked for.
    pub(crate) asked: u64,
    /// Packets whose time was over.
    pub(crate) late: u64,
    /// Packets that were to be sent again, and those of them that came before.
    pub(crate) resent: u64,
    pub(crate) spared: u64,
    /// Packets that came though their host had them.
    pub(crate) duplicates: u64,
}

impl AgainRecord {
    /// Adds those of another partition.
    pub(crate) fn add(&mut self, other: &Self) {
        self.trimmed += other.trimmed;
        self.asked += other.asked;
        self.late += other.late;
        self.resent += other.resent;
        self.spared += other.spared;
        self.duplicates += other.duplicates;
    }
}

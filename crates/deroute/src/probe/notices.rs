//! What is recorded of congestion points that send notifications.

use serde::{Deserialize, Serialize};

/// What the samples of the queue of one class at an output found, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NoticeRecord {
    pub(crate) samples: u64,
    /// Those with feedback.
    pub(crate) congested: u64,
    /// Notifications that were sent, and those that found no room in the first queue.
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
    /// Phits that were found, together and at the most.
    pub(crate) phits: u64,
    pub(crate) longest: u32,
}

impl NoticeRecord {
    /// Adds those of another queue.
    pub(crate) fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.congested += other.congested;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.phits += other.phits;
        self.longest = self.longest.max(other.longest);
    }
}

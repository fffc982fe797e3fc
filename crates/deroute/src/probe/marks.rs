//! What is recorded of congestion points.

use serde::{Deserialize, Serialize};

/// What left the queues of one class at an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MarkRecord {
    /// Packets that left in the measurement, and those of them that were marked.
    pub(crate) packets: u64,
    pub(crate) marked: u64,
    /// Most phits that a packet left behind, over the whole run.
    pub(crate) longest: u32,
}

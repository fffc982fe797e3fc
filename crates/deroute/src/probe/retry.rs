//! What is recorded of links that send broken frames again.

use serde::{Deserialize, Serialize};

/// What a sender did over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RetryRecord {
    /// Frames that began to leave, and those of them that broke.
    pub(crate) frames: u64,
    pub(crate) errors: u64,
    /// Cycles in which frames were sent for good, and those in which it was in vain.
    pub(crate) used: u64,
    pub(crate) vain: u64,
    /// Most phits that were kept.
    pub(crate) most: u32,
}

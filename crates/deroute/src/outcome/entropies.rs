//! What the entropies of packets did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the entropies that hosts gave packets did, over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntropyUse {
    /// What acted and what did not, one sentence each.
    pub says: Vec<String>,
    /// Packets that got an entropy.
    pub packets: u64,
    /// Of these, packets that got that of a packet before which had come without a mark.
    pub recycled: u64,
    /// Their share.
    pub recycled_share: f64,
    /// Packets that hosts heard of, where entropies come back.
    pub heard: u64,
    /// Of these, packets that were marked.
    pub marked: u64,
    /// Times that a timeout froze the entropies for a destination.
    pub freezes: u64,
}

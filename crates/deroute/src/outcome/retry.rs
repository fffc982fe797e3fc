//! What links did that send broken frames again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What link-level retry did, over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetryUse {
    /// What happened, one sentence each.
    pub says: Vec<String>,
    /// By link class, and `host` for the links of hosts.
    pub links: Vec<RetryLinks>,
}

/// The links of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetryLinks {
    /// Link class of the topology, or `host`.
    pub class: String,
    /// Links of the class, each direction counted.
    pub links: u32,
    /// Frames that were sent, without those that followed a broken one and were in vain.
    pub frames: u64,
    /// Those of them that had a bit error.
    pub errors: u64,
    /// Share of the time in which links were sending that they did not lose by errors.
    pub goodput: f64,
    /// Most phits that a sender kept for the case of an error.
    pub replay_max: u32,
}

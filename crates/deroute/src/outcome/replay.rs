//! What a trace did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a job did that follows a trace, or has collectives by named algorithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayOutcome {
    /// How messages travelled and matched, one sentence each.
    pub says: Vec<String>,
    /// Messages that asked whether data may be sent, or said that it may.
    pub control_messages: u64,
    /// Messages that had arrived at the end and that nobody had received.
    pub unreceived: u64,
    /// Its collectives, by algorithm, members and size.
    pub collectives: Vec<CollectiveUse>,
}

/// Collectives of one algorithm, number of members and size. Bandwidths are those of nccl-tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollectiveUse {
    /// The collective, and its algorithm.
    pub name: String,
    /// Members.
    pub members: u32,
    /// Data in phits: of a rank, and of all blocks of a rank where everybody has a block.
    pub phits: u64,
    /// Parts that ranks took in them.
    pub parts: u64,
    /// Cycles that a part took, on the average.
    pub mean: f64,
    /// The shortest: that of who came last, where all wait for each other.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// Data over mean time, in bytes a nanosecond.
    pub algorithm_bandwidth: f64,
    /// The same times what a rank has to send of its data at least, over its data.
    pub bus_bandwidth: f64,
}

//! How long flows took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Completion of the flows of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowsOutcome {
    /// Flows.
    pub flows: u64,
    /// Those that had not arrived whole at the end; nothing else counts them.
    pub unfinished: u64,
    /// All sizes.
    pub time: FlowTimes,
    /// All sizes.
    pub slowdown: FlowSlowdown,
    /// By size; without sizes that no flow has.
    pub bins: Vec<FlowBin>,
}

/// Flows of some sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowBin {
    /// They have more phits than this.
    pub above: u64,
    /// They have no more phits than this; no limit if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<u64>,
    /// Flows.
    pub flows: u64,
    /// Those that had not arrived whole at the end; nothing else counts them.
    pub unfinished: u64,
    /// How long they took.
    pub time: FlowTimes,
    /// How much longer than alone in the network.
    pub slowdown: FlowSlowdown,
}

/// From the beginning of a flow to the consumption of its last phit, in cycles; 0 when none has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// Of 99 in 100 flows not longer than this.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

/// The time of a flow over that which it would take on the shortest path of the topology, were it alone in the
/// network; 0 when none has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSlowdown {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// Of 99 in 100 flows not larger than this.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

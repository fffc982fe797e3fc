//! What a user asks of a switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::Switch;
pub use super::parameters::*;

/// When a switch decides where a packet goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Routed {
    /// When it becomes the head of its queue; again while it waits, if the routing decides again.
    #[default]
    Head,
    /// When its first phit arrives, as with virtual output queues: a packet behind others has
    /// chosen before they left. The routing must not decide again while it waits.
    Arrival,
}

/// Input-first separable allocator (thesis 2.1, 3.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Allocator {
    /// Rounds of input and output arbitration in a cycle, 1 to 16. Default 2.
    pub iterations: u8,
    /// Order in which an arbiter serves its requesters. Default `round-robin`.
    pub arbiter: Arbiter,
    /// When a round-robin input pointer moves. Default `on-request`.
    pub pointer: Pointer,
    /// Packets in transit beat packets at injection. Default `false`.
    pub transit_priority: bool,
}

impl Default for Allocator {
    fn default() -> Self {
        Self {
            iterations: 2,
            arbiter: Arbiter::RoundRobin,
            pointer: Pointer::OnRequest,
            transit_priority: false,
        }
    }
}

/// Order in which an arbiter serves its requesters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbiter {
    /// Rotating priority, starting after the last winner.
    RoundRobin,
    /// The packet that was generated first wins; ties go round-robin.
    Age,
    /// One that asks, by lot, each as likely as the others.
    Random,
    /// The one that has waited longest since it was last served (FOGSim's default). The list of an input moves when its
    /// `pointer` does.
    LeastRecentlyServed,
}

/// When a round-robin input pointer moves past its choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pointer {
    /// Only when the output arbiter granted the request (iSLIP).
    OnGrant,
    /// As soon as the request is made: each arbiter updates its own list when it finds a winner
    /// (thesis 3.2.1, FOGSim).
    OnRequest,
}

//! What congestion and notification points that send notifications did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What switches or receiving hosts told the sources of packets, over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationUse {
    /// What acted and what did not, one sentence each.
    pub says: Vec<String>,
    /// Class of service of the notifications.
    pub service: u8,
    /// Notifications that were sent.
    pub sent: u64,
    /// Those that came to their host, or were about to at the end.
    pub received: u64,
    /// Those that were lost for want of room, at once or on their way.
    pub lost: u64,
    /// Queues that were sampled, by link class and class of service; `ejection` are the outputs to hosts.
    pub queues: Vec<SampledQueues>,
    /// By output and class of service, if `probes.links` asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortSamples>,
}

/// What the samples of the outputs of one link class found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledQueues {
    /// Link class of the topology, or `ejection`.
    pub class: String,
    /// Class of service.
    pub service: u32,
    /// Samples.
    pub samples: u64,
    /// Those that found a queue too long.
    pub congested: u64,
    /// Notifications that were sent.
    pub sent: u64,
    /// Mean length of a queue that was sampled, in phits.
    pub queue_mean: f64,
    /// Longest one, in phits.
    pub queue_max: u32,
}

/// What the samples of one output found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortSamples {
    /// Router.
    pub router: u32,
    /// Its port.
    pub port: u32,
    /// Class of service.
    pub service: u32,
    /// Samples.
    pub samples: u64,
    /// Those that found the queue too long.
    pub congested: u64,
    /// Notifications that were sent.
    pub sent: u64,
    /// Longest queue, in phits.
    pub queue_max: u32,
}

/// What the reaction points of hosts did, over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReactionPointUse {
    /// What acted and what did not, one sentence each.
    pub says: Vec<String>,
    /// Times that a rate was cut, each by a notification, or a window by an acknowledgement.
    pub cuts: u64,
    /// Times that a flow got a rate limiter or a window.
    pub limited: u64,
    /// Of these, flows that had one at the end.
    pub limited_at_end: u64,
    /// Most limiters or windows of one host at once.
    pub limiters_max: u32,
    /// Lowest rate that a cut left, as a share of the link of a host; 1 without one.
    pub rate_min: f64,
    /// What windows did, if flows have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<WindowUse>,
}

/// What the windows of flows did, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowUse {
    /// Times that the next packet of a flow did not fit into its window.
    pub held: u64,
    /// Times that an acknowledgement made a window larger.
    pub raises: u64,
    /// Smallest window, in phits; 0 if no flow had one.
    pub least: f64,
    /// Largest window, in phits; 0 if no flow had one.
    pub most: f64,
    /// Most phits of a flow that were under way at once.
    pub under_way_max: u32,
}

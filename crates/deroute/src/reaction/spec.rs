//! What a user asks of a reaction point.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::ReactionPoint;
pub use super::parameters::*;
pub use super::retransmission::RetransmissionSpec;
pub use super::swift::FlowScaling;

/// What has a rate limiter of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKey {
    /// What a host sends to one destination in a class of service.
    #[default]
    Destination,
    /// All that a host sends in a class of service.
    Source,
}

/// Whose notifications a host follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Follows {
    /// Those of all congestion points.
    #[default]
    All,
    /// Those of queues to hosts: what no other path could avoid.
    Endpoint,
}

impl Follows {
    pub(super) fn is_all(&self) -> bool {
        *self == Self::All
    }
}

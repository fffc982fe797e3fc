//! By the destination host.
//!
//! # What it does
//! A packet waits in the queue with the number of its destination host, modulo their number: with a queue for each
//! host those are virtual output queues at the source.
//!
//! # Source
//! Tamir and Frazier, ISCA 1988; at the interfaces of hosts: InfiniBand's queue pairs, whose packets
//! do not wait for those of others.
//!
//! # Parameters
//! `count`: queues of each class (default: one for each host).
//!
//! # Limits
//! A port tells 64 queues apart, those of all classes together: in a larger network `count` is needed, and
//! destinations share queues. On links the packets share VCs.
//!
//! # Example
//! ```toml
//! [network.nic.queues.destination]
//! count = 16
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{By, QueuePlan, Setting};
use crate::spec::SpecError;

/// Injection queues by destination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DestinationQueuesSpec {
    /// Queues of each class, 1 to 64 for all classes together. Default: one for each host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u8>,
}

/// Resolves the parameters.
///
/// # Errors
/// Queues that are too many, or none.
pub fn plan(spec: &DestinationQueuesSpec, setting: &Setting) -> Result<QueuePlan, SpecError> {
    let path = "network.nic.queues.destination.count";
    let count = setting.count(path, spec.count.map_or(setting.hosts, u32::from))?;
    Ok(QueuePlan { count, by: By::Destination })
}

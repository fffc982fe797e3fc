//! By the flow.
//!
//! # What it does
//! A packet waits in the queue that a hash of its source, its destination and the number of its stream, or the tag of
//! its message, gives: flows to one destination can have queues of their own.
//!
//! # Source
//! Interfaces with several send queues, as those of RDMA, where each queue pair has its own (InfiniBand
//! Architecture Specification, volume 1).
//!
//! # Parameters
//! `count`: queues of each class (default 8).
//!
//! # Limits
//! A port tells 64 queues apart, those of all classes together. Flows with the same hash share a queue.
//!
//! # Example
//! ```toml
//! [network.nic.queues.flow]
//! count = 16
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{By, QueuePlan, Setting};
use crate::spec::SpecError;

/// Injection queues by flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlowQueuesSpec {
    /// Queues of each class, 1 to 64 for all classes together. Default 8.
    pub count: u8,
}

impl Default for FlowQueuesSpec {
    fn default() -> Self {
        Self { count: 8 }
    }
}

/// Resolves the parameters.
///
/// # Errors
/// Queues that are too many, or none.
pub fn plan(spec: &FlowQueuesSpec, setting: &Setting) -> Result<QueuePlan, SpecError> {
    let count = setting.count("network.nic.queues.flow.count", spec.count.into())?;
    Ok(QueuePlan { count, by: By::Flow })
}

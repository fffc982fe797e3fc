//! Blocks of destinations.
//!
//! # What it does
//! The class of a packet is the number of the block of consecutive hosts that its destination is
//! in, modulo the number of classes.
//!
//! # Source
//! What Rocher-Gonzalez et al. 5.3 leave to future work: a mapping that holds where routing adapts.
//! A congested destination never has more than one class, wherever its packets turn. With blocks of
//! `hosts / queues` it separates on the way up exactly what Flow2SL does. With blocks of Delta
//! hosts it is independent of the ports to which K/Delta confines a destination: both together keep
//! `queues * Delta` sets of destinations apart.
//!
//! # Parameters
//! `queues`: classes, 1 to 64 (default 3). `block`: hosts, at least 1 (default 3, the paper's
//! Delta).
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! A congested destination holds up all others of its class.
//!
//! # Example
//! ```toml
//! [network.queuing.blocks]
//! queues = 3
//! block = 6
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Flows, Setting};
use crate::spec::SpecError;

/// Classes by blocks of destinations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlocksSpec {
    /// Number of classes, 1 to 64. Default 3.
    pub queues: u8,
    /// Consecutive hosts that share a class, at least 1. Default 3.
    pub block: u32,
}

impl Default for BlocksSpec {
    fn default() -> Self {
        Self { queues: 3, block: 3 }
    }
}

/// The class of each flow.
///
/// # Errors
/// Empty blocks, and classes that are too many, or none.
pub fn plan(spec: &BlocksSpec, setting: &Setting<'_>) -> Result<Flows, SpecError> {
    if spec.block == 0 {
        let error = SpecError::new(setting.at("block"), "a block of 0 hosts");
        return Err(error.choices(["1 or more"]));
    }
    Ok(Flows::to(setting.queues(spec.queues)?, setting.topology, |host| host / spec.block))
}

//! Recycled entropies packet spraying (REPS).
//!
//! # What it does
//! A packet that arrives without a mark took a path that is not congested: its acknowledgement brings its
//! entropy back, and the host keeps the last `recycled` of them for each destination, of which each packet
//! takes the oldest. Where none is kept, a packet gets one of `values` entropies at random.
//!
//! # Source
//! Bonato et al., REPS: Recycling Entropies for Packet Spraying to Adaptively Explore Paths and Mitigate
//! Failures, arXiv 2407.21625 (2024).
//!
//! # Parameters
//! `values`, 1 to 65536 (default 65536); `recycled`, 1 to 16 (default 8).
//!
//! # Limits
//! Needs a routing that draws paths, as `flow` does, receivers that acknowledge every packet
//! (`network.nic.notification_point.acknowledgement`) and marks (`network.congestion_point.ecn`). Where packets
//! are lost or trimmed, what is sent again gets the next entropy as any packet does: there is no freezing
//! after a timeout.
//!
//! # Example
//! ```toml
//! [network.nic.entropy.reps]
//! recycled = 8
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntropyPlan, MOST, Setting};
use crate::spec::SpecError;

/// Parameters of recycled entropies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepsSpec {
    /// Different values, 1 to 65536. Default 65536.
    pub values: u32,
    /// Values that are kept for a destination, 1 to 16. Default 8.
    pub recycled: u8,
}

impl Default for RepsSpec {
    fn default() -> Self {
        Self { values: MOST, recycled: 8 }
    }
}

const PATH: &str = "network.nic.entropy.reps";

/// Resolves the parameters.
pub(crate) fn plan(spec: &RepsSpec, setting: &Setting<'_>) -> Result<EntropyPlan, SpecError> {
    super::check(setting.routing)?;
    let values = super::values(&format!("{PATH}.values"), spec.values)?;
    if !(1..=16).contains(&spec.recycled) {
        let message = format!("{} is no number of values that are kept", spec.recycled);
        return Err(SpecError::new(format!("{PATH}.recycled"), message).choices(["1 to 16"]));
    }
    if !setting.acknowledged {
        let message = "no host would ever learn which packets came without a mark";
        let choices = ["network.nic.notification_point.acknowledgement"];
        return Err(SpecError::new(PATH, message).choices(choices));
    }
    if !setting.marked {
        let message = "no packet would ever be marked";
        return Err(SpecError::new(PATH, message).choices(["network.congestion_point.ecn"]));
    }
    Ok(EntropyPlan { values, recycled: spec.recycled })
}

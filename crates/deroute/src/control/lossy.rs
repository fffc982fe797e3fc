//! No flow control: what finds no room is lost.
//!
//! # What it does
//! A packet is sent when its link is free. If the buffer at the other end does not hold it, it is
//! lost, and counted.
//!
//! # Source
//! Ethernet as it was before IEEE 802.3x.
//!
//! # Parameters
//! None of its own: `buffer` and `vcs` of `network.links`.
//!
//! # Deadlock freedom
//! Nothing waits for a buffer.
//!
//! # Limits
//! Nothing is sent again, and a workload that waits for its messages is refused, without `network.nic.retransmission`.
//!
//! # Example
//! ```toml
//! [network.flow_control.lossy]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::headroom::{PauseLimits, PausePlan};
use super::{ControlPlan, Setting};
use crate::spec::{SpecError, holds};

/// Parameters of links without flow control: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossySpec {}

/// Buffers that nobody guards.
pub(crate) fn plan(_: &LossySpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    let mut plan = PausePlan { lossy: true, ..PausePlan::default() };
    if let Some(link) = &setting.link {
        holds(link.buffer, setting.largest, format!("{}.buffer", setting.at))?;
        plan.limits = PauseLimits { capacity: link.buffer, xoff: u32::MAX, xon: u32::MAX };
    }
    Ok(ControlPlan::Pause(plan))
}

//! Window of a fixed size.
//!
//! # What it does
//! A host has no more than `size` of a flow, what it sends to one destination in a class of service, under
//! way: what has left it and has not been acknowledged. The next packet leaves when it fits. An
//! acknowledgement says how much of the flow has come so far, so that the next one makes up for one that
//! was lost.
//!
//! # Source
//! Jacobson, Congestion avoidance and control, SIGCOMM 1988 (the window of TCP, without its control).
//!
//! # Parameters
//! `size`: phits, or an amount of data, no less than the largest packet; no default.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), and receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`). Where packets can be lost it needs
//! `network.nic.retransmission`. Packets that wait count as injection queue.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.window]
//! size = "64 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Allowance, Control, Law, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of windows of a fixed size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowSpec {
    /// What of a flow may be under way at once: phits, or an amount of data.
    pub size: Quantity,
}

const PATH: &str = "network.nic.reaction_point.window";

/// Resolves the parameters.
pub(crate) fn plan(spec: &WindowSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    let size = setting.window(&format!("{PATH}.size"), &spec.size)?;
    Ok(ReactionPlan::of_destinations(Law::Window(Plan(size))))
}

/// Phits of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan(u32);

impl Control for Plan {
    type Flow = Self;

    fn begin(&self) -> Self {
        *self
    }
}

impl Allowance for Plan {
    fn window(&self) -> Option<f64> {
        Some(self.0.into())
    }
}

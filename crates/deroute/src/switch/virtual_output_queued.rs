//! Input-queued switch with virtual output queues (VOQ).
//!
//! # What it does
//! Each VC of an input port, and each injection queue, has a queue for every output. They share the
//! buffer and the credits of their VC. A packet is routed when its first phit arrives, which
//! decides its queue. iSLIP matches inputs and outputs. The crossbar is as fast as the links; there
//! is no output buffer. With `registers` the head of a queue for which there is room at the other end of the link
//! waits for the crossbar in a register, and its place in the buffer is free.
//!
//! # Source
//! Tamir and Frazier, ISCA 1988 (the queues); McKeown, IEEE/ACM Trans. Networking 1999 (iSLIP);
//! thesis 2.1. Registers: Rocher-Gonzalez et al., section 5.1.
//!
//! # Parameters
//! `pipeline` in cycles or as a time (default 0), from the grant to the departure of the head on an
//! idle link; `iterations` of iSLIP in a cycle, 1 to 16 (default 1); `registers` (default no).
//!
//! # Deadlock freedom
//! That of the routing: the queues of a VC share its buffer.
//!
//! # Limits
//! A congested output can still fill the buffer that its queue shares with others. The routing must
//! not decide again for packets that wait.
//!
//! # Example
//! ```toml
//! [network.switch.virtual_output_queued]
//! iterations = 3
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Crossbar, Matching, Setting, SwitchPlan};
use crate::spec::{Quantity, Routed, SpecError, is_default};

/// Parameters of a switch with virtual output queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VirtualOutputQueuedSpec {
    /// Cycles from a grant to the departure of the head on an idle link. Default 0.
    pub pipeline: Quantity,
    /// Iterations of iSLIP in a cycle, 1 to 16. Default 1.
    pub iterations: u8,
    /// A head with the credits that it needs waits for the crossbar in a register, and its place in the buffer is free.
    /// Default false.
    #[serde(skip_serializing_if = "is_default")]
    pub registers: bool,
}

impl Default for VirtualOutputQueuedSpec {
    fn default() -> Self {
        Self { pipeline: Quantity::default(), iterations: 1, registers: false }
    }
}

/// Resolves the parameters.
///
/// # Errors
/// Values out of range, and a routing that decides again.
pub fn plan(spec: &VirtualOutputQueuedSpec, setting: &Setting) -> Result<SwitchPlan, SpecError> {
    if setting.reconsiders {
        let message = "this routing decides again for packets that wait, but they have been put \
                       into the queue of an output";
        let choices = ["input_queued", "combined_queued", "output_queued"];
        return Err(SpecError::new(&setting.path, message).choices(choices));
    }
    let iterations = setting.iterations("iterations", spec.iterations)?;
    let matching = Matching::Islip { iterations };
    Ok(SwitchPlan {
        routed: Routed::Arrival,
        registers: spec.registers,
        ..SwitchPlan::new(setting.pipeline(&spec.pipeline)?, Crossbar::Speed(1), matching)
    })
}

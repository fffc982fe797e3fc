//! Input-buffered output-queued switch (IBOQ).
//!
//! # What it does
//! A packet that arrives is put into the queue of its output at once, whatever the others do, and its
//! memory stays that of the input buffer until it leaves the switch. So nothing is blocked behind
//! another packet in the switch, and what fills is the input buffer, which the flow control guards.
//! With a finite `memory_bandwidth` an output takes no more than so many phits a cycle.
//!
//! # Source
//! The CEE paper, IV.B.
//!
//! # Parameters
//! `pipeline` in cycles or as a time (default 0), from the arrival to the departure of the head on an
//! idle link; `memory_bandwidth` in phits per cycle and output, 1 to 64 (default: unlimited).
//!
//! # Deadlock freedom
//! That of the routing.
//!
//! # Limits
//! With credits, what comes back is delayed until a packet leaves. A head waits for its turn only where
//! the memory bandwidth is finite.
//!
//! # Example
//! ```toml
//! [network.switch.input_buffered_output_queued]
//! pipeline = "100 ns"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Crossbar, Setting, SwitchPlan};
use crate::spec::{Allocator, Quantity, SpecError};

/// Parameters of an input-buffered output-queued switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputBufferedOutputQueuedSpec {
    /// Cycles from the arrival of a head to its departure on an idle link. Default 0.
    pub pipeline: Quantity,
    /// Phits that an output takes in a cycle, 1 to 64; unlimited when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bandwidth: Option<u8>,
}

/// Resolves the parameters.
///
/// # Errors
/// Values out of range.
pub fn plan(
    spec: &InputBufferedOutputQueuedSpec,
    setting: &Setting,
) -> Result<SwitchPlan, SpecError> {
    let crossbar = match spec.memory_bandwidth {
        None => Crossbar::Ideal,
        Some(phits) if (1..=64).contains(&phits) => Crossbar::Speed(phits.into()),
        Some(phits) => {
            let message = format!("{phits} phits a cycle is out of range");
            return Err(
                SpecError::new(setting.at("memory_bandwidth"), message).choices(["1 to 64"])
            );
        }
    };
    let matching = setting.allocator(&Allocator::default())?;
    Ok(SwitchPlan {
        holds_input: true,
        ..SwitchPlan::new(setting.pipeline(&spec.pipeline)?, crossbar, matching)
    })
}

//! Combined input-output-queued switch (CIOQ).
//!
//! # What it does
//! Packets wait in the buffers of the inputs, one queue for each VC of a port, and in a buffer at
//! each output, which the VCs of the port share. A separable allocator matches the heads of the
//! queues with outputs whose buffer has room. The crossbar is `speedup` times faster than the
//! links, so that an output can be filled by several inputs while its link is busy.
//!
//! # Source
//! Thesis 2.1 and 3.2.1 (the switch of FOGSim); speed-up: Chuang, Goel, McKeown and Prabhakar, IEEE
//! J. Selected Areas in Communications 1999.
//!
//! # Parameters
//! `pipeline` in cycles or as a time (default 0), from the grant to the departure of the head on an
//! idle link; `speedup`: phits that the crossbar moves per cycle and port, 1 to 64 (default 2);
//! `output_buffer` of a port in phits or as an amount of data, at least the largest packet
//! (required); `allocator` (see the spec).
//!
//! # Deadlock freedom
//! That of the routing: a packet in an output buffer has its credits, and leaves.
//!
//! # Limits
//! The allocator works once a cycle, however fast the crossbar is. Phits in the pipeline count as
//! in the output buffer (`docs/decisions/0002-output-room-is-backlog.md`).
//!
//! # Example
//! ```toml
//! [network.switch.combined_queued]
//! pipeline = "90 ns"
//! output_buffer = "15.75 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Crossbar, Setting, SwitchPlan};
use crate::spec::{Allocator, Quantity, SpecError};

/// Parameters of a combined input-output-queued switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CombinedQueuedSpec {
    /// Cycles from a grant to the departure of the head on an idle link. Default 0.
    #[serde(default)]
    pub pipeline: Quantity,
    /// Phits that the crossbar moves per cycle and port, 1 to 64. Default 2.
    #[serde(default = "two")]
    pub speedup: u8,
    /// Output buffer of a port. It must hold the largest packet.
    pub output_buffer: Quantity,
    /// Allocator. See [`Allocator`].
    #[serde(default)]
    pub allocator: Allocator,
}

fn two() -> u8 {
    2
}

/// Resolves the parameters.
///
/// # Errors
/// Values out of range, and an output buffer that cannot hold the largest packet.
pub fn plan(spec: &CombinedQueuedSpec, setting: &Setting) -> Result<SwitchPlan, SpecError> {
    let pipeline = setting.pipeline(&spec.pipeline)?;
    if !(1..=64).contains(&spec.speedup) {
        let message = format!("{} phits a cycle is out of range", spec.speedup);
        return Err(SpecError::new(setting.at("speedup"), message).choices(["1 to 64"]));
    }
    let matching = setting.allocator(&spec.allocator)?;
    Ok(SwitchPlan {
        output_buffer: setting.output_buffer(&spec.output_buffer)?,
        ..SwitchPlan::new(pipeline, Crossbar::Speed(spec.speedup.into()), matching)
    })
}

//! Output-queued switch (OQ), the ideal.
//!
//! # What it does
//! Every head of a queue reaches its output at once, whatever the others do: an output takes
//! packets from any number of inputs in the same cycle, as fast as they arrive. They wait there for
//! the link. Inputs hold packets only while the output buffer has no room, or the next router has
//! no credits.
//!
//! # Source
//! Thesis 2.1; Karol, Hluchyj and Morgan, IEEE Trans. Communications 1987. The reference for what
//! any other switch could reach.
//!
//! # Parameters
//! `pipeline` in cycles or as a time (default 0), from the grant to the departure of the head on an
//! idle link; `output_buffer` of a port in phits or as an amount of data, at least the largest
//! packet (default: unlimited).
//!
//! # Deadlock freedom
//! That of the routing: a packet in an output buffer has its credits, and leaves.
//!
//! # Limits
//! No hardware: the crossbar would have to be as many times faster than the links as there are
//! ports.
//!
//! # Example
//! ```toml
//! [network.switch.output_queued]
//! output_buffer = "64 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Crossbar, Setting, SwitchPlan};
use crate::spec::{Allocator, Quantity, SpecError};

/// Parameters of an output-queued switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputQueuedSpec {
    /// Cycles from a grant to the departure of the head on an idle link. Default 0.
    pub pipeline: Quantity,
    /// Output buffer of a port; unlimited when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_buffer: Option<Quantity>,
}

/// Resolves the parameters.
///
/// # Errors
/// Values out of range, and an output buffer that cannot hold the largest packet.
pub fn plan(spec: &OutputQueuedSpec, setting: &Setting) -> Result<SwitchPlan, SpecError> {
    let limit = spec.output_buffer.as_ref().map(|buffer| setting.output_buffer(buffer));
    let matching = setting.allocator(&Allocator::default())?;
    Ok(SwitchPlan {
        output_buffer: limit.unwrap_or(Ok(u32::MAX))?,
        ..SwitchPlan::new(setting.pipeline(&spec.pipeline)?, Crossbar::Ideal, matching)
    })
}

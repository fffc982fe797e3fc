//! Input-queued switch (IQ).
//!
//! # What it does
//! Packets wait in the buffers of the inputs, one queue for each VC of a port. A separable
//! allocator matches the heads of the queues with the outputs. The crossbar is as fast as the
//! links, and there is nothing behind it but the link. With `routed = "arrival"` a packet is routed
//! when its first phit arrives, not when it is the head of its queue: it has chosen before those
//! ahead of it left.
//!
//! # Source
//! Thesis 2.1; Karol, Hluchyj and Morgan, IEEE Trans. Communications 1987. Routing on arrival: the
//! switches of Rocher-Gonzalez et al.
//!
//! # Parameters
//! `pipeline` in cycles or as a time (default 0), from the grant to the departure of the head on an
//! idle link; `allocator` (see the spec); `routed`: `head` (default) or `arrival`.
//!
//! # Deadlock freedom
//! That of the routing: VCs are queues of their own.
//!
//! # Limits
//! A head that waits holds up all packets behind it, whatever their output: with one VC, uniform
//! traffic and packets of one size a large switch passes 58.6% of what its links could carry. A
//! routing that decides again for packets that wait needs `routed = "head"`.
//!
//! # Example
//! ```toml
//! [network.switch.input_queued]
//! pipeline = "20 ns"
//! allocator = { iterations = 3, pointer = "on-grant" }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Crossbar, Setting, SwitchPlan};
use crate::spec::{Allocator, Quantity, Routed, SpecError, is_default};

/// Parameters of an input-queued switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputQueuedSpec {
    /// Cycles from a grant to the departure of the head on an idle link. Default 0.
    pub pipeline: Quantity,
    /// Allocator. See [`Allocator`].
    pub allocator: Allocator,
    /// When a packet is routed. Default `head`.
    #[serde(skip_serializing_if = "is_default")]
    pub routed: Routed,
}

/// Resolves the parameters.
///
/// # Errors
/// Values out of range, and routing on arrival where the routing decides again.
pub fn plan(spec: &InputQueuedSpec, setting: &Setting) -> Result<SwitchPlan, SpecError> {
    if spec.routed == Routed::Arrival && setting.reconsiders {
        let message = "this routing decides again for packets that wait";
        return Err(SpecError::new(setting.at("routed"), message).choices(["head"]));
    }
    Ok(SwitchPlan {
        pipeline: setting.pipeline(&spec.pipeline)?,
        crossbar: Crossbar::Speed(1),
        output_buffer: u32::MAX,
        matching: setting.allocator(&spec.allocator)?,
        routed: spec.routed,
        holds_input: false,
    })
}

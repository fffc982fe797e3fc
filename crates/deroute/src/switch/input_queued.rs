//! Input-queued switch (IQ).
//!
//! # What it does
//! Packets wait in the buffers of the inputs, one queue for each VC of a port. A separable
//! allocator matches the heads of the queues with the outputs. The crossbar is as fast as the
//! links, and there is nothing behind it but the link. With `routed = "arrival"` a packet is routed
//! when its first phit arrives, not when it is the head of its queue: it has chosen before those
//! ahead of it left. With `registers`, too, a head for which there is room at the other end of the link that it
//! takes waits for the crossbar in a register of its queue: its place in the buffer is free.
//!
//! # Source
//! Thesis 2.1; Karol, Hluchyj and Morgan, IEEE Trans. Communications 1987. Routing on arrival: the
//! switches of Rocher-Gonzalez et al., whose section 5.1 has registers of packets that are ready to
//! get the crossbar.
//!
//! # Parameters
//! `pipeline` in cycles or as a time (default 0), from the grant to the departure of the head on an
//! idle link; `allocator` (see the spec); `routed`: `head` (default) or `arrival`; `registers`
//! (default no), which needs packets that are routed on arrival.
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
    /// A head that has been routed, and has the credits that it needs, waits for the crossbar in a register, and its
    /// place in the buffer is free. Needs `routed = "arrival"`. Default false.
    #[serde(skip_serializing_if = "is_default")]
    pub registers: bool,
}

/// Resolves the parameters.
///
/// # Errors
/// Values out of range, routing on arrival where the routing decides again, and registers without it.
pub fn plan(spec: &InputQueuedSpec, setting: &Setting) -> Result<SwitchPlan, SpecError> {
    if spec.routed == Routed::Arrival && setting.reconsiders {
        let message = "this routing decides again for packets that wait";
        return Err(SpecError::new(setting.at("routed"), message).choices(["head"]));
    }
    if spec.registers && spec.routed != Routed::Arrival {
        let message = "registers are for packets that were routed when they arrived";
        let choices = ["false", "true with routed = \"arrival\""];
        return Err(SpecError::new(setting.at("registers"), message).choices(choices));
    }
    let matching = setting.allocator(&spec.allocator)?;
    Ok(SwitchPlan {
        routed: spec.routed,
        registers: spec.registers,
        ..SwitchPlan::new(setting.pipeline(&spec.pipeline)?, Crossbar::Speed(1), matching)
    })
}

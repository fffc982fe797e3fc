//! Switches: how packets get from their inputs to their outputs.
//!
//! A switch is described, not programmed: its file turns its parameters into a [`SwitchPlan`],
//! which the kernel follows. To add one: a file with its parameters and its plan, and a line in the
//! catalogue below. `CONTRIBUTING.md` walks through it.

mod crossbar;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crossbar::Crossbar;

use crate::catalogue::catalogue;
use crate::ids::Cycle;
use crate::rng::mix;
use crate::spec::{Allocator, Quantity, Routed, Scale, SpecError, holds};

/// A switch in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// Cycles from a grant to the departure of the head on an idle link.
    pub pipeline: Cycle,
    /// What moves packets to the outputs.
    pub crossbar: Crossbar,
    /// Phits of an output port; `u32::MAX` is unlimited.
    pub output_buffer: u32,
    /// Who decides which packets are moved.
    pub matching: Matching,
    /// When packets are routed; with virtual output queues on arrival.
    pub routed: Routed,
    /// A packet keeps its memory in the input buffer until it leaves the switch.
    pub holds_input: bool,
    /// A head that has been routed and has room at the other end waits for the crossbar in a register.
    pub registers: bool,
}

impl SwitchPlan {
    /// Output buffers without a limit, packets routed at the head of their VC, memory free again after the crossbar, no
    /// registers: a switch says what it does otherwise.
    pub fn new(pipeline: Cycle, crossbar: Crossbar, matching: Matching) -> Self {
        Self {
            pipeline,
            crossbar,
            output_buffer: u32::MAX,
            matching,
            routed: Routed::Head,
            holds_input: false,
            registers: false,
        }
    }

    /// May more wait for the link of a host, behind the crossbar, than is as good as delivered?
    pub(crate) fn holds_ends(&self) -> bool {
        self.crossbar != Crossbar::Speed(1) && self.output_buffer > 1 << 20
    }
}

/// Cycles from the grant of a packet to its departure, and from its arrival at the next switch to that of its credits, where
/// nothing waits: in switches with such a pipeline, where it may keep its memory in the input buffer until it leaves.
pub(crate) fn credits_wait(pipeline: Cycle, holds_input: bool) -> Cycle {
    pipeline * if holds_input { 2 } else { 1 }
}

/// The same of a switch that is not built yet, and 0 of one that cannot be.
pub(crate) fn credits_wait_of(spec: &Switch, scale: Scale, largest: u16) -> Cycle {
    build_for(spec, (scale, largest), false)
        .map_or(0, |plan| credits_wait(plan.pipeline, plan.holds_input))
}

/// Resolves a switch for packets of so many phits at the most, and a routing that decides again or not.
pub(crate) fn build_for(
    spec: &Switch,
    (scale, largest): (Scale, u16),
    reconsiders: bool,
) -> Result<SwitchPlan, SpecError> {
    build(spec, &Setting::new(spec, scale, largest, reconsiders))
}

/// How inputs and outputs are matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    /// Each input chooses among the heads of its VCs, then each output among the inputs.
    Separable(Allocator),
    /// Virtual output queues, matched by iSLIP.
    Islip {
        /// Rounds in a cycle.
        iterations: u8,
    },
}

/// What a switch is planned for.
pub struct Setting {
    /// The path of its table in the spec.
    path: String,
    /// The units of the spec.
    pub scale: Scale,
    /// Phits of the largest packet.
    pub largest: u16,
    /// The routing decides again for packets that wait.
    pub reconsiders: bool,
}

impl Setting {
    /// What the switch of a spec is planned for.
    pub fn new(spec: &Switch, scale: Scale, largest: u16, reconsiders: bool) -> Self {
        Self { path: format!("network.switch.{}", spec.name()), scale, largest, reconsiders }
    }

    /// The path of one of its keys.
    pub fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// The cycles of the key `pipeline`.
    ///
    /// # Errors
    /// No whole number of cycles, and more than 2^24.
    pub fn pipeline(&self, pipeline: &Quantity) -> Result<Cycle, SpecError> {
        self.scale.interval(&self.at("pipeline"), pipeline, 0)
    }

    /// The phits of an output buffer, which the key `output_buffer` gives.
    ///
    /// # Errors
    /// What cannot hold the largest packet, and no whole number of phits.
    pub fn output_buffer(&self, buffer: &Quantity) -> Result<u32, SpecError> {
        let path = self.at("output_buffer");
        let phits = self.scale.buffer(&path, buffer)?;
        holds(phits, self.largest, path)?;
        Ok(phits)
    }

    /// The allocator that the key `allocator` describes.
    ///
    /// # Errors
    /// Too many rounds, or none.
    pub fn allocator(&self, allocator: &Allocator) -> Result<Matching, SpecError> {
        self.iterations("allocator.iterations", allocator.iterations)?;
        Ok(Matching::Separable(allocator.clone()))
    }

    /// Checks the rounds of a matching, which `key` gives.
    ///
    /// # Errors
    /// Anything but 1 to 16.
    pub fn iterations(&self, key: &str, iterations: u8) -> Result<u8, SpecError> {
        if (1..=16).contains(&iterations) {
            return Ok(iterations);
        }
        let message = format!("{iterations} rounds a cycle is out of range");
        Err(SpecError::new(self.at(key), message).choices(["1 to 16"]))
    }
}

catalogue! {
    /// How a switch moves packets from its inputs to its outputs.
    enum Switch;
    /// Resolves the switch that the spec asks for.
    ///
    /// # Errors
    /// What it cannot do with this routing and these packets.
    fn build(&Setting) -> SwitchPlan;

    // One line per switch.
    /// Input-queued: no output buffer, a crossbar as fast as the links.
    InputQueued => input_queued::InputQueuedSpec,
    /// Virtual output queues: input-queued, but each VC of an input port has a queue for every
    /// output.
    VirtualOutputQueued => virtual_output_queued::VirtualOutputQueuedSpec,
    /// Combined input-output-queued: a crossbar faster than the links, and output buffers.
    CombinedQueued => combined_queued::CombinedQueuedSpec,
    /// Ideal output-queued: every head packet reaches its output at once, whatever the others do.
    OutputQueued => output_queued::OutputQueuedSpec,
    /// Input-buffered output-queued: as output-queued, but packets keep their memory in the input buffer.
    InputBufferedOutputQueued => input_buffered_output_queued::InputBufferedOutputQueuedSpec,
}

/// The rank of one that asks an arbiter which goes by lot, in one cycle of a run with a seed: the lowest goes first.
/// The arbiter is that of an input (`true`) or output port of a router, and asked by a VC or an input port.
pub fn lot(seed: u64, now: Cycle, (router, input): (u32, bool), (port, who): (u16, u16)) -> u32 {
    let asks = u64::from(port) << 16 | u64::from(who);
    let arbiter = u64::from(router) << 33 | u64::from(input) << 32;
    (mix(mix(seed ^ mix(now.into())) ^ arbiter ^ asks) >> 32) as u32
}

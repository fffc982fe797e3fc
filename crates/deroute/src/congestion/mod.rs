//! Congestion points: what a switch does with packets whose queue is long, so that their senders learn of it.
//!
//! A congestion point is planned here; the kernel carries it out at every output of every switch. To
//! add one: a file with its parameters and its plan, and a line in the catalogue below.

mod feedback;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use feedback::{Every, Feedback};
pub(crate) use int::{Met, Trail};
pub(crate) use qcn::{GrowthSince, SampledQueue, Victim, notice};

use crate::catalogue::catalogue;
use crate::spec::{Scale, SpecError};

/// A congestion point in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CongestionPlan {
    /// Packets are marked as they leave, with a probability that grows with the queue behind them.
    Mark(MarkPlan),
    /// Queues are sampled as packets enter, and sources are told.
    Sample(SamplePlan),
    /// Packets take with them what they meet as they leave.
    Record,
}

impl CongestionPlan {
    /// Are sources told of queues to hosts?
    pub(crate) fn tells_of_endpoints(&self) -> bool {
        matches!(self, Self::Sample(plan) if plan.ejection && plan.queue == SampledQueue::Output)
    }
}

/// Marks by the phits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkPlan {
    /// None is marked up to here.
    pub(crate) kmin: u32,
    /// All are beyond.
    pub(crate) kmax: u32,
    /// Probability at `kmax`, in parts of 2^32.
    pub(crate) pmax: u64,
}

/// Samples of queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SamplePlan {
    pub(crate) feedback: Feedback,
    pub(crate) victim: Victim,
    pub(crate) since: GrowthSince,
    /// Probability that a sample is told, in parts of 2^32.
    pub(crate) share: u64,
    /// Which queues are sampled.
    pub(crate) queue: SampledQueue,
    /// Outputs to hosts are sampled.
    pub(crate) ejection: bool,
}

/// Packets that tell sources of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoticePlan {
    /// Who sends them, as a path of the spec.
    pub(crate) point: &'static str,
    /// Their class of service.
    pub(crate) class: u8,
    /// Their phits.
    pub(crate) size: u16,
    /// They go up a fat tree by any port, and not by the minimal path.
    pub(crate) random_up: bool,
}

/// What a congestion point is planned for.
pub(crate) struct Setting {
    /// The units of the spec.
    pub(crate) scale: Scale,
    /// Packets wait at the outputs of the switch.
    pub(crate) output_queues: bool,
    /// Most phits of a class that may wait at an output.
    pub(crate) longest: u32,
    /// Most phits that an input buffer holds.
    pub(crate) longest_input: u64,
    /// Input buffers are counted, and hold packets until they cross the switch.
    pub(crate) counted_inputs: bool,
}

catalogue! {
    /// What a switch does with packets whose queue is long.
    enum CongestionPoint;
    /// Resolves the congestion point that the spec asks for.
    ///
    /// # Errors
    /// Values out of range, and a switch without queues at its outputs.
    fn build(&Setting) -> CongestionPlan;

    // One line per congestion point.
    /// Explicit congestion notification: packets are marked as they leave.
    Ecn => ecn::EcnSpec,
    /// Quantized congestion notification: queues are sampled, and sources are told.
    Qcn => qcn::QcnSpec,
    /// In-band telemetry: packets take with them what they meet at every output.
    Int => int::IntSpec,
}

/// The packets with which congestion points tell sources, in a network with so many classes of service; none if they
/// do not.
///
/// # Errors
/// A class that does not exist or is that of other traffic, and sizes that are none.
pub(crate) fn notices(
    spec: &Option<CongestionPoint>,
    setting: (&Scale, u8),
) -> Result<Option<NoticePlan>, SpecError> {
    match spec {
        Some(CongestionPoint::Qcn(spec)) => {
            notice(qcn::PATH, &spec.notifications, setting).map(Some)
        }
        Some(CongestionPoint::Ecn(_) | CongestionPoint::Int(_)) | None => Ok(None),
    }
}

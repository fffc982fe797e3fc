//! Egress: when what was granted leaves through its output.

mod choice;
mod credited;
mod fixed;
mod footprint;
mod host_queues;
mod injection;
mod looks;
mod marking;
mod notify;
mod output_queues;
mod paced;
mod pacing;
mod port;
mod queued;
mod repeating;
mod resending;
mod retry;
mod sampling;
pub(crate) mod schedule;
mod sending;
mod silence;
mod telemetry;

pub(crate) use fixed::Fixed;
pub(crate) use queued::Queued;
pub(crate) use silence::{SilenceBins, SilenceRecord};

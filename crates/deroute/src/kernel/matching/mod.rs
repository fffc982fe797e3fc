//! Matching inputs and outputs of the switches: who asks for an output, and who gets it.

mod islip;
mod on_arrival;
mod precedence;
mod separable;

pub(crate) use islip::{Islip, footprint as islip_footprint};
pub(crate) use separable::{Separable, footprint as separable_footprint};

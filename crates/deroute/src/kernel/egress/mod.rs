//! Egress: when what was granted leaves through its output.

mod fixed;

pub(crate) use fixed::Fixed;

use super::datapath::{Datapath, Grant};
use super::machine::Machine;
use crate::ids::Cycle;

/// The output side of a switch.
pub(crate) trait Egress: Sized + Send {
    /// Takes a packet that the crossbar begins to bring; returns the cycle of its departure.
    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Cycle;
}

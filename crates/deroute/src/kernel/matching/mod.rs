//! Matching inputs and outputs of the switches: who asks for an output, and who gets it.

mod islip;
mod on_arrival;
mod separable;

pub(crate) use islip::{Islip, footprint as islip_footprint};
pub(crate) use separable::Separable;

use super::core::Core;
use super::core::packet::Flight;
use super::core::ports::{OutputRequest, Queue};
use super::datapath::Datapath;
use super::machine::Machine;
use super::model::Model;

/// Looks at the inputs that may have a head that can go, and grants outputs.
pub(crate) trait Matching<M: Machine>: Sized + Send {
    /// Queues of a VC of an input: one for each output, or one.
    const VOQS: bool;

    /// For the ports of a partition, as they are built.
    fn new(model: &Model, core: &Core) -> Self;

    /// Heads arrive at input ports.
    fn arrive(&mut self, path: &mut Datapath<M>, flights: &[Flight]);

    /// All heads of this cycle have arrived.
    fn all_arrived(&mut self, path: &mut Datapath<M>);

    /// Input ports are to be looked at.
    fn wake(&mut self, core: &Core, ports: &[u32]);

    /// Credits that were awaited have arrived at an output.
    fn wake_credit_blocked(&mut self, core: &Core, output: u32);

    /// Grants what can be granted in this cycle.
    fn allocate(&mut self, path: &mut Datapath<M>);

    /// What a packet has requested that is in a queue, if packets request an output when they arrive.
    fn decided(&self, packet: u32) -> Option<OutputRequest>;

    /// Queue from which an input sent last, of those of the VC that it requested for.
    fn sending<'a>(&self, core: &'a Core, input: usize) -> &'a Queue;

    /// Recounts what it knows of a router. Says what is wrong.
    fn check(&self, core: &Core, router: u32) -> Result<(), String>;
}

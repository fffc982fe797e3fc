//! Hosts: where packets are generated, and where they end.

mod messages;
mod open;

pub(crate) use messages::{AnyHosts, Cargo, Interface, Interfaces};
pub(crate) use open::Open;

use super::core::Core;
use super::core::mail::Mail;
use super::core::packet::{BufferId, Packet};
use super::model::Model;
use crate::ids::{Cycle, HostId};

/// A packet that leaves its host for an input buffer of a router.
pub(crate) type Entering = (Packet, BufferId);

/// When a packet is granted its last port, and the cycle after the consumption of its last phit.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) now: Cycle,
    pub(crate) delivered: Cycle,
}

/// The hosts of a partition.
pub(crate) trait Hosts: Sized + Send {
    /// None yet; their events are at most `horizon` cycles ahead.
    fn new(model: &Model, horizon: Cycle) -> Self;

    /// Adds a host, by its index in `Core::hosts`. Returns the cycle in which it begins, if that is not the one of
    /// its first packet.
    fn add(&mut self, model: &Model, host: u32, id: HostId) -> Option<Cycle>;

    /// It is time for a host to generate a packet, or to go on.
    fn generate(&mut self, core: &mut Core, host: u32) -> Option<Entering>;

    /// What is due at hosts beside that; packets that they generate are added to `entering`.
    fn advance(&mut self, core: &mut Core, entering: &mut Vec<Entering>);

    /// A packet leaves its injection queue.
    fn injected(&mut self, packet: &mut Packet, now: Cycle);

    /// A packet is lost.
    fn lose(&mut self, packet: &Packet);

    /// There is room in the injection queues of a host.
    fn refill(&mut self, core: &mut Core, host: u32);

    /// A packet reaches a host, by its index. Returns the cycle in which it left its injection queue.
    fn deliver(&mut self, host: u32, packet: &Packet, times: Times) -> Cycle;

    /// A packet, by its word, goes to another partition.
    fn post(&mut self, core: &mut Core, partition: u32, host_word: u32);

    /// Packets have come from another partition.
    fn receive(&mut self, mail: &mut Mail);

    /// The interfaces that run ranks, if there are any.
    fn interfaces(&self) -> Option<&Interfaces>;
}

//! Hosts: where packets are generated, and where they end.

mod any;
mod behind;
mod come;
mod cutting;
mod entropies;
mod incoming;
mod interface;
mod later;
mod messages;
mod notified;
mod open;
mod order;
mod outgoing;
mod passing;
mod receivers;
mod scale_up;
mod streams;

pub(crate) use any::{AnyHosts, Loaded};
pub(crate) use behind::ahead;
pub(crate) use entropies::Entropies;
pub(crate) use interface::{Interface, Worker};
pub(crate) use messages::Interfaces;
pub(crate) use notified::Notified;
pub(crate) use open::Open;
pub(crate) use receivers::Receivers;
pub(crate) use scale_up::ScaleUp;
pub(crate) use streams::Streams;

use super::core::Core;
use super::core::cargo::{Cargo, Notice, Slab};
use super::core::mail::Mail;
use super::core::numbers::Numbers;
use super::core::packet::{BufferId, Packet};
use super::core::trails::Trails;
use super::extent::Extent;
use super::model::Model;
use crate::ids::{Cycle, HostId};
use crate::probe::collect::Delivery;
use crate::probe::entropies::EntropyRecord;
use crate::probe::order::OrderRecord;
use crate::probe::streams::StreamRecord;
use crate::state::State;

/// A packet that leaves its host for an input buffer of a router.
pub(crate) type Entering = (Packet, BufferId);

/// The hosts of a partition.
pub(crate) trait Hosts: State + Sized + Send {
    /// Packets may be notifications, which are no traffic.
    const NOTIFY: bool;
    /// They may run ranks.
    const RANKS: bool;

    /// None yet of those of an extent; their events are at most `horizon` cycles ahead.
    fn new(model: &Model, horizon: Cycle, extent: &Extent) -> Self;

    /// Fetches what hosts have, which other partitions have driven out of the cache: with what they have for each packet,
    /// or not.
    #[inline(always)]
    fn sweep(&self, _packets: bool) {}

    /// Adds a host, by its index in `Core::hosts`. Returns the cycle in which it begins, if that is not the one of
    /// its first packet.
    fn add(&mut self, _model: &Model, _host: u32, _id: HostId) -> Option<Cycle> {
        None
    }

    /// It is time for a host to generate a packet, or to go on.
    fn generate(&mut self, core: &mut Core, host: u32) -> Option<Entering>;

    /// What is due at hosts beside that; packets that they generate are added to `entering`.
    #[inline(always)]
    fn advance(&mut self, _core: &mut Core, _entering: &mut Vec<Entering>) {}

    /// A packet of a class enters an injection queue of a host, by its index.
    #[inline(always)]
    fn entered(&mut self, _at: (u32, u8), _now: Cycle, _packet: &mut Packet) {}

    /// A host will hear of packets that it sent in a cycle to come.
    #[inline(always)]
    fn hear(&mut self, _at: (u32, Cycle), _notice: &Notice) {}

    /// A packet leaves its injection queue.
    fn injected(&mut self, packet: &mut Packet, now: Cycle);

    /// A packet crosses a switch: its word, and the cycles after which it would be at the next one, or whole at its
    /// host, if it never waited.
    #[inline(always)]
    fn cross(&mut self, _crossing: impl FnOnce() -> (u32, Cycle)) {}

    /// A packet is lost. Says whether it was one of the traffic, and not a notification.
    fn lose(&mut self, packet: &Packet) -> bool;

    /// There is room in the injection queues of a host.
    #[inline(always)]
    fn refill(&mut self, _core: &mut Core, _host: u32) {}

    /// A packet, by its word, reaches a host, by its index, in a cycle. `record` takes what the host has from then on:
    /// this one, or none, or others with it that have waited for it. The word stands for the first grant in `packet`. Says
    /// whether the host did not have it before.
    fn deliver(
        &mut self,
        at: (u32, Cycle),
        host_word: u32,
        packet: Delivery,
        record: impl FnMut(&Delivery),
    ) -> bool;

    /// A packet, by its word, goes to another partition.
    fn post(&mut self, core: &mut Core, partition: u32, host_word: u32);

    /// Packets have come from another partition, and messages beside the network.
    fn receive(&mut self, mail: &mut Mail, now: Cycle);

    /// The first cycle of `from..to` in which something is due that no packet brings, or `to`.
    fn due(&self, from: Cycle, _to: Cycle) -> Cycle {
        from
    }

    /// The interfaces that run ranks, if there are any.
    fn interfaces(&self) -> Option<&Interfaces> {
        None
    }

    /// Packets whose cargo is kept, if packets have any.
    fn cargo(&self) -> Option<u32> {
        None
    }

    /// What packets carry, if they carry anything, and in the long form.
    fn cargo_mut(&mut self) -> Option<&mut Slab<Cargo>> {
        None
    }

    /// The host that sent a packet, by its word, if packets say that.
    fn source(&self, _host_word: u32) -> Option<HostId> {
        None
    }

    /// What a packet, by its word, tells its host, if it is a notification.
    fn notice(&self, _host_word: u32) -> Option<Notice> {
        None
    }

    /// The word of a notification for a host, if there is room for what it tells.
    fn tell(&mut self, _source: HostId, _notice: Notice) -> Option<u32> {
        None
    }

    /// A notification, by its word, has been heard.
    fn told(&mut self, _host_word: u32) {}

    /// What packets have met, where switches write it.
    fn trails_mut(&mut self) -> Option<&mut Trails> {
        None
    }

    /// The numbers of packets in their flows, where what does not come is sent again.
    fn numbers_mut(&mut self) -> Option<&mut Numbers> {
        None
    }

    /// A packet of a host, by its index, has not been acknowledged in time: it is known now.
    fn late(&mut self, _at: (u32, Cycle), _packet: &Packet) {}

    /// The header of a packet, by its word, reaches a host, by its index, in a cycle to come.
    fn reject(&mut self, _at: (u32, Cycle), _host_word: u32) {}

    /// What was recorded of each stream; nothing without streams.
    fn streams(&self) -> &[StreamRecord] {
        &[]
    }

    /// The same, to say when it is to be recorded.
    fn streams_mut(&mut self) -> &mut [StreamRecord] {
        &mut []
    }

    /// In which order packets have arrived until a cycle, where hosts put them in order.
    fn order(&self, _until: Cycle) -> Option<OrderRecord> {
        None
    }

    /// Which entropies hosts gave, if they give any.
    fn entropies(&self) -> Option<EntropyRecord> {
        None
    }

    /// These cycles are measured.
    fn open(&mut self, _from: Cycle, _to: Cycle) {}
}

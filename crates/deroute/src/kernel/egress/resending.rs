//! What a flow of a host keeps until it is acknowledged, and sends again.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ids::Cycle;
use crate::kernel::core::cargo::{Cargo, PartOf};
use crate::kernel::core::packet::Packet;
use crate::reaction::retransmission::RoundTrips;

/// The packets of a flow by their numbers.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Resending {
    /// Number of the next packet, and that of the first which has never left.
    next: u32,
    fresh: u32,
    kept: BTreeMap<u32, Kept>,
    /// Packets under way, and when they left: the earliest first.
    under_way: BTreeSet<(Cycle, u32)>,
    /// Packets that are to be sent again: numbers, and places in the pool.
    again: VecDeque<(u32, u32)>,
    pub(super) trips: RoundTrips,
    /// Cycle of the next look at what is late, if there is one.
    pub(super) look: Option<Cycle>,
}

/// A packet that is not acknowledged.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) packet: Packet,
    pub(super) cargo: Cargo,
    /// Its class, and the number of its injection queue.
    pub(super) queue: (u8, u8),
    /// When it left; none while it waits to be sent again.
    left: Option<Cycle>,
}

/// How a packet leaves its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// For the first time, or again.
    First,
    Again,
    /// Again, though it was acknowledged meanwhile.
    InVain,
}

/// What an acknowledgement is to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// The first; it was under way.
    UnderWay,
    /// The first; it waited to be sent again, in a place of the pool unless it is about to leave.
    Waiting(Option<u32>),
    /// Not the first.
    Before,
}

impl Resending {
    /// Bytes of a packet that is under way, in trees whose nodes may be half full and in a queue that grows.
    pub(super) const BYTES: u64 =
        2 * (size_of::<(u32, Kept)>() + size_of::<(Cycle, u32)>() + size_of::<(u32, u32)>()) as u64;

    /// The number of a packet that comes to its flow.
    pub(super) fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// A packet with a number, and what it carries, leaves the host.
    pub(super) fn leaves(
        &mut self,
        number: u32,
        (packet, cargo, queue): (&Packet, &Cargo, (u8, u8)),
        now: Cycle,
    ) -> Leaves {
        let leaves = if number == self.fresh {
            self.fresh = number.wrapping_add(1);
            let mut cargo = *cargo;
            // Its sender is told once.
            if let PartOf::Message(fragment) = &mut cargo.part_of {
                fragment.told = false;
            }
            self.kept.insert(number, Kept { packet: *packet, cargo, queue, left: None });
            Leaves::First
        } else {
            Leaves::Again
        };
        let Some(kept) = self.kept.get_mut(&number) else { return Leaves::InVain };
        kept.left = Some(now);
        self.under_way.insert((now, number));
        leaves
    }

    /// A packet with a number is acknowledged.
    pub(super) fn acknowledge(&mut self, number: u32) -> Came {
        match self.kept.remove(&number) {
            None => Came::Before,
            Some(Kept { left: Some(left), .. }) => {
                self.under_way.remove(&(left, number));
                Came::UnderWay
            }
            Some(_) => {
                let place = self.again.iter().position(|(other, _)| *other == number);
                let waits = place.and_then(|place| self.again.remove(place));
                Came::Waiting(waits.map(|(_, place)| place))
            }
        }
    }

    /// A packet that left in a cycle is lost: what is to be sent again, if it is still under way.
    pub(super) fn lose(&mut self, number: u32, left: Cycle) -> Option<Kept> {
        let kept = self.kept.get_mut(&number).filter(|kept| kept.left == Some(left))?;
        kept.left = None;
        self.under_way.remove(&(left, number));
        Some(*kept)
    }

    /// The packet that has been under way longest: when it left, and its number.
    pub(super) fn oldest(&self) -> Option<(Cycle, u32)> {
        self.under_way.first().copied()
    }

    /// A packet is to be sent again that has a place in the pool.
    pub(super) fn repeat(&mut self, number: u32, place: u32) {
        self.again.push_back((number, place));
    }

    /// The place of the packet that is to be sent again next.
    pub(super) fn first(&self) -> Option<u32> {
        self.again.front().map(|(_, place)| *place)
    }

    pub(super) fn take(&mut self) -> Option<u32> {
        self.again.pop_front().map(|(_, place)| place)
    }

    /// The places of all that are to be sent again.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> {
        self.again.iter().map(|(_, place)| *place)
    }
}

//! What packets carry for hosts, beside what routers look at: where a run has messages or streams, the word that
//! every packet has for its hosts refers to the cargo of its partition, which moves to the next one with it.

use crate::ids::{Cycle, HostId, PortId, RouterId};
use crate::reaction::Receipt;
use crate::workload::matching::Pattern;
use crate::workload::process::Kind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A form of cargo.
pub(crate) trait Load: Copy + Send + Serialize + DeserializeOwned {
    /// It says what hosts tell each other, and what they need for that.
    const TOLD: bool;

    /// That of a packet which has not left, and whose way to its router takes so many cycles.
    fn new(source: HostId, part_of: PartOf, unloaded: Cycle) -> Self;

    /// The packet leaves its host. Says whether somebody is to be told.
    fn leave(&mut self, now: Cycle) -> bool;

    /// The packet would have taken so many cycles more, had it never waited.
    fn cross(&mut self, cycles: Cycle);

    /// Cycle in which it left its host, cycles that it would have taken had it never waited, and what it is a part of.
    fn unload(&self) -> (Cycle, Cycle, PartOf);

    /// Its long form, if it has that.
    fn long(&self) -> Option<&Cargo>;

    /// The pool of the long form, if that is what it is.
    fn long_pool(pool: &mut Slab<Self>) -> Option<&mut Slab<Cargo>>;
}

/// What a packet carries, in the long form.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Cargo {
    /// Host that sent it; of a notification the one that it is for.
    pub(crate) source: HostId,
    /// Cycle of the first grant.
    pub(crate) injected: Cycle,
    /// Cycles that it would have taken so far, had it never waited; counted in runs with streams.
    pub(crate) unloaded: Cycle,
    pub(crate) part_of: PartOf,
    /// Its class, and the entropy that it was given.
    pub(crate) class: u8,
    pub(crate) entropy: u16,
}

/// What a packet is a part of.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum PartOf {
    /// The synthetic traffic.
    Traffic,
    /// Synthetic traffic whose packets have numbers.
    Course(Numbered),
    /// A message of a rank.
    Message(Fragment),
    /// None: it tells its host of congestion.
    Notice(Notice),
    /// It is the header of one.
    Trimmed,
}

/// What a host is told of packets that it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// Router and port of its destination.
    pub(crate) to: (RouterId, PortId),
    /// Its class.
    pub(crate) class: u8,
    pub(crate) told: Told,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Told {
    /// How much too long a queue was, 1 to 63; whether before the link to a host; whether the packet was on a detour.
    Feedback { feedback: u8, endpoint: bool, diverted: bool },
    /// A packet was marked, on a detour or not.
    Marked { diverted: bool },
    /// A packet has come.
    Received { entropy: u16, receipt: Receipt },
    /// Of a packet with a number that left in a cycle only the header has come.
    Missing { number: u32, left: Cycle },
}

/// Which of the packets of a host it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Numbered {
    /// Its stream; [`NONE`](super::packet::NONE) if it is of the other traffic.
    pub(crate) stream: u32,
    /// Host that sent it.
    pub(crate) source: u32,
    /// Packets of the stream that the host had sent before; where receivers put them in order, to the same host.
    pub(crate) sequence: u32,
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fragment {
    /// What its message is to the protocol.
    pub(crate) kind: Kind,
    /// Which of the ranks of its host it is for.
    pub(crate) worker: u32,
    /// Communicator, sender and tag of its message.
    pub(crate) key: Pattern,
    /// Number of the message among those of its sender to this rank.
    pub(crate) sequence: u32,
    /// Phits of the message before it.
    pub(crate) offset: u32,
    /// The message ends with it.
    pub(crate) last: bool,
    /// Its sender is to be told when it leaves.
    pub(crate) told: bool,
}

impl Load for Cargo {
    const TOLD: bool = true;

    fn new(source: HostId, part_of: PartOf, unloaded: Cycle) -> Self {
        Self { source, injected: 0, unloaded, part_of, class: 0, entropy: 0 }
    }

    #[inline(always)]
    fn leave(&mut self, now: Cycle) -> bool {
        self.injected = now;
        matches!(self.part_of, PartOf::Message(Fragment { told: true, .. }))
    }

    #[inline(always)]
    fn cross(&mut self, cycles: Cycle) {
        self.unloaded += cycles;
    }

    #[inline(always)]
    fn unload(&self) -> (Cycle, Cycle, PartOf) {
        (self.injected, self.unloaded, self.part_of)
    }

    #[inline(always)]
    fn long(&self) -> Option<&Cargo> {
        Some(self)
    }

    fn long_pool(pool: &mut Slab<Self>) -> Option<&mut Slab<Cargo>> {
        Some(pool)
    }
}

/// A pool of things with small handles, reused last in, first out.
#[derive(Serialize, Deserialize)]
pub(crate) struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            return slot;
        }
        self.slots.push(value);
        self.slots.len() as u32 - 1
    }

    pub(crate) fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.slots[slot as usize]
    }

    pub(crate) fn get(&self, slot: u32) -> &T {
        &self.slots[slot as usize]
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize]
    }

    /// Something of each cache line, things by `word`.
    pub(crate) fn lines(&self, word: impl Fn(&T) -> u32) -> impl Iterator<Item = u32> {
        self.slots.iter().step_by((64 / size_of::<T>()).max(1)).map(word)
    }

    /// Things in the pool.
    pub(crate) fn live(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }
}

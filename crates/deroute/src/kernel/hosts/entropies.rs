//! The entropies that hosts give packets.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::entropy::EntropyPlan;
use crate::ids::{Cycle, HostId, PortId, RouterId};
use crate::kernel::core::cargo::{Cargo, Notice, Told};
use crate::kernel::core::packet::Packet;
use crate::kernel::extent::Extent;
use crate::kernel::model::Model;
use crate::probe::entropies::EntropyRecord;
use crate::rng::{Owner, Stream, mix};
use crate::routing::Memo;
use crate::state::{State, state};

/// Most entropies that are kept for a destination.
const MOST: usize = 16;

/// A host, by its index, and router and port of a destination.
type FlowId = (u32, u32, u16);

/// An entropy that has come back: when, and of which flow.
type Returned = (Cycle, FlowId, u16);

/// The hosts of a partition.
pub(crate) struct Entropies {
    plan: EntropyPlan,
    seed: u64,
    streams: Vec<Stream>,
    kept: BTreeMap<FlowId, Ring>,
    returning: BinaryHeap<Reverse<Returned>>,
    record: EntropyRecord,
}

/// Packets after a freeze that get entropies at random.
const EXPLORED: u8 = 16;

/// Entropies that are kept, the oldest first.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Ring {
    values: [u16; MOST],
    first: u8,
    count: u8,
    /// Those that came back last, used or not: how many, and which of them is next in a freeze.
    held: u8,
    turn: u8,
    /// Packets that are to get entropies at random.
    explored: u8,
    /// When a freeze ends, while there is one.
    frozen: Option<Cycle>,
}

impl Ring {
    /// Keeps one more, of so many in place of the oldest.
    fn keep(&mut self, value: u16, most: u8) {
        if self.count == most {
            self.take();
        }
        self.values[usize::from(self.first + self.count) % MOST] = value;
        self.count += 1;
        self.held = most.min(self.held + 1);
    }

    /// For a packet: the oldest, or one of the last in a freeze; none, if it is to be at random.
    fn draw(&mut self, now: Cycle) -> Option<u16> {
        if self.frozen.is_some_and(|until| now >= until) {
            *self = Self { explored: EXPLORED, ..Self::default() };
        }
        if self.explored > 0 {
            self.explored -= 1;
            return None;
        }
        if self.frozen.is_none() {
            return self.take();
        }
        let turn = self.turn.checked_rem(self.held)?;
        self.turn = turn + 1;
        let last = usize::from(self.first + self.count) + MOST;
        Some(self.values[(last - usize::from(self.held) + usize::from(turn)) % MOST])
    }

    /// A packet was late. Says whether a freeze begins with it, which ends in a cycle.
    fn freeze(&mut self, until: Cycle) -> bool {
        let begins = self.frozen.is_none() && self.explored == 0;
        if begins {
            self.frozen = Some(until);
        }
        begins
    }

    fn take(&mut self) -> Option<u16> {
        self.count = self.count.checked_sub(1)?;
        let value = self.values[usize::from(self.first)];
        self.first = (self.first + 1) % MOST as u8;
        Some(value)
    }
}

impl State for Entropies {
    state! { keep streams, kept, returning, record; leave plan, seed; }
}

impl Entropies {
    /// Room for those of a partition; none if hosts give none.
    pub(super) fn new(model: &Model, extent: &Extent) -> Option<Self> {
        Some(Self {
            plan: model.entropy?,
            seed: model.times.seed,
            streams: Vec::with_capacity(extent.hosts as usize),
            kept: BTreeMap::new(),
            returning: BinaryHeap::new(),
            record: EntropyRecord::default(),
        })
    }

    /// Bytes before the first packet, for what a part of the network consists of.
    pub(crate) fn bytes(model: &Model, extent: &Extent) -> u64 {
        match model.entropy {
            Some(_) => extent.hosts * size_of::<Stream>() as u64,
            None => 0,
        }
    }

    /// Bytes besides, at the most, where hosts send so many flows and so many packets are under way.
    pub(crate) fn most_bytes(model: &Model, flows: u64, packets: u64) -> u64 {
        if model.entropy.is_none_or(|plan| plan.recycled == 0) {
            return 0;
        }
        // An entry of a tree whose nodes may be half full; a heap that grows.
        let ring = 2 * size_of::<(FlowId, Ring)>() as u64 + 16;
        let returning = 2 * size_of::<Reverse<Returned>>() as u64;
        flows.saturating_mul(ring).saturating_add(packets.saturating_mul(returning))
    }

    /// Adds a host.
    pub(super) fn add(&mut self, id: HostId) {
        self.streams.push(Stream::new(self.seed, Owner::Entropies(id.0)));
    }

    /// Gives a packet that enters an injection queue of a host its entropy.
    pub(super) fn give(
        &mut self,
        (host, now): (u32, Cycle),
        cargo: &mut Cargo,
        packet: &mut Packet,
    ) {
        let (router, port) = (packet.header.destination, packet.port);
        self.record.packets += 1;
        let kept = match self.plan.recycled {
            0 => None,
            _ => self.kept.get_mut(&(host, router.0, port.0)).and_then(|ring| ring.draw(now)),
        };
        self.record.recycled += u64::from(kept.is_some());
        let entropy = kept.unwrap_or_else(|| match self.plan.values {
            1 => 0,
            values => self.streams[host as usize].below(values) as u16,
        });
        cargo.entropy = entropy;
        let to = u64::from(router.0) << 16 | u64::from(port.0);
        let flow = mix(u64::from(cargo.source.0) ^ mix(to));
        packet.header.remember(Memo::FlowHash(mix(flow ^ u64::from(entropy)) as u32));
    }

    /// A packet of a host was not acknowledged in time.
    pub(super) fn late(&mut self, (host, now): (u32, Cycle), packet: &Packet) {
        let Some(freeze) = self.plan.freeze else { return };
        let flow = (host, packet.header.destination.0, packet.port.0);
        let begins = self.kept.entry(flow).or_default().freeze(now.saturating_add(freeze));
        self.record.freezes += u64::from(begins);
    }

    /// A host will hear of a packet in a cycle to come.
    pub(super) fn hear(&mut self, (host, at): (u32, Cycle), notice: &Notice) {
        let Told::Received { entropy, receipt } = notice.told else { return };
        if self.plan.recycled == 0 {
            return;
        }
        self.record.heard += 1;
        self.record.marked += u64::from(receipt.marked);
        if !receipt.marked {
            let (RouterId(router), PortId(port)) = notice.to;
            self.returning.push(Reverse((at, (host, router, port), entropy)));
        }
    }

    /// Cycle in which an entropy comes back next.
    pub(super) fn next(&self) -> Option<Cycle> {
        self.returning.peek().map(|Reverse((at, ..))| *at)
    }

    /// Keeps what has come back.
    #[inline]
    pub(super) fn advance(&mut self, now: Cycle) {
        while let Some(Reverse((at, flow, entropy))) = self.returning.peek().copied()
            && at <= now
        {
            self.returning.pop();
            self.kept.entry(flow).or_default().keep(entropy, self.plan.recycled);
        }
    }

    /// What they did.
    pub(super) fn record(&self) -> EntropyRecord {
        self.record
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn the_latest_are_kept_and_the_oldest_is_taken() {
        let mut ring = Ring::default();
        assert_eq!(ring.take(), None);
        for value in 0..40 {
            ring.keep(value, 3);
        }
        assert_eq!([ring.take(), ring.take()], [Some(37), Some(38)]);
        ring.keep(7, 3);
        assert_eq!([ring.take(), ring.take(), ring.take()], [Some(39), Some(7), None]);
    }

    /// In a freeze the last that came back go round, used or not, and after it some are at random.
    #[test]
    fn a_freeze_uses_the_last_again() {
        let mut ring = Ring::default();
        (0..20).for_each(|value| ring.keep(value, 4));
        assert_eq!(ring.draw(0), Some(16));
        assert!(ring.freeze(100) && !ring.freeze(200), "one at a time");
        let turn: Vec<_> = (0..6).filter_map(|_| ring.draw(50)).collect();
        assert_eq!(turn, [16, 17, 18, 19, 16, 17]);
        ring.keep(20, 4);
        let turn: Vec<_> = (0..4).filter_map(|_| ring.draw(99)).collect();
        assert_eq!(turn, [19, 20, 17, 18], "the third in turn, and what came meanwhile");
        assert_eq!(ring.draw(100), None);
        assert!(!ring.freeze(300), "what it explores may be broken");
        ring.keep(21, 4);
        assert!((1..16).all(|_| ring.draw(101).is_none()));
        assert_eq!([ring.draw(101), ring.draw(101)], [Some(21), None]);
        let mut new = Ring::default();
        assert!(new.freeze(10) && new.draw(5).is_none(), "nothing has come back");
    }
}

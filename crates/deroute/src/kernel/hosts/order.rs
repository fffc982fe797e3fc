//! Receiving hosts: in which order packets arrive, and, where they put them in order, what waits for that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{Cycle, RouterId};
use crate::kernel::core::cargo::Numbered;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::probe::order::{Arrival, OrderRecord};
use crate::table::{self, Table};

/// Stream, source, and destination by its index.
type Way = (u32, u32, u32);

/// That no packet overtakes another one is checked where it is known.
const CHECKED: bool = cfg!(debug_assertions);

/// A packet that has arrived.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Arrived {
    pub(super) sample: Delivery,
    /// Cycles that it would have taken, had it never waited.
    pub(super) unloaded: Cycle,
    /// After a later one.
    pub(super) late: bool,
}

impl Arrived {
    /// That would have taken so many cycles, had it never waited.
    pub(super) fn new(sample: Delivery, unloaded: Cycle) -> Self {
        Self { sample, unloaded, late: false }
    }
}

/// Packets of a way that are put in order.
#[derive(Default, Serialize, Deserialize)]
struct Course {
    /// Number after that of the latest packet that has arrived.
    latest: u32,
    /// Number of the packet that is next in order.
    next: u32,
    /// Packets that wait for it, by their number; none for one that was dropped.
    held: BTreeMap<u32, Option<Arrived>>,
}

/// What a host holds.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Buffer {
    phits: u32,
    /// They are so many since then.
    since: Cycle,
}

/// The packets that arrive in a partition.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    /// No packet overtakes another one of its way: there is nothing to find.
    kept: bool,
    /// Number after that of the latest packet that has arrived, where nobody puts them in order.
    latest: Table<Way, u32>,
    courses: BTreeMap<Way, Course>,
    /// Phits that a host can hold, if hosts put packets in order.
    limit: Option<u32>,
    buffers: Vec<Buffer>,
    record: OrderRecord,
}

impl Order {
    /// For so many hosts, which hold so many phits each if they put packets in order.
    pub(super) fn new(model: &Model, hosts: usize) -> Self {
        let (limit, kept) = (model.resequencing, keeps_order(model));
        let buffers = vec![Buffer::default(); if limit.is_some() { hosts } else { 0 }];
        let (latest, courses) = (Table::default(), BTreeMap::new());
        Self { kept, latest, courses, limit, buffers, record: OrderRecord::default() }
    }

    /// Bytes before the first packet, for so many hosts.
    pub(super) fn bytes(limit: Option<u32>, hosts: u64) -> u64 {
        if limit.is_some() { hosts * size_of::<Buffer>() as u64 } else { 0 }
    }

    /// Bytes of so many ways, at the most, without what is held.
    pub(super) fn most_bytes(model: &Model, ways: u64) -> u64 {
        match model.resequencing {
            None if keeps_order(model) && !CHECKED => 0,
            // The nodes of a tree may be half full.
            Some(_) => 2 * ways * (size_of::<(Way, Course)>() as u64 + 4),
            None => table::most_bytes::<Way, u32>(ways),
        }
    }

    /// These cycles are measured; what was recorded is forgotten unless they only end later.
    pub(super) fn open(&mut self, from: Cycle, to: Cycle) {
        if from != self.record.from {
            self.record = OrderRecord::default();
        }
        (self.record.from, self.record.to) = (from, to);
    }

    /// What was recorded until a cycle.
    pub(super) fn record(&self, until: Cycle) -> OrderRecord {
        let mut record = self.record;
        for buffer in self.buffers.iter().filter(|buffer| buffer.since < until) {
            record.hold(buffer.phits, (buffer.since, until), buffer.phits);
        }
        record
    }

    /// A packet arrives at a host, by its index; `release` takes those that the host has from now on. Packets come
    /// in the order in which they are consumed. Says whether it was dropped.
    pub(super) fn arrive(
        &mut self,
        host: u32,
        number: Numbered,
        mut packet: Arrived,
        mut release: impl FnMut(&Arrived),
    ) -> bool {
        let Numbered { stream, source, sequence } = number;
        let (way, now) = ((stream, source, host), packet.sample.delivered);
        let Some(limit) = self.limit else {
            if !self.kept || CHECKED {
                let latest = self.latest.entry(way).or_default();
                packet.late = sequence < *latest;
                *latest = (*latest).max(sequence + 1);
                debug_assert!(!self.kept || !packet.late, "it was overtaken");
            }
            release(&packet);
            return false;
        };
        let course = self.courses.entry(way).or_default();
        packet.late = sequence < course.latest;
        course.latest = course.latest.max(sequence + 1);
        let buffer = &mut self.buffers[host as usize];
        let size = u32::from(packet.sample.size);
        if sequence > course.next {
            let dropped = buffer.phits.saturating_add(size) > limit;
            course.held.insert(sequence, (!dropped).then_some(packet));
            self.record.count(now, Arrival { late: packet.late, held: !dropped, dropped });
            if !dropped {
                buffer.change(now, buffer.phits + size, &mut self.record);
            }
            return dropped;
        }
        self.record.count(now, Arrival { late: packet.late, ..Arrival::default() });
        release(&packet);
        course.next += 1;
        let mut left = buffer.phits;
        while let Some(held) = course.held.remove(&course.next) {
            course.next += 1;
            let Some(mut held) = held else { continue };
            left -= u32::from(held.sample.size);
            self.record.waited(now, now - held.sample.delivered);
            held.sample.delivered = now;
            release(&held);
        }
        buffer.change(now, left, &mut self.record);
        false
    }
}

/// Packets from one host to another that wait in the same injection queue take one path, on which every queue is first
/// in, first out.
fn keeps_order(model: &Model) -> bool {
    let follows = (model.routing.agent)(RouterId(0), 1).follows();
    let one_path = follows.is_some_and(|follows| follows.at_source);
    one_path && model.shared_by.is_empty() && model.egress.reaction_point.is_none()
}

impl Buffer {
    /// It holds so many phits from now on.
    fn change(&mut self, now: Cycle, phits: u32, record: &mut OrderRecord) {
        record.hold(self.phits, (self.since, now), phits);
        (self.phits, self.since) = (phits, now);
    }
}

//! Hosts in runs with streams: each of their processes, that of the other traffic and one for each stream, is a
//! generator of its own.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::Entering;
use super::order::{Arrived, Order};
use crate::ids::{Cycle, HostId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Load, Numbered, PartOf, Slab};
use crate::kernel::core::fetch::touch;
use crate::kernel::core::packet::{BufferId, NONE, Packet};
use crate::kernel::core::wheel::Wheel;
use crate::kernel::extent::Extent;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::probe::order::OrderRecord;
use crate::probe::streams::StreamRecord;
use crate::routing::Header;
use crate::traffic::{Source, Workload};

/// Who generates a kind of packets at a host.
#[derive(Serialize, Deserialize)]
struct Generator {
    /// Index in `Core::hosts`.
    host: u32,
    id: HostId,
    /// Its stream; the other traffic if none.
    stream: Option<u32>,
    source: Source,
    /// Cycle of its next packet: in the past while packets of others take their turns.
    next: Cycle,
    /// Packets that have entered the injection queue.
    sequence: u32,
}

/// The generators of a partition, and what has arrived.
#[derive(Serialize, Deserialize)]
pub(crate) struct Streams {
    generators: Vec<Generator>,
    wheel: Wheel<u32>,
    /// Generators whose packet is due.
    due: Vec<u32>,
    /// For each host the cycle after the last one in which a packet entered.
    free_at: Vec<Cycle>,
    /// Packets that have entered, by generator and destination, where receivers put them in order.
    sent: Option<BTreeMap<(u32, u32), u32>>,
    order: Order,
    pub(crate) records: Vec<StreamRecord>,
}

impl Streams {
    /// Room for the generators of a partition; none in a run whose packets need no numbers.
    pub(super) fn new(model: &Model, horizon: Cycle, extent: &Extent) -> Option<Self> {
        if !model.numbers_packets() {
            return None;
        }
        let hosts = extent.hosts as usize;
        let streams = model.traffic.streams();
        Some(Self {
            generators: Vec::with_capacity(extent.generators as usize),
            wheel: Wheel::new(horizon),
            due: Vec::new(),
            free_at: Vec::with_capacity(hosts),
            sent: model.resequencing.map(|_| BTreeMap::new()),
            order: Order::new(model, hosts),
            records: streams.iter().map(|_| StreamRecord::new()).collect(),
        })
    }

    /// Bytes before the first packet, for what a part of the network consists of.
    pub(crate) fn bytes(model: &Model, extent: &Extent) -> u64 {
        let records =
            model.traffic.streams().len() as u64 * StreamRecord::bytes(model.times.measure);
        extent.generators * size_of::<Generator>() as u64
            + Wheel::<u32>::bytes(model.horizon())
            + extent.hosts * size_of::<Cycle>() as u64
            + Order::bytes(model.resequencing, extent.hosts)
            + records
    }

    /// Bytes besides, at the most: the ways that packets take, and what is due.
    pub(crate) fn most_bytes(model: &Model, extent: &Extent, parts: u64) -> u64 {
        let hosts = model.topology.hosts();
        let ways = |traffic: &Workload, senders: u64| {
            senders * u64::from(traffic.fan_out().unwrap_or(hosts).min(hosts))
        };
        let streams = model.traffic.streams().iter();
        let mut all: u64 =
            streams.map(|stream| ways(stream.workload(), stream.hosts().len() as u64)).sum();
        let mut sent = 0;
        if model.resequencing.is_some() {
            all += ways(&model.traffic, hosts.into());
            // The nodes of a tree may be half full.
            sent = 2 * all * (size_of::<((u32, u32), u32)>() as u64 + 4);
        }
        let due = 2 * size_of::<u32>() as u64 * extent.generators;
        Order::most_bytes(model, all)
            + sent
            + due
            + Wheel::<u32>::most_bytes(parts, model.horizon(), extent.generators)
    }

    /// Adds the generators of a host.
    pub(super) fn add(&mut self, model: &Model, host: u32, id: HostId) {
        self.free_at.resize(host as usize + 1, 0);
        let seed = model.times.seed;
        self.begin(host, id, None, model.traffic.source(id, seed));
        for (index, stream) in (0..).zip(model.traffic.streams()) {
            if stream.hosts().binary_search(&id).is_ok() {
                self.begin(host, id, Some(index), stream.source(id, seed));
            }
        }
    }

    fn begin(&mut self, host: u32, id: HostId, stream: Option<u32>, begun: (Source, Cycle)) {
        let (source, next) = begun;
        let index = self.generators.len() as u32;
        self.generators.push(Generator { host, id, stream, source, next, sequence: 0 });
        if next != Cycle::MAX {
            self.wheel.push(next.min(self.wheel.horizon()), index);
        }
    }

    /// Generators whose time has come generate a packet. Of those of a host one packet enters in each cycle, the
    /// one that is due for longest first, so that no two arrive at their router at once.
    #[inline(never)]
    pub(super) fn generate<C: Load>(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<C>,
        entering: &mut Vec<Entering>,
    ) {
        let (now, horizon) = (core.now, self.wheel.horizon());
        let mut due = std::mem::take(&mut self.due);
        self.wheel.drain(now, |found| due.extend_from_slice(found));
        // The generators of a host follow each other, and mostly one of them is due.
        due.sort_unstable();
        let of = |index: u32| &self.generators[index as usize];
        for own in due.chunk_by_mut(|one, next| of(*one).host == of(*next).host) {
            if own.len() > 1 {
                own.sort_by_key(|index| of(*index).next);
            }
        }
        for &index in &due {
            let Generator { host, next, .. } = self.generators[index as usize];
            if next <= now && self.free_at[host as usize] <= now {
                entering.extend(self.attempt(core, cargo, index));
            }
            let next = self.generators[index as usize].next;
            if next != Cycle::MAX {
                self.wheel.push(next.max(now + 1).min(now + horizon), index);
            }
        }
        due.clear();
        self.due = due;
    }

    /// Fetches its state.
    pub(super) fn sweep(&self) {
        touch(self.generators.iter().map(|generator| generator.next));
        touch(self.free_at.iter().step_by(16).copied());
        touch(self.wheel.lines(|generator| *generator));
    }

    /// The first cycle of `from..to` in which a generator is looked at, or `to`.
    pub(super) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        self.wheel.next(from, to)
    }

    /// Generates a packet, if the injection queue has room.
    fn attempt<C: Load>(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<C>,
        index: u32,
    ) -> Option<Entering> {
        let Core { model, hosts, queued, collector, now, .. } = core;
        let Generator { host: place, id, stream, source, next, sequence } =
            &mut self.generators[index as usize];
        let own = stream.map(|stream| &model.traffic.streams()[stream as usize]);
        let traffic = own.map_or(&model.traffic, |stream| stream.workload());
        let generated = *next;
        let demand = traffic.demand(*id, source, generated);
        *next = traffic.next(*id, source, Some(generated));
        let size = u32::from(demand.size);
        let service = own.map_or(0, |stream| stream.class());
        let label = stream.map_or(0, |stream| stream + 1);
        let queue = model.flows.queue(service, (*id, demand.destination), label);
        let host = &mut hosts[*place as usize];
        let waiting = host.queued_mut(queued, queue);
        let refused = model.injection_queue - *waiting < size;
        let records = &mut self.records;
        let of_stream = stream.map(|stream| &mut records[stream as usize].collector);
        for collector in std::iter::once(collector).chain(of_stream) {
            collector.count_attempt(*now, size, refused);
        }
        if refused {
            return None;
        }
        *waiting += size;
        self.free_at[*place as usize] = *now + 1;
        let in_order = self.sent.as_mut();
        let numbered = stream.is_some() || in_order.is_some();
        let sequence = in_order
            .map_or(sequence, |sent| sent.entry((index, demand.destination.0)).or_default());
        let number = Numbered { stream: stream.unwrap_or(NONE), source: id.0, sequence: *sequence };
        let part_of = if numbered { PartOf::Course(number) } else { PartOf::Traffic };
        *sequence += 1;
        let (router, port) = model.topology.home_of(demand.destination);
        let packet = Packet {
            generated,
            host_word: cargo.insert(C::new(*id, part_of, model.host_latency)),
            header: Header::new(router),
            port,
            size: demand.size,
        };
        Some((packet, BufferId::new(host.port, queue)))
    }

    /// Takes a packet with a number off the network, at a host, with the cycles that it would have taken, had it never
    /// waited. Packets come in the order in which they are consumed.
    pub(super) fn accept(
        &mut self,
        host: u32,
        number: Numbered,
        (sample, unloaded): (Delivery, Cycle),
        mut record: impl FnMut(&Delivery),
    ) {
        let Self { order, records, .. } = self;
        let stream = number.stream as usize;
        let dropped = order.arrive(host, number, Arrived::new(sample, unloaded), |packet| {
            record(&packet.sample);
            if let Some(own) = records.get_mut(stream) {
                own.deliver(&packet.sample, packet.unloaded, packet.late);
            }
        });
        if dropped {
            self.lose(number);
        }
    }

    /// A packet is lost.
    pub(super) fn lose(&mut self, number: Numbered) {
        if let Some(own) = self.records.get_mut(number.stream as usize) {
            own.collector.lost += 1;
        }
    }

    /// In which order packets have arrived until a cycle, if receivers put them in order.
    pub(super) fn order(&self, until: Cycle) -> Option<OrderRecord> {
        self.sent.as_ref().map(|_| self.order.record(until))
    }

    /// These cycles are measured.
    pub(super) fn open(&mut self, from: Cycle, to: Cycle) {
        self.order.open(from, to);
    }
}

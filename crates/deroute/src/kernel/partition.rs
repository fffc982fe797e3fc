//! Some consecutive routers and their hosts, simulated alone for a window of time.
//!
//! A cycle: apply everything that arrives (heads, credits, messages, new packets); let routing
//! algorithms look at queues that changed; allocate in every router with a ripe port. A port is
//! ripe when something that its heads wait for has changed, so that sleeping ports cost nothing.

use std::sync::Arc;

use super::packet::{NONE, Packet, Pool};
use super::plant::Plant;
use super::wheel::Wheel;
use crate::ids::{Cycle, HostId, PortId, RouterId, VcId};
use crate::probe::collect::Collector;
use crate::rng::{Owner, Stream};
use crate::routing::{Header, Message, Queues, RouterView, Routing};
use crate::spec::Arbiter;
use crate::topology::Peer;
use crate::traffic::Source;

/// One direction of a port: a buffer per VC. One cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Input {
    /// Until this cycle the crossbar reads a packet from the port.
    pub(super) busy_until: Cycle,
    /// First queue in `Partition::queues`.
    pub(super) queues: u32,
    /// VCs that hold a packet.
    pub(super) occupied: u64,
    /// Where credits go: partition, output port there, latency.
    pub(super) upstream: Link,
    pub(super) router: u32,
    /// Round-robin pointer.
    pub(super) pointer: u8,
    pub(super) vcs: u8,
    /// VC requested in this round.
    pub(super) request: u8,
    /// Next requester of the same output.
    pub(super) next_request: u16,
    pub(super) kind: PortKind,
    /// Earliest cycle in which it is to become ripe; in the past if none is set.
    pub(super) ripe_at: Cycle,
}

/// The other end of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub(super) partition: u32,
    /// Port in that partition; for a host port, the host in this partition.
    pub(super) port: u32,
    pub(super) latency: Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortKind {
    Host,
    Link,
    Unused,
}

/// A queue of packets, and what its head has decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Phits of the head.
    pub(super) size: u16,
    /// Output port, VC and place on the path that the head requests, once `routed`.
    pub(super) out: u16,
    pub(super) vc: u8,
    pub(super) place: u8,
    pub(super) routed: bool,
}

/// The other direction of a port: a buffer that its VCs share, and a link. One cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Output {
    /// Until this cycle the crossbar writes a packet to the port.
    pub(super) busy_until: Cycle,
    /// From this cycle on the link is idle if nothing more is granted.
    pub(super) link_free: Cycle,
    /// Phits granted whose credits have not come back.
    pub(super) queued: u32,
    /// Phits free at the other end, for the first VCs.
    pub(super) credits: [u32; NEAR],
    /// The same for the other VCs: first counter in `Partition::credits`.
    pub(super) more_credits: u32,
    pub(super) downstream: Link,
    /// Phits sent in the measurement.
    pub(super) sent: u32,
    pub(super) router: u32,
    /// Round-robin pointer.
    pub(super) pointer: u16,
    /// Requests of this round: a list through `Input::next_request`.
    pub(super) first_request: u16,
    pub(super) requests: u16,
    pub(super) vcs: u8,
    pub(super) class: u8,
    pub(super) kind: PortKind,
    /// A head waits for credits of this port.
    pub(super) awaited: bool,
    /// Leads out of the domain.
    pub(super) exit: bool,
}

/// VCs whose credits share a cache line with their output.
const NEAR: usize = 4;

impl Output {
    /// Phits free at the other end for one VC; `more` is `Partition::credits`.
    #[inline]
    pub(super) fn credits(&self, more: &[u32], vc: u8) -> u32 {
        match self.credits.get(usize::from(vc)) {
            Some(credits) => *credits,
            None => more[self.more_credits as usize + usize::from(vc) - NEAR],
        }
    }

    #[inline]
    pub(super) fn credits_mut<'a>(&'a mut self, more: &'a mut [u32], vc: u8) -> &'a mut u32 {
        match self.credits.get_mut(usize::from(vc)) {
            Some(credits) => credits,
            None => &mut more[self.more_credits as usize + usize::from(vc) - NEAR],
        }
    }
}

const _: () = assert!(size_of::<Input>() == 64 && size_of::<Output>() == 64);

pub(super) struct Router {
    pub(super) id: RouterId,
    pub(super) port_base: u32,
    pub(super) ports: u16,
    /// First element in `Partition::waits`.
    pub(super) words: u32,
    /// On the awake list.
    pub(super) awake: bool,
    /// On the dirty list.
    pub(super) dirty: bool,
    pub(super) rng: Stream,
}

/// What 64 input ports of a router wait for, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    /// To be looked at in this cycle.
    pub(super) ripe: u64,
    /// A head waits for credits.
    pub(super) starved: u64,
    /// A head decides anew whenever anything changes in the router.
    pub(super) restless: u64,
}

pub(super) struct Host {
    pub(super) id: HostId,
    pub(super) source: Source,
    /// Cycle of its next packet.
    pub(super) next: Cycle,
    /// Phits in its injection queue, those on their way included.
    pub(super) queued: u32,
    /// Its port in `Partition::inputs` and `outputs`.
    pub(super) port: u32,
    /// Phits in the measurement.
    pub(super) injected: u64,
    pub(super) accepted: u64,
}

/// A packet on its way to an input buffer.
#[derive(Clone, Copy)]
pub(super) struct Flight {
    pub(super) port: u32,
    pub(super) vc: u8,
    pub(super) packet: Packet,
}

/// Events for another partition.
#[derive(Default)]
pub(super) struct Mail {
    /// Time and event.
    pub(super) arrivals: Vec<(Cycle, Flight)>,
    /// Time and event.
    pub(super) credits: Vec<(Cycle, u64)>,
}

impl Mail {
    pub(super) fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.credits.is_empty()
    }

    /// Moves everything to the end of `other`.
    pub(super) fn append_to(&mut self, other: &mut Self) {
        other.arrivals.append(&mut self.arrivals);
        other.credits.append(&mut self.credits);
    }
}

pub(super) struct Partition {
    pub(super) plant: Arc<Plant>,
    pub(super) index: u32,
    pub(super) now: Cycle,
    pub(super) routing: Box<dyn Routing>,
    pub(super) watches: bool,
    pub(super) reconsiders: bool,
    pub(super) by_age: bool,
    pub(super) routers: Vec<Router>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    pub(super) queues: Vec<Queue>,
    /// Phits free at the other end, per output and VC beyond the first ones.
    pub(super) credits: Vec<u32>,
    /// What the input ports of each router wait for.
    pub(super) waits: Vec<Waits>,
    pub(super) hosts: Vec<Host>,
    pub(super) pool: Pool,
    /// Heads on their way to input buffers.
    pub(super) arrivals: Wheel<Flight, 12>,
    /// Credits on their way to outputs.
    pub(super) credit_returns: Wheel<u64, 15>,
    /// Input ports that become ripe.
    ripenings: Wheel<u32, 30>,
    /// Hosts that generate a packet.
    generations: Wheel<u32, 30>,
    /// Messages of routing agents.
    deliveries: Wheel<u32, 30>,
    /// Messages on their way: sender and content, by slot.
    messages: Vec<(RouterId, u32)>,
    free_messages: Vec<u32>,
    awake: Vec<u32>,
    dirty: Vec<u32>,
    outgoing: Vec<Message>,
    pub(super) requested: Vec<u16>,
    pub(super) losers: Vec<u16>,
    /// Mail for each partition.
    pub(super) outbox: Vec<Mail>,
    pub(super) collector: Collector,
    /// Packets injected in the measurement: `[router][path kind]`.
    pub(super) paths: Vec<[u32; 5]>,
    /// Dependencies between channels, if they are recorded.
    pub(super) dependencies: Option<super::dependencies::Observed>,
}

/// Credits: port (26 bits), VC (6 bits), phits (16 bits).
fn credit(port: u32, vc: u8, size: u16) -> u64 {
    u64::from(port) << 38 | u64::from(vc) << 32 | u64::from(size)
}

pub(super) fn read_credit(event: u64) -> (u32, u8, u32) {
    ((event >> 38) as u32, (event >> 32) as u8 & 63, event as u32)
}

/// The queues of one router, as its routing algorithm sees them.
pub(super) struct PortQueues<'a> {
    pub(super) outputs: &'a [Output],
    pub(super) credits: &'a [u32],
    pub(super) plant: &'a Plant,
}

impl Queues for PortQueues<'_> {
    #[inline]
    fn port(&self, port: PortId) -> u32 {
        self.outputs[port.0 as usize].queued
    }

    #[inline]
    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        let output = &self.outputs[port.0 as usize];
        match output.kind {
            PortKind::Link => {
                let buffer = self.plant.classes[output.class as usize].buffer;
                buffer - output.credits(self.credits, vc.0)
            }
            _ => 0,
        }
    }
}

impl Partition {
    /// Runs the cycles `self.now..to`.
    pub(super) fn run(&mut self, to: Cycle) {
        while self.now < to {
            let now = self.now;
            self.apply(now);
            if !self.dirty.is_empty() {
                self.refresh();
            }
            if !self.awake.is_empty() {
                let mut awake = std::mem::take(&mut self.awake);
                for &router in &awake {
                    self.allocate(router);
                }
                awake.clear();
                self.awake = awake;
            }
            self.now = now + 1;
        }
    }

    /// Applies everything that is due. Within a cycle the order does not matter.
    #[inline]
    fn apply(&mut self, now: Cycle) {
        while let Some(due) = self.credit_returns.take(now) {
            for index in 0..due.len() {
                let (port, vc, size) = read_credit(self.credit_returns.event(due, index));
                self.credit(port, vc, size);
            }
            self.credit_returns.done(due);
        }
        while let Some(due) = self.arrivals.take(now) {
            for index in 0..due.len() {
                let flight = self.arrivals.event(due, index);
                self.enqueue(flight);
            }
            self.arrivals.done(due);
        }
        while let Some(due) = self.ripenings.take(now) {
            for index in 0..due.len() {
                self.ripen(self.ripenings.event(due, index));
            }
            self.ripenings.done(due);
        }
        while let Some(due) = self.generations.take(now) {
            for index in 0..due.len() {
                self.generate(self.generations.event(due, index));
            }
            self.generations.done(due);
        }
        while let Some(due) = self.deliveries.take(now) {
            for index in 0..due.len() {
                self.message(self.deliveries.event(due, index));
            }
            self.deliveries.done(due);
        }
    }

    /// Puts a router on the awake list of this cycle.
    #[inline]
    fn wake(&mut self, router: u32) {
        let state = &mut self.routers[router as usize];
        if !state.awake {
            state.awake = true;
            self.awake.push(router);
        }
    }

    /// An input port is to be looked at in this cycle.
    #[inline]
    fn ripen(&mut self, port: u32) {
        let router = self.inputs[port as usize].router;
        let state = &self.routers[router as usize];
        let bit = port - state.port_base;
        self.waits[(state.words + bit / 64) as usize].ripe |= 1 << (bit % 64);
        self.wake(router);
    }

    /// An input port is to be looked at in a later cycle, unless it is to be earlier anyway.
    #[inline]
    pub(super) fn ripen_at(&mut self, port: u32, at: Cycle) {
        let input = &mut self.inputs[port as usize];
        if input.ripe_at <= self.now || at < input.ripe_at {
            input.ripe_at = at;
            self.ripenings.push(at, port);
        }
    }

    /// The router changed: ports that decide anew become ripe, and, if credits arrived that were
    /// awaited, ports that wait for credits.
    fn stir(&mut self, router: u32, awaited: bool) {
        let state = &self.routers[router as usize];
        let (first, count) = (state.words as usize, usize::from(state.ports).div_ceil(64));
        let mut ripe = 0;
        for waits in &mut self.waits[first..first + count] {
            waits.ripe |= waits.restless;
            if awaited {
                waits.ripe |= std::mem::take(&mut waits.starved);
            }
            ripe |= waits.ripe;
        }
        if ripe != 0 {
            self.wake(router);
        }
    }

    /// A head arrives at an input port.
    fn enqueue(&mut self, flight: Flight) {
        let now = self.now;
        let Flight { port, vc, packet } = flight;
        let size = packet.size;
        let index = self.pool.insert(Packet { next: NONE, arrival: now, ..packet });
        let input = &mut self.inputs[port as usize];
        let queue = &mut self.queues[input.queues as usize + usize::from(vc)];
        if queue.head != NONE {
            let tail = std::mem::replace(&mut queue.tail, index);
            self.pool[tail].next = index;
            return;
        }
        *queue = Queue { head: index, tail: index, size, out: 0, vc: 0, place: 0, routed: false };
        input.occupied |= 1 << vc;
        let busy_until = input.busy_until;
        if busy_until > now {
            self.ripen_at(port, busy_until);
        } else {
            self.ripen(port);
        }
    }

    fn credit(&mut self, port: u32, vc: u8, size: u32) {
        let output = &mut self.outputs[port as usize];
        *output.credits_mut(&mut self.credits, vc) += size;
        output.queued -= size;
        let (router, exit) = (output.router, output.exit);
        let awaited = std::mem::take(&mut output.awaited);
        if awaited || self.reconsiders {
            self.stir(router, awaited);
        }
        if exit && self.watches {
            self.soil(router);
        }
    }

    /// Queues that the routing algorithm watches have changed.
    pub(super) fn soil(&mut self, router: u32) {
        let state = &mut self.routers[router as usize];
        if !state.dirty {
            state.dirty = true;
            self.dirty.push(router);
        }
    }

    /// Shows changed queues to the routing algorithm.
    fn refresh(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for &index in &dirty {
            let Self { routers, outputs, credits, plant, routing, outgoing, now, .. } = self;
            let router = &mut routers[index as usize];
            router.dirty = false;
            let base = router.port_base as usize;
            let outputs = &outputs[base..base + usize::from(router.ports)];
            let mut view = RouterView {
                router: router.id,
                now: *now,
                queues: &PortQueues { outputs, credits, plant },
                rng: &mut router.rng,
            };
            let id = router.id;
            routing.queues_changed(&mut view, outgoing);
            let mut outgoing = std::mem::take(&mut self.outgoing);
            for message in outgoing.drain(..) {
                self.send(id, message);
            }
            self.outgoing = outgoing;
        }
        dirty.clear();
        self.dirty = dirty;
    }

    fn send(&mut self, from: RouterId, message: Message) {
        let entry = (from, message.content);
        let slot = match self.free_messages.pop() {
            Some(slot) => {
                self.messages[slot as usize] = entry;
                slot
            }
            None => {
                self.messages.push(entry);
                self.messages.len() as u32 - 1
            }
        };
        self.deliveries.push(self.now + message.delay, slot);
    }

    fn message(&mut self, slot: u32) {
        let (from, content) = self.messages[slot as usize];
        self.free_messages.push(slot);
        self.routing.message(from, content);
        if !self.reconsiders {
            return;
        }
        let first = self.routers[0].id.0;
        let topology = Arc::clone(&self.plant.topology);
        let domain = topology.domain(from);
        let mut local = from.0 - first;
        while local > 0 && topology.domain(RouterId(first + local - 1)) == domain {
            local -= 1;
        }
        while let Some(state) = self.routers.get(local as usize)
            && topology.domain(state.id) == domain
        {
            self.stir(local, false);
            local += 1;
        }
    }

    /// Time for a packet of a host.
    fn generate(&mut self, index: u32) {
        let now = self.now;
        let host = &mut self.hosts[index as usize];
        if host.next > now {
            let at = host.next.min(now + self.generations.horizon());
            self.generations.push(at, index);
            return;
        }
        let workload = &self.plant.workload;
        let demand = workload.demand(host.id, &mut host.source, now);
        host.next = workload.next(host.id, &mut host.source, Some(now));
        if host.next != Cycle::MAX {
            let at = host.next.min(now + self.generations.horizon());
            self.generations.push(at, index);
        }
        let size = u32::from(demand.size);
        let measured = self.collector.covers(now);
        self.collector.attempted_phits += u64::from(measured) * u64::from(size);
        if self.plant.injection_queue - host.queued < size {
            self.collector.refused += 1;
            return;
        }
        host.queued += size;
        self.collector.generated += 1;
        self.collector.generated_phits += u64::from(measured) * u64::from(size);
        let topology = &self.plant.topology;
        let packet = Packet {
            next: NONE,
            arrival: now,
            generated: now,
            injected: now,
            header: Header::new(topology.router_of(demand.destination)),
            port: topology.port_of(demand.destination),
            size: demand.size,
        };
        let flight = Flight { port: host.port, vc: 0, packet };
        match self.plant.host_latency {
            0 => self.enqueue(flight),
            latency => self.arrivals.push(now + latency, flight),
        }
    }

    /// A packet leaves for another router.
    #[inline]
    pub(super) fn depart(&mut self, link: Link, vc: u8, packet: Packet, at: Cycle) {
        let flight = Flight { port: link.port, vc, packet };
        if link.partition == self.index {
            self.arrivals.push(at, flight);
        } else {
            self.outbox[link.partition as usize].arrivals.push((at, flight));
        }
    }

    /// Returns credits for a packet that leaves an input buffer.
    #[inline]
    pub(super) fn return_credit(&mut self, link: Link, vc: u8, size: u16) {
        let (at, event) = (self.now + link.latency, credit(link.port, vc, size));
        if link.partition == self.index {
            self.credit_returns.push(at, event);
        } else {
            self.outbox[link.partition as usize].credits.push((at, event));
        }
    }

    /// Takes the mail from another partition.
    pub(super) fn receive(&mut self, mail: &mut Mail) {
        for (at, event) in mail.credits.drain(..) {
            self.credit_returns.push(at, event);
        }
        for (at, flight) in mail.arrivals.drain(..) {
            self.arrivals.push(at, flight);
        }
    }
}

/// Which partition simulates each router, and how ports are numbered.
pub(super) struct Division<'a> {
    pub(super) plant: &'a Arc<Plant>,
    /// First port of each router in the whole network, and the total.
    pub(super) port_bases: &'a [u32],
    /// First router of each partition, and the total.
    pub(super) firsts: &'a [u32],
}

impl Division<'_> {
    pub(super) fn partition_of(&self, router: RouterId) -> u32 {
        self.firsts.partition_point(|&first| first <= router.0) as u32 - 1
    }

    fn port_in_partition(&self, router: RouterId, port: PortId) -> (u32, u32) {
        let partition = self.partition_of(router);
        let first = self.firsts[partition as usize];
        let base = self.port_bases[router.index()] - self.port_bases[first as usize];
        (partition, base + u32::from(port.0))
    }

    /// Builds one partition.
    pub(super) fn build(&self, index: u32, record: bool) -> Partition {
        let plant = self.plant;
        let (first, end) = (self.firsts[index as usize], self.firsts[index as usize + 1]);
        let routing = (plant.routing.agent)(RouterId(first), end - first);
        let horizon = plant.horizon();
        let mut partition = Partition {
            plant: Arc::clone(plant),
            index,
            now: 0,
            watches: routing.watches_queues(),
            reconsiders: routing.reconsiders(),
            by_age: plant.allocator.arbiter == Arbiter::Age,
            routing,
            routers: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            queues: Vec::new(),
            credits: Vec::new(),
            waits: Vec::new(),
            hosts: Vec::new(),
            pool: Pool::default(),
            arrivals: Wheel::new(horizon),
            credit_returns: Wheel::new(horizon),
            ripenings: Wheel::new(horizon),
            generations: Wheel::new(horizon),
            deliveries: Wheel::new(horizon),
            messages: Vec::new(),
            free_messages: Vec::new(),
            awake: Vec::new(),
            dirty: Vec::new(),
            outgoing: Vec::new(),
            requested: Vec::new(),
            losers: Vec::new(),
            outbox: (0..self.firsts.len() - 1).map(|_| Mail::default()).collect(),
            collector: Collector::new(),
            paths: vec![[0; 5]; (end - first) as usize],
            dependencies: record.then(super::dependencies::Observed::default),
        };
        for router in first..end {
            self.add_router(&mut partition, RouterId(router));
        }
        partition
    }

    fn add_router(&self, partition: &mut Partition, id: RouterId) {
        let topology = &*self.plant.topology;
        let (ports, local) = (topology.radix(id), partition.routers.len() as u32);
        let words = partition.waits.len() as u32;
        partition.waits.resize_with((words + u32::from(ports).div_ceil(64)) as usize, Waits::default);
        partition.routers.push(Router {
            id,
            port_base: partition.inputs.len() as u32,
            ports,
            words,
            awake: false,
            dirty: false,
            rng: Stream::new(self.plant.times.seed, Owner::Router(id.0)),
        });
        let exits = topology.exits(id);
        for port in 0..ports {
            self.add_port(partition, local, PortId(port), exits.contains(&port));
        }
    }

    fn add_port(&self, partition: &mut Partition, local: u32, port: PortId, exit: bool) {
        let (plant, id) = (self.plant, partition.routers[local as usize].id);
        let (kind, class, vcs, buffer, link) = match plant.topology.peer(id, port) {
            Peer::Unused => (PortKind::Unused, 0, 0, 0, Link::default()),
            Peer::Host(host) => {
                let index = self.add_host(partition, host);
                let link =
                    Link { partition: partition.index, port: index, latency: plant.host_latency };
                (PortKind::Host, u8::MAX, 1, 0, link)
            }
            Peer::Router { router, port, class } => {
                let (to, port) = self.port_in_partition(router, port);
                let limits = plant.classes[class as usize];
                let link = Link { partition: to, port, latency: limits.latency };
                (PortKind::Link, class, limits.vcs, limits.buffer, link)
            }
        };
        partition.inputs.push(Input {
            busy_until: 0,
            queues: partition.queues.len() as u32,
            occupied: 0,
            upstream: link,
            router: local,
            pointer: 0,
            vcs,
            request: 0,
            next_request: 0,
            kind,
            ripe_at: 0,
        });
        partition.outputs.push(Output {
            busy_until: 0,
            link_free: 0,
            queued: 0,
            credits: [buffer; NEAR],
            more_credits: partition.credits.len() as u32,
            downstream: link,
            sent: 0,
            router: local,
            pointer: 0,
            first_request: 0,
            requests: 0,
            vcs,
            class,
            kind,
            awaited: false,
            exit: exit && kind == PortKind::Link,
        });
        let empty =
            Queue { head: NONE, tail: NONE, size: 0, out: 0, vc: 0, place: 0, routed: false };
        partition.queues.extend((0..vcs).map(|_| empty));
        if kind == PortKind::Link {
            partition.credits.extend((NEAR..usize::from(vcs)).map(|_| buffer));
        }
    }

    /// Adds the host of the port that is being added.
    fn add_host(&self, partition: &mut Partition, id: HostId) -> u32 {
        let (index, port) = (partition.hosts.len() as u32, partition.inputs.len() as u32);
        let (source, next) = self.plant.workload.source(id, self.plant.times.seed);
        partition.hosts.push(Host { id, source, next, queued: 0, port, injected: 0, accepted: 0 });
        if next != Cycle::MAX {
            let at = next.min(partition.generations.horizon());
            partition.generations.push(at, index);
        }
        index
    }
}

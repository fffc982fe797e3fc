//! Some consecutive routers and their hosts, simulated alone for a window of time.
//!
//! A cycle: apply everything that arrives (heads, credits, messages, new packets); let routing
//! algorithms look at queues that changed; allocate for every ripe port. A port is
//! ripe when something that its heads wait for has changed, so that sleeping ports cost nothing.

use std::sync::Arc;

use super::arrivals::Arrival;
use super::fetch::{members, touch};
use super::islip::Islip;
use super::nic::Nics;
use super::packet::{Buffer, Flight, NONE, Packet, Pool};
use super::plant::Plant;
use super::ports::{PortSet, Requested};
use super::queues::{Lengths, PortQueues};
use super::sharing::Sharing;
use super::state::{
    Host, Input, Link, Mail, Output, PortKind, Queue, Router, Wish, credit, read_credit,
};
use super::wheel::Wheel;
use crate::ids::{Cycle, PortId, RouterId};
use crate::probe::PathKind;
use crate::probe::collect::Collector;
use crate::routing::{self, Follows, Header, Injection, Message, Routing, Watches};
use crate::spec::Sensing;

pub(super) struct Partition {
    pub(super) plant: Arc<Plant>,
    pub(super) index: u32,
    pub(super) now: Cycle,
    pub(super) routing: Box<dyn Routing>,
    pub(super) watches: Watches,
    /// More is kept than what every run needs: queue lengths, shared memory, dependencies.
    pub(super) keeps_books: bool,
    /// Packets in transit follow their path: heads are routed when they become heads.
    pub(super) follows: Option<Follows>,
    /// Number of its first router in the network.
    pub(super) first_router: u32,
    pub(super) by_age: bool,
    /// It does nothing but what every run does: no workload, no virtual output queues, no routing on arrival,
    /// no books, nobody who watches.
    pub(super) plain: bool,
    /// Heads keep what they have decided: they do not reconsider, nor take the VC that is emptiest.
    pub(super) steady: bool,
    pub(super) routers: Vec<Router>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    pub(super) queues: Vec<Queue>,
    /// What packets that are not heads have decided on arrival, by their place in the pool.
    pub(super) decided: Vec<Wish>,
    /// Packets are routed when they arrive.
    pub(super) on_arrival: bool,
    /// Those that have arrived in this cycle.
    pub(super) fresh: Vec<Arrival>,
    /// Its state is larger than a cache: what a cycle looks at is fetched before.
    pub(super) far: bool,
    /// Queues whose heads are looked at in this cycle, and the first port of their router, if that is so.
    pub(super) heads: Vec<(u32, u32)>,
    /// Phits free at the other end, per output and VC beyond the first ones.
    pub(super) credits: Vec<u32>,
    /// What VCs have taken, where some share memory.
    pub(super) sharing: Option<Box<Sharing>>,
    pub(super) lengths: Lengths,
    /// Input ports that are to be looked at in this cycle.
    pub(super) ripe: PortSet,
    /// Input ports with a head that waits for credits.
    pub(super) starved: PortSet,
    /// The same, where inputs have a queue per output.
    pub(super) islip: Option<Box<Islip>>,
    pub(super) hosts: Vec<Host>,
    /// Phits in the injection queues of classes other than 0, per host.
    pub(super) queued: Vec<u32>,
    pub(super) pool: Pool,
    /// Interfaces of the hosts that run a rank, and what packets carry, in a run with a workload.
    pub(super) nics: Option<Box<Nics>>,
    /// Heads on their way to input buffers.
    pub(super) arrivals: Wheel<Flight>,
    /// Credits on their way to outputs.
    pub(super) credit_returns: Wheel<u64>,
    /// Phits that begin or cease to count.
    pub(super) settlings: Wheel<u64>,
    /// Input ports that become ripe.
    pub(super) ripenings: Wheel<u32>,
    /// Hosts that generate a packet.
    pub(super) generations: Wheel<u32>,
    /// Messages of routing agents.
    pub(super) deliveries: Wheel<u32>,
    /// Messages on their way: sender and content, by slot.
    pub(super) messages: Vec<(RouterId, u32)>,
    pub(super) free_messages: Vec<u32>,
    /// Routers with virtual output queues that are to be looked at, one bit each.
    pub(super) awake: Vec<u64>,
    pub(super) dirty: Vec<u32>,
    pub(super) outgoing: Vec<Message>,
    /// Outputs that are requested in this round, each once, by [`Way`].
    pub(super) requested: Requested,
    pub(super) losers: Vec<u32>,
    /// Routers with a port that is looked at in this cycle, if the routing algorithm is told of blocked heads.
    pub(super) lookers: Vec<u32>,
    /// Ports that request one output of an ideal switch.
    pub(super) rivals: Vec<u32>,
    /// Mail for each partition, while it runs.
    pub(super) outbox: Vec<Mail>,
    pub(super) collector: Collector,
    /// Packets injected in the measurement: `[router][path kind]`.
    pub(super) paths: Vec<[u32; PathKind::ALL.len()]>,
    /// Dependencies between channels, if they are recorded.
    pub(super) dependencies: Option<super::dependencies::Observed>,
}

impl Partition {
    /// Runs the cycles `self.now..to`.
    pub(super) fn run(&mut self, to: Cycle) {
        if self.plain {
            self.run_cycles::<true>(to);
        } else {
            self.run_cycles::<false>(to);
        }
    }

    /// The same; `PLAIN` is `Partition::plain`, known when this is compiled, so that nothing asks in vain.
    fn run_cycles<const PLAIN: bool>(&mut self, to: Cycle) {
        if !self.far {
            self.sweep();
        }
        let voqs = !PLAIN && self.islip.is_some();
        while self.now < to {
            let now = self.now;
            self.apply::<PLAIN>(now);
            if !self.dirty.is_empty() {
                self.refresh();
            }
            if !self.fresh.is_empty() {
                self.route_arrivals();
            }
            if voqs {
                self.match_all();
            } else {
                if self.far {
                    self.fetch_heads();
                }
                self.allocate::<PLAIN>();
            }
            self.now = now + 1;
        }
    }

    /// Fetches the state, which other partitions have driven out of the cache, in one sweep.
    fn sweep(&self) {
        touch(self.outputs.iter().map(|output| output.queued));
        touch(self.inputs.iter().map(|input| input.queues));
        if self.islip.is_none() {
            touch(self.queues.iter().map(|queue| queue.head));
        }
        touch(self.pool.lines());
        touch(self.hosts.iter().map(|host| host.next));
        touch(self.routers.iter().map(|router| router.port_base));
        touch(self.arrivals.lines(|flight| flight.at));
        touch(self.credit_returns.lines(|event| *event as u32));
        touch(self.ripenings.lines(|port| *port));
        touch(self.generations.lines(|host| *host));
    }

    /// Looks at every router that is awake, once.
    #[inline(always)]
    pub(super) fn each_awake(&mut self, mut look: impl FnMut(&mut Self, u32)) {
        for word in 0..self.awake.len() {
            for bit in members(std::mem::take(&mut self.awake[word])) {
                look(self, word as u32 * 64 + bit);
            }
        }
    }

    /// The routers that are awake.
    pub(super) fn awake_routers(&self) -> impl Iterator<Item = u32> {
        let words = self.awake.iter().enumerate();
        words.flat_map(|(word, bits)| members(*bits).map(move |bit| word as u32 * 64 + bit))
    }

    /// Applies everything that is due. Within a cycle the order does not matter.
    #[inline]
    fn apply<const PLAIN: bool>(&mut self, now: Cycle) {
        // Before the credits: phits that are late from this cycle on may be back in it.
        if self.plant.sensing != Sensing::Both {
            self.settle(now);
        }
        self.drain(|own| &mut own.credit_returns, Self::take_credits::<PLAIN>);
        self.drain(|own| &mut own.ripenings, Self::take_ripe::<PLAIN>);
        self.drain(|own| &mut own.arrivals, Self::take_arrivals::<PLAIN>);
        while let Some(due) = self.generations.take(now) {
            for index in 0..due.len() {
                self.generate::<PLAIN>(self.generations.events(due)[index]);
            }
            self.generations.done(due);
        }
        if !PLAIN && self.nics.is_some() {
            self.apply_messages();
        }
        self.drain(
            |own| &mut own.deliveries,
            |own, slots| {
                slots.iter().for_each(|slot| own.message(*slot));
            },
        );
    }

    /// Takes the events of a wheel that are due, some at a time.
    #[inline(always)]
    fn drain<T: Copy + Default>(
        &mut self,
        wheel: impl Fn(&mut Self) -> &mut Wheel<T>,
        look: impl Fn(&mut Self, &[T]),
    ) {
        let now = self.now;
        while let Some(due) = wheel(self).take(now) {
            let events = wheel(self).lend();
            look(self, &events[due.range()]);
            wheel(self).restore(events);
            wheel(self).done(due);
        }
    }

    /// Credits arrive at outputs.
    #[inline(always)]
    fn take_credits<const PLAIN: bool>(&mut self, events: &[u64]) {
        if self.far {
            touch(events.iter().map(|event| self.outputs[read_credit(*event).0 as usize].queued));
        }
        for event in events {
            let (port, vc, size) = read_credit(*event);
            self.credit::<PLAIN>(port, vc, size);
        }
    }

    /// Input ports become ripe.
    #[inline(always)]
    fn take_ripe<const PLAIN: bool>(&mut self, ports: &[u32]) {
        match self.islip {
            Some(_) if !PLAIN => self.release_all(ports),
            _ => ports.iter().for_each(|port| self.ripe.insert(*port)),
        }
    }

    /// Heads arrive at input ports.
    #[inline(always)]
    fn take_arrivals<const PLAIN: bool>(&mut self, flights: &[Flight]) {
        touch(flights.iter().map(|flight| self.inputs[flight.to.port() as usize].queues));
        if self.far && self.islip.is_none() {
            self.fetch_tails(flights);
        }
        match self.islip {
            Some(_) if !PLAIN => flights.iter().for_each(|flight| self.land(*flight)),
            None if !PLAIN && self.on_arrival => {
                flights.iter().for_each(|flight| self.enqueue_fresh(*flight));
            }
            _ => flights.iter().for_each(|flight| _ = self.enqueue::<PLAIN>(*flight)),
        }
    }

    /// A router is to be looked at: in this cycle, or in the next if it is being looked at.
    #[inline]
    pub(super) fn wake(&mut self, router: u32) {
        self.awake[router as usize / 64] |= 1 << (router % 64);
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

    /// Credits arrived at an output that were awaited: ports that wait for credits become ripe.
    fn stir(&mut self, router: u32, output: u32) {
        if self.islip.is_some() {
            self.ask(router, output);
            return;
        }
        let state = &self.routers[router as usize];
        let ports = state.port_base..state.port_base + u32::from(state.ports);
        self.starved.pour(ports, &mut self.ripe);
    }

    /// A packet leaves a host for its router.
    #[inline(always)]
    pub(super) fn enter<const PLAIN: bool>(&mut self, packet: Packet, to: Buffer) {
        let at = self.now + self.plant.host_latency;
        let flight = Flight { packet, to, at };
        match self.islip {
            _ if at > self.now => self.arrivals.push(at, flight),
            Some(_) if !PLAIN => self.land(flight),
            None if !PLAIN && self.on_arrival => self.enqueue_fresh(flight),
            _ => _ = self.enqueue::<PLAIN>(flight),
        }
    }

    /// Stores a packet whose head arrives at an input port.
    #[inline(always)]
    pub(super) fn store<const PLAIN: bool>(&mut self, Flight { packet, to, .. }: Flight) -> u32 {
        let (now, port, vc) = (self.now, to.port(), to.vc());
        let index = self.pool.insert(packet, now);
        let input = &self.inputs[port as usize];
        if !PLAIN && self.watches.injections && input.kind == PortKind::Host {
            let state = &self.routers[input.router as usize];
            let queue = injection_queue(state, (port, vc), now);
            // A copy, so that the packet itself can stay in registers.
            let header = packet.header;
            self.routing.injection(queue, Injection::Entered, &header);
        }
        index
    }

    /// A head arrives at an input port.
    #[inline(always)]
    pub(super) fn enqueue<const PLAIN: bool>(&mut self, flight: Flight) -> u32 {
        let index = self.store::<PLAIN>(flight);
        let (now, port, vc) = (self.now, flight.to.port(), flight.to.vc());
        let input = &mut self.inputs[port as usize];
        let queue = &mut self.queues[input.queues as usize + usize::from(vc)];
        if queue.head != NONE {
            let tail = std::mem::replace(&mut queue.tail, index);
            self.pool[tail].next = index;
            return index;
        }
        (queue.head, queue.tail) = (index, index);
        input.occupied |= 1 << vc;
        let (busy_until, queue) = (input.busy_until, input.queues + u32::from(vc));
        if let Some(follows) = self.follows {
            self.guide(follows, port, queue, index);
        }
        if busy_until > now {
            self.ripen_at(port, busy_until);
        } else {
            self.ripe.insert(port);
        }
        index
    }

    fn credit<const PLAIN: bool>(&mut self, port: u32, vc: u8, size: u32) {
        let output = &mut self.outputs[port as usize];
        *output.credits_mut(&mut self.credits, vc) += size;
        output.queued -= size;
        let (router, exit) = (output.router, output.exit);
        if output.awaited {
            output.awaited = false;
            self.stir(router, port);
        }
        if !PLAIN && self.watches.queues && exit {
            self.soil(router);
        }
        if !PLAIN && self.keeps_books {
            self.book_credit(port, vc, size);
        }
    }

    /// Does what some runs need when credits arrive.
    #[inline(never)]
    fn book_credit(&mut self, port: u32, vc: u8, size: u32) {
        let output = &mut self.outputs[port as usize];
        if let Some(sharing) = &mut self.sharing {
            let used = sharing.used(port, vc) - size;
            sharing.use_of(&self.plant, output, &mut self.credits, (port, vc, used));
        }
        if self.lengths.until_credited() {
            *self.lengths.vc_mut(port, vc) -= size;
        }
    }

    /// A packet is granted that departs at `departure`: it counts at once, or from its departure on, or
    /// from when its credits might be back.
    pub(super) fn lengthen(&mut self, port: u32, vc: u8, size: u16, departure: Cycle) {
        let sensing = self.plant.sensing;
        if matches!(sensing, Sensing::Both | Sensing::Output) {
            *self.lengths.vc_mut(port, vc) += u32::from(size);
        }
        let after = match sensing {
            Sensing::Both => return,
            Sensing::Output | Sensing::Downstream => 1,
            Sensing::Waiting => {
                self.lengths.occupy(port, departure + u32::from(size));
                2 * self.outputs[port as usize].downstream.latency
            }
        };
        self.settlings.push(departure + after, credit(port, vc, size));
    }

    fn settle(&mut self, now: Cycle) {
        while let Some(due) = self.settlings.take(now) {
            for index in 0..due.len() {
                let (port, vc, size) = read_credit(self.settlings.events(due)[index]);
                let length = self.lengths.vc_mut(port, vc);
                match self.plant.sensing {
                    Sensing::Output => *length -= size,
                    _ => *length += size,
                }
                let Output { router, exit, .. } = self.outputs[port as usize];
                if self.watches.queues && exit {
                    self.soil(router);
                }
            }
            self.settlings.done(due);
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
            let Self { routers, outputs, credits, plant, lengths, .. } = self;
            let Self { routing, outgoing, now, sharing, .. } = self;
            let router = &mut routers[index as usize];
            router.dirty = false;
            let (id, base, now) = (router.id, router.port_base, *now);
            let queues = PortQueues { outputs, credits, plant, lengths, sharing, base, now };
            routing.queues_changed(id, &queues, outgoing);
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
    }

    /// Time for a packet of a host.
    fn generate<const PLAIN: bool>(&mut self, index: u32) {
        let now = self.now;
        let nics = if PLAIN { None } else { self.nics.as_ref() };
        if nics.is_some_and(|nics| nics.of_host(index).is_some()) {
            self.drive(index);
            return;
        }
        let host = &mut self.hosts[index as usize];
        if host.next > now {
            let at = host.next.min(now + self.generations.horizon());
            self.generations.push(at, index);
            return;
        }
        let workload = &self.plant.traffic;
        let demand = workload.demand(host.id, &mut host.source, now);
        host.next = workload.next(host.id, &mut host.source, Some(now));
        if host.next != Cycle::MAX {
            let at = host.next.min(now + self.generations.horizon());
            self.generations.push(at, index);
        }
        let size = u32::from(demand.size);
        let measured = self.collector.covers(now);
        self.collector.attempted_phits += u64::from(measured) * u64::from(size);
        let class = self.plant.flows.class(host.id, demand.destination);
        let queued = host.queued_mut(&mut self.queued, class);
        if self.plant.injection_queue - *queued < size {
            self.collector.refused += 1;
            return;
        }
        *queued += size;
        self.collector.generated += 1;
        self.collector.generated_phits += u64::from(measured) * u64::from(size);
        let port = host.port;
        let mark = if !PLAIN && self.nics.is_some() { self.synthetic_parcel() } else { now };
        let (router, exit) = self.plant.topology.home_of(demand.destination);
        let packet = Packet {
            generated: now,
            mark,
            header: Header::new(router),
            port: exit,
            size: demand.size,
        };
        self.enter::<PLAIN>(packet, Buffer::new(port, class));
    }

    /// A packet leaves for another router.
    #[inline(always)]
    pub(super) fn depart<const PLAIN: bool>(
        &mut self,
        packet: u32,
        wish: Wish,
        link: Link,
        at: Cycle,
    ) {
        let Self { pool, arrivals, outbox, .. } = self;
        let packet = &pool[packet].packet;
        let hops = packet.header.hops + 1;
        // Copied once, from memory to memory, and changed there.
        let flight = if link.partition == self.index {
            arrivals.place(at)
        } else {
            let arrivals = &mut outbox[link.partition as usize].arrivals;
            arrivals.push(Flight::default());
            let last = arrivals.len() - 1;
            &mut arrivals[last]
        };
        flight.packet = *packet;
        flight.packet.header.place = wish.place;
        flight.packet.header.hops = hops;
        (flight.to, flight.at) = (Buffer::new(link.port, wish.vc), at);
        if !PLAIN && self.nics.is_some() && link.partition != self.index {
            let parcel = packet.mark;
            self.post_parcel(link.partition, parcel);
        }
    }

    /// Returns credits for a packet that leaves an input buffer.
    #[inline(always)]
    pub(super) fn return_credit(&mut self, link: Link, vc: u8, size: u16) {
        let (at, event) = (self.now + link.latency, credit(link.port, vc, size));
        if link.partition == self.index {
            self.credit_returns.push(at, event);
        } else {
            self.outbox[link.partition as usize].credits.push((at, event));
        }
    }

    /// The queues of one VC of an input port: one, or one for each output.
    pub(super) fn lanes(&self, input: usize, vc: u8) -> impl Iterator<Item = &Queue> {
        let Input { router, queues, vcs, .. } = self.inputs[input];
        let ports = usize::from(self.routers[router as usize].ports);
        let (first, count) = (queues as usize + usize::from(vc), usize::from(vcs));
        let places = if self.islip.is_some() { 0..ports } else { 0..1 };
        places.map(move |place| &self.queues[first + place * count])
    }

    /// What the packet has decided that an input port sends, or sent last; or what the one after it has, once it
    /// has been looked at.
    pub(super) fn sending(&self, input: usize) -> Wish {
        let Input { queues, vcs, request, sent, .. } = self.inputs[input];
        let lane = self.islip.as_ref().map_or(0, |islip| usize::from(islip.served(input)));
        let first = queues as usize + lane * usize::from(vcs);
        let wish = self.queues[first + usize::from(request)].wish;
        if wish.seen || self.islip.is_some() { wish } else { sent }
    }

    /// Takes the mail from another partition.
    pub(super) fn receive(&mut self, mail: &mut Mail) {
        for (at, event) in &mail.credits {
            self.credit_returns.push(*at, *event);
        }
        mail.credits.clear();
        if self.nics.is_some() {
            self.receive_parcels(mail);
        }
        for flight in &mail.arrivals {
            *self.arrivals.place(flight.at) = *flight;
        }
        mail.arrivals.clear();
    }
}

/// The injection queue of a class behind a host port, as routing knows it.
#[inline]
pub(super) fn injection_queue(
    router: &Router,
    (port, class): (u32, u8),
    now: Cycle,
) -> routing::Queue {
    let port = PortId((port - router.port_base) as u16);
    routing::Queue { router: router.id, port, class, now }
}

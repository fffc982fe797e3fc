//! Input-first separable allocation, and what a grant does.

use std::hint::select_unpredictable;

use super::packet::{NONE, Packet};
use super::partition::{Partition, injection_queue};
use super::plant::{Crossbar, Plant};
use super::ports::Requested;
use super::queues::PortQueues;
use super::state::{Input, Output, PortKind, Way, Wish};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::probe::collect::Delivery;
use crate::routing::{Follows, Header, Injection, RouterView, Watches, follow};
use crate::spec::{Arbiter, Pointer};
use crate::topology::Hop;

/// Room for a head in the output that it wants.
pub(super) enum Room {
    Enough,
    /// Not before this cycle.
    From(Cycle),
    /// When credits arrive.
    WithCredits,
}

/// Is there room in an output for a head that wants it? `credits` is `Partition::credits`.
#[inline(always)]
fn room(plant: &Plant, output: &Output, credits: &[u32], now: Cycle, wish: Wish) -> Room {
    if output.busy_until > now {
        return Room::From(output.busy_until);
    }
    if output.credits(credits, wish.vc) < plant.room(output.class, wish.size) {
        return Room::WithCredits;
    }
    // A head that would not wait for its link fits, and the buffer holds the largest packet.
    let end = output.link_free.max(now) + u32::from(wish.size);
    if end - now > plant.output_buffer {
        return Room::From(end - plant.output_buffer);
    }
    Room::Enough
}

/// A VC of an input port requests an output.
#[inline(always)]
fn ask(
    (port, input, vc): (u32, &mut Input, u8),
    (out, output): (u32, &mut Output),
    requested: &mut Requested,
    plant: &Plant,
) {
    let next = std::mem::replace(&mut output.first_request, port);
    requested.add(out, output.way, next == NONE);
    (input.request, input.next_request) = (vc, next);
    if plant.allocator.pointer == Pointer::OnRequest {
        input.pointer = vc + 1;
    }
}

impl Partition {
    /// Allocates: rounds of input and output arbitration, in all routers at once, which do not need each
    /// other. Inputs that lost in one round try again in the next.
    pub(super) fn allocate<const PLAIN: bool>(&mut self) {
        if !PLAIN && self.watches.blocked {
            self.note_lookers();
        }
        let mut round = 1;
        loop {
            let mut ripe = std::mem::take(&mut self.ripe);
            ripe.drain(|port| self.request::<PLAIN>(port));
            self.ripe = ripe;
            for way in Way::ALL {
                for place in self.requested.take(way) {
                    self.arbitrate::<PLAIN>(self.requested.at(place));
                }
            }
            if self.losers.is_empty() || round == self.plant.allocator.iterations {
                break;
            }
            round += 1;
            while let Some(port) = self.losers.pop() {
                self.ripe.insert(port);
            }
        }
        // Whoever lost the last round tries again.
        while let Some(port) = self.losers.pop() {
            self.ripen_at(port, self.now + 1);
        }
        if !PLAIN {
            while let Some(router) = self.lookers.pop() {
                self.tell_blocked(router);
            }
        }
    }

    /// Notes the routers with a port that is going to be looked at, the last one first.
    fn note_lookers(&mut self) {
        let mut lookers = std::mem::take(&mut self.lookers);
        lookers.extend(self.ripe.iter().map(|port| self.inputs[port as usize].router));
        lookers.dedup();
        lookers.reverse();
        self.lookers = lookers;
    }

    /// Tells the routing algorithm which heads of injection queues were considered in vain.
    fn tell_blocked(&mut self, router: u32) {
        let state = &self.routers[router as usize];
        let ports = state.port_base..state.port_base + u32::from(state.ports);
        // Hosts have the first ports. An algorithm that is told reconsiders, so that an idle port was
        // looked at.
        for port in ports {
            let input = &self.inputs[port as usize];
            if input.kind != PortKind::Host {
                break;
            }
            let mut heads = if input.busy_until <= self.now { input.occupied } else { 0 };
            while heads != 0 {
                let vc = heads.trailing_zeros();
                heads &= heads - 1;
                let head = self.queues[(input.queues + vc) as usize].head;
                let queue = injection_queue(state, (port, vc as u8), self.now);
                let header = &self.pool[head].packet.header;
                self.routing.injection(queue, Injection::Blocked, header);
            }
        }
    }

    /// Input arbitration: the port requests an output for one of its heads, if any can go.
    #[inline(always)]
    fn request<const PLAIN: bool>(&mut self, port: u32) {
        let Self { inputs, queues, outputs, credits, requested, plant, now, .. } = self;
        let input = &mut inputs[port as usize];
        // Mostly there is nothing to choose, and nothing to decide.
        if !((PLAIN || self.steady) && input.occupied.is_power_of_two() && input.busy_until <= *now)
        {
            return self.request_one_of::<PLAIN>(port);
        }
        let vc = input.occupied.trailing_zeros();
        let wish = &mut queues[(input.queues + vc) as usize].wish;
        if !wish.routed {
            return self.request_one_of::<PLAIN>(port);
        }
        wish.seen |= !PLAIN;
        let out = input.base + u32::from(wish.out);
        let output = &mut outputs[out as usize];
        match room(plant, output, credits, *now, *wish) {
            Room::Enough => ask((port, input, vc as u8), (out, output), requested, plant),
            Room::From(at) => self.ripen_at(port, at),
            Room::WithCredits => {
                output.awaited = true;
                self.starved.insert(port);
            }
        }
    }

    /// The same, where there is something to choose or to decide.
    #[inline(never)]
    fn request_one_of<const PLAIN: bool>(&mut self, port: u32) {
        let Input { busy_until, .. } = self.inputs[port as usize];
        if busy_until > self.now {
            self.ripen_at(port, busy_until);
            return;
        }
        let mut ripe_at = Cycle::MAX;
        if let Some((vc, out)) = self.choose::<PLAIN>(port, &mut ripe_at) {
            let Self { inputs, outputs, requested, plant, .. } = self;
            let (input, output) = (&mut inputs[port as usize], &mut outputs[out as usize]);
            ask((port, input, vc), (out, output), requested, plant);
        } else if ripe_at != Cycle::MAX {
            self.ripen_at(port, ripe_at);
        }
    }

    /// The VC of a port whose head has the highest priority of those that can be granted, and the output
    /// that the head wants.
    fn choose<const PLAIN: bool>(&mut self, port: u32, ripe_at: &mut Cycle) -> Option<(u8, u32)> {
        let input = &self.inputs[port as usize];
        let (pointer, queues) = (u32::from(input.pointer), input.queues);
        // VCs from the pointer on, then those before it.
        let mut turn = input.occupied.rotate_right(pointer);
        let mut best: Option<(Cycle, (u8, u32))> = None;
        while turn != 0 {
            let vc = (turn.trailing_zeros() + pointer) & 63;
            turn &= turn - 1;
            let Some(out) = self.ready::<PLAIN>(port, queues + vc, ripe_at) else { continue };
            let chosen = (vc as u8, out);
            if !self.by_age {
                return Some(chosen);
            }
            let age = self.pool[self.queues[(queues + vc) as usize].head].packet.generated;
            if best.is_none_or(|(oldest, _)| age < oldest) {
                best = Some((age, chosen));
            }
        }
        best.map(|(_, chosen)| chosen)
    }

    /// The output that the head of a queue wants, if it can be granted. If not, says when to ask again,
    /// unless an arriving credit will tell.
    #[inline(always)]
    fn ready<const PLAIN: bool>(
        &mut self,
        port: u32,
        queue: u32,
        ripe_at: &mut Cycle,
    ) -> Option<u32> {
        let (input, queue) = (port as usize, queue as usize);
        let again = !PLAIN && self.reconsidered(input);
        if !self.queues[queue].wish.routed || again {
            self.route_head(input, queue);
        }
        let base = self.inputs[input].base;
        if !PLAIN && !self.plant.shared_by.is_empty() {
            self.take_emptiest(base, queue);
        }
        let wish = &mut self.queues[queue].wish;
        wish.seen |= !PLAIN;
        let wish = *wish;
        let out = base + u32::from(wish.out);
        match self.fits(out, wish) {
            Room::Enough => return Some(out),
            _ if again => *ripe_at = self.now + 1,
            Room::From(at) => *ripe_at = (*ripe_at).min(at),
            Room::WithCredits => self.starve(port, out),
        }
        None
    }

    /// An input port has a head that waits for credits of an output.
    #[inline(never)]
    fn starve(&mut self, port: u32, out: u32) {
        self.outputs[out as usize].awaited = true;
        self.starved.insert(port);
    }

    /// Are the heads of an input routed every time that they are considered?
    #[inline(always)]
    fn reconsidered(&self, input: usize) -> bool {
        let Watches { reconsiders, transit, .. } = self.watches;
        reconsiders && (transit || self.inputs[input].kind == PortKind::Host)
    }

    /// Of the VCs of its class, a head takes the one with most credits, and the first of these.
    pub(super) fn take_emptiest(&mut self, base: u32, queue: usize) {
        let output = &self.outputs[(base + u32::from(self.queues[queue].wish.out)) as usize];
        if output.kind != PortKind::Link {
            return;
        }
        let classes = self.plant.shared_by[usize::from(output.class)];
        let vc = &mut self.queues[queue].wish.vc;
        let mut mate = *vc % classes;
        let (mut emptiest, mut most) = (mate, output.credits(&self.credits, mate));
        while output.vcs - mate > classes {
            mate += classes;
            let credits = output.credits(&self.credits, mate);
            // Without branches: hardly predictable.
            emptiest = select_unpredictable(credits > most, mate, emptiest);
            most = most.max(credits);
        }
        *vc = emptiest;
    }

    /// Is there room in an output for a head that wants it?
    #[inline]
    pub(super) fn fits(&self, out: u32, wish: Wish) -> Room {
        room(&self.plant, &self.outputs[out as usize], &self.credits, self.now, wish)
    }

    /// The head of a queue, which is the first one of its VC, decides where it goes, or has done so when
    /// it arrived.
    #[inline(always)]
    fn route_head(&mut self, input: usize, queue: usize) {
        let head = self.queues[queue].head;
        if self.on_arrival {
            self.queues[queue].wish = self.decided[head as usize];
            return;
        }
        let vc = (queue as u32 - self.inputs[input].queues) as u8;
        self.queues[queue].wish = self.route((input, vc), head, None);
    }

    /// A packet that has become the head of a queue follows its path, if it has one.
    #[inline(always)]
    pub(super) fn guide(&mut self, follows: Follows, port: u32, queue: u32, head: u32) {
        if self.pool[head].packet.header.place == 0 && !follows.at_source {
            return;
        }
        let vc = (queue - self.inputs[port as usize].queues) as u8;
        self.queues[queue as usize].wish = self.route((port as usize, vc), head, Some(follows));
    }

    /// Decides where a packet goes that is at an input port, in a VC: the head of a queue, or one that
    /// has just arrived. It follows its path, or the routing algorithm is asked.
    #[inline(always)]
    pub(super) fn route(&mut self, at: (usize, u8), packet: u32, follows: Option<Follows>) -> Wish {
        let router = RouterId(self.first_router + self.inputs[at.0].router);
        let Packet { header, port, size, .. } = &mut self.pool[packet].packet;
        let (port, size) = (*port, *size);
        header.arrive(router);
        if header.ends_at(router) {
            return Wish::new(size, Hop { port, vc: VcId(0), place: 0 });
        }
        let Some(Follows { vc_use, .. }) = follows else {
            return Wish::new(size, self.decide(at, packet));
        };
        let hop = follow(&*self.plant.topology, router, header, vc_use);
        debug_assert_eq!(hop, self.decide(at, packet), "the algorithm keeps its word");
        Wish::new(size, hop)
    }

    /// Asks the routing algorithm where a packet goes.
    #[inline(always)]
    fn decide(&mut self, (input, vc): (usize, u8), packet: u32) -> Hop {
        let Self { routers, inputs, outputs, credits, plant, lengths, .. } = self;
        let Self { routing, pool, now, sharing, .. } = self;
        let Input { router, base, .. } = inputs[input];
        let state = &mut routers[router as usize];
        let Packet { header, port, size, .. } = &mut pool[packet].packet;
        let now = *now;
        let queues = PortQueues { outputs, credits, plant, lengths, sharing, base, now };
        let mut view = RouterView {
            router: state.id,
            input: PortId((input as u32 - base) as u16),
            vc: VcId(vc),
            port: *port,
            class: 0,
            now,
            size: *size,
            queues: &queues,
            rng: &mut state.rng,
        };
        routing.route(&mut view, header)
    }

    /// Output arbitration: grants one request, or all of them in an ideal switch.
    #[inline(always)]
    fn arbitrate<const PLAIN: bool>(&mut self, out: u32) {
        let first = std::mem::replace(&mut self.outputs[out as usize].first_request, NONE);
        let contested = self.inputs[first as usize].next_request != NONE;
        if contested && self.plant.crossbar == Crossbar::Ideal {
            self.grant_all(out, first);
            return;
        }
        let winner = if contested { self.pick(out, first) } else { first };
        self.cross::<PLAIN>((winner, out), None, true);
        if contested {
            self.turn_down(out, first, winner);
        }
    }

    /// The queue whose head an input port has requested an output for.
    #[inline]
    fn requesting(&self, port: u32) -> usize {
        let input = &self.inputs[port as usize];
        input.queues as usize + usize::from(input.request)
    }

    /// Those that requested an output in vain try again.
    fn turn_down(&mut self, out: u32, first: u32, winner: u32) {
        let busy_until = self.outputs[out as usize].busy_until;
        let mut port = first;
        while port != NONE {
            let input = &self.inputs[port as usize];
            let (next, decided) = (input.next_request, input.occupied.is_power_of_two());
            if port != winner {
                if decided && !self.reconsidered(port as usize) {
                    // Its only head wants this output: nothing to try before it is idle.
                    self.ripen_at(port, busy_until);
                } else {
                    self.losers.push(port);
                }
            }
            port = next;
        }
    }

    /// The requester with the highest priority: transit first if so asked, then age if so asked,
    /// then the first one from the pointer on.
    fn pick(&self, out: u32, first: u32) -> u32 {
        let allocator = &self.plant.allocator;
        let pointer = self.outputs[out as usize].pointer;
        let from = self.inputs[first as usize].base + u32::from(pointer);
        let (mut best, mut winner) = (u64::MAX, first);
        let mut port = first;
        while port != NONE {
            let input = &self.inputs[port as usize];
            let yields = allocator.transit_priority && input.kind == PortKind::Host;
            let age = match allocator.arbiter {
                Arbiter::RoundRobin => 0,
                Arbiter::Age => self.pool[self.queues[self.requesting(port)].head].packet.generated,
            };
            // Those before the pointer are beyond all that are not.
            let turn = port.wrapping_sub(from) as u16;
            let rank = u64::from(yields) << 48 | u64::from(age) << 16 | u64::from(turn);
            (best, winner) = if rank < best { (rank, port) } else { (best, winner) };
            port = input.next_request;
        }
        winner
    }

    /// An ideal switch grants every request, in round-robin order, while there is room.
    #[cold]
    fn grant_all(&mut self, out: u32, first: u32) {
        let mut rivals = std::mem::take(&mut self.rivals);
        let mut port = first;
        while port != NONE {
            rivals.push(port);
            port = self.inputs[port as usize].next_request;
        }
        let pointer = self.outputs[out as usize].pointer;
        let from = self.inputs[first as usize].base + u32::from(pointer);
        rivals.sort_unstable_by_key(|port| port.wrapping_sub(from));
        // Those without room try again in the next cycle.
        for port in rivals.drain(..) {
            if matches!(self.fits(out, self.queues[self.requesting(port)].wish), Room::Enough) {
                self.cross::<false>((port, out), None, true);
            } else {
                self.losers.push(port);
            }
        }
        self.rivals = rivals;
    }

    /// Moves the head of a queue, that of the requested VC of an input port, or one of its lanes, to the output
    /// that it wants, whose pointer may move on.
    #[inline(always)]
    pub(super) fn cross<const PLAIN: bool>(
        &mut self,
        (input_index, out_index): (u32, u32),
        lane: Option<usize>,
        turn: bool,
    ) {
        let Self { inputs, outputs, queues, pool, credits, plant, collector, .. } = self;
        let now = self.now;
        let input = &mut inputs[input_index as usize];
        let in_vc = input.request;
        let queue = lane.unwrap_or(input.queues as usize + usize::from(in_vc));
        let head = &mut queues[queue];
        let wish = head.wish;
        let size = u32::from(wish.size);
        let packet = head.head;
        let (next, arrival) = pool.remove(packet);

        // The next packet of the VC becomes its head.
        (head.head, head.wish.routed, head.wish.seen) = (next, false, false);
        if !PLAIN {
            input.sent = wish;
        }
        input.occupied &= !(u64::from(next == NONE) << in_vc);

        // The crossbar is held until the tail has passed. The tail of an injected packet is already
        // in the queue.
        let injection = input.kind == PortKind::Host;
        let tail = if injection { now + 1 } else { arrival + size };
        let (read_until, write_until) = plant.crossbar.held(now, tail, size);
        let blocked = now - arrival.max(input.busy_until);
        input.busy_until = read_until;
        if plant.allocator.pointer == Pointer::OnGrant {
            input.pointer = in_vc + 1;
        }
        let (upstream, more) = (input.upstream, input.occupied != 0);

        let output = &mut outputs[out_index as usize];
        output.busy_until = write_until;
        if turn {
            output.pointer = (input_index + 1 - input.base) as u16;
        }
        let departure = output.link_free.max(now + plant.pipeline);
        output.link_free = departure + size;
        output.sent += collector.overlap(departure, size);
        collector.grants += 1;
        // Without a branch: whether a packet stays in the network is hardly predictable.
        let taken = if output.way == Way::Host { 0 } else { size };
        output.queued += taken;
        *output.credits_mut(credits, wish.vc) -= taken;
        let Output { router, exit, downstream, way, .. } = *output;

        if injection {
            self.leave::<PLAIN>(packet, (input_index, in_vc), (router, upstream.port), blocked);
        } else {
            self.return_credit(upstream, in_vc, wish.size);
        }
        let arrival = departure + downstream.latency;
        if way == Way::Host {
            self.eject::<PLAIN>(downstream.port, packet, arrival + size);
        } else {
            self.depart::<PLAIN>(packet, wish, downstream, arrival);
        }
        if !PLAIN && self.watches.queues && exit {
            self.soil(router);
        }
        if !PLAIN && self.keeps_books {
            self.book((input_index, in_vc), out_index, wish, departure);
        }
        if more {
            self.go_on(input_index, queue, read_until);
        }
    }

    /// An input port has packets left, perhaps in the queue that it sends from until some cycle.
    #[inline(always)]
    fn go_on(&mut self, port: u32, queue: usize, until: Cycle) {
        let next = self.queues[queue].head;
        if let Some(follows) = self.follows
            && next != NONE
        {
            self.guide(follows, port, queue as u32, next);
        }
        self.ripen_at(port, until);
    }

    /// Does what some runs need when a packet is granted: what shared memory is left, what routing algorithms
    /// look at, which channels depend on each other.
    #[inline(never)]
    fn book(&mut self, (input, in_vc): (u32, u8), out: u32, wish: Wish, departure: Cycle) {
        let output = &mut self.outputs[out as usize];
        let router = output.router;
        let onward = output.kind == PortKind::Link;
        if let Some(sharing) = &mut self.sharing
            && onward
        {
            let used = sharing.used(out, wish.vc) + u32::from(wish.size);
            sharing.use_of(&self.plant, output, &mut self.credits, (out, wish.vc, used));
        }
        if let Some(observed) = &mut self.dependencies {
            let Input { kind, base, .. } = self.inputs[input as usize];
            let to = onward.then_some((wish.out, wish.vc));
            let from = (kind != PortKind::Host).then_some(((input - base) as u16, in_vc));
            if self.plant.escape.is_none_or(|escape| escape.0 == wish.vc) {
                observed.add(router, from, to);
            }
        }
        if onward && self.lengths.kept() {
            self.lengthen(out, wish.vc, wish.size, departure);
        }
    }

    /// A packet leaves its injection queue, at whose head it was blocked for some cycles.
    #[inline(always)]
    fn leave<const PLAIN: bool>(
        &mut self,
        packet: u32,
        at: (u32, u8),
        from: (u32, u32),
        blocked: u32,
    ) {
        let (now, (_, class), (router, index)) = (self.now, at, from);
        let packet = &mut self.pool[packet].packet;
        let Packet { header, size, mark, .. } = *packet;
        if !PLAIN && self.nics.is_some() {
            self.stamp(mark);
        } else {
            packet.mark = now;
        }
        if !PLAIN && self.watches.injections {
            let queue = injection_queue(&self.routers[router as usize], at, now);
            self.routing.injection(queue, Injection::Left, &header);
        }
        let size = u32::from(size);
        let host = &mut self.hosts[index as usize];
        *host.queued_mut(&mut self.queued, class) -= size;
        self.collector.injected += 1;
        if self.collector.covers(now) {
            host.injected += u64::from(size);
            self.collector.injected_packets += 1;
            self.collector.injected_phits += u64::from(size);
            self.collector.blocked += u64::from(blocked);
            self.paths[router as usize][header.kind.index()] += 1;
        }
        if !PLAIN && self.nics.is_some() {
            self.refill(index);
        }
    }

    /// A packet leaves the network; its last phit is consumed in the cycle before `delivered`.
    #[inline(always)]
    fn eject<const PLAIN: bool>(&mut self, host: u32, packet: u32, delivered: Cycle) {
        let Packet { generated, mark, header, size, .. } = self.pool[packet].packet;
        let unpack = !PLAIN && self.nics.is_some();
        let injected = if unpack { self.unpack(host, packet, delivered) } else { mark };
        let Header { hops, kind, .. } = header;
        let sample = Delivery { generated, injected, delivered, size, hops, kind };
        if self.collector.deliver(&sample) {
            self.hosts[host as usize].accepted += u32::from(size);
        }
    }
}

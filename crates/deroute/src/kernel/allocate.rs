//! Input-first separable allocation, and what a grant does.

use super::packet::{NONE, Packet};
use super::partition::{Partition, injection_queue};
use super::plant::Crossbar;
use super::state::{PortKind, PortQueues, Queue};
use crate::ids::{Cycle, PortId, VcId};
use crate::probe::collect::Delivery;
use crate::routing::{Injection, RouterView};
use crate::spec::{Arbiter, Pointer};

/// Room for a head in the output that it wants.
enum Room {
    Enough,
    /// Not before this cycle.
    From(Cycle),
    /// When credits arrive.
    WithCredits,
}

impl Partition {
    /// Allocates in one router: rounds of input and output arbitration. Inputs that lost in one
    /// round try again in the next.
    pub(super) fn allocate(&mut self, router: u32) {
        let state = &mut self.routers[router as usize];
        state.awake = false;
        let (base, words) = (state.port_base, state.words as usize);
        let word_count = usize::from(state.ports).div_ceil(64);
        for word in 0..word_count {
            let mut bits = std::mem::take(&mut self.waits[words + word].ripe);
            while bits != 0 {
                let port = (word as u32) * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                self.request(router, base, port as u16);
            }
        }
        let mut round = 1;
        while !self.requested.is_empty() {
            let mut requested = std::mem::take(&mut self.requested);
            for out in requested.drain(..) {
                self.serve(base, out);
            }
            self.requested = requested;
            if self.losers.is_empty() || round == self.plant.allocator.iterations {
                break;
            }
            round += 1;
            let mut losers = std::mem::take(&mut self.losers);
            losers.sort_unstable();
            for port in losers.drain(..) {
                self.request(router, base, port);
            }
            self.losers = losers;
        }
        // Whoever lost the last round tries again.
        while let Some(port) = self.losers.pop() {
            self.ripen_at(base + u32::from(port), self.now + 1);
        }
        if self.watches.blocked {
            self.tell_blocked(router, base);
        }
    }

    /// Tells the routing algorithm which heads of injection queues were considered in vain.
    fn tell_blocked(&mut self, router: u32, base: u32) {
        let state = &self.routers[router as usize];
        let ports = base..base + u32::from(state.ports);
        // Hosts have the first ports. An algorithm that is told reconsiders, so that every head of
        // an idle port was considered.
        for port in ports {
            let input = &self.inputs[port as usize];
            if input.kind != PortKind::Host {
                break;
            }
            if input.occupied != 0 && input.busy_until <= self.now {
                let head = self.queues[input.queues as usize].head;
                let queue = injection_queue(state, port, self.now);
                let header = &self.pool[head].packet.header;
                self.routing.injection(queue, Injection::Blocked, header);
            }
        }
    }

    /// Input arbitration: the port requests an output for one of its heads, if any can go.
    fn request(&mut self, router: u32, base: u32, port: u16) {
        let index = (base + u32::from(port)) as usize;
        let input = &self.inputs[index];
        if input.busy_until > self.now {
            let at = input.busy_until;
            self.ripen_at(index as u32, at);
            return;
        }
        let (occupied, queues) = (input.occupied, input.queues);
        let mut ripe_at = Cycle::MAX;
        let chosen = if occupied.is_power_of_two() {
            // Mostly there is nothing to choose.
            let vc = occupied.trailing_zeros();
            self.ready(router, base, index, (queues + vc) as usize, &mut ripe_at)
                .then_some(vc as u8)
        } else {
            self.choose(router, base, index, &mut ripe_at)
        };
        let Some(vc) = chosen else {
            if ripe_at != Cycle::MAX {
                self.ripen_at(index as u32, ripe_at);
            }
            return;
        };
        let out = self.queues[queues as usize + usize::from(vc)].out;
        let input = &mut self.inputs[index];
        input.request = vc;
        if self.plant.allocator.pointer == Pointer::OnRequest {
            input.pointer = vc + 1;
        }
        let output = &mut self.outputs[(base + u32::from(out)) as usize];
        if output.requests == 0 {
            self.requested.push(out);
        } else {
            input.next_request = output.first_request;
        }
        output.first_request = port;
        output.requests += 1;
    }

    /// The VC of a port whose head has the highest priority of those that can be granted.
    #[inline(never)]
    fn choose(&mut self, router: u32, base: u32, index: usize, ripe_at: &mut Cycle) -> Option<u8> {
        let input = &self.inputs[index];
        let (pointer, queues) = (u32::from(input.pointer), input.queues);
        // VCs from the pointer on, then those before it.
        let mut turn = input.occupied.rotate_right(pointer);
        let mut best: Option<(Cycle, u8)> = None;
        while turn != 0 {
            let vc = ((turn.trailing_zeros() + pointer) & 63) as u8;
            turn &= turn - 1;
            let queue = queues as usize + usize::from(vc);
            if !self.ready(router, base, index, queue, ripe_at) {
                continue;
            }
            if !self.by_age {
                return Some(vc);
            }
            let age = self.pool[self.queues[queue].head].packet.generated;
            if best.is_none_or(|(oldest, _)| age < oldest) {
                best = Some((age, vc));
            }
        }
        best.map(|(_, vc)| vc)
    }

    /// Can the head of a queue be granted? If not, says when to ask again, unless an arriving
    /// credit will tell.
    #[inline(always)]
    fn ready(
        &mut self,
        router: u32,
        base: u32,
        input: usize,
        queue: usize,
        ripe_at: &mut Cycle,
    ) -> bool {
        let again = self.watches.reconsiders && self.inputs[input].kind == PortKind::Host;
        if !self.queues[queue].routed || again {
            self.route(router, base, input, queue);
        }
        let (now, room) = (self.now, self.fits(base, queue));
        match room {
            Room::Enough => return true,
            _ if again => *ripe_at = now + 1,
            Room::From(at) => *ripe_at = (*ripe_at).min(at),
            Room::WithCredits => {
                let out = self.queues[queue].out;
                self.outputs[(base + u32::from(out)) as usize].awaited = true;
                let bit = input as u32 - base;
                let words = self.routers[router as usize].words;
                self.waits[(words + bit / 64) as usize].starved |= 1 << (bit % 64);
            }
        }
        false
    }

    /// Is there room for a head that has been routed?
    #[inline]
    fn fits(&self, base: u32, queue: usize) -> Room {
        let Queue { out, vc, size, .. } = self.queues[queue];
        let output = &self.outputs[(base + u32::from(out)) as usize];
        if output.busy_until > self.now {
            return Room::From(output.busy_until);
        }
        if output.kind == PortKind::Link && output.credits(&self.credits, vc) < u32::from(size) {
            return Room::WithCredits;
        }
        let backlog = output.link_free.saturating_sub(self.now);
        let room = self.plant.output_buffer;
        if backlog.saturating_add(u32::from(size)) > room {
            return Room::From(output.link_free + u32::from(size) - room);
        }
        Room::Enough
    }

    /// Decides where the head of a queue goes.
    #[inline(never)]
    fn route(&mut self, router: u32, base: u32, input: usize, queue: usize) {
        let Self { routers, inputs, outputs, credits, plant, routing, queues, pool, now, .. } =
            self;
        let state = &mut routers[router as usize];
        let vc = VcId((queue as u32 - inputs[input].queues) as u8);
        let queue = &mut queues[queue];
        let packet = &mut pool[queue.head].packet;
        let header = &mut packet.header;
        queue.routed = true;
        header.arrive(state.id);
        if header.ends_at(state.id) {
            (queue.out, queue.vc) = (packet.port.0, 0);
            return;
        }
        let first = base as usize;
        let outputs = &outputs[first..first + usize::from(state.ports)];
        let mut view = RouterView {
            router: state.id,
            input: PortId((input as u32 - base) as u16),
            vc,
            port: packet.port,
            class: 0,
            now: *now,
            queues: &PortQueues { outputs, credits, plant },
            rng: &mut state.rng,
        };
        let hop = routing.route(&mut view, header);
        (queue.out, queue.vc, queue.place) = (hop.port.0, hop.vc.0, hop.place);
    }

    /// Output arbitration: grants one request, or all of them in an ideal switch.
    fn serve(&mut self, base: u32, out: u16) {
        let output = &mut self.outputs[(base + u32::from(out)) as usize];
        let (requests, first) = (std::mem::take(&mut output.requests), output.first_request);
        if requests == 1 {
            self.grant(base, first, out);
            return;
        }
        if self.plant.crossbar == Crossbar::Ideal {
            self.grant_all(base, out, (requests, first));
            return;
        }
        let winner = self.pick(base, out, requests, first);
        self.grant(base, winner, out);
        let busy_until = self.outputs[(base + u32::from(out)) as usize].busy_until;
        let mut port = first;
        for _ in 0..requests {
            let index = base + u32::from(port);
            let input = &self.inputs[index as usize];
            let (next, decided) = (input.next_request, input.occupied.is_power_of_two());
            let again = self.watches.reconsiders && input.kind == PortKind::Host;
            if port != winner {
                if decided && !again {
                    // Its only head wants this output: nothing to try before it is idle.
                    self.ripen_at(index, busy_until);
                } else {
                    self.losers.push(port);
                }
            }
            port = next;
        }
    }

    /// The requester with the highest priority: transit first if so asked, then age if so asked,
    /// then the first one from the pointer on.
    fn pick(&self, base: u32, out: u16, requests: u16, first: u16) -> u16 {
        let allocator = &self.plant.allocator;
        let output = &self.outputs[(base + u32::from(out)) as usize];
        let ports = self.routers[output.router as usize].ports;
        let mut best = (true, Cycle::MAX, u16::MAX, first);
        let mut port = first;
        for _ in 0..requests {
            let input = &self.inputs[(base + u32::from(port)) as usize];
            let yields = allocator.transit_priority && input.kind == PortKind::Host;
            let age = match allocator.arbiter {
                Arbiter::RoundRobin => 0,
                Arbiter::Age => {
                    let queue = input.queues as usize + usize::from(input.request);
                    self.pool[self.queues[queue].head].packet.generated
                }
            };
            let from_pointer = if port >= output.pointer {
                port - output.pointer
            } else {
                port + (ports - output.pointer)
            };
            best = best.min((yields, age, from_pointer, port));
            port = input.next_request;
        }
        best.3
    }

    /// An ideal switch grants every request, in round-robin order, while there is room.
    fn grant_all(&mut self, base: u32, out: u16, (requests, first): (u16, u16)) {
        let mut rivals = std::mem::take(&mut self.rivals);
        let mut port = first;
        for _ in 0..requests {
            rivals.push(port);
            port = self.inputs[(base + u32::from(port)) as usize].next_request;
        }
        let pointer = self.outputs[(base + u32::from(out)) as usize].pointer;
        rivals.sort_unstable_by_key(|&port| (port < pointer, port));
        // Those without room try again in the next cycle.
        for port in rivals.drain(..) {
            let input = (base + u32::from(port)) as usize;
            let queue =
                self.inputs[input].queues as usize + usize::from(self.inputs[input].request);
            if matches!(self.fits(base, queue), Room::Enough) {
                self.grant(base, port, out);
            } else {
                self.losers.push(port);
            }
        }
        self.rivals = rivals;
    }

    /// Moves the head of the requested VC of `port` to the output.
    fn grant(&mut self, base: u32, port: u16, out: u16) {
        let now = self.now;
        let input_index = (base + u32::from(port)) as usize;
        let input = &mut self.inputs[input_index];
        let in_vc = input.request;
        let queue_index = input.queues as usize + usize::from(in_vc);
        let queue = self.queues[queue_index];
        let slot = &self.pool[queue.head];
        let (size, next, arrival) = (u32::from(queue.size), slot.next, slot.arrival);

        // The crossbar is held until the tail has passed. The tail of an injected packet is already
        // in the queue.
        let injection = input.kind == PortKind::Host;
        let tail = if injection { now + 1 } else { arrival + size };
        let (read_until, write_until) = match self.plant.crossbar {
            Crossbar::Speed(speed) => {
                // A division is slow, and hardly any switch is faster than 2.
                let cycles = match speed {
                    1 => size,
                    2 => size.div_ceil(2),
                    _ => size.div_ceil(speed),
                };
                let end = tail.max(now + cycles);
                (end, end)
            }
            Crossbar::Ideal => (tail.max(now + 1), now),
        };
        let waited_from = arrival.max(input.busy_until);
        input.busy_until = read_until;
        if self.plant.allocator.pointer == Pointer::OnGrant {
            input.pointer = in_vc + 1;
        }
        let upstream = input.upstream;

        let output = &mut self.outputs[(base + u32::from(out)) as usize];
        output.busy_until = write_until;
        output.pointer = port + 1;
        let departure = output.link_free.max(now + self.plant.pipeline);
        output.link_free = departure + size;
        output.sent += self.collector.overlap(departure, size);
        self.collector.grants += 1;

        // The next packet of the VC becomes its head.
        let queue_slot = &mut self.queues[queue_index];
        if next == NONE {
            queue_slot.head = NONE;
            let input = &mut self.inputs[input_index];
            input.occupied &= !(1 << in_vc);
        } else {
            queue_slot.head = next;
            queue_slot.routed = false;
            queue_slot.size = self.pool[next].packet.size;
        }

        if let Some(observed) = &mut self.dependencies {
            let to = (output.kind == PortKind::Link).then_some((out, queue.vc));
            let from = (!injection).then_some((port, in_vc));
            observed.add(output.router, from, to);
        }
        let (router, exit, kind) = (output.router, output.exit, output.kind);
        let downstream = output.downstream;
        if kind == PortKind::Link {
            output.queued += size;
            *output.credits_mut(&mut self.credits, queue.vc) -= size;
            if self.watches.queues && exit {
                self.soil(router);
            }
        }
        if self.inputs[input_index].occupied != 0 {
            self.ripen_at(input_index as u32, read_until);
        }
        let mut packet = self.pool.remove(queue.head);
        if injection {
            packet.injected = now;
            if self.watches.injections {
                let state = &self.routers[router as usize];
                let queue = injection_queue(state, base + u32::from(port), now);
                self.routing.injection(queue, Injection::Left, &packet.header);
            }
            self.inject(upstream.port, router, &packet, now - waited_from);
        } else {
            self.return_credit(upstream, in_vc, queue.size);
        }
        if kind == PortKind::Link {
            packet.header.place = queue.place;
            packet.header.hops += 1;
            self.depart(downstream, queue.vc, packet, departure + downstream.latency);
        } else {
            self.eject(downstream.port, &packet, departure + downstream.latency + size);
        }
    }

    /// A packet leaves its injection queue.
    fn inject(&mut self, host: u32, router: u32, packet: &Packet, blocked: u32) {
        let now = self.now;
        let size = u32::from(packet.size);
        let host = &mut self.hosts[host as usize];
        host.queued -= size;
        self.collector.injected += 1;
        if self.collector.covers(now) {
            host.injected += u64::from(size);
            self.collector.injected_packets += 1;
            self.collector.injected_phits += u64::from(size);
            self.collector.blocked += u64::from(blocked);
            self.paths[router as usize][packet.header.kind.index()] += 1;
        }
    }

    /// A packet leaves the network; its last phit is consumed in the cycle before `delivered`.
    fn eject(&mut self, host: u32, packet: &Packet, delivered: Cycle) {
        let sample = Delivery {
            generated: packet.generated,
            injected: packet.injected,
            delivered,
            size: packet.size,
            hops: packet.header.hops,
            kind: packet.header.kind,
        };
        if self.collector.deliver(&sample) {
            self.hosts[host as usize].accepted += u64::from(packet.size);
        }
    }
}

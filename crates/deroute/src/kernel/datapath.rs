//! The way of a packet through a switch: routed, granted, through the crossbar, onto its link.

use std::hint::select_unpredictable;

use super::books::Books;
use super::control::Control;
use super::core::Core;
use super::core::grant::{Grant, Room};
use super::core::packet::{BufferId, Flight, NONE, Packet};
use super::core::ports::{Host, Input, Link, Output, OutputRequest, PortKind};
use super::hosts::Hosts;
use super::machine::{Datapath, Egress, Machine};
use super::model::Model;
use super::sensed::SensedQueues;
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::probe::collect::Delivery;
use crate::routing::{Follows, Hop, Injection, RouterView, follow};
use crate::spec::Pointer;

/// Is there room in an output for a head that requests it? `credits` is `Core::credits`.
#[inline(always)]
pub(crate) fn room<M: Machine>(
    (model, egress): (&Model, &M::Egress),
    output: &Output,
    credits: &[u32],
    (out, now): (u32, Cycle),
    request: OutputRequest,
) -> Room {
    if output.busy_until > now {
        return Room::From(M::Egress::not_before(model, output, request.size));
    }
    if !M::Control::has_room(model, output, credits, request) {
        return Room::WithCredits;
    }
    egress.space(model, output, (out, now), request)
}

impl<M: Machine> Datapath<M> {
    /// Are hosts' injection queues behind a link, and not the buffers of the router?
    #[inline(always)]
    pub(crate) fn has_host_links(&self) -> bool {
        M::Egress::QUEUED && self.core.model.egress.nic.is_some()
    }

    /// The queues of a router as its agent sees them.
    pub(crate) fn sensed(&self, router: u32) -> SensedQueues<'_, M::Control, M::Egress> {
        let Self { core, control, egress, books, .. } = self;
        let Core { model, outputs, credits, routers, now, .. } = core;
        let (base, now) = (routers[router as usize].port_base, *now);
        let (egress, occupancy) = (Some(egress), books.occupancy());
        SensedQueues { model, outputs, credits, control, egress, occupancy, base, now }
    }

    /// Shows queues that have changed to the routing algorithm.
    #[inline]
    pub(crate) fn show_changed(&mut self) {
        let Self { core, control, egress, books, agents, .. } = self;
        let Core { model, outputs, credits, routers, now, .. } = core;
        let (control, now, occupancy) = (&*control, *now, books.occupancy());
        let egress = Some(&*egress);
        agents.show_changed((core.first_router, now), |router| {
            let base = routers[router as usize].port_base;
            SensedQueues { model, outputs, credits, control, egress, occupancy, base, now }
        });
    }

    /// Is there room in an output for a head that requests it?
    #[inline]
    pub(crate) fn room(&self, out: u32, request: OutputRequest) -> Room {
        let Core { model, outputs, credits, now, .. } = &self.core;
        room::<M>((model, &self.egress), &outputs[out as usize], credits, (out, *now), request)
    }

    /// Stores a packet whose head arrives at an input port.
    #[inline(always)]
    pub(crate) fn store(&mut self, Flight { packet, to, .. }: Flight) -> u32 {
        let Self { core, agents, .. } = self;
        let index = core.pool.insert(packet, core.now);
        let (port, vc) = (to.port(), to.vc());
        if M::Books::KEPT
            && agents.watches.injections
            && core.inputs[port as usize].kind == PortKind::Host
            && !core.model.egress.notifies(vc)
        {
            let queue = core.injection_queue(port, vc);
            agents.note_injection((port, vc), queue, Injection::Entered, packet.header);
        }
        M::Egress::arrived(self, (port, vc), index);
        index
    }

    /// Stores a packet whose head arrives at an input port where a VC is one queue. If it is the head of that
    /// queue now, says until when the crossbar reads from the port.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, flight: Flight) -> (u32, Option<Cycle>) {
        let index = self.store(flight);
        let core = &mut self.core;
        let (port, vc) = (flight.to.port(), flight.to.vc());
        let input = &mut core.inputs[port as usize];
        let queue = &mut core.queues[input.queues as usize + usize::from(vc)];
        if queue.head != NONE {
            let tail = std::mem::replace(&mut queue.tail, index);
            core.pool[tail].next = index;
            return (index, None);
        }
        (queue.head, queue.tail) = (index, index);
        input.occupied |= 1 << vc;
        let (busy_until, queue) = (input.busy_until, input.queues + u32::from(vc));
        self.lookahead_route(port, queue, index);
        (index, Some(busy_until))
    }

    /// A packet that has become the head of a queue follows its path, if it has one.
    #[inline(always)]
    fn lookahead_route(&mut self, port: u32, queue: u32, head: u32) {
        let Self { core, agents, .. } = self;
        let Some(Follows { ladder, at_source }) = &agents.follows else { return };
        let Core { pool, inputs, model, first_router, .. } = core;
        let Packet { header, port: home, size, .. } = &mut pool[head].packet;
        if header.position == 0 && !at_source {
            return;
        }
        let vc = (queue - inputs[port as usize].queues) as u8;
        if M::Hosts::NOTIFY && model.egress.notifies(vc) {
            return;
        }
        let (size, router) = (*size, RouterId(*first_router + inputs[port as usize].router));
        header.arrive(router);
        let hop = match header.ends_at(router) {
            true => to_host(*home),
            false => {
                let hop = follow(&*model.topology, ladder, router, header);
                Hop { vc: model.egress.in_class(hop.vc, vc), ..hop }
            }
        };
        let request = OutputRequest::new(size, hop);
        core.queues[queue as usize].request = request;
        debug_assert_eq!(request, self.route((port as usize, vc), head), "it follows its path");
    }

    /// Decides where a packet goes that is at an input port, in a VC: the head of a queue, or one that
    /// has just arrived. The routing algorithm is asked, unless the packet is at its destination.
    #[inline(always)]
    pub(crate) fn route(&mut self, at: (usize, u8), packet: u32) -> OutputRequest {
        let core = &mut self.core;
        let router = RouterId(core.first_router + core.inputs[at.0].router);
        let Packet { header, port, size, .. } = &mut core.pool[packet].packet;
        let (port, size) = (*port, *size);
        header.arrive(router);
        let hop = match header.ends_at(router) {
            true => to_host(port),
            false => self.decide(at, packet),
        };
        OutputRequest::new(size, hop)
    }

    /// Asks the routing algorithm where a packet goes.
    #[inline(always)]
    fn decide(&mut self, (input, vc): (usize, u8), packet: u32) -> Hop {
        let Self { core, agents, control, egress, books, .. } = self;
        let Core { model, inputs, outputs, credits, routers, pool, now, .. } = core;
        let Input { router, base, .. } = inputs[input];
        let now = *now;
        let state = &mut routers[router as usize];
        let Packet { header, port, size, .. } = &mut pool[packet].packet;
        let (egress, occupancy) = (Some(&*egress), books.occupancy());
        let queues =
            SensedQueues { model, outputs, credits, control, egress, occupancy, base, now };
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
        agents.routing.route(&mut view, header)
    }

    /// Of the VCs of its class, a head takes the one with most credits, and the first of these.
    pub(crate) fn take_emptiest(&mut self, base: u32, queue: usize) {
        let Core { model, outputs, queues, credits, .. } = &mut self.core;
        let request = &mut queues[queue].request;
        let output = &outputs[(base + u32::from(request.out)) as usize];
        if output.kind != PortKind::Link {
            return;
        }
        let classes = model.shared_by[usize::from(output.class)];
        let vc = &mut request.vc;
        let mut mate = *vc % classes;
        let (mut emptiest, mut most) = (mate, output.credits(credits, mate));
        while output.vcs - mate > classes {
            mate += classes;
            let free = output.credits(credits, mate);
            // Without branches: hardly predictable.
            emptiest = select_unpredictable(free > most, mate, emptiest);
            most = most.max(free);
        }
        *vc = emptiest;
    }

    /// Moves the head of a queue, that of the requested VC of an input port, or one of its VOQs, to the output
    /// that it requests, whose pointer may move on: it traverses the switch.
    #[inline(always)]
    pub(crate) fn commit_grant(
        &mut self,
        (input_index, out): (u32, u32),
        voq: Option<usize>,
        turn: bool,
    ) {
        let host_links = self.has_host_links();
        let Core { inputs, queues, pool, model, periods, registers, now, .. } = &mut self.core;
        let now = *now;
        let input = &mut inputs[input_index as usize];
        let in_vc = input.requested_vc;
        let queue = voq.unwrap_or(input.queues as usize + usize::from(in_vc));
        let head = &mut queues[queue];
        let request = head.request;
        let size = u32::from(request.size);
        let packet = head.head;
        let (next, arrival) =
            if M::Egress::QUEUED { pool.unlink(packet) } else { pool.remove(packet) };
        let registered = !M::ROUTE_FIXED && model.registers && registers.let_go(packet);

        // The next packet of the VC becomes its head.
        (head.head, head.request.routed, head.request.seen) = (next, false, false);
        if M::Books::KEPT {
            input.sent = request;
        }
        input.occupied &= !(u64::from(next == NONE) << in_vc);

        // The crossbar is held until the tail has passed. The tail of an injected packet is already
        // in the queue.
        let from_host = input.kind == PortKind::Host;
        let injection = from_host & !host_links;
        let paced = M::Egress::QUEUED && !periods.is_empty();
        let period = if paced { periods[input_index as usize] } else { 1 };
        // Without a branch: where a packet comes from is hardly predictable.
        let tail = select_unpredictable(injection, now + 1, arrival + size * period);
        let (read_until, write_until) = model.crossbar.held(now, tail, size);
        let blocked = now - arrival.max(input.busy_until);
        input.busy_until = read_until;
        if model.allocator.pointer == Pointer::OnGrant {
            input.pointer = in_vc + 1;
        }
        let more = input.occupied != 0;
        let in_port = (input_index - input.base) as u16;
        let grant = Grant {
            input: input_index,
            upstream: input.upstream,
            router: input.router,
            in_vc,
            in_port,
            out,
            packet,
            request,
            injection,
            registered,
            arrival,
            blocked,
            write_until,
            turn,
        };
        let Self { core, hosts, .. } = self;
        hosts.cross(|| (core.pool[packet].packet.host_word, unloaded::<M>(core, &grant)));
        let departure = M::Egress::take(self, &grant);
        self.books.granted(&self.core, &mut self.agents, &grant, departure);
        if more {
            self.go_on(input_index, queue, read_until);
        }
    }

    /// An input port has packets left, perhaps in the queue that it sends from until some cycle.
    #[inline(always)]
    fn go_on(&mut self, port: u32, queue: usize, until: Cycle) {
        let next = self.core.queues[queue].head;
        if next != NONE {
            self.lookahead_route(port, queue as u32, next);
        }
        // The next head may move into a register at once.
        let soon = !M::ROUTE_FIXED && self.core.model.registers;
        self.core.schedule_wakeup(port, if soon { self.core.now + 1 } else { until });
    }

    /// A packet leaves its input: an injection queue, or a buffer whose room goes back to the sender.
    #[inline(always)]
    pub(crate) fn leave_input(&mut self, grant: &Grant) {
        if !grant.injection {
            if !grant.registered {
                let from = (grant.input, grant.upstream);
                self.control.release(&mut self.core, from, grant.in_vc, grant.request.size);
            }
            return;
        }
        let Self { core, agents, hosts, .. } = self;
        let (now, router, host) = (core.now, grant.router, grant.upstream.port);
        let packet = &mut core.pool[grant.packet].packet;
        let header = packet.header;
        hosts.injected(packet, now);
        if M::Hosts::NOTIFY && core.model.egress.notifies(grant.in_vc) {
            return;
        }
        if M::Books::KEPT && agents.watches.injections {
            let at = (grant.input, grant.in_vc);
            agents.note_injection(at, core.injection_queue(at.0, at.1), Injection::Left, header);
        }
        core.count_injected(host, grant.in_vc, grant.request.size);
        core.count_path(router, header.kind(), grant.blocked);
        hosts.refill(core, host);
    }

    /// A packet leaves for another router.
    #[inline(always)]
    pub(crate) fn depart(&mut self, packet: u32, request: OutputRequest, link: Link, at: Cycle) {
        let Self { core, hosts, .. } = self;
        debug_assert!(at - core.now <= core.arrivals.horizon());
        let packet = &core.pool[packet].packet;
        let hops = packet.header.hops + 1;
        // Copied once, from memory to memory, and changed there.
        let flight = if link.partition == core.index {
            core.arrivals.place(at)
        } else {
            let arrivals = &mut core.outbox[link.partition as usize].arrivals;
            arrivals.push(Flight::default());
            let last = arrivals.len() - 1;
            &mut arrivals[last]
        };
        flight.packet = *packet;
        flight.packet.header.position = request.hop_position;
        flight.packet.header.hops = hops;
        (flight.to, flight.at) = (BufferId::new(link.port, request.vc), at);
        if link.partition != core.index {
            let word = packet.host_word;
            hosts.post(core, link.partition, word);
        }
    }

    /// A packet leaves the network; its last phit is consumed in the cycle before `delivered`.
    #[inline(always)]
    pub(crate) fn eject(&mut self, host: u32, packet: u32, delivered: Cycle) {
        let Self { core, hosts, .. } = self;
        let Core { pool, collector, hosts: receivers, now, .. } = core;
        let Packet { generated, host_word, header, size, .. } = pool[packet].packet;
        let (hops, kind) = (header.hops, header.kind());
        let marked = M::Egress::QUEUED && header.is_marked();
        let injected = host_word;
        let sample = Delivery { generated, injected, delivered, size, hops, kind, marked };
        let new = hosts.deliver((host, *now), host_word, sample, |sample| {
            if collector.deliver(sample) {
                let host: &mut Host = &mut receivers[host as usize];
                host.accepted += u32::from(sample.size);
            }
        });
        collector.retransmission.duplicates += u64::from(!new);
    }

    /// Does a head that has been routed lack credits?
    pub(crate) fn credit_blocked(&self, base: u32, request: &OutputRequest) -> bool {
        let Core { model, credits, .. } = &self.core;
        let output: &Output = self.core.requested(base, request);
        output.kind == PortKind::Link && !M::Control::has_room(model, output, credits, *request)
    }

    /// Is the output full that a head has requested?
    pub(crate) fn output_full(&self, base: u32, request: &OutputRequest) -> bool {
        let Core { model, now, .. } = &self.core;
        let (at, output) = (base + u32::from(request.out), self.core.requested(base, request));
        matches!(self.egress.space(model, output, (at, *now), *request), Room::WithCredits)
    }
}

/// Cycles from the arrival of a packet at a switch to that at the next one, or to the last phit at its host, if it
/// never waits.
fn unloaded<M: Machine>(core: &Core, grant: &Grant) -> Cycle {
    let Core { model, outputs, .. } = core;
    let size = u32::from(grant.request.size);
    let period = |port| if M::Egress::QUEUED { core.period(port) } else { 1 };
    let (from, to) = (period(grant.input), period(grant.out));
    let behind = match model.store_and_forward && !grant.injection {
        true => size * from,
        // The last phit must have come to its end when a faster link needs that.
        false => size * from.saturating_sub(to),
    };
    let output = &outputs[grant.out as usize];
    let whole = if output.kind == PortKind::Host { size * to } else { 0 };
    behind + model.pipeline + output.downstream.latency + whole
}

/// The hop to a host behind a port.
#[inline]
fn to_host(port: PortId) -> Hop {
    Hop { port, vc: VcId(0), position: 0 }
}

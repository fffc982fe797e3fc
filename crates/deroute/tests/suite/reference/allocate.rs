//! The allocator: which heads are granted in a cycle.

use deroute::ids::{PortId, RouterId, VcId};
use deroute::routing::{Injection, Queue, Queues, RouterView, ValiantPhase};
use deroute::spec::{Arbiter, Pointer};
use deroute::switch::lot;
use deroute::topology::Peer;

use super::queues::Queued;
use super::switch::{Input, Lane, Output, Waiting, Wish};
use super::{Model, Packet, Parcel};

/// An input port asks for an output.
#[derive(Clone, Copy)]
struct Request {
    input: usize,
    vc: usize,
    output: usize,
    generated: u32,
}

/// How many were served less recently.
fn place(served: &[usize], who: usize) -> usize {
    served.iter().position(|one| *one == who).expect("one that may ask")
}

/// Is served, and goes last from now on.
fn go_last(served: &mut Vec<usize>, who: usize) {
    served.retain(|one| *one != who);
    served.push(who);
}

impl Input {
    /// The arbiter of the port is done with a VC.
    fn serve(&mut self, vc: usize) {
        self.pointer = (vc + 1) % self.lanes.len();
        go_last(&mut self.served, vc);
    }
}

impl Model {
    /// One cycle of one router.
    pub(super) fn allocate(&mut self, router: usize) {
        let ports = self.routers[router].inputs.len();
        let considered: Vec<(usize, usize)> = (0..ports)
            .filter(|&port| self.routers[router].input_idle(port))
            .filter(|&port| matches!(self.routers[router].peers[port], Peer::Host(_)))
            .flat_map(|port| {
                let (lanes, voqs) = (&self.routers[router].inputs[port].lanes, self.net.voqs);
                // One that is behind another in its virtual queue begins to count anew with it.
                let heads = move |lane: &Lane| if voqs { lane.waiting.len() } else { 1 };
                lanes.iter().flat_map(move |lane| {
                    lane.waiting.iter().take(heads(lane)).map(move |head| (port, head.packet))
                })
            })
            .collect();
        for &(_, packet) in &considered {
            self.packets[packet].blocked += 1;
        }
        if self.net.on_arrival {
            self.route_new(router);
        }
        if self.net.registers {
            self.fill_registers(router);
        }
        if self.net.voqs {
            self.islip(router);
        } else {
            self.rounds(router, &considered);
        }
        for (port, packet) in considered {
            if !self.routers[router].input_idle(port) {
                // Something was granted: the others begin to count anew.
                self.packets[packet].blocked = 0;
            } else if self.watches.blocked {
                self.tell(router, port, packet, Injection::Blocked);
            }
        }
    }

    /// Routes the packets that have just arrived, where they are routed then and not as heads.
    fn route_new(&mut self, router: usize) {
        for port in 0..self.routers[router].inputs.len() {
            for vc in 0..self.routers[router].inputs[port].lanes.len() {
                let waiting = &self.routers[router].inputs[port].lanes[vc].waiting;
                let new = waiting.iter().position(|packet| packet.wish.is_none());
                let Some(new) = new else { continue };
                assert_eq!(new + 1, waiting.len(), "two packets arrive in a cycle");
                let wish = self.route(router, (port, vc), waiting[new].packet);
                self.routers[router].inputs[port].lanes[vc].waiting[new].wish = Some(wish);
            }
        }
    }

    /// Rounds of input and output arbitration.
    fn rounds(&mut self, router: usize, considered: &[(usize, usize)]) {
        let ports = self.routers[router].inputs.len();
        let mut contenders: Vec<usize> = (0..ports).collect();
        for round in 0..self.net.allocator.iterations {
            if self.watches.rounds && round > 0 {
                for &(port, packet) in considered {
                    if self.routers[router].input_idle(port) {
                        self.tell(router, port, packet, Injection::Blocked);
                    }
                }
            }
            let requests: Vec<Request> =
                contenders.iter().filter_map(|&port| self.request(router, port)).collect();
            contenders.clear();
            let mut outputs: Vec<usize> = Vec::new();
            for request in &requests {
                if !outputs.contains(&request.output) {
                    outputs.push(request.output);
                }
            }
            for output in outputs {
                let rivals = requests.iter().filter(|r| r.output == output).copied().collect();
                contenders.extend(self.arbitrate(router, output, rivals));
            }
            contenders.sort_unstable();
        }
    }

    /// Tells the agent what happened to a packet in an injection queue.
    pub(super) fn tell(&mut self, router: usize, port: usize, packet: usize, event: Injection) {
        let (router, port) = (RouterId(router as u32), PortId(port as u16));
        // Behind a link of its own a host has one for each class.
        let Packet { queue, class, .. } = self.packets[packet];
        let number = if self.net.links.nic.is_none() { queue } else { class } as u8;
        let queue = Queue { router, port, number, now: self.now };
        self.agent.injection(queue, event, &self.packets[packet].header);
    }

    /// Input arbitration: the request of a port.
    fn request(&mut self, router: usize, port: usize) -> Option<Request> {
        if !self.routers[router].input_idle(port) {
            return None;
        }
        let vcs = self.routers[router].inputs[port].lanes.len();
        let pointer = self.routers[router].inputs[port].pointer;
        let mut best: Option<(usize, Request)> = None;
        for vc in (0..vcs).map(|offset| (pointer + offset) % vcs) {
            let Some((packet, wish)) = self.consider(router, port, vc) else { continue };
            if !self.ready(router, (port, vc), packet, wish) {
                continue;
            }
            let generated = self.packets[packet].generated;
            let request = Request { input: port, vc, output: wish.port, generated };
            let rank = match self.net.allocator.arbiter {
                Arbiter::RoundRobin => {
                    best = Some((0, request));
                    break;
                }
                Arbiter::Age => generated as usize,
                Arbiter::Random => {
                    let arbiter = (router as u32, true);
                    lot(self.net.seed, self.now, arbiter, (port as u16, vc as u16)) as usize
                }
                Arbiter::LeastRecentlyServed => {
                    place(&self.routers[router].inputs[port].served, vc)
                }
            };
            if best.is_none_or(|(first, _)| rank < first) {
                best = Some((rank, request));
            }
        }
        let best = best.map(|(_, request)| request);
        if let (Some(request), Pointer::OnRequest) = (best, self.net.allocator.pointer) {
            self.routers[router].inputs[port].serve(request.vc);
        }
        best
    }

    /// The head of a queue and where it wants to go.
    fn consider(&mut self, router: usize, port: usize, vc: usize) -> Option<(usize, Wish)> {
        let from_host = matches!(self.routers[router].peers[port], Peer::Host(_));
        let lane = &self.routers[router].inputs[port].lanes[vc];
        let Waiting { packet, wish } = *lane.waiting.front()?;
        let again = self.watches.reconsiders && (from_host || self.watches.transit);
        let keep = wish.filter(|_| !again);
        let wish = keep.unwrap_or_else(|| self.route(router, (port, vc), packet));
        let wish = self.emptiest(router, wish);
        self.routers[router].inputs[port].lanes[vc].waiting[0].wish = Some(wish);
        Some((packet, wish))
    }

    /// The same wish for the emptiest VC of its class, if the VCs of a class are shared.
    pub(super) fn emptiest(&self, router: usize, wish: Wish) -> Wish {
        let here = &self.routers[router];
        match (&self.net.shared_by, here.peers[wish.port]) {
            (Some(shared_by), Peer::Router { class, .. }) => {
                let classes = shared_by[usize::from(class)];
                let vcs = 0..here.outputs[wish.port].credits.len();
                let mates = vcs.filter(|vc| vc % classes == wish.vc % classes);
                let vc = mates.rev().max_by_key(|&vc| here.free(&self.net, wish.port, vc));
                Wish { vc: vc.expect("at least one VC"), ..wish }
            }
            _ => wish,
        }
    }

    pub(super) fn route(
        &mut self,
        router: usize,
        (input, vc): (usize, usize),
        packet: usize,
    ) -> Wish {
        let (id, input) = (RouterId(router as u32), PortId(input as u16));
        let packet = &mut self.packets[packet];
        let size = packet.size as u16;
        let header = &mut packet.header;
        if header.phase == ValiantPhase::A && header.intermediate() == Some(id) {
            header.phase = ValiantPhase::B;
        }
        if header.destination == id && header.phase != ValiantPhase::A {
            let port = self.net.topology.port_of(packet.destination).index();
            return Wish { port, vc: 0, position: None };
        }
        let port = self.net.topology.port_of(packet.destination);
        let (net, atomic, now) = (&self.net, self.atomic, self.now);
        let queues = Queued { router: &self.routers[router], net, atomic, now };
        let rng = &mut self.streams[router];
        let mut view = RouterView {
            router: id,
            input,
            vc: VcId(vc as u8),
            port,
            class: 0,
            now,
            size,
            queues: &queues,
            rng,
        };
        let hop = self.agent.route(&mut view, header);
        Wish { port: hop.port.index(), vc: hop.vc.index(), position: Some(hop.position) }
    }

    pub(super) fn ready(
        &self,
        router: usize,
        (port, vc): (usize, usize),
        packet: usize,
        wish: Wish,
    ) -> bool {
        let size = self.packets[packet].size;
        let here = &self.routers[router];
        let waits = self.net.store_and_forward && !self.net.injects(&here.peers[port]);
        let whole = !waits || here.is_whole((port, vc), (packet, size), self.now);
        let idle = self.net.ideal || here.output_idle(wish.port);
        let (net, atomic, now) = (&self.net, self.atomic, self.now);
        let queues = Queued { router: here, net, atomic, now };
        let room = queues.fits(PortId(wish.port as u16), VcId(wish.vc as u8), size as u16);
        let backlog = here.backlog(&self.net, wish, self.now);
        whole && idle && room && backlog.saturating_add(size.into()) <= self.net.output_buffer
    }

    /// Output arbitration: grants, and returns the losers.
    fn arbitrate(&mut self, router: usize, output: usize, mut rivals: Vec<Request>) -> Vec<usize> {
        let ports = self.routers[router].inputs.len();
        let pointer = self.routers[router].outputs[output].pointer;
        let allocator = &self.net.allocator;
        let peers = &self.routers[router].peers;
        let served = &self.routers[router].outputs[output].served;
        rivals.sort_by_key(|rival| {
            let host = matches!(peers[rival.input], Peer::Host(_));
            let rank = match allocator.arbiter {
                Arbiter::RoundRobin => 0,
                Arbiter::Age => rival.generated as usize,
                Arbiter::Random => {
                    let asks = (output as u16, rival.input as u16);
                    lot(self.net.seed, self.now, (router as u32, false), asks) as usize
                }
                Arbiter::LeastRecentlyServed => place(served, rival.input),
            };
            (allocator.transit_priority && host, rank, (rival.input + ports - pointer) % ports)
        });
        let mut losers = Vec::new();
        for (rank, rival) in rivals.into_iter().enumerate() {
            let lane = &self.routers[router].inputs[rival.input].lanes[rival.vc];
            let Waiting { packet, wish } = lane.waiting[0];
            let wish = wish.expect("a routed head");
            let at = (rival.input, rival.vc);
            let wins =
                if self.net.ideal { self.ready(router, at, packet, wish) } else { rank == 0 };
            if wins {
                self.grant(router, (rival.input, rival.vc, 0), wish);
                let here = &mut self.routers[router];
                let Output { pointer, served, .. } = &mut here.outputs[output];
                *pointer = (rival.input + 1) % ports;
                go_last(served, rival.input);
                if self.net.allocator.pointer == Pointer::OnGrant {
                    here.inputs[rival.input].serve(rival.vc);
                }
            } else {
                losers.push(rival.input);
            }
        }
        losers
    }

    /// Grants an output to a packet, by its place in a VC of an input.
    pub(super) fn grant(
        &mut self,
        router: usize,
        (input, vc, place): (usize, usize, usize),
        wish: Wish,
    ) {
        let (net, now) = (&self.net, self.now);
        let here = &mut self.routers[router];
        let lane = &here.inputs[input].lanes[vc];
        let packet = lane.waiting[place].packet;
        let registered = lane.registered.contains(&packet);
        let Packet { size, whole, .. } = self.packets[packet];
        let index = here.connect(net, (input, vc, place), (size, whole), now);
        if let Peer::Host(host) = here.peers[input] {
            let packet = &mut self.packets[index];
            // Counted when it was considered in this cycle.
            packet.blocked -= 1;
            self.record.path(now, router, packet);
            if net.links.nic.is_none() {
                self.leave_host(host.index(), index);
            }
            if self.watches.injections {
                self.tell(router, input, index, Injection::Left);
            }
        }
        if !self.net.keeps_memory && !registered {
            self.give_back(router, (input, vc), size);
        }
        self.record.grants += 1;
        match wish.position {
            Some(position) => {
                let packet = &mut self.packets[index];
                packet.header.position = position;
                packet.header.hops += 1;
            }
            None => self.record.delivered += 1,
        }
    }

    /// The memory of a packet in an input buffer is free again.
    pub(super) fn give_back(&mut self, router: usize, (input, vc): (usize, usize), size: u32) {
        let here = &mut self.routers[router];
        if self.net.links.limits(&here.peers[input]).is_some() {
            here.inputs[input].lanes[vc].held -= size;
        } else if let Some(messages) = self.net.links.messages(&here.peers[input]) {
            here.inputs[input].lanes[vc].owed += messages.charge(size);
        } else if let Peer::Router { router, port, class } = here.peers[input] {
            let latency = self.net.links.classes[usize::from(class)].latency;
            let (router, port) = (router.index(), port.index());
            self.post(latency, Parcel::Credits { router, port, vc, phits: size });
        }
    }
}

//! Links that pause, and hosts that have links.

use deroute::ids::HostId;
use deroute::routing::Injection;
use deroute::topology::Peer;

use super::switch::Lane;
use super::wire::{Began, Crossed, Frame, Outgoing};
use super::{Host, Model, Packet, Parcel, Phit, Sender};

impl Model {
    /// A phit begins to arrive at an input port. If the buffer does not hold its packet, all of that is lost.
    pub(super) fn arrive(&mut self, router: usize, (port, vc): (usize, usize), phit: Phit) {
        let now = self.now;
        let here = &mut self.routers[router];
        let period = here.outputs[port].wire.period;
        let packet = &mut self.packets[phit.packet];
        let first = phit.index == 0;
        if first {
            packet.whole = now + packet.size * period;
        }
        if first && let Some((pauses, limits)) = self.net.links.limits(&here.peers[port]) {
            let lanes = &mut here.inputs[port].lanes;
            let held = match pauses.whole_link {
                true => lanes.iter().map(|lane| lane.held).sum(),
                false => lanes[vc].held,
            };
            // Who has not been told to be silent takes of what the ports share, or of the headroom.
            let voice = if pauses.whole_link { 0 } else { vc };
            let beside = match (pauses.shared, lanes[voice].told) {
                (None, _) => 0,
                (Some(_), None) => u32::MAX,
                (Some(_), Some(_)) => lanes[voice].charged,
            };
            let lost = held + packet.size > limits.capacity.saturating_add(beside);
            packet.lost_at = lost.then_some(router);
            match lost {
                true => self.record.lose(now, &here.peers[port], packet.size),
                false => {
                    lanes[vc].held += packet.size;
                    self.record.holds(now, &here.peers[port], held + packet.size);
                }
            }
        }
        // Its end may still arrive at the router before that.
        if packet.lost_at == Some(router) {
            return;
        }
        here.accept(port, vc, (phit, now + period - 1));
        if first && self.watches.injections && matches!(here.peers[port], Peer::Host(_)) {
            self.tell(router, port, phit.packet, Injection::Entered);
        }
    }

    /// Receivers tell their senders to be silent, or to go on, as their buffers fill and drain, or how many credits they
    /// have back.
    pub(super) fn speak(&mut self) {
        let now = self.now;
        for router in &mut self.routers {
            router.settle(&self.net);
            for port in 0..router.peers.len() {
                let peer = router.peers[port];
                if let Some((pauses, _)) = self.net.links.limits(&peer) {
                    let says = router.pauses(&self.net, port, now);
                    self.record.guards.shared = self.record.guards.shared.max(router.charged());
                    if !says.is_empty() && router.outputs[port].wire.is_free(now) {
                        for (vc, stops) in &says {
                            self.record.frame(&peer, *stops);
                            router.inputs[port].lanes[*vc].told = stops.then_some(now);
                        }
                        let (credits, left) = (Vec::new(), pauses.frame);
                        router.outputs[port].wire.tell(Frame { says, credits, left });
                    }
                }
                let Some(messages) = self.net.links.messages(&peer) else { continue };
                let input = &mut router.inputs[port];
                let owes = input.lanes.iter().any(|lane| lane.owed > 0);
                if !owes || now < input.next_message || !router.outputs[port].wire.is_free(now) {
                    continue;
                }
                input.next_message = now + messages.interval;
                let lost = messages.lost > 0.0 && input.losses.unit() < messages.lost;
                let told = |(vc, lane): (usize, &mut Lane)| (vc, std::mem::take(&mut lane.owed));
                let lanes = input.lanes.iter_mut().enumerate();
                let credits = if lost { Vec::new() } else { lanes.map(told).collect() };
                self.record.guards.message(&peer, lost);
                let (says, left) = (Vec::new(), messages.message);
                router.outputs[port].wire.tell(Frame { says, credits, left });
            }
        }
    }

    /// A packet begins to leave through an output port.
    pub(super) fn leaves(&mut self, router: usize, port: usize, began: Began) {
        let Began { packet, size, memory, .. } = began;
        memory.into_iter().for_each(|at| self.give_back(router, at, size));
        let Some(marking) = &mut self.marking else { return };
        let (links, here) = (&self.net.links, &self.routers[router]);
        let service = links.service_of(self.packets[packet].class);
        let behind = here.outputs[port].wire.waiting_of(links, service);
        let marked = marking.marks((router, port), behind);
        self.packets[packet].marked |= marked;
        // After the end only hosts are waited for.
        let peer = &here.peers[port];
        if self.now < self.net.to || matches!(peer, Peer::Host(_)) {
            let measured = self.record.covers(self.now);
            self.record.guards.mark((peer, service), (behind, marked), measured);
        }
    }

    /// The run has ended: no frame breaks any more.
    pub(super) fn count_errors(&mut self) {
        for router in &mut self.routers {
            for (output, peer) in router.outputs.iter_mut().zip(&router.peers) {
                if let Some(errors) = output.wire.errors.take() {
                    self.record.guards.errors(peer, &errors);
                }
            }
        }
        for (id, host) in (0..).zip(&mut self.hosts) {
            if let Some(errors) = host.wire.as_mut().and_then(|wire| wire.errors.take()) {
                self.record.guards.errors(&Peer::Host(HostId(id)), &errors);
            }
        }
    }

    /// A frame leaves through an output port; it has in cycle `at`.
    pub(super) fn fly_frame(&mut self, router: usize, port: usize, frame: Frame, at: u32) {
        let peer = &self.routers[router].peers[port];
        let response = self.net.links.limits(peer).map_or(0, |(pauses, _)| pauses.response);
        let (latency, to) = match self.routers[router].peers[port] {
            Peer::Router { router, port, class } => {
                let to = Sender::Output { router: router.index(), port: port.index() };
                (self.net.links.classes[usize::from(class)].latency, to)
            }
            Peer::Host(host) => (self.net.host_latency, Sender::Host(host.index())),
            Peer::Unused => panic!("a frame left through an unused port"),
        };
        let delay = at - self.now + latency + response;
        self.post(delay, Parcel::Frame { at: to, frame });
    }

    /// A frame takes effect at a sender.
    pub(super) fn hear(&mut self, at: Sender, frame: Frame) {
        for (vc, phits) in &frame.credits {
            match at {
                Sender::Output { router, port } => {
                    self.routers[router].credit(&self.net, port, *vc, *phits);
                }
                Sender::Host(host) => {
                    self.hosts[host].credits[*vc] += phits;
                    self.may_send(host, *vc);
                }
            }
        }
        if frame.says.is_empty() {
            return;
        }
        let links = &self.net.links;
        let (wire, pauses) = match at {
            Sender::Output { router, port } => {
                let router = &mut self.routers[router];
                let pauses = links.limits(&router.peers[port]).map(|(pauses, _)| pauses);
                (&mut router.outputs[port].wire, pauses)
            }
            Sender::Host(host) => {
                let wire = self.hosts[host].wire.as_mut().expect("a host with a link");
                (wire, links.host.as_ref())
            }
        };
        let pauses = pauses.expect("somebody speaks");
        for (vc, stops) in frame.says {
            let until = match (stops, pauses.duration) {
                (false, _) => 0,
                (true, None) => u32::MAX,
                (true, Some(cycles)) => self.now + cycles,
            };
            let queues = wire.told(links, pauses.whole_link, vc);
            wire.hear(queues, until);
        }
    }

    /// Hosts with links of their own send over them; they may begin a packet, or only end one. Also looks at who is
    /// silent in this cycle.
    pub(super) fn send_from_hosts(&mut self, begin: bool) {
        let now = self.now;
        for (index, router) in self.routers.iter().enumerate() {
            for (port, peer) in router.peers.iter().enumerate() {
                if matches!(peer, Peer::Router { .. }) {
                    let silent = router.outputs[port].wire.silent(now);
                    self.record.silence(now, (index, port), silent);
                }
            }
        }
        for host in 0..self.hosts.len() {
            let Some(wire) = &mut self.hosts[host].wire else { return };
            if !begin && !wire.is_sending() {
                continue;
            }
            let silent = wire.silent(now);
            let step = wire.step(&self.net.links, now);
            let links = &self.net.links;
            let left = step.began.as_ref().map(|began| wire.told(links, false, began.vc).start);
            let id = HostId(host as u32);
            let router = self.net.topology.router_of(id).index();
            let port = self.net.topology.port_of(id).index();
            self.record.silence(now, (router, port), silent);
            if let Some(Began { packet, vc, size, .. }) = step.began {
                self.leave_host(host, packet);
                if let Some(messages) = self.net.links.messages(&Peer::Host(id)) {
                    self.hosts[host].credits[vc] -= messages.charge(size);
                    self.may_send(host, vc);
                }
            }
            if let Some(queue) = left {
                self.next_in_line(host, queue);
            }
            if let Some((vc, phit)) = step.phit {
                self.post(self.net.host_latency, Parcel::Phit { router, port, vc, phit });
            }
        }
    }

    /// A host that counts credits begins a packet of a class only while they cover the largest.
    fn may_send(&mut self, host: usize, class: usize) {
        let links = &self.net.links;
        let id = HostId(host as u32);
        let Some(messages) = links.messages(&Peer::Host(id)) else { return };
        let Host { wire, credits, .. } = &mut self.hosts[host];
        let wire = wire.as_mut().expect("a host with a link");
        let until = if credits[class] < messages.largest { u32::MAX } else { 0 };
        wire.hear(wire.told(links, false, class), until);
    }

    /// A generated packet waits for the link of its host: where its class has several injection queues, behind the one
    /// of them that is next.
    pub(super) fn wait_for_link(&mut self, packet: usize) {
        let Packet { source, class, queue, .. } = self.packets[packet];
        let host = &mut self.hosts[source.index()];
        let wire = host.wire.as_ref().expect("a host with a link");
        let onward = wire.told(&self.net.links, false, class).start;
        if self.net.flows.injection_queues() > self.net.flows.classes() && wire.waits(onward) {
            host.lines[queue].push_back(packet);
            return;
        }
        host.turns.insert(onward, queue + 1);
        self.join_link(packet);
    }

    /// A packet is at the end of a queue of the link of its host.
    fn join_link(&mut self, packet: usize) {
        let (now, Packet { source, class, size, .. }) = (self.now, self.packets[packet].clone());
        let crossed = (0..size).map(|_| Crossed { begins: now, ends: now }).collect();
        let (whole, sent, memory) = (now, 0, None);
        let waiting =
            Outgoing { packet, vc: class, size, ready: now, whole, crossed, sent, memory };
        let wire = self.hosts[source.index()].wire.as_mut().expect("a host with a link");
        wire.append(&self.net.links, class, waiting);
    }

    /// A packet of a queue of the link of a host has begun to leave: the first of the injection queue whose turn it is
    /// is next.
    fn next_in_line(&mut self, host: usize, onward: usize) {
        let Host { wire, lines, turns, .. } = &mut self.hosts[host];
        let wire = wire.as_ref().expect("a host with a link");
        let (turn, count) = (*turns.get(&onward).expect("it had one"), lines.len());
        let own = |queue: &usize| {
            let packet = lines[*queue].front();
            let class = |packet: &usize| self.packets[*packet].class;
            packet.is_some_and(|p| wire.told(&self.net.links, false, class(p)).start == onward)
        };
        let next = (0..count).map(|offset| (turn + offset) % count).find(own);
        let Some(queue) = next else { return };
        turns.insert(onward, queue + 1);
        let packet = lines[queue].pop_front().expect("a packet");
        self.join_link(packet);
    }

    /// A packet leaves its injection queue.
    pub(super) fn leave_host(&mut self, host: usize, packet: usize) {
        let Packet { queue, size, .. } = self.packets[packet];
        self.hosts[host].queued[queue] -= size;
        self.packets[packet].injected = self.now;
        self.record.inject(&self.packets[packet]);
    }
}

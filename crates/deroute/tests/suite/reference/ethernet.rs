//! Links that pause, and hosts that have links.

use deroute::ids::HostId;
use deroute::routing::Injection;
use deroute::topology::Peer;

use super::links::Limits;
use super::wire::{Began, Frame};
use super::{Model, Packet, Parcel, Phit, Sender};

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
            let lost = held + packet.size > limits.capacity;
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

    /// Receivers tell their senders to be silent, or to go on, as their buffers fill and drain.
    pub(super) fn speak(&mut self) {
        let now = self.now;
        for router in &mut self.routers {
            for (port, peer) in router.peers.iter().enumerate() {
                let Some((pauses, limits)) = self.net.links.limits(peer) else { continue };
                let Limits { xoff, xon, .. } = limits;
                let lanes = &mut router.inputs[port].lanes;
                let all: u32 = lanes.iter().map(|lane| lane.held).sum();
                let voices = if pauses.whole_link { 1 } else { lanes.len() };
                if !router.outputs[port].wire.is_free(now) {
                    continue;
                }
                let mut says = Vec::new();
                for (vc, lane) in lanes.iter_mut().enumerate().take(voices) {
                    let held = if pauses.whole_link { all } else { lane.held };
                    let stops = held > if lane.told.is_some() { xon } else { xoff };
                    // What is said for a time is said again when half of it is over.
                    let half = pauses.duration.map(|cycles| (cycles / 2).max(1));
                    let over = |told: u32| half.is_some_and(|half| now >= told + half);
                    if stops != lane.told.is_some() || (stops && lane.told.is_some_and(over)) {
                        lane.told = stops.then_some(now);
                        says.push((vc, stops));
                    }
                }
                if !says.is_empty() {
                    says.iter().for_each(|(_, stops)| self.record.frame(peer, *stops));
                    router.outputs[port].wire.tell(Frame { says, left: pauses.frame });
                }
            }
        }
    }

    /// A frame leaves through an output port; it has in cycle `at`.
    pub(super) fn fly_frame(&mut self, router: usize, port: usize, frame: Frame, at: u32) {
        let peer = &self.routers[router].peers[port];
        let (pauses, _) = self.net.links.limits(peer).expect("somebody speaks");
        let (latency, to) = match self.routers[router].peers[port] {
            Peer::Router { router, port, class } => {
                let to = Sender::Output { router: router.index(), port: port.index() };
                (self.net.links.classes[usize::from(class)].latency, to)
            }
            Peer::Host(host) => (self.net.host_latency, Sender::Host(host.index())),
            Peer::Unused => panic!("a frame left through an unused port"),
        };
        let delay = at - self.now + latency + pauses.response;
        self.post(delay, Parcel::Frame { at: to, frame });
    }

    /// A frame takes effect at a sender.
    pub(super) fn hear(&mut self, at: Sender, frame: Frame) {
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
            let id = HostId(host as u32);
            let router = self.net.topology.router_of(id).index();
            let port = self.net.topology.port_of(id).index();
            self.record.silence(now, (router, port), silent);
            if let Some(Began { packet, .. }) = step.began {
                self.leave_host(host, packet);
            }
            if let Some((vc, phit)) = step.phit {
                self.post(self.net.host_latency, Parcel::Phit { router, port, vc, phit });
            }
        }
    }

    /// A packet leaves its injection queue.
    pub(super) fn leave_host(&mut self, host: usize, packet: usize) {
        let Packet { class, size, .. } = self.packets[packet];
        self.hosts[host].queued[class] -= size;
        self.packets[packet].injected = self.now;
        self.record.inject(&self.packets[packet]);
    }
}

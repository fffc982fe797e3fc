//! A second simulator, kept naive: it moves every phit in every cycle.
//!
//! Written from `docs/kernel.md`, it shares nothing with the engine's kernel. Each cycle visits all
//! routers, ports and virtual channels; phits cross input buffers, crossbar, pipeline, output
//! buffer and link one by one; credits and broadcasts are messages. It computes no departure time
//! in advance: times follow from the phits. Every buffer is compared with its capacity in every
//! cycle, and a link that has begun a packet must have its next phit.
//!
//! Wiring, traffic, programs, routing algorithms and random streams are the engine's own.

mod allocate;
mod ethernet;
mod islip;
mod links;
mod messages;
mod paused;
mod queues;
mod record;
mod report;
mod resolved;
mod switch;
mod wire;

use std::collections::BTreeMap;

use deroute::ids::{HostId, RouterId};
use deroute::outcome::Outcome;
use deroute::rng::{Owner, Stream};
use deroute::routing::{Header, Injection, Message, Routing, Watches};
use deroute::spec::Spec;
use deroute::topology::Peer;
use deroute::traffic::Source;

use messages::Office;
use queues::Queued;
use record::Record;
use resolved::Resolved;
use switch::{Departures, Router};
use wire::{Began, Crossed, Frame, Outgoing, Wire};

/// A packet, from its generation to the end of the run.
#[derive(Clone, Debug)]
struct Packet {
    source: HostId,
    destination: HostId,
    /// Its class in the queuing scheme.
    class: usize,
    size: u32,
    generated: u32,
    /// Cycle of the first grant.
    injected: u32,
    /// Cycles in a row in which it could have been granted for injection and nothing was.
    blocked: u32,
    /// The cycle after that in which it is whole at the router where its head is.
    whole: u32,
    /// The router whose buffer had no room for it.
    lost_at: Option<usize>,
    header: Header,
}

/// One phit of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phit {
    packet: usize,
    index: u32,
}

/// Something that arrives at a given cycle.
#[derive(Clone, Debug)]
enum Parcel {
    /// A phit, at a queue of an input port.
    Phit { router: usize, port: usize, vc: usize, phit: Phit },
    /// Credits, at an output port.
    Credits { router: usize, port: usize, vc: usize, phits: u32 },
    /// A frame that says who is to be silent, at an output port or at a host.
    Frame { at: Sender, frame: Frame },
    /// A generated packet, at its router.
    Fresh { packet: usize },
    /// A broadcast of a routing algorithm.
    Broadcast { from: RouterId, content: u32 },
}

/// Who sends over a link.
#[derive(Clone, Copy, Debug)]
enum Sender {
    Output { router: usize, port: usize },
    Host(usize),
}

/// The generator of a host.
struct Host {
    source: Source,
    next: u32,
    /// Phits in the injection queue of each class.
    queued: Vec<u32>,
    /// Its end of its link, if that is more than a delay.
    wire: Option<Wire>,
}

/// The network in motion.
pub struct Model {
    net: Resolved,
    agent: Box<dyn Routing>,
    watches: Watches,
    atomic: bool,
    streams: Vec<Stream>,
    routers: Vec<Router>,
    hosts: Vec<Host>,
    packets: Vec<Packet>,
    /// What is on the way, by the cycle of its arrival.
    mail: BTreeMap<u32, Vec<Parcel>>,
    /// Packets whose last phit is on the way to its host, with the cycle of its consumption.
    leaving: Vec<(u32, usize)>,
    now: u32,
    record: Record,
    /// Ranks and messages, if there is a workload.
    office: Option<Office>,
}

impl Model {
    /// Wires the network of a spec.
    pub fn new(spec: &Spec) -> Self {
        let mut net = Resolved::new(spec);
        let jobs = net.jobs.take();
        let topology = &net.topology;
        let routers = (0..topology.routers()).map(|r| Router::new(&net, RouterId(r))).collect();
        let streams =
            (0..topology.routers()).map(|r| Stream::new(spec.run.seed, Owner::Router(r))).collect();
        let host = |h: u32| {
            let (source, next) = net.workload.source(HostId(h), spec.run.seed);
            let classes = usize::from(net.flows.classes());
            let ends = (net.links.apart(&Peer::Host(HostId(h))), classes);
            let wire = net.links.nic.map(|nic| Wire::new(&net.links, ends, nic.period));
            Host { source, next, queued: vec![0; classes], wire }
        };
        let hosts = (0..topology.hosts()).map(host).collect();
        let agent = (net.plan.agent)(RouterId(0), topology.routers());
        let record = Record::new(&net);
        Self {
            office: jobs.map(|jobs| Office::new(jobs, net.topology.hosts())),
            net,
            watches: agent.watches(),
            atomic: agent.atomic(),
            agent,
            streams,
            routers,
            hosts,
            packets: Vec::new(),
            mail: BTreeMap::new(),
            leaving: Vec::new(),
            now: 0,
            record,
        }
    }

    /// Runs to the end and compares what was counted with the engine's result.
    pub fn check(mut self, outcome: &Outcome) -> Result<(), String> {
        self.run();
        if let Some(office) = &self.office {
            self.record.end(office.last());
            office.compare(outcome)?;
        }
        self.record.compare(outcome)
    }

    /// Runs to the end of the measurement, or of the workload.
    fn run(&mut self) {
        while self.now < self.net.to && !self.office.as_ref().is_some_and(Office::is_done) {
            self.arrivals();
            self.generate();
            self.work();
            self.broadcast();
            for router in 0..self.routers.len() {
                self.allocate(router);
            }
            self.speak();
            self.move_phits();
            self.send_from_hosts(true);
            self.now += 1;
        }
        // What was granted an output to a host counts as delivered: let its phits arrive.
        while self.record.consumed < self.record.delivered {
            self.arrivals();
            self.move_phits();
            self.send_from_hosts(false);
            self.now += 1;
        }
    }

    fn post(&mut self, delay: u32, parcel: Parcel) {
        self.mail.entry(self.now + delay).or_default().push(parcel);
    }

    /// Applies what is due in this cycle.
    fn arrivals(&mut self) {
        let due = self.mail.remove(&self.now).unwrap_or_default();
        for parcel in due {
            match parcel {
                Parcel::Phit { router, port, vc, phit } => self.arrive(router, (port, vc), phit),
                Parcel::Frame { at, frame } => self.hear(at, frame),
                Parcel::Credits { router, port, vc, phits } => {
                    self.routers[router].credit(&self.net, port, vc, phits);
                }
                Parcel::Fresh { packet } => self.enter(packet),
                Parcel::Broadcast { from, content } => self.agent.message(from, content),
            }
        }
        for router in &self.routers {
            router.check_inputs(&self.net);
        }
    }

    /// Hosts generate packets.
    fn generate(&mut self) {
        let now = self.now;
        for index in 0..self.hosts.len() {
            let (id, host) = (HostId(index as u32), &mut self.hosts[index]);
            if host.next != now {
                continue;
            }
            let demand = self.net.workload.demand(id, &mut host.source, now);
            host.next = self.net.workload.next(id, &mut host.source, Some(now));
            let size = u32::from(demand.size);
            let class = usize::from(self.net.flows.class(id, demand.destination));
            let fits = u64::from(host.queued[class] + size) <= self.net.injection_queue;
            self.record.attempt(now, size, fits);
            if !fits {
                continue;
            }
            host.queued[class] += size;
            let to = self.net.topology.router_of(demand.destination);
            let packet = self.packets.len();
            self.packets.push(Packet {
                source: id,
                destination: demand.destination,
                class,
                size,
                generated: now,
                injected: u32::MAX,
                blocked: 0,
                whole: 0,
                lost_at: None,
                header: Header::new(to),
            });
            self.launch(packet);
        }
    }

    /// A generated packet sets out for its router, or waits for the link of its host.
    fn launch(&mut self, packet: usize) {
        let (now, Packet { source, class, size, .. }) = (self.now, self.packets[packet].clone());
        if let Some(wire) = &mut self.hosts[source.index()].wire {
            let crossed = (0..size).map(|_| Crossed { begins: now, ends: now }).collect();
            let (whole, sent, memory) = (now, 0, None);
            let waiting =
                Outgoing { packet, vc: class, size, ready: now, whole, crossed, sent, memory };
            wire.append(&self.net.links, class, waiting);
            return;
        }
        match self.net.host_latency {
            0 => self.enter(packet),
            latency => self.post(latency, Parcel::Fresh { packet }),
        }
    }

    /// A generated packet reaches its router, whole.
    fn enter(&mut self, packet: usize) {
        let now = self.now;
        self.packets[packet].whole = now;
        let Packet { source, class, size, .. } = self.packets[packet];
        let router = self.net.topology.router_of(source).index();
        let port = self.net.topology.port_of(source).index();
        for index in 0..size {
            self.routers[router].accept(port, class, (Phit { packet, index }, now));
        }
        if self.watches.injections {
            self.tell(router, port, packet, Injection::Entered);
        }
    }

    /// Every router shows its queues to its agent, in every cycle.
    fn broadcast(&mut self) {
        if !self.watches.queues {
            return;
        }
        for (index, router) in self.routers.iter().enumerate() {
            let from = RouterId(index as u32);
            let (net, atomic) = (&self.net, self.atomic);
            let queues = Queued { router, net, atomic, now: self.now };
            let mut messages: Vec<Message> = Vec::new();
            self.agent.queues_changed(from, &queues, &mut messages);
            for Message { delay, content } in messages {
                let due = self.mail.entry(self.now + delay).or_default();
                due.push(Parcel::Broadcast { from, content });
            }
        }
    }

    /// Crossbars, pipelines and links move their phits.
    fn move_phits(&mut self) {
        let now = self.now;
        for index in 0..self.routers.len() {
            let router = &mut self.routers[index];
            router.cross(&self.net, now);
            router.check_outputs(&self.net);
            let Departures { busy, phits, packets, frames } = router.send(&self.net, now);
            busy.into_iter().for_each(|port| self.record.sent(now, index, port));
            for (_, Began { memory, size, .. }) in packets {
                memory.into_iter().for_each(|at| self.give_back(index, at, size));
            }
            for (port, vc, phit) in phits {
                self.fly(index, port, vc, phit);
            }
            for (port, frame, at) in frames {
                self.fly_frame(index, port, frame, at);
            }
        }
        let (due, later): (Vec<_>, Vec<_>) = self.leaving.iter().partition(|(at, _)| *at == now);
        self.leaving = later;
        for (_, packet) in due {
            self.record.consume(now, &self.packets[packet]);
            if let Some(office) = &mut self.office {
                office.consume(packet, self.packets[packet].size, now);
            }
        }
    }

    /// A phit leaves through an output port.
    fn fly(&mut self, router: usize, port: usize, vc: usize, phit: Phit) {
        match self.routers[router].peers[port] {
            Peer::Router { router, port, class } => {
                let latency = self.net.links.classes[usize::from(class)].latency;
                let (router, port) = (router.index(), port.index());
                self.post(latency, Parcel::Phit { router, port, vc, phit });
            }
            Peer::Host(host) => {
                let packet = &self.packets[phit.packet];
                assert_eq!(host, packet.destination, "delivered to the wrong host");
                if phit.index + 1 == packet.size {
                    let ends = self.now + self.routers[router].outputs[port].wire.period - 1;
                    self.leaving.push((ends + self.net.host_latency, phit.packet));
                }
            }
            Peer::Unused => panic!("a phit left through an unused port"),
        }
    }
}

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
mod generate;
mod guards;
mod islip;
mod links;
mod messages;
mod paused;
mod queues;
mod record;
mod registers;
mod report;
mod resolved;
mod streams;
mod switch;
mod wire;

use std::collections::{BTreeMap, VecDeque};

use deroute::ids::{HostId, RouterId};
use deroute::outcome::Outcome;
use deroute::rng::{Owner, Stream};
use deroute::routing::{Header, Message, Routing, Watches};
use deroute::spec::Spec;
use deroute::topology::Peer;

use generate::Generator;
use guards::{Errors, Marking};
use messages::Office;
use queues::Queued;
use record::Record;
use resolved::Resolved;
use switch::{Departures, Router};
use wire::{Frame, Wire};

/// A packet, from its generation to the end of the run.
#[derive(Clone, Debug)]
struct Packet {
    source: HostId,
    destination: HostId,
    /// Its injection queue, and its class of flows.
    queue: usize,
    class: usize,
    /// Its stream, if it is of one.
    stream: Option<usize>,
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
    /// It left a long queue behind.
    marked: bool,
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

/// A host.
struct Host {
    generators: Vec<Generator>,
    /// Phits in each injection queue.
    queued: Vec<u32>,
    /// Its end of its link, if that is more than a delay.
    wire: Option<Wire>,
    /// Phits of each class that are free at its router, where it counts them.
    credits: Vec<u32>,
    /// What waits in each injection queue behind the packets that are next at the link, and whose turn it is there, by
    /// the queues of the link.
    lines: Vec<VecDeque<usize>>,
    turns: BTreeMap<usize, usize>,
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
    /// What marks packets, if something does.
    marking: Option<Marking>,
    /// Ranks and messages, if there is a workload.
    office: Option<Office>,
}

impl Model {
    /// Wires the network of a spec.
    pub fn new(spec: &Spec) -> Self {
        let mut net = Resolved::new(spec);
        let jobs = net.jobs.take();
        let (topology, scale) = (&net.topology, spec.units.scale().expect("sensible units"));
        let routers =
            (0..topology.routers()).map(|r| Router::new(&net, spec, RouterId(r))).collect();
        let streams =
            (0..topology.routers()).map(|r| Stream::new(spec.run.seed, Owner::Router(r))).collect();
        let host = |h: u32| {
            let classes = usize::from(net.flows.classes());
            let ends = (net.links.apart(&Peer::Host(HostId(h))), classes);
            let wire = net.links.nic.map(|nic| {
                let retry = spec.network.nic.link.as_ref().and_then(|link| link.retry.as_ref());
                let line = (nic.latency, &scale);
                let errors = Errors::of(retry, line, (spec.run.seed, Owner::HostErrors(h)));
                Wire::new(&net.links, ends, (nic.period, errors))
            });
            let credits = vec![net.links.nic.map_or(0, |nic| nic.buffer); classes];
            let queues = usize::from(net.flows.injection_queues());
            let lines = vec![VecDeque::new(); queues];
            let generators = Generator::of(&net, spec, HostId(h));
            let (queued, turns) = (vec![0; queues], BTreeMap::new());
            Host { generators, queued, wire, credits, lines, turns }
        };
        let hosts = (0..topology.hosts()).map(host).collect();
        let agent = (net.plan.agent)(RouterId(0), topology.routers());
        let (record, marking) = (Record::new(&net), Marking::of(spec, &net));
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
            marking,
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
        self.count_errors();
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
            for (port, began) in packets {
                self.leaves(index, port, began);
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
            self.record.consume(now, (packet, &self.packets[packet]));
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

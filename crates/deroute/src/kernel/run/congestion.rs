//! Congestion trees and head-of-line blocking, sampled.
//!
//! The *tree* of an output port is what waits for it, directly or through others. An input buffer whose
//! head is held up, because it lacks credits or its output is full and has been told to be silent, waits for the
//! buffer at the other end of the link that the head requests; that one
//! waits for another, or for an output of its own router that leads to a host or is not held up: the root. (Between
//! pauses an output may go on for a moment: what waits for it is a tree of its own then.) A
//! root has a tree if the buffer of another router, or an injection queue, waits for a buffer that it
//! holds up. The *level* of a buffer is the number of links between it and the router of the root.
//!
//! While a port sends a packet, its buffers wait for what another packet just like it would wait for. Of
//! the heads of virtual output queues, that of the longest queue counts, the first of these.
//!
//! A packet suffers from *head-of-line blocking* if its port is idle, its head cannot go, and it could if
//! it were the head: the output that the routing would choose for it is idle and has credits. (An agent
//! without a history is asked, and random choices are drawn anew. In a virtual output queue it has been
//! chosen already.)
//!
//! # Source
//! Garcia et al., HiPEAC 2005 (trees); Jurczyk and Schwederski 1996 (high-order head-of-line blocking); both
//! as Rocher-Gonzalez et al. 1 tell of them.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::kernel::core::packet::{NONE, Packet};
use crate::kernel::core::ports::{OutputRequest, PortKind, Queue};
use crate::kernel::inspect::{Inspect, Network};
use crate::kernel::model::Model;
use crate::outcome::{CongestionSeries, TreeMember, TreeRoot};
use crate::rng::{Owner, Stream};
use crate::routing::{RouterView, Routing};
use crate::spec::SpecError;
use crate::topology::Peer;

/// Samples in a record, at most.
const MOST_SAMPLES: u64 = 10_000;

/// What has been sampled so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct Samples {
    series: CongestionSeries,
    first: Cycle,
    every: Cycle,
    members: bool,
    /// Cycle of the next sample.
    next: Cycle,
}

/// Refuses a record of too many samples.
pub(crate) fn check(model: &Model) -> Result<(), SpecError> {
    let Some((every, _)) = model.times.congestion else { return Ok(()) };
    let before = model.times.series.map_or(0, |(_, before)| before);
    let span = u64::from(before) + u64::from(model.times.measure);
    if model.jobs.is_none() && span / u64::from(every) >= MOST_SAMPLES {
        let message = format!("a sample every {every} of {span} cycles are too many");
        let least = span / MOST_SAMPLES + 1;
        let path = "probes.congestion.every";
        return Err(SpecError::new(path, message).choices([format!("{least} cycles or more")]));
    }
    Ok(())
}

/// An input buffer: a VC of a port, or an injection queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Buffer {
    router: u32,
    port: u16,
    vc: u8,
}

/// What a buffer waits for.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// Room in another buffer, of which credits or pauses tell.
    Buffer(Buffer),
    /// An output of its router: a port.
    Output(u16),
}

/// A buffer that holds packets.
struct Holding {
    wait: Wait,
    phits: u32,
    host: bool,
}

/// A tree that is being gathered, by router and port of its root.
#[derive(Default)]
struct Tree {
    depth: u32,
    buffers: u32,
    hosts: u32,
    phits: u32,
    routers: BTreeSet<u32>,
}

impl Samples {
    /// Samples from `start` on, but not of the past.
    pub(crate) fn new(model: &Model, now: Cycle, start: Cycle) -> Option<Self> {
        let (every, members) = model.times.congestion?;
        let past = now.saturating_sub(start).div_ceil(every);
        let first = start + past * every;
        let series = CongestionSeries { width: u64::from(every), ..CongestionSeries::default() };
        Some(Self { series, first, every, members, next: first })
    }

    /// Cycle of the next sample.
    pub(crate) fn next(&self) -> Cycle {
        self.next
    }

    /// Takes the sample of cycle `now`, if it is its time.
    pub(crate) fn take(&mut self, network: &Network<'_>) {
        let now = network.now;
        if now != self.next {
            return;
        }
        self.next = now.saturating_add(self.every);
        let mut all = BTreeMap::new();
        let mut blocked = 0;
        let model = network.model;
        for (partition, first) in network.parts() {
            let look = Look { model, partition, first, now };
            look.holdings(&mut all);
            blocked += look.blocked();
        }
        let sum = |holdings: &BTreeMap<Buffer, Holding>| -> u64 {
            holdings.values().map(|holding| u64::from(holding.phits)).sum()
        };
        self.series.queued.push(sum(&all));
        self.series.blocked.push(blocked);
        self.record(model, &all);
    }

    /// Sorts what waits into trees.
    fn record(&mut self, model: &Model, all: &BTreeMap<Buffer, Holding>) {
        // Whoever is waited for is part of a tree, and so is whoever waits for it.
        let mut part = BTreeSet::new();
        for (buffer, holding) in all {
            if let Wait::Buffer(other) = holding.wait {
                part.extend([*buffer, other]);
            }
        }
        let sample = self.series.trees.len() as u32;
        let mut trees: BTreeMap<(u32, u16), Tree> = BTreeMap::new();
        let mut members = Vec::new();
        for buffer in part {
            let Some(((router, port), level)) = root(all, buffer) else { continue };
            let holding = &all[&buffer];
            let tree = trees.entry((router, port)).or_default();
            tree.depth = tree.depth.max(level);
            tree.buffers += u32::from(!holding.host);
            tree.hosts += u32::from(holding.host);
            tree.phits = tree.phits.saturating_add(holding.phits);
            tree.routers.insert(buffer.router);
            if self.members {
                let member = TreeMember {
                    tree: 0,
                    router: buffer.router,
                    port: u32::from(buffer.port),
                    vc: u32::from(buffer.vc),
                    level,
                    phits: holding.phits,
                };
                members.push(((router, port), member));
            }
        }
        let before = self.series.roots.len() as u32;
        let places: Vec<_> = trees.keys().copied().collect();
        let all_of = |value: fn(&Tree) -> u32| trees.values().map(value);
        self.series.trees.push(trees.len() as u32);
        self.series.buffers.push(all_of(|tree| tree.buffers).sum());
        self.series.hosts.push(all_of(|tree| tree.hosts).sum());
        self.series.depth.push(all_of(|tree| tree.depth).max().unwrap_or(0));
        self.series.held.push(trees.values().map(|tree| u64::from(tree.phits)).sum());
        for (&(router, port), tree) in &trees {
            let host = match model.topology.peer(RouterId(router), PortId(port)) {
                Peer::Host(host) => Some(host.0),
                _ => None,
            };
            self.series.roots.push(TreeRoot {
                sample,
                router,
                port: u32::from(port),
                host,
                depth: tree.depth,
                routers: tree.routers.len() as u32,
                buffers: tree.buffers,
                hosts: tree.hosts,
                phits: tree.phits,
            });
        }
        self.series.members.extend(members.into_iter().filter_map(|(place, member)| {
            let tree = before + places.binary_search(&place).ok()? as u32;
            Some(TreeMember { tree, ..member })
        }));
    }

    /// The record of a measurement that begins at `from`.
    pub(crate) fn record_from(&self, from: Cycle) -> CongestionSeries {
        let start = i64::from(self.first) - i64::from(from);
        CongestionSeries { start, ..self.series.clone() }
    }
}

/// Root of the tree of a buffer, and the buffer's level; none if what it waits for moves at the moment,
/// or if it waits for itself (a deadlock).
fn root(all: &BTreeMap<Buffer, Holding>, mut buffer: Buffer) -> Option<((u32, u16), u32)> {
    for level in 0..=all.len() as u32 {
        match all.get(&buffer)?.wait {
            Wait::Buffer(other) => buffer = other,
            Wait::Output(port) => return Some(((buffer.router, port), level)),
        }
    }
    None
}

/// The state of one partition at the time of a sample.
struct Look<'a> {
    model: &'a Model,
    partition: &'a dyn Inspect,
    first: u32,
    now: Cycle,
}

impl<'a> Look<'a> {
    /// Number of a router of the partition in the network, and its first port in the partition.
    fn router(&self, local: u32) -> (u32, u32) {
        (self.first + local, self.partition.core().routers[local as usize].port_base)
    }

    /// The queues of a port that hold packets, each with its VC.
    fn queues(&self, port: usize) -> impl Iterator<Item = (u8, &'a Queue)> + use<'a> {
        let partition = self.partition;
        let vcs = 0..partition.core().inputs[port].vcs;
        let all = vcs.flat_map(move |vc| {
            partition.vc_queues(port, vc).into_iter().map(move |queue| (vc, queue))
        });
        all.filter(|(_, queue)| queue.head != NONE)
    }

    /// What a buffer waits for whose port sends, or has at its head, what `head` says.
    fn wait(&self, router: u32, base: u32, head: &OutputRequest) -> Wait {
        if self.held_up(base, head)
            && let Peer::Router { router, port, .. } =
                self.model.topology.peer(RouterId(router), PortId(head.out))
        {
            return Wait::Buffer(Buffer { router: router.0, port: port.0, vc: head.vc });
        }
        Wait::Output(head.out)
    }

    /// Adds the buffers that hold packets.
    fn holdings(&self, all: &mut BTreeMap<Buffer, Holding>) {
        for (index, input) in self.partition.core().inputs.iter().enumerate() {
            let (router, base) = self.router(input.router);
            let port = (index as u32 - base) as u16;
            let host = input.kind == PortKind::Host;
            for vc in 0..input.vcs {
                let queues = self.partition.vc_queues(index, vc).into_iter();
                let waiting = queues.filter(|queue| queue.head != NONE);
                let each = waiting.map(|queue| (self.phits(queue), queue));
                let (mut phits, mut most, mut head) = (0, 0, None);
                for (waiting, queue) in each {
                    phits += waiting;
                    if waiting > most {
                        (most, head) = (waiting, Some(queue));
                    }
                }
                let Some(queue) = head else { continue };
                let sends = input.busy_until > self.now || !queue.request.seen;
                let head = if sends { self.partition.sending(index) } else { queue.request };
                let wait = self.wait(router, base, &head);
                let phits = u32::try_from(phits).unwrap_or(u32::MAX);
                all.insert(Buffer { router, port, vc }, Holding { wait, phits, host });
            }
        }
    }

    /// Phits in a queue.
    fn phits(&self, queue: &Queue) -> u64 {
        self.partition.core().packets(queue).map(|(_, packet)| u64::from(packet.size)).sum()
    }

    /// Phits of packets that suffer from head-of-line blocking.
    fn blocked(&self) -> u64 {
        let mut blocked = 0;
        // Of all routers: an algorithm may ask what the others of a domain have told.
        let routers = self.partition.core().routers.len() as u32;
        let mut agent = (self.model.routing.agent)(RouterId(self.first), routers);
        for local in 0..routers {
            let (router, base) = self.router(local);
            let mut rng = Stream::new(self.model.times.seed, Owner::Router(router));
            for port in self.partition.core().ports(local) {
                let input = &self.partition.core().inputs[port as usize];
                if input.busy_until > self.now {
                    continue;
                }
                for (vc, queue) in self.queues(port as usize) {
                    if !queue.request.seen || self.can_go(base, &queue.request) {
                        continue;
                    }
                    let place = Place { router, local, base, port, vc };
                    let victims =
                        self.partition.core().packets(queue).skip(1).filter(|&(index, packet)| {
                            let decided = self.partition.decided(index);
                            let request = decided.unwrap_or_else(|| {
                                self.choice(&place, packet, &mut *agent, &mut rng)
                            });
                            self.can_go(base, &request)
                        });
                    blocked += victims.map(|(_, packet)| u64::from(packet.size)).sum::<u64>();
                }
            }
        }
        blocked
    }

    /// Does the buffer at the other end of the link that a head requests hold it up?
    fn held_up(&self, base: u32, head: &OutputRequest) -> bool {
        let silent = || self.partition.silent_since(base + u32::from(head.out), head.vc).is_some();
        self.partition.credit_blocked(base, head)
            || self.partition.output_full(base, head) && silent()
    }

    /// Is the output idle that a head requests, and nothing holds it up?
    fn can_go(&self, base: u32, head: &OutputRequest) -> bool {
        self.partition.core().requested(base, head).busy_until <= self.now
            && !self.held_up(base, head)
    }

    /// What a packet would request if it were the head of its queue.
    fn choice(
        &self,
        place: &Place,
        packet: &Packet,
        agent: &mut dyn Routing,
        rng: &mut Stream,
    ) -> OutputRequest {
        let (router, base, now) = (RouterId(place.router), place.base, self.now);
        let mut header = packet.header;
        header.arrive(router);
        let (size, out) = (packet.size, packet.port.0);
        let mut head = OutputRequest { size, out, ..OutputRequest::default() };
        if !header.ends_at(router) {
            let queues = self.partition.sensed(place.local);
            let mut view = RouterView {
                router,
                input: PortId((place.port - base) as u16),
                vc: VcId(place.vc),
                port: packet.port,
                class: 0,
                now,
                size: packet.size,
                queues: &*queues,
                rng,
            };
            let hop = agent.route(&mut view, &mut header);
            (head.out, head.vc) = (hop.port.0, hop.vc.0);
        }
        head
    }
}

/// Where a packet waits: router, in the network and in the partition, its first port and the input port in the partition, VC.
struct Place {
    router: u32,
    local: u32,
    base: u32,
    port: u32,
    vc: u8,
}

//! How the network is divided into partitions, and how one is assembled.

use std::sync::Arc;

use super::fetch::FAR;
use super::islip::Islip;
use super::nic::Nics;
use super::packet::{NONE, Pool};
use super::partition::Partition;
use super::plant::Plant;
use super::ports::{PortSet, Requested};
use super::queues::Lengths;
use super::sharing::Sharing;
use super::state::{Host, Input, Link, NEAR, Output, PortKind, Queue, Router, Way, Wish};
use super::wheel::Wheel;
use crate::ids::{Cycle, HostId, PortId, RouterId};
use crate::probe::PathKind;
use crate::probe::collect::Collector;
use crate::rng::{Owner, Stream};
use crate::routing::Watches;
use crate::spec::{Arbiter, Sensing};
use crate::topology::Peer;

/// Which partition simulates each router, and how ports are numbered.
pub(super) struct Division<'a> {
    pub(super) plant: &'a Arc<Plant>,
    /// First port of each router in the whole network, and the total.
    pub(super) port_bases: &'a [u32],
    /// First router of each partition, and the total.
    pub(super) firsts: &'a [u32],
}

impl Division<'_> {
    pub(super) fn partition_of(&self, router: RouterId) -> u32 {
        self.firsts.partition_point(|&first| first <= router.0) as u32 - 1
    }

    fn port_in_partition(&self, router: RouterId, port: PortId) -> (u32, u32) {
        let partition = self.partition_of(router);
        let first = self.firsts[partition as usize];
        let base = self.port_bases[router.index()] - self.port_bases[first as usize];
        (partition, base + u32::from(port.0))
    }

    /// Builds one partition.
    pub(super) fn build(&self, index: u32, record: bool) -> Partition {
        let plant = self.plant;
        let (first, end) = (self.firsts[index as usize], self.firsts[index as usize + 1]);
        let routing = (plant.routing.agent)(RouterId(first), end - first);
        let horizon = plant.horizon();
        let mut partition = Partition {
            plant: Arc::clone(plant),
            index,
            now: 0,
            watches: routing.watches(),
            steady: !routing.watches().reconsiders && plant.shared_by.is_empty(),
            keeps_books: false,
            plain: false,
            follows: routing.follows().filter(|_| !plant.voqs && !plant.on_arrival),
            first_router: first,
            by_age: plant.allocator.arbiter == Arbiter::Age,
            routing,
            routers: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            queues: Vec::new(),
            decided: Vec::new(),
            on_arrival: plant.on_arrival,
            fresh: Vec::new(),
            far: false,
            heads: Vec::new(),
            credits: Vec::new(),
            sharing: None,
            lengths: Lengths::default(),
            ripe: PortSet::default(),
            starved: PortSet::default(),
            islip: plant.voqs.then(|| Box::new(Islip::new(plant))),
            hosts: Vec::new(),
            queued: Vec::new(),
            pool: Pool::new(),
            nics: plant.jobs.as_ref().map(|jobs| Box::new(Nics::new(jobs, horizon))),
            arrivals: Wheel::new(horizon),
            credit_returns: Wheel::new(horizon),
            settlings: Wheel::new(if plant.sensing == Sensing::Both { 0 } else { horizon }),
            ripenings: Wheel::new(horizon),
            generations: Wheel::new(horizon),
            deliveries: Wheel::new(horizon),
            messages: Vec::new(),
            free_messages: Vec::new(),
            awake: vec![0; (end - first).div_ceil(64) as usize],
            dirty: Vec::new(),
            outgoing: Vec::new(),
            requested: Requested::default(),
            losers: Vec::new(),
            lookers: Vec::new(),
            rivals: Vec::new(),
            outbox: Vec::new(),
            collector: Collector::new(),
            paths: vec![[0; PathKind::ALL.len()]; (end - first) as usize],
            dependencies: record.then(super::dependencies::Observed::default),
        };
        for router in first..end {
            self.add_router(&mut partition, RouterId(router));
        }
        let ports = partition.inputs.len();
        partition.ripe = PortSet::new(ports);
        partition.starved = PortSet::new(ports);
        partition.requested = Requested::new(partition.outputs.iter().map(|output| output.way));
        // Tests always fetch: it must not matter.
        partition.far = ports >= FAR || cfg!(debug_assertions);
        let vcs = plant.classes.iter().map(|class| class.vcs).max().unwrap_or(0);
        partition.sharing = Sharing::new(plant, partition.outputs.len(), usize::from(vcs));
        if plant.lengths {
            partition.lengths = Lengths::new(plant.sensing, partition.outputs.len(), vcs);
        }
        partition.keeps_books = partition.sharing.is_some()
            || partition.dependencies.is_some()
            || partition.lengths.kept();
        let Watches { queues, injections, blocked, .. } = partition.watches;
        partition.plain = partition.steady
            && !(partition.keeps_books || partition.on_arrival)
            && !(queues || injections || blocked)
            && plant.times.congestion.is_none()
            && partition.islip.is_none()
            && partition.nics.is_none();
        partition
    }

    fn add_router(&self, partition: &mut Partition, id: RouterId) {
        let topology = &*self.plant.topology;
        let (ports, local) = (topology.radix(id), partition.routers.len() as u32);
        partition.routers.push(Router {
            id,
            port_base: partition.inputs.len() as u32,
            ports,
            dirty: false,
            rng: Stream::new(self.plant.times.seed, Owner::Router(id.0)),
        });
        let exits = topology.exits(id);
        if let Some(islip) = &mut partition.islip {
            islip.add_router(ports);
        }
        for port in 0..ports {
            self.add_port(partition, local, PortId(port), exits.contains(&port));
        }
    }

    fn add_port(&self, partition: &mut Partition, local: u32, port: PortId, exit: bool) {
        let Router { id, ports, .. } = partition.routers[local as usize];
        let plant = self.plant;
        let (kind, class, vcs, buffer, link) = match plant.topology.peer(id, port) {
            Peer::Unused => (PortKind::Unused, 0, 0, 0, Link::default()),
            Peer::Host(host) => {
                let index = self.add_host(partition, host);
                let link =
                    Link { partition: partition.index, port: index, latency: plant.host_latency };
                (PortKind::Host, u8::MAX, plant.flows.classes(), u32::MAX, link)
            }
            Peer::Router { router, port, class } => {
                let (to, port) = self.port_in_partition(router, port);
                let limits = plant.classes[class as usize];
                let link = Link { partition: to, port, latency: limits.latency };
                (PortKind::Link, class, limits.vcs, limits.buffer, link)
            }
        };
        partition.inputs.push(Input {
            busy_until: 0,
            queues: partition.queues.len() as u32,
            occupied: 0,
            upstream: link,
            router: local,
            base: partition.routers[local as usize].port_base,
            pointer: 0,
            vcs,
            request: 0,
            sent: Wish::default(),
            next_request: NONE,
            kind,
            ripe_at: 0,
        });
        partition.outputs.push(Output {
            busy_until: 0,
            link_free: 0,
            queued: 0,
            credits: [buffer; NEAR],
            more_credits: partition.credits.len() as u32,
            downstream: link,
            sent: 0,
            router: local,
            pointer: 0,
            first_request: NONE,
            vcs: if kind == PortKind::Host { 1 } else { vcs },
            class,
            kind,
            way: match kind {
                PortKind::Link if link.partition == partition.index => Way::Inside,
                PortKind::Link => Way::Outside,
                _ => Way::Host,
            },
            awaited: false,
            exit: exit && kind == PortKind::Link,
        });
        let mut lanes = usize::from(vcs);
        if let Some(islip) = &mut partition.islip {
            islip.add_port();
            lanes *= usize::from(ports);
        }
        partition.queues.extend((0..lanes).map(|_| Queue::EMPTY));
        if kind == PortKind::Link {
            partition.credits.extend((NEAR..usize::from(vcs)).map(|_| buffer));
        }
    }

    /// Adds the host of the port that is being added.
    fn add_host(&self, partition: &mut Partition, id: HostId) -> u32 {
        let (index, port) = (partition.hosts.len() as u32, partition.inputs.len() as u32);
        let (source, mut next) = self.plant.traffic.source(id, self.plant.times.seed);
        if let (Some(jobs), Some(nics)) = (&self.plant.jobs, &mut partition.nics)
            && let Some(seat) = jobs.seat(id)
        {
            let classes = self.plant.flows.classes();
            next = nics.add(index, seat, &jobs.jobs[seat.job as usize], classes);
        }
        let more_queued = partition.queued.len() as u32;
        partition.queued.extend((1..self.plant.flows.classes()).map(|_| 0));
        let (queued, injected, accepted) = (0, 0, 0);
        let host = Host { id, source, next, queued, more_queued, port, injected, accepted };
        partition.hosts.push(host);
        if next != Cycle::MAX {
            let at = next.min(partition.generations.horizon());
            partition.generations.push(at, index);
        }
        index
    }
}

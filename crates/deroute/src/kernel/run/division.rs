//! How the network is divided into partitions, and how one is assembled.

use std::sync::Arc;

use crate::ids::{Cycle, HostId, PortId, RouterId};
use crate::kernel::RunOptions;
use crate::kernel::agents::Agents;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::FAR;
use crate::kernel::core::packet::{NONE, Pool};
use crate::kernel::core::ports::{
    Host, Input, LeadsTo, Link, NEAR, Output, OutputRequest, PortKind, Queue, Router,
};
use crate::kernel::core::registers::Registers;
use crate::kernel::core::wheel::Wheel;
use crate::kernel::extent::Extent;
use crate::kernel::hosts::Hosts;
use crate::kernel::machine::{Machine, Matching};
use crate::kernel::model::Model;
use crate::kernel::partition::Partition;
use crate::probe::PathKind;
use crate::probe::collect::Collector;
use crate::rng::{Owner, Stream};
use crate::topology::{Peer, Topology};
use crate::workload::Jobs;

/// Which partition simulates each router, and how ports are numbered.
pub(crate) struct Division<'a> {
    pub(crate) model: &'a Arc<Model>,
    /// First port of each router in the whole network, and the total.
    pub(crate) port_bases: &'a [u32],
    /// First router of each partition, and the total.
    pub(crate) firsts: &'a [u32],
}

/// Hosts in a partition that keep its state in a cache of about 512 KiB.
const HOSTS_PER_PARTITION: u32 = 144;
/// More partitions would write to more mail than a cache holds the ends of.
const MOST_PARTITIONS: usize = 512;

/// Cycles that several partitions per thread should run alone at least.
const SHORTEST_WINDOW: Cycle = 24;

/// First router of each partition of a run, and the total; `port_bases` are those of [`Division`].
pub(crate) fn partitions(model: &Arc<Model>, port_bases: &[u32], options: &RunOptions) -> Vec<u32> {
    let topology = &*model.topology;
    let firsts = divide(topology, options);
    let lookahead = || Division { model, port_bases, firsts: &firsts }.lookahead();
    if options.partitions.is_none() && lookahead() < SHORTEST_WINDOW {
        // Caches would be filled anew all the time: as few as there are threads.
        let few = RunOptions { partitions: Some(options.threads.max(1)), ..options.clone() };
        return divide(topology, &few);
    }
    firsts
}

/// First router of each partition, and the total. Domains are never split.
pub(crate) fn divide(topology: &dyn Topology, options: &RunOptions) -> Vec<u32> {
    let routers = topology.routers();
    let mut starts = vec![0];
    for router in 1..routers {
        if topology.domain(RouterId(router)) != topology.domain(RouterId(router - 1)) {
            starts.push(router);
        }
    }
    let domains = starts.len();
    let wanted = options.partitions.unwrap_or_else(|| {
        let fitting = topology.hosts().div_ceil(HOSTS_PER_PARTITION) as usize;
        // As many for each thread.
        fitting.min(MOST_PARTITIONS).next_multiple_of(options.threads.max(1))
    });
    let count = wanted.clamp(1, domains);
    let mut firsts: Vec<u32> = (0..count).map(|i| starts[i * domains / count]).collect();
    firsts.push(routers);
    firsts
}

impl Division<'_> {
    pub(crate) fn partition_of(&self, router: RouterId) -> u32 {
        self.firsts.partition_point(|&first| first <= router.0) as u32 - 1
    }

    fn port_in_partition(&self, router: RouterId, port: PortId) -> (u32, u32) {
        let partition = self.partition_of(router);
        let first = self.firsts[partition as usize];
        let base = self.port_bases[router.index()] - self.port_bases[first as usize];
        (partition, base + u32::from(port.0))
    }

    /// The shortest latency between two partitions: of a link, or within a node.
    pub(crate) fn lookahead(&self) -> Cycle {
        let topology = &*self.model.topology;
        let within_nodes = self.model.jobs.as_ref().and_then(Jobs::node_latency);
        let mut shortest = within_nodes.filter(|_| self.firsts.len() > 2).unwrap_or(Cycle::MAX);
        for router in (0..topology.routers()).map(RouterId) {
            let home = self.partition_of(router);
            for port in 0..topology.radix(router) {
                if let Peer::Router { router: other, class, .. } =
                    topology.peer(router, PortId(port))
                    && self.partition_of(other) != home
                {
                    shortest = shortest.min(self.model.classes[class as usize].latency);
                }
            }
        }
        shortest
    }

    /// Builds one partition; `record` says that the dependencies between channels are recorded.
    pub(crate) fn build<M: Machine>(&self, index: u32, record: bool) -> Partition<M> {
        let model = self.model;
        let (first, end) = (self.firsts[index as usize], self.firsts[index as usize + 1]);
        let (routers, horizon) = (end - first, model.horizon());
        let routing = (model.routing.agent)(RouterId(first), routers);
        let voqs = <M::Matching as Matching<M>>::VOQS;
        let early = !voqs && !model.on_arrival;
        let agents = Agents::new(routing, routers as usize, horizon, early);
        let extent = Extent::of(model, first..end);
        let mut hosts = M::Hosts::new(model, horizon, &extent);
        let ports = extent.ports as usize;
        let more_queues = usize::from(model.flows.injection_queues()) - 1;
        let mut core = Core {
            model: Arc::clone(model),
            index,
            now: 0,
            first_router: first,
            firsts: if model.has_nodes() { self.firsts.into() } else { Box::default() },
            exceeds_cache: false,
            routers: Vec::with_capacity(routers as usize),
            inputs: Vec::with_capacity(ports),
            outputs: Vec::with_capacity(ports),
            queues: Vec::with_capacity(extent.queues as usize),
            periods: Vec::new(),
            credits: Vec::with_capacity(extent.credits as usize),
            hosts: Vec::with_capacity(extent.hosts as usize),
            queued: Vec::with_capacity(extent.hosts as usize * more_queues),
            pool: Pool::new(),
            registers: Registers::default(),
            arrivals: Wheel::new(horizon),
            signals: Wheel::new(horizon),
            wakeups: Wheel::new(horizon),
            generations: Wheel::new(horizon),
            outbox: Vec::new(),
            collector: Collector::new(),
            paths: vec![[0; PathKind::ALL.len()]; routers as usize],
        };
        for router in first..end {
            self.add_router::<M>(&mut core, &mut hosts, RouterId(router));
        }
        debug_assert_eq!(core.queues.len() as u64, extent.queues);
        debug_assert_eq!(core.credits.len() as u64, extent.credits);
        core.periods = self.periods(&core);
        // Tests always fetch: it must not matter.
        core.exceeds_cache = core.inputs.len() >= FAR || cfg!(debug_assertions);
        Partition::new(core, agents, hosts, record)
    }

    /// Cycles that a phit takes on the link of each port; none if that is one for all.
    fn periods(&self, core: &Core) -> Vec<u32> {
        let Model { classes, egress, .. } = &**self.model;
        let of = |(port, output): (usize, &Output)| {
            let router = &core.routers[output.router as usize];
            let local = port as u32 - router.port_base;
            match (egress.slow.get(&(router.id.0, local as u16)), output.kind) {
                (Some(period), _) => *period,
                (None, PortKind::Link) => classes[usize::from(output.class)].period,
                (None, _) => egress.nic.map_or(1, |nic| nic.period),
            }
        };
        let periods: Vec<u32> = core.outputs.iter().enumerate().map(of).collect();
        if periods.iter().all(|period| *period == 1) { Vec::new() } else { periods }
    }

    fn add_router<M: Machine>(&self, core: &mut Core, hosts: &mut M::Hosts, id: RouterId) {
        let topology = &*self.model.topology;
        let (ports, local) = (topology.radix(id), core.routers.len() as u32);
        core.routers.push(Router {
            id,
            port_base: core.inputs.len() as u32,
            ports,
            rng: Stream::new(self.model.times.seed, Owner::Router(id.0)),
        });
        let global_ports = topology.global_ports(id);
        for port in 0..ports {
            let global = global_ports.contains(&port);
            self.add_port::<M>(core, hosts, local, (PortId(port), global));
        }
    }

    fn add_port<M: Machine>(
        &self,
        core: &mut Core,
        hosts: &mut M::Hosts,
        local: u32,
        (port, global): (PortId, bool),
    ) {
        let Router { id, ports, port_base: base, .. } = core.routers[local as usize];
        let model = self.model;
        let (kind, class, vcs, buffer, link) = match model.topology.peer(id, port) {
            Peer::Unused => (PortKind::Unused, 0, 0, 0, Link::default()),
            Peer::Host(host) => {
                let index = self.add_host::<M>(core, hosts, host);
                let link = Link { partition: core.index, port: index, latency: model.host_latency };
                (PortKind::Host, u8::MAX, model.host_vcs(), u32::MAX, link)
            }
            Peer::Router { router, port, class } => {
                let (to, port) = self.port_in_partition(router, port);
                let limits = model.classes[class as usize];
                let link = Link { partition: to, port, latency: limits.latency };
                (PortKind::Link, class, limits.vcs, limits.buffer, link)
            }
        };
        core.inputs.push(Input {
            busy_until: 0,
            queues: core.queues.len() as u32,
            occupied: 0,
            upstream: link,
            router: local,
            base,
            pointer: 0,
            vcs,
            requested_vc: 0,
            sent: OutputRequest::default(),
            next_request: NONE,
            kind,
            class,
            wakeup_at: 0,
        });
        core.outputs.push(Output {
            busy_until: 0,
            link_free: 0,
            queued: 0,
            credits: [buffer; NEAR],
            more_credits: core.credits.len() as u32,
            downstream: link,
            sent: 0,
            router: local,
            pointer: 0,
            first_request: NONE,
            vcs: if kind == PortKind::Host { 1 } else { vcs },
            class,
            kind,
            leads_to: match kind {
                PortKind::Link if link.partition == core.index => LeadsTo::Local,
                PortKind::Link => LeadsTo::Remote,
                _ => LeadsTo::Host,
            },
            awaited: false,
            global: global && kind == PortKind::Link,
        });
        let voqs = if <M::Matching as Matching<M>>::VOQS { usize::from(ports) } else { 1 };
        core.queues.extend((0..usize::from(vcs) * voqs).map(|_| Queue::EMPTY));
        if kind == PortKind::Link {
            core.credits.extend((NEAR..usize::from(vcs)).map(|_| buffer));
        }
    }

    /// Adds the host of the port that is being added.
    fn add_host<M: Machine>(&self, core: &mut Core, hosts: &mut M::Hosts, id: HostId) -> u32 {
        let (index, port) = (core.hosts.len() as u32, core.inputs.len() as u32);
        let (source, first) = self.model.traffic.source(id, self.model.times.seed);
        let next = hosts.add(self.model, index, id).unwrap_or(first);
        let more_queued = core.queued.len() as u32;
        core.queued.extend((1..self.model.flows.injection_queues()).map(|_| 0));
        let (queued, injected, accepted) = (0, 0, 0);
        let host = Host { id, source, next, queued, more_queued, port, injected, accepted };
        core.hosts.push(host);
        if next != Cycle::MAX {
            let at = next.min(core.generations.horizon());
            core.generations.push(at, index);
        }
        index
    }
}

//! The network model: the spec as the kernel needs it, validated, resolved to cycles and phits,
//! shared by all partitions.

mod demand;
mod egress;
mod flow_control;
mod limits;
mod links;
mod memory;
mod probed;
mod reach;
mod sizes;
mod times;

use std::sync::Arc;

pub(crate) use egress::EgressModel;
use flow_control::Guards;
pub(crate) use flow_control::{Messages, Pauses};
pub(crate) use links::way;
pub(crate) use probed::{Probed, ProbedPort, QueuePlan, Queues, pause_rows};
pub(crate) use times::{Asked, LEAST, LEAST_MEASURED, Times, WarmupTimes};

use egress::Ends;

use crate::congestion::{self, NoticePlan};
use crate::control::{LinkClass, MessagePlan};
use crate::entropy::{self, EntropyPlan};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::notification::{self, NotificationPlan};
use crate::queuing::{self, Flows};
use crate::routing::{self, Plan, Planner, VcNeed};
use crate::spec::{
    Allocator, CongestionPoint, FlowControl, Forwarding, Network, Routed, Scale, Sensing,
    ServiceClasses, SpareVcs, Spec, SpecError, holds,
};
use crate::switch::{self, Crossbar, Matching};
use crate::topology::{self, Peer, Topology};
use crate::traffic::Workload as Traffic;
use crate::workload::Jobs;

/// A network, its traffic and the times of its run, in numbers.
pub(crate) struct Model {
    pub(crate) topology: Arc<dyn Topology>,
    pub(crate) classes: Vec<LinkClass>,
    pub(crate) host_latency: Cycle,
    /// Phits per host and class; `u32::MAX` is unlimited.
    pub(crate) injection_queue: u32,
    /// Classes of service and of the queuing scheme, and the injection queues of each.
    pub(crate) flows: Flows,
    pub(crate) pipeline: Cycle,
    pub(crate) crossbar: Crossbar,
    /// Phits per output port, or per VC of it where these can be paused; `u32::MAX` is unlimited.
    pub(crate) output_buffer: u32,
    pub(crate) allocator: Allocator,
    /// Every VC of an input has a queue per output, matched by iSLIP in `allocator.iterations`.
    pub(crate) voqs: bool,
    /// Packets are routed when they arrive.
    pub(crate) on_arrival: bool,
    /// Heads with room at the other end wait for the crossbar in registers.
    pub(crate) registers: bool,
    pub(crate) sensing: Sensing,
    /// Lengths of queues are kept beside the credits.
    pub(crate) lengths: bool,
    /// Classes of VCs in each link class that share its spare VCs; empty if these are not used.
    pub(crate) shared_by: Vec<u8>,
    /// A VC takes a packet only while it is empty.
    pub(crate) atomic: bool,
    /// The VC that every head can turn to.
    pub(crate) escape: Option<VcId>,
    pub(crate) routing: Plan,
    /// The synthetic traffic.
    pub(crate) traffic: Traffic,
    /// The programs, if there are any.
    pub(crate) jobs: Option<Jobs>,
    pub(crate) times: Times,
    pub(crate) scale: Scale,
    /// Queues at the outputs, where a run needs them.
    pub(crate) egress: EgressModel,
    /// Pauses in place of credits, on some links or all.
    pub(crate) pause: Option<Pauses>,
    /// Links whose credits come back in messages, if there are any.
    pub(crate) messages: Option<Messages>,
    /// Phits that a host can hold of packets that wait for an earlier one, if hosts put packets in order; `u32::MAX` is
    /// unlimited.
    pub(crate) resequencing: Option<u32>,
    /// What hosts tell the sources of packets.
    pub(crate) notification_point: Option<NotificationPlan>,
    /// The values that hosts give packets, from which their paths follow.
    pub(crate) entropy: Option<EntropyPlan>,
    /// A packet goes on when it has arrived whole.
    pub(crate) store_and_forward: bool,
    /// What is recorded in time.
    pub(crate) probed: Probed,
    /// Pauses are recorded link by link and VC by VC.
    pub(crate) pause_probe: bool,
    /// What the spec has left to the engine: paths and values.
    pub(crate) filled: Vec<(String, u32)>,
}

impl Model {
    /// Resolves a spec, with the routing that `planner` finds for it.
    ///
    /// # Errors
    /// The first thing that is impossible, with its path.
    pub(crate) fn build(spec: &Spec, planner: &Planner<'_>) -> Result<Self, SpecError> {
        let scale = spec.units.scale()?;
        let topology = topology::build(&spec.network.topology)?;
        let service = spec.network.classes.as_ref().map_or(Ok(1), ServiceClasses::check)?;
        let (notification_point, notices) = notices(spec, (scale, service))?;
        let (times, jobs, traffic) = demand::resolve(spec, &scale, &topology, (service, notices))?;
        let largest = demand::packet_sizes(jobs.as_ref(), &traffic, notices).1;
        let mut classes = links::resolve(spec, &scale, &*topology, largest)?;
        let plan = |classes: &[LinkClass]| {
            let fabric = links::fabric(&topology, classes, scale);
            queuing::plan_for(queuing::Asked::of(&spec.network, service), notices, fabric, planner)
        };
        let (mut flows, mut routing) = plan(&classes)?;
        if links::settle(&mut classes, spec, &*topology, (&routing.vcs, flows.classes())) {
            (flows, routing) = plan(&classes)?;
        }
        let (entropy, routing) = entropies((spec, scale), notification_point, routing)?;
        links::enough_vcs(&classes, &*topology, &routing.vcs)?;
        let agent = (routing.agent)(RouterId(0), 1);
        let sensing = sensing(spec, &*agent)?;
        let (network, watches) = (&spec.network, agent.watches());
        let host_latency = scale.interval("network.nic.latency", &network.nic.latency, 0)?;
        let nic = links::nic(spec, &scale, host_latency, flows.classes())?;
        let (names, links, sizes) = (topology.classes(), &classes[..], (scale, largest));
        let ends = flow_control::Ends { names, links, host: nic, sizes, atomic: agent.atomic() };
        let Guards { atomic, pause, messages } = flow_control::resolve(spec, &ends)?;
        let guards = (pause.as_ref(), messages.as_ref());
        let switch = switch::build_for(&network.switch, (scale, largest), watches.reconsiders)?;
        let (allocator, voqs) = allocator(&switch.matching);
        egress::check(spec, &*agent, (nic.is_some(), guards, names), &switch)?;
        let told = (notification_point.map(|plan| plan.tells), notices);
        let ends = Ends { topology: &*topology, links, nic, flows: &flows };
        let egress = EgressModel::new(spec, ends, (guards, &switch), sizes, told)?;
        let pause = pause.map(|plan| egress.exempt(plan));
        let mut model = Self {
            host_latency,
            injection_queue: injection_queue(spec, &scale, largest)?,
            resequencing: links::resequencing(spec, &scale, largest, pause.as_ref())?,
            notification_point,
            entropy,
            flows,
            pipeline: switch.pipeline,
            crossbar: switch.crossbar,
            output_buffer: egress::output_buffer(&switch, egress.counts_phits, largest),
            allocator,
            voqs,
            on_arrival: switch.routed == Routed::Arrival,
            registers: switch.registers,
            sensing,
            lengths: sensing != Sensing::Both || watches.lengths,
            shared_by: shared_by(network, &*agent, (&classes, &*topology), &routing.vcs),
            atomic,
            escape: agent.escape(),
            filled: links::filled(spec, &*topology, &classes),
            topology,
            classes,
            routing,
            traffic,
            jobs,
            times,
            scale,
            egress,
            pause,
            messages,
            store_and_forward: network.forwarding == Forwarding::StoreAndForward,
            probed: Probed::default(),
            pause_probe: spec.probes.pauses,
        };
        model.fits(&network.switch)?;
        model.probed = Probed::new(spec, &model)?;
        Ok(model)
    }

    /// Credits that a packet needs on a link of a class.
    #[inline]
    pub(crate) fn room(&self, class: u8, size: u16) -> u32 {
        if self.atomic
            && let Some(class) = self.classes.get(usize::from(class))
        {
            return class.buffer;
        }
        u32::from(size)
    }

    /// Have links of a class pauses in place of credits?
    #[inline]
    pub(crate) fn replaces_credits(&self, class: u8) -> bool {
        self.pause.as_ref().is_some_and(|pauses| pauses.replace_credits(class))
    }

    /// How credits come back from the other end of links of a class, if they do so in messages.
    #[inline]
    pub(crate) fn cells(&self, class: u8) -> Option<&MessagePlan> {
        self.messages.as_ref()?.of(class)
    }

    /// Phits that a packet takes of the buffer at the other end of a link of a class.
    #[inline]
    pub(crate) fn charge(&self, class: u8, size: u32) -> u32 {
        self.cells(class).map_or(size, |plan| plan.charge(size))
    }

    /// Are all VCs of the links of a class paused together?
    pub(crate) fn pauses_whole_link(&self, class: u8) -> bool {
        let plan = self.pause.as_ref().and_then(|pauses| pauses.of(class.into()));
        plan.is_some_and(|plan| plan.whole_link)
    }

    /// Packets of hosts have numbers: there are streams, or receivers put packets in order.
    pub(crate) fn numbers_packets(&self) -> bool {
        !self.traffic.streams().is_empty() || self.resequencing.is_some()
    }

    /// Packets carry something for hosts.
    pub(crate) fn loads_packets(&self) -> bool {
        let told = self.egress.notices.is_some() || self.entropy.is_some();
        self.jobs.is_some() || self.numbers_packets() || told
    }

    /// Some job has nodes, whose ranks send messages to each other beside the network.
    pub(crate) fn has_nodes(&self) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.node_latency().is_some())
    }

    /// Phits in each injection queue of a host that runs a rank. Where a queue is unlimited, the
    /// interface cuts packets when they are needed to keep the router busy.
    pub(crate) fn nic_queue(&self) -> u32 {
        match self.injection_queue {
            u32::MAX => self.host_latency + 2 * u32::from(self.packet_sizes().1),
            limited => limited,
        }
    }

    /// Ports of all routers up to and including each one.
    pub(crate) fn port_bases(&self) -> Vec<u32> {
        let mut base = 0;
        let mut bases = vec![0];
        for router in 0..self.topology.routers() {
            base += u32::from(self.topology.radix(RouterId(router)));
            bases.push(base);
        }
        bases
    }

    /// Most VCs of a class of links.
    pub(crate) fn most_vcs(&self) -> u8 {
        self.classes.iter().map(|class| class.vcs).max().unwrap_or(0)
    }

    /// Do VCs share memory of their port?
    pub(crate) fn shares(&self) -> bool {
        self.classes.iter().any(|class| class.shared > 0)
    }

    /// VCs of the input port of a host: its injection queues, or one for each class behind a link of its own.
    pub(crate) fn host_vcs(&self) -> u8 {
        match self.egress.nic {
            None => self.flows.injection_queues(),
            Some(_) => self.flows.classes(),
        }
    }

    /// Queues of all input ports of a router: of hosts' ports for each class of the queuing scheme, of
    /// others for each VC, and of these one for each output where there are virtual output queues.
    pub(crate) fn queues(&self, router: RouterId) -> u64 {
        let ports = self.topology.radix(router);
        let vcs = |port: u16| match self.topology.peer(router, PortId(port)) {
            Peer::Router { class, .. } => u64::from(self.classes[usize::from(class)].vcs),
            Peer::Host(_) => u64::from(self.host_vcs()),
            Peer::Unused => 0,
        };
        (0..ports).map(vcs).sum::<u64>() * if self.voqs { u64::from(ports) } else { 1 }
    }

    /// Links between routers, each direction counted.
    pub(crate) fn links(&self) -> u32 {
        let routers = (0..self.topology.routers()).map(RouterId);
        let peers = routers.flat_map(|r| {
            (0..self.topology.radix(r)).map(move |p| self.topology.peer(r, PortId(p)))
        });
        peers.filter(|peer| matches!(peer, Peer::Router { .. })).count() as u32
    }
}

/// What hosts tell the sources of packets, and the packets with which they or switches do.
fn notices(
    spec: &Spec,
    (scale, classes): (Scale, u8),
) -> Result<(Option<NotificationPlan>, Option<NoticePlan>), SpecError> {
    let point = &spec.network.congestion_point;
    let setting = notification::Setting { scale, classes, congestion_point: point.as_ref() };
    let asked = spec.network.nic.notification_point.as_ref();
    let told = asked.map(|asked| notification::build(asked, &setting)).transpose()?;
    let notices = congestion::notices(point, (&scale, classes))?;
    Ok((told, notices.or(told.map(|told| told.notices))))
}

/// The entropies of packets, and the routing whose paths follow from them.
fn entropies(
    (spec, scale): (&Spec, Scale),
    told: Option<NotificationPlan>,
    routing: Plan,
) -> Result<(Option<EntropyPlan>, Plan), SpecError> {
    let Some(entropy) = &spec.network.nic.entropy else { return Ok((None, routing)) };
    let setting = entropy::Setting {
        routing: &spec.routing,
        acknowledged: told.is_some_and(|told| told.tells == notification::Tells::Packets),
        marked: matches!(spec.network.congestion_point, Some(CongestionPoint::Ecn(_))),
        resends: spec.network.nic.retransmission.is_some(),
        trims: matches!(spec.network.flow_control, FlowControl::Trim(_)),
        scale,
    };
    let plan = entropy::build(entropy, &setting)?;
    Ok((Some(plan), entropy::follow_entropy(routing, spec.run.seed)))
}

/// What the length of a queue is, if the routing can work with it.
fn sensing(spec: &Spec, agent: &dyn routing::Routing) -> Result<Sensing, SpecError> {
    let sensing = spec.network.sensing;
    if sensing == Sensing::Waiting && agent.watches().queues {
        let message = "this routing is told when a queue changes, and what waits for a link \
                       changes in every cycle";
        let choices = ["both", "output", "downstream", "sent"];
        return Err(SpecError::new("network.sensing", message).choices(choices));
    }
    Ok(sensing)
}

/// Classes of VCs in each link class that share its spare VCs; none if these are not used.
fn shared_by(
    network: &Network,
    agent: &dyn routing::Routing,
    (classes, topology): (&[LinkClass], &dyn Topology),
    needs: &[VcNeed],
) -> Vec<u8> {
    match network.spare_vcs {
        // Whoever keeps a VC to escape through has shared out the others.
        SpareVcs::Emptiest if agent.escape().is_none() => {
            links::shared_by(classes, topology, needs)
        }
        _ => Vec::new(),
    }
}

/// The allocator of a switch, and whether it has virtual output queues.
fn allocator(matching: &Matching) -> (Allocator, bool) {
    match matching {
        Matching::Separable(allocator) => (allocator.clone(), false),
        Matching::Islip { iterations } => {
            (Allocator { iterations: *iterations, ..Allocator::default() }, true)
        }
    }
}

/// Phits of each injection queue; `u32::MAX` is unlimited.
fn injection_queue(spec: &Spec, scale: &Scale, largest: u16) -> Result<u32, SpecError> {
    let path = "network.nic.injection_queue";
    let Some(queue) = &spec.network.nic.injection_queue else { return Ok(u32::MAX) };
    let phits = scale.buffer(path, queue)?;
    holds(phits, largest, path.into())?;
    Ok(phits)
}

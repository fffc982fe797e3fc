//! The spec in numbers.

use std::sync::Arc;

use deroute::ids::RouterId;
use deroute::queuing::{self, Asked, Flows};
use deroute::routing::{self, Fabric, Plan};
use deroute::spec::{
    Allocator, Forwarding, Quantity, Routed, Scale, Sensing, SpareVcs, Spec, Switch, Warmup,
};
use deroute::topology::{self, Peer, Topology};
use deroute::traffic::{Senders, Setting, Workload};
use deroute::workload::Jobs;

use super::links::{Links, classes, period};

/// The spec in numbers.
pub(super) struct Resolved {
    pub(super) topology: Arc<dyn Topology>,
    pub(super) seed: u64,
    pub(super) links: Links,
    pub(super) plan: Plan,
    pub(super) flows: Flows,
    pub(super) workload: Workload,
    pub(super) jobs: Option<Jobs>,
    /// Phits that a host with a rank keeps in its injection queue.
    pub(super) nic_queue: u64,
    pub(super) host_latency: u32,
    pub(super) injection_queue: u64,
    pub(super) pipeline: u32,
    /// Phits that an input moves in a cycle.
    pub(super) speed: u32,
    /// Any number of inputs may write an output at the same time.
    pub(super) ideal: bool,
    pub(super) output_buffer: u64,
    /// It holds the packet that leaves.
    pub(super) has_output_buffer: bool,
    /// A packet keeps its memory in the input buffer until it begins to leave.
    pub(super) keeps_memory: bool,
    /// A head waits for its last phit.
    pub(super) store_and_forward: bool,
    pub(super) allocator: Allocator,
    /// Every VC of an input has a queue for each output, and iSLIP matches them.
    pub(super) voqs: bool,
    /// A packet is routed when it arrives.
    pub(super) on_arrival: bool,
    /// A head with room at the other end gives its memory back before it is granted.
    pub(super) registers: bool,
    pub(super) sensing: Sensing,
    /// Classes of VCs in each link class, if they share all VCs.
    pub(super) shared_by: Option<Vec<usize>>,
    /// Measured cycles.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Start and width of the time series.
    pub(super) series: Option<(u32, u32)>,
}

pub(super) fn whole(quantity: &Quantity) -> u32 {
    match quantity {
        Quantity::Number(number) => u32::try_from(*number).expect("a small number"),
        Quantity::Text(text) => panic!("{text}: the model wants bare numbers"),
    }
}

fn jobs(spec: &Spec, scale: &Scale, setting: &Setting<'_>) -> Option<Jobs> {
    let build = |jobs| Jobs::build(jobs, scale, setting).expect("a possible workload");
    spec.workload.as_ref().map(build)
}

impl Resolved {
    pub(super) fn new(spec: &Spec) -> Self {
        let topology = topology::build(&spec.network.topology).expect("a possible topology");
        let scale = spec.units.scale().expect("sensible units");
        let classes = classes(spec, &*topology, &scale);
        let latency = classes.iter().map(|class| class.latency).collect();
        let vcs = classes.iter().map(|class| class.vcs as u8).collect();
        let buffers = classes.iter().map(|class| class.buffer + class.shared).collect();
        let wiring = Arc::clone(&topology);
        let fabric =
            Fabric { topology: wiring, latency, vcs, buffers, classes: 1, queues: 1, scale };
        let planner = |fabric: &Fabric| routing::build(&spec.routing, fabric);
        let service = spec.network.classes.as_ref().map_or(1, |classes| classes.count);
        let asked = Asked::of(&spec.network, service);
        let (flows, plan) = queuing::plan(asked, fabric, &planner).expect("a possible routing");
        let escapes = (plan.agent)(RouterId(0), 1).escape().is_some();
        let need = |name: &&str| plan.vcs.iter().find(|need| need.class == *name);
        let needs = topology.classes().iter().map(need);
        let shared_by = needs.map(|need| usize::from(need.expect("a need").vcs)).collect();
        let Warmup::Fixed(warmup) = &spec.run.warmup else { panic!("not a fixed warm-up") };
        let from = whole(warmup);
        let setting = Setting { topology: &*topology, seed: spec.run.seed };
        let rate = spec.network.nic.link.as_ref().and_then(|link| link.rate.as_ref());
        let period = period(&scale, rate);
        let senders = Senders { period, classes: service, free: &|_| true };
        let workload = Workload::build_for(&senders, &spec.traffic, &scale, &setting, Some(from))
            .expect("a possible workload");
        let jobs = jobs(spec, &scale, &setting);
        let nic = &spec.network.nic;
        let injection_queue = nic.injection_queue.as_ref().map_or(u64::MAX, |q| whole(q).into());
        let largest = jobs.as_ref().map_or(0, |jobs| u64::from(jobs.packet));
        // As much as keeps the router busy.
        let enough = u64::from(whole(&nic.latency)) + 2 * largest;
        let nic_queue = if injection_queue == u64::MAX { enough } else { injection_queue };
        let (from, to) = match &jobs {
            Some(_) => (0, u32::MAX),
            None => (from, from + whole(&spec.run.measure)),
        };
        let before = spec.probes.series_before.as_ref().map_or(0, whole);
        let synthetic = if workload.is_silent() { 1 } else { workload.packet_sizes().1 };
        let packets = jobs.as_ref().map_or(1, |jobs| jobs.packet).max(synthetic);
        let links = Links::new(spec, &*topology, &flows, (classes, &scale, packets.into()));
        let mut resolved = Self {
            topology,
            seed: spec.run.seed,
            links,
            plan,
            flows,
            workload,
            jobs,
            nic_queue,
            host_latency: whole(&nic.latency),
            injection_queue,
            pipeline: 0,
            speed: 1,
            ideal: false,
            output_buffer: u64::MAX,
            has_output_buffer: true,
            keeps_memory: false,
            store_and_forward: spec.network.forwarding == Forwarding::StoreAndForward,
            allocator: Allocator::default(),
            voqs: false,
            on_arrival: false,
            registers: false,
            sensing: spec.network.sensing,
            shared_by: (spec.network.spare_vcs == SpareVcs::Emptiest && !escapes)
                .then_some(shared_by),
            from,
            to,
            series: spec.probes.series.as_ref().map(|width| (from - before, whole(width))),
        };
        resolved.switch(&spec.network.switch);
        resolved
    }

    /// Is this the port of a host without a link of its own, whose injection queue is the input buffer?
    pub(super) fn injects(&self, peer: &Peer) -> bool {
        self.links.nic.is_none() && matches!(peer, Peer::Host(_))
    }

    /// The one place of the model that a new switch needs.
    fn switch(&mut self, switch: &Switch) {
        match switch {
            Switch::InputQueued(spec) => {
                self.on_arrival = spec.routed == Routed::Arrival;
                self.registers = spec.registers;
                (self.pipeline, self.allocator) = (whole(&spec.pipeline), spec.allocator.clone());
                self.has_output_buffer = false;
                self.output_buffer = self.links.behind_crossbar(self.pipeline);
            }
            Switch::VirtualOutputQueued(spec) => {
                self.pipeline = whole(&spec.pipeline);
                self.has_output_buffer = false;
                self.output_buffer = self.links.behind_crossbar(self.pipeline);
                (self.voqs, self.on_arrival) = (true, true);
                self.registers = spec.registers;
                self.allocator.iterations = spec.iterations;
            }
            Switch::CombinedQueued(spec) => {
                (self.pipeline, self.allocator) = (whole(&spec.pipeline), spec.allocator.clone());
                (self.speed, self.output_buffer) =
                    (u32::from(spec.speedup), whole(&spec.output_buffer).into());
            }
            Switch::InputBufferedOutputQueued(spec) => {
                (self.pipeline, self.keeps_memory) = (whole(&spec.pipeline), true);
                self.ideal = spec.memory_bandwidth.is_none();
                self.speed = spec.memory_bandwidth.map_or(u32::MAX, u32::from);
            }
            Switch::OutputQueued(spec) => {
                (self.ideal, self.speed) = (true, u32::MAX);
                self.pipeline = whole(&spec.pipeline);
                let limit = spec.output_buffer.as_ref();
                self.output_buffer = limit.map_or(u64::MAX, |buffer| whole(buffer).into());
            }
        }
    }
}

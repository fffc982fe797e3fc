//! The network as the kernel needs it: validated, resolved to cycles and phits, shared by all
//! partitions.

use std::sync::Arc;

use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::routing::{Fabric, Flows, Plan, Planner, Watches, queuing};
use crate::spec::{
    Allocator, AutomaticWarmup, Quantity, Routed, Scale, Sensing, SpareVcs, Spec, SpecError,
    Switch, Warmup, WarmupRule,
};
use crate::topology::{self, Peer, Topology, VcNeed};
use crate::traffic::{Setting, Workload};
use crate::workload::Jobs;

/// Links of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkClass {
    pub(crate) latency: Cycle,
    pub(crate) vcs: u8,
    /// Phits that a VC may hold.
    pub(crate) buffer: u32,
    /// Those of them that it shares with the other VCs of its port.
    pub(crate) shared: u32,
}

impl LinkClass {
    /// Phits that a port may hold.
    pub(crate) fn memory(&self) -> u64 {
        u64::from(self.buffer - self.shared) * u64::from(self.vcs) + u64::from(self.shared)
    }
}

/// How long a packet occupies the crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossbar {
    /// Phits per cycle and port.
    Speed(u32),
    /// As fast as the packet arrives, to any number of packets per output.
    Ideal,
}

impl Crossbar {
    /// Until when an input is read and an output is written, if a packet of so many phits is granted whose tail
    /// arrives in cycle `tail`.
    #[inline]
    pub(crate) fn held(self, now: Cycle, tail: Cycle, size: u32) -> (Cycle, Cycle) {
        match self {
            Self::Speed(speed) => {
                // A division is slow, and hardly any switch is faster than 2.
                let cycles = match speed {
                    1 => size,
                    2 => size.div_ceil(2),
                    _ => size.div_ceil(speed),
                };
                let end = tail.max(now + cycles);
                (end, end)
            }
            Self::Ideal => (tail.max(now + 1), now),
        }
    }
}

/// Seed and durations, resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) seed: u64,
    pub(crate) warmup: WarmupTimes,
    pub(crate) measure: Cycle,
    /// Width of a series bin, and how long before the measurement the series begins.
    pub(crate) series: Option<(Cycle, Cycle)>,
    /// Cycles between samples of the agents, and the domain given router by router.
    pub(crate) agents: Option<(Cycle, u32)>,
    /// Cycles between samples of the congestion trees, and whether their buffers are recorded.
    pub(crate) congestion: Option<(Cycle, bool)>,
    pub(crate) watchdog: Cycle,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum WarmupTimes {
    Fixed(Cycle),
    Automatic { interval: Cycle, limit: Cycle, growth: Option<usize> },
}

pub(crate) struct Plant {
    pub(crate) topology: Arc<dyn Topology>,
    pub(crate) classes: Vec<LinkClass>,
    pub(crate) host_latency: Cycle,
    /// Phits per host and class; `u32::MAX` is unlimited.
    pub(crate) injection_queue: u32,
    /// Classes of the queuing scheme: the VCs of a host.
    pub(crate) flows: Flows,
    pub(crate) pipeline: Cycle,
    pub(crate) crossbar: Crossbar,
    /// Phits per output port; `u32::MAX` is unlimited.
    pub(crate) output_buffer: u32,
    pub(crate) allocator: Allocator,
    /// Every VC of an input has a queue per output, matched by iSLIP in `allocator.iterations`.
    pub(crate) voqs: bool,
    /// Packets are routed when they arrive.
    pub(crate) on_arrival: bool,
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
    pub(crate) workload: Workload,
    /// The programs, if there are any.
    pub(crate) jobs: Option<Jobs>,
    pub(crate) times: Times,
    pub(crate) scale: Scale,
}

/// Longest latency, pipeline or interval in cycles: keeps the timing wheel below 256 MiB.
const LONGEST: u64 = 1 << 24;

/// Most phits that an output may be ahead of its link, for the same reason.
const DEEPEST: u64 = 1 << 25;

/// Most virtual output queues: 4 GiB.
const MOST_QUEUES: u64 = 1 << 28;

fn cycles(scale: &Scale, path: &str, quantity: &Quantity, least: u64) -> Result<Cycle, SpecError> {
    let value = scale.cycles(path, quantity)?;
    if value < least || value > LONGEST {
        let message = format!("{value} cycles is out of range");
        return Err(SpecError::new(path, message).choices([format!("{least} to {LONGEST} cycles")]));
    }
    Ok(value as Cycle)
}

fn phits(scale: &Scale, path: &str, quantity: &Quantity) -> Result<u32, SpecError> {
    let value = scale.phits(path, quantity)?;
    u32::try_from(value).ok().filter(|v| (1..1 << 30).contains(v)).ok_or_else(|| {
        let message = format!("{value} phits is out of range");
        SpecError::new(path, message).choices(["1 to 1073741823 phits"])
    })
}

impl Plant {
    pub(crate) fn build(spec: &Spec, routing: &Planner<'_>) -> Result<Self, SpecError> {
        let scale = Scale::new(&spec.units.cycle, &spec.units.phit)?;
        let topology = topology::build(&spec.network.topology)?;
        let classes = links(spec, &scale, &*topology)?;
        let latency = classes.iter().map(|class| class.latency).collect();
        let vcs = classes.iter().map(|class| class.vcs).collect();
        let buffers = classes.iter().map(|class| class.buffer).collect();
        let fabric =
            Fabric { topology: Arc::clone(&topology), latency, vcs, buffers, classes: 1, scale };
        let routing = queuing::plan(&spec.network.queuing, fabric, routing)?;
        let flows = Flows::new(&spec.network.queuing, &*topology);
        enough_vcs(&classes, &*topology, &routing.vcs)?;
        let sensing = spec.network.sensing;
        let agent = (routing.agent)(RouterId(0), 1);
        if sensing == Sensing::Waiting && agent.watches().queues {
            let message = "this routing is told when a queue changes, and what waits for a link \
                           changes in every cycle";
            let choices = ["both", "output", "downstream"];
            return Err(SpecError::new("network.sensing", message).choices(choices));
        }
        let shared_by = match spec.network.spare_vcs {
            SpareVcs::Unused => Vec::new(),
            // Whoever keeps a VC to escape through has shared out the others.
            SpareVcs::Emptiest if agent.escape().is_some() => Vec::new(),
            SpareVcs::Emptiest => shared_by(&classes, &*topology, &routing.vcs),
        };
        let mut times = times(spec, &scale)?;
        let setting = Setting { topology: &*topology, seed: spec.run.seed };
        let jobs = jobs(spec, &scale, &setting)?;
        if let Some(jobs) = &jobs {
            (times.warmup, times.measure) = (WarmupTimes::Fixed(0), jobs.limit);
        }
        let measure_from = match times.warmup {
            WarmupTimes::Fixed(warmup) => Some(warmup),
            WarmupTimes::Automatic { .. } => None,
        };
        let workload = Workload::build(&spec.traffic, &scale, &setting, measure_from)?;
        let nic = &spec.network.nic;
        let injection_queue = match &nic.injection_queue {
            Some(queue) => phits(&scale, "network.nic.injection_queue", queue)?,
            None => u32::MAX,
        };
        let host_latency = cycles(&scale, "network.nic.latency", &nic.latency, 0)?;
        let mut plant = Self {
            topology,
            classes,
            host_latency,
            injection_queue,
            flows,
            pipeline: 0,
            crossbar: Crossbar::Ideal,
            output_buffer: u32::MAX,
            allocator: Allocator::default(),
            voqs: false,
            on_arrival: false,
            sensing,
            lengths: sensing != Sensing::Both || agent.watches().lengths,
            shared_by,
            atomic: agent.atomic(),
            escape: agent.escape(),
            routing,
            workload,
            jobs,
            times,
            scale,
        };
        plant.switch(&spec.network.switch)?;
        plant.may_share()?;
        plant.may_route_on_arrival(agent.watches())?;
        plant.voqs_fit()?;
        plant.packets_fit(spec)?;
        plant.backlogs_fit()?;
        Ok(plant)
    }

    fn switch(&mut self, spec: &Switch) -> Result<(), SpecError> {
        let at = |kind: &str, key: &str| format!("network.switch.{kind}.{key}");
        let scale = self.scale;
        match spec {
            Switch::InputQueued { pipeline, allocator, routed } => {
                self.on_arrival = *routed == Routed::Arrival;
                self.pipeline = cycles(&scale, &at("input_queued", "pipeline"), pipeline, 0)?;
                self.crossbar = Crossbar::Speed(1);
                self.allocator = allocator.clone();
                check_iterations(allocator.iterations, &at("input_queued", "allocator.iterations"))
            }
            Switch::VirtualOutputQueued { pipeline, iterations } => {
                let kind = "virtual_output_queued";
                self.pipeline = cycles(&scale, &at(kind, "pipeline"), pipeline, 0)?;
                self.crossbar = Crossbar::Speed(1);
                (self.voqs, self.on_arrival) = (true, true);
                self.allocator.iterations = *iterations;
                check_iterations(*iterations, &at(kind, "iterations"))
            }
            Switch::CombinedQueued { pipeline, speedup, output_buffer, allocator } => {
                let kind = "combined_queued";
                self.pipeline = cycles(&scale, &at(kind, "pipeline"), pipeline, 0)?;
                if !(1..=64).contains(speedup) {
                    let message = format!("{speedup} phits a cycle is out of range");
                    return Err(SpecError::new(at(kind, "speedup"), message).choices(["1 to 64"]));
                }
                self.crossbar = Crossbar::Speed(u32::from(*speedup));
                self.output_buffer = phits(&scale, &at(kind, "output_buffer"), output_buffer)?;
                self.allocator = allocator.clone();
                check_iterations(allocator.iterations, &at(kind, "allocator.iterations"))
            }
            Switch::OutputQueued { pipeline, output_buffer } => {
                let kind = "output_queued";
                self.pipeline = cycles(&scale, &at(kind, "pipeline"), pipeline, 0)?;
                if let Some(buffer) = output_buffer {
                    self.output_buffer = phits(&scale, &at(kind, "output_buffer"), buffer)?;
                }
                Ok(())
            }
        }
    }

    /// Where packets are routed on arrival, the routing must decide once.
    fn may_route_on_arrival(&self, watches: Watches) -> Result<(), SpecError> {
        if !self.on_arrival || !watches.reconsiders {
            return Ok(());
        }
        let error = SpecError::new;
        Err(if self.voqs {
            let message = "this routing decides again for packets that wait, but they have been put \
                           into the queue of an output";
            let choices = ["input_queued", "combined_queued", "output_queued"];
            error("network.switch.virtual_output_queued", message).choices(choices)
        } else {
            let message = "this routing decides again for packets that wait";
            error("network.switch.input_queued.routed", message).choices(["head"])
        })
    }

    /// Virtual output queues cannot be too many.
    fn voqs_fit(&self) -> Result<(), SpecError> {
        let path = "network.switch.virtual_output_queued";
        let queues = if self.voqs { self.queues() } else { 0 };
        if queues > MOST_QUEUES {
            let message = format!("{queues} virtual output queues are too many");
            let choices = [format!("at most {MOST_QUEUES}: VCs of all inputs, times outputs")];
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(())
    }

    /// A VC that takes a packet only while it is empty needs no memory but its own.
    fn may_share(&self) -> Result<(), SpecError> {
        for (name, class) in self.topology.classes().iter().zip(&self.classes) {
            if self.atomic && class.shared > 0 {
                let message = "this routing gives a packet an empty VC for itself";
                let path = format!("network.links.{name}.shared");
                return Err(SpecError::new(path, message).choices(["nothing", "a larger `buffer`"]));
            }
        }
        Ok(())
    }

    /// Every buffer that a packet passes must hold the largest one.
    fn packets_fit(&self, spec: &Spec) -> Result<(), SpecError> {
        let largest = u32::from(self.packet_sizes().1);
        let short = |path: String, buffer: u32| {
            let message = format!("{buffer} phits cannot hold a packet of {largest} phits");
            Err(SpecError::new(path, message).choices([format!("at least {largest} phits")]))
        };
        for (name, class) in self.topology.classes().iter().zip(&self.classes) {
            let reserve = class.buffer - class.shared;
            if reserve < largest {
                return short(format!("network.links.{name}.buffer"), reserve);
            }
        }
        if self.injection_queue < largest {
            return short("network.nic.injection_queue".into(), self.injection_queue);
        }
        if self.output_buffer < largest {
            let kind = match &spec.network.switch {
                Switch::OutputQueued { .. } => "output_queued",
                _ => "combined_queued",
            };
            return short(format!("network.switch.{kind}.output_buffer"), self.output_buffer);
        }
        Ok(())
    }

    /// Credits, or the output buffer, must keep an output within reach of the timing wheel.
    fn backlogs_fit(&self) -> Result<(), SpecError> {
        for (name, class) in self.topology.classes().iter().zip(&self.classes) {
            let (memory, vcs) = (class.memory(), u64::from(class.vcs));
            if memory.min(self.output_buffer.into()) > DEEPEST {
                let path = format!("network.links.{name}.buffer");
                let message =
                    format!("{vcs} VCs with {memory} phits are more than {DEEPEST} phits");
                let most = format!("at most {} phits", DEEPEST / vcs);
                return Err(SpecError::new(path, message).choices([most]));
            }
        }
        Ok(())
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

    /// Smallest and largest packet in phits.
    pub(crate) fn packet_sizes(&self) -> (u16, u16) {
        match &self.jobs {
            None => self.workload.packet_sizes(),
            Some(jobs) if self.workload.is_silent() => (1, jobs.packet),
            Some(jobs) => (1, jobs.packet.max(self.workload.packet_sizes().1)),
        }
    }

    /// Phits in each injection queue of a host that runs a rank. Where a queue is unlimited, the
    /// interface cuts packets when they are needed to keep the router busy.
    pub(crate) fn nic_queue(&self) -> u32 {
        match self.injection_queue {
            u32::MAX => self.host_latency + 2 * u32::from(self.packet_sizes().1),
            limited => limited,
        }
    }

    /// The farthest ahead that a switch schedules anything but a packet generation.
    pub(crate) fn horizon(&self) -> Cycle {
        // A crossbar no faster than the links passes a packet when the link has sent the one before.
        let backlog = if self.crossbar == Crossbar::Speed(1) { 0 } else { self.backlog() };
        backlog + self.passage()
    }

    /// Cycles in which whatever is granted now is delivered, in any switch with these buffers.
    pub(crate) fn delivery(&self) -> Cycle {
        self.backlog() + self.passage()
    }

    /// Phits that can wait for a link behind a crossbar.
    fn backlog(&self) -> u32 {
        let downstream = self.classes.iter().map(|c| c.memory().min(u32::MAX.into()) as u32);
        self.output_buffer.min(downstream.max().unwrap_or(0))
    }

    /// Cycles from a grant to its last event, if the link is idle.
    fn passage(&self) -> Cycle {
        let largest = u32::from(self.packet_sizes().1);
        let latency = self.classes.iter().map(|c| c.latency).max().unwrap_or(0);
        let back = if self.sensing == Sensing::Waiting { latency } else { 0 };
        latency + back + self.pipeline + 2 * largest + self.host_latency + 2
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

    /// Do VCs share memory of their port?
    pub(crate) fn shares(&self) -> bool {
        self.classes.iter().any(|class| class.shared > 0)
    }

    /// Queues of all input ports.
    pub(crate) fn queues(&self) -> u64 {
        let of = |router: RouterId| {
            let ports = self.topology.radix(router);
            let vcs = |port: u16| match self.topology.peer(router, PortId(port)) {
                Peer::Router { class, .. } => u64::from(self.classes[usize::from(class)].vcs),
                Peer::Host(_) => 1,
                Peer::Unused => 0,
            };
            // One more for a packet that has just arrived.
            (0..ports).map(vcs).sum::<u64>() * if self.voqs { u64::from(ports) } else { 1 }
        };
        (0..self.topology.routers()).map(RouterId).map(of).sum()
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

/// The programs, if there are any; without them there must be traffic.
fn jobs(spec: &Spec, scale: &Scale, setting: &Setting<'_>) -> Result<Option<Jobs>, SpecError> {
    let Some(workload) = &spec.workload else {
        if spec.traffic.is_silent() {
            let choices = ["a table", "a table workload instead"];
            return Err(SpecError::new("traffic", "is missing").choices(choices));
        }
        return Ok(None);
    };
    let fixed = crate::spec::Run::default();
    for (key, as_always) in [
        ("warmup", spec.run.warmup == fixed.warmup),
        ("measure", spec.run.measure == fixed.measure),
    ] {
        if !as_always {
            let message = "a run with a workload is measured from its first cycle to its end";
            let choices = ["nothing", "workload.limit"];
            return Err(SpecError::new(format!("run.{key}"), message).choices(choices));
        }
    }
    Jobs::build(workload, scale, setting).map(Some)
}

fn check_iterations(iterations: u8, path: &str) -> Result<(), SpecError> {
    if (1..=16).contains(&iterations) {
        return Ok(());
    }
    let message = format!("{iterations} rounds a cycle is out of range");
    Err(SpecError::new(path, message).choices(["1 to 16"]))
}

fn links(spec: &Spec, scale: &Scale, topology: &dyn Topology) -> Result<Vec<LinkClass>, SpecError> {
    let names = topology.classes();
    if let Some(name) = spec.network.links.keys().find(|key| !names.contains(&key.as_str())) {
        let message = format!("the topology has no link class {name:?}");
        let choices = names.iter().copied();
        return Err(SpecError::new(format!("network.links.{name}"), message).choices(choices));
    }
    names
        .iter()
        .map(|name| {
            let path = format!("network.links.{name}");
            let Some(link) = spec.network.links.get(*name) else {
                let message = "missing: the topology has links of this class";
                return Err(SpecError::new(path, message).choices(["{ latency, vcs, buffer }"]));
            };
            if !(1..=64).contains(&link.vcs) {
                let message = format!("{} virtual channels is out of range", link.vcs);
                return Err(SpecError::new(format!("{path}.vcs"), message).choices(["1 to 64"]));
            }
            let reserve = phits(scale, &format!("{path}.buffer"), &link.buffer)?;
            let shared = match &link.shared {
                Some(shared) => phits(scale, &format!("{path}.shared"), shared)?,
                None => 0,
            };
            Ok(LinkClass {
                latency: cycles(scale, &format!("{path}.latency"), &link.latency, 1)?,
                vcs: link.vcs,
                buffer: reserve + shared,
                shared,
            })
        })
        .collect()
}

fn enough_vcs(
    classes: &[LinkClass],
    topology: &dyn Topology,
    needs: &[VcNeed],
) -> Result<(), SpecError> {
    for need in needs {
        let index = topology.classes().iter().position(|name| *name == need.class);
        let Some(class) = index.map(|i| classes[i]) else { continue };
        if class.vcs < need.vcs {
            let path = format!("network.links.{}.vcs", need.class);
            let (have, want, why) = (class.vcs, need.vcs, need.why);
            let message = format!("{have} is too few: this routing needs {want}, because {why}");
            return Err(SpecError::new(path, message).choices([format!("{want} to 64")]));
        }
    }
    Ok(())
}

/// Observations in which the latency must not grow, if that is the rule.
fn growth(auto: &AutomaticWarmup) -> Result<Option<usize>, SpecError> {
    if !(5..=1_000).contains(&auto.window) {
        let message = format!("{} observations are out of range", auto.window);
        return Err(SpecError::new("run.warmup.window", message).choices(["5 to 1000"]));
    }
    Ok((auto.rule == WarmupRule::StopsGrowing).then_some(auto.window as usize))
}

/// Classes of VCs that a routing needs in each link class; all VCs where it says nothing.
fn shared_by(classes: &[LinkClass], topology: &dyn Topology, needs: &[VcNeed]) -> Vec<u8> {
    let of = |(name, class): (&&str, &LinkClass)| {
        let need = needs.iter().find(|need| need.class == *name);
        need.map_or(class.vcs, |need| need.vcs.max(1))
    };
    topology.classes().iter().zip(classes).map(of).collect()
}

fn times(spec: &Spec, scale: &Scale) -> Result<Times, SpecError> {
    let (run, probes) = (&spec.run, &spec.probes);
    let long = |path: &str, quantity: &Quantity| {
        let value = scale.cycles(path, quantity)?;
        u32::try_from(value).ok().filter(|v| (1..1 << 31).contains(v)).ok_or_else(|| {
            let message = format!("{value} cycles is out of range");
            SpecError::new(path, message).choices(["1 to 2147483647 cycles"])
        })
    };
    let warmup = match &run.warmup {
        Warmup::Fixed(Quantity::Number(0)) => WarmupTimes::Fixed(0),
        Warmup::Fixed(time) => WarmupTimes::Fixed(long("run.warmup", time)?),
        Warmup::Automatic(auto) => WarmupTimes::Automatic {
            interval: cycles(scale, "run.warmup.interval", &auto.interval, 1)?,
            limit: long("run.warmup.limit", &auto.limit)?,
            growth: growth(auto)?,
        },
    };
    let series = match (&probes.series, &probes.series_before) {
        (None, None) => None,
        (None, Some(_)) => {
            let message = "there is no series to begin earlier";
            return Err(SpecError::new("probes.series_before", message).choices(["probes.series"]));
        }
        (Some(width), before) => {
            let before = before.as_ref().map_or(Ok(0), |b| long("probes.series_before", b))?;
            if let WarmupTimes::Fixed(warmup) = warmup
                && before > warmup
            {
                let message = format!("{before} cycles before the measurement nothing has begun");
                let choices = [format!("0 to {warmup} cycles")];
                return Err(SpecError::new("probes.series_before", message).choices(choices));
            }
            Some((long("probes.series", width)?, before))
        }
    };
    let watchdog = match &spec.checks.watchdog {
        Some(time) => long("checks.watchdog", time)?,
        None => 20_000,
    };
    let measure = long("run.measure", &run.measure)?;
    let agents = match &probes.agents {
        None => None,
        Some(probe) => Some((long("probes.agents.every", &probe.every)?, probe.domain)),
    };
    let congestion = match &probes.congestion {
        None => None,
        Some(probe) => Some((long("probes.congestion.every", &probe.every)?, probe.members)),
    };
    Ok(Times { seed: run.seed, warmup, measure, series, agents, congestion, watchdog })
}

//! The engine: builds a network from a spec and runs it.
//!
//! The unit of action is the packet, not the phit: virtual cut-through reserves room for whole
//! packets, so the times at which a packet's phits move follow from the time of its grant. See
//! `docs/kernel.md` for the exact rules; a phit-by-phit model in the tests follows the same rules
//! independently and must agree to the last bit.

mod agents;
mod allocate;
mod arrivals;
mod checks;
mod congestion;
mod dependencies;
mod division;
mod fetch;
mod islip;
mod jobs;
mod model;
mod nic;
mod packet;
mod partition;
mod plant;
mod ports;
mod queues;
mod sharing;
mod state;
mod summary;
mod wheel;
mod windows;

use std::ops::ControlFlow;
use std::sync::Arc;

use division::Division;
use partition::Partition;
use plant::{Plant, WarmupTimes};
use windows::Post;

use crate::ids::{Cycle, HostId, RouterId};
use crate::outcome::Outcome;
use crate::probe::PathKind;
use crate::probe::collect::Bins;
use crate::routing::{self, Planner};
use crate::spec::{Sensing, Spec, SpecError};
use crate::topology::{Hop, Peer, Topology};

/// One simulation point, ready to run.
pub struct Simulation {
    spec: Spec,
    plant: Arc<Plant>,
}

/// Memory that a simulation needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Before the first packet.
    pub fixed_bytes: u64,
    /// With every injection queue and buffer full; `u64::MAX` if injection queues are unlimited.
    pub worst_bytes: u64,
    /// Phits of all messages of the workload: what the time of a run follows.
    pub message_phits: u64,
}

/// How to run. Nothing here changes a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Threads, at least 1. Default 1.
    pub threads: usize,
    /// Parts that the network is divided into, each simulated on its own between exchanges.
    /// Default: chosen to fit the caches. More than there are domains (groups) is reduced.
    pub partitions: Option<usize>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { threads: 1, partitions: None }
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cycles simulated.
    pub cycle: u64,
    /// Cycles to simulate, as far as is known.
    pub of: u64,
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Packets wait for each other in a cycle.
    #[error("deadlock: {0}")]
    Deadlock(String),
    /// The engine found itself inconsistent: a bug, or a routing that breaks the rules.
    #[error("invariant broken: {0}")]
    Invariant(String),
}

/// A callback that learns how far the run is and may stop it.
pub type Watcher<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

impl Simulation {
    /// Checks the spec and resolves it.
    ///
    /// # Errors
    /// The first thing in the spec that is impossible, with its path.
    pub fn build(spec: &Spec) -> Result<Self, SpecError> {
        Self::build_with(spec, &|fabric| routing::build(&spec.routing, fabric))
    }

    /// As [`Simulation::build`], with a routing algorithm of the caller's in place of the spec's.
    ///
    /// # Errors
    /// As [`Simulation::build`], and those of `routing`.
    pub fn build_with(spec: &Spec, routing: &Planner<'_>) -> Result<Self, SpecError> {
        let plant = Plant::build(spec, routing)?;
        agents::check(&plant)?;
        congestion::check(&plant)?;
        Ok(Self { spec: spec.clone(), plant: Arc::new(plant) })
    }

    /// The spec that this simulation was built from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The wiring.
    pub fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.plant.topology)
    }

    /// Memory that a run needs.
    pub fn footprint(&self) -> Footprint {
        footprint(&self.plant)
    }

    /// The hops of a packet through the empty network, each with the router that takes it; the last
    /// one is the port of the destination host. `None` if the packet never arrives, or if a host
    /// does not exist.
    pub fn trace(&self, from: HostId, to: HostId, seed: u64) -> Option<Vec<(RouterId, Hop)>> {
        let Plant { routing, flows, .. } = &*self.plant;
        let topology = &*self.plant.topology;
        let exists = |host: HostId| host.0 < topology.hosts();
        if !exists(from) || !exists(to) {
            return None;
        }
        crate::routing::trace((routing, flows), topology, (from, to), seed)
    }

    /// For every router and port, in order, the number of destination hosts to which packets leave
    /// through it, if one host of each router sends to all others: whatever port is the only one with an
    /// empty queue while `waiting` phits wait on each other one (`None` for more than any buffer holds).
    pub fn destinations(&self, waiting: Option<u32>) -> Vec<u32> {
        let waiting = waiting.unwrap_or(1 << 30);
        let Plant { routing, flows, topology, .. } = &*self.plant;
        crate::routing::destinations((routing, flows), &**topology, waiting)
    }

    /// Runs the simulation. `watch` is called several times a second.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] if `watch` breaks, [`RunError::Deadlock`], and
    /// [`RunError::Invariant`] if a check fails.
    pub fn run(&self, options: &RunOptions, watch: &mut Watcher<'_>) -> Result<Outcome, RunError> {
        let mut network = Running::new(&self.plant, options, self.spec.checks.dependencies);
        network.full_checks = self.spec.checks.full;
        if self.plant.jobs.is_some() {
            network.run_jobs(watch)?;
            network.audit()?;
            return Ok(summary::outcome(&network, true, self.spec.probes.links));
        }
        let warmed_up = network.warm_up(watch)?;
        network.measure(watch)?;
        network.audit()?;
        Ok(summary::outcome(&network, warmed_up, self.spec.probes.links))
    }
}

/// A network in motion.
struct Running {
    plant: Arc<Plant>,
    partitions: Vec<Partition>,
    /// First router of each partition, and the total.
    firsts: Vec<u32>,
    /// Cycles that a partition may run alone.
    lookahead: Cycle,
    /// The same, at most, were every domain a partition: does not depend on how many there are.
    window: Cycle,
    post: Post,
    now: Cycle,
    full_checks: bool,
    /// Cycle from which on packets are to be counted again.
    recount: Cycle,
    watchdog: checks::Watchdog,
    /// Samples of the agents, once the measurement is planned.
    samples: Option<agents::Samples>,
    /// Samples of the congestion trees, once the measurement is planned.
    trees: Option<congestion::Samples>,
}

/// Hosts in a partition that keep its state in a cache of about 512 KiB.
const HOSTS_PER_PARTITION: u32 = 144;
/// More partitions would write to more mail than a cache holds the ends of.
const MOST_PARTITIONS: usize = 512;
/// Cycles that several partitions per thread should run alone at least.
const SHORTEST_WINDOW: Cycle = 24;
/// Host-cycles between looks at the whole network: about a second of work.
const CHUNK: u32 = 5_000_000;
/// Cycles between two counts of all packets, which in a large network take as long as some cycles.
const RECOUNT: Cycle = 1_000;

impl Running {
    fn new(plant: &Arc<Plant>, options: &RunOptions, record: bool) -> Self {
        let port_bases = plant.port_bases();
        let mut firsts = divide(&*plant.topology, options);
        let division = Division { plant, port_bases: &port_bases, firsts: &firsts };
        if options.partitions.is_none() && lookahead(plant, &division) < SHORTEST_WINDOW {
            // Caches would be filled anew all the time: as few as there are threads.
            let few = RunOptions { partitions: Some(options.threads.max(1)), ..options.clone() };
            firsts = divide(&*plant.topology, &few);
        }
        let division = Division { plant, port_bases: &port_bases, firsts: &firsts };
        let count = firsts.len() as u32 - 1;
        let partitions: Vec<_> = (0..count).map(|i| division.build(i, record)).collect();
        let lookahead_of =
            |firsts: &[u32]| lookahead(plant, &Division { plant, port_bases: &port_bases, firsts });
        let finest = RunOptions { partitions: Some(usize::MAX), ..options.clone() };
        let window = lookahead_of(&divide(&*plant.topology, &finest)).clamp(1, 1_000);
        let lookahead = lookahead_of(&firsts);
        Self {
            plant: Arc::clone(plant),
            partitions,
            lookahead,
            window,
            firsts,
            post: Post::new(count as usize, options.threads),
            now: 0,
            full_checks: false,
            recount: 0,
            watchdog: checks::Watchdog::new(plant.times.watchdog),
            samples: None,
            trees: None,
        }
    }

    /// Runs to the end of the warm-up and opens the measurement. Says whether it was reached.
    fn warm_up(&mut self, watch: &mut Watcher<'_>) -> Result<bool, RunError> {
        let times = self.plant.times;
        match times.warmup {
            WarmupTimes::Fixed(warmup) => {
                self.open(warmup);
                self.advance(warmup, u64::from(warmup) + u64::from(times.measure), watch)?;
                Ok(true)
            }
            WarmupTimes::Automatic { interval, limit, growth } => {
                self.observe(interval, limit);
                let total = u64::from(limit) + u64::from(times.measure);
                let mut warmed_up = false;
                while !warmed_up && self.now < limit {
                    let step = if growth.is_some() { interval } else { 5 * interval };
                    let to = self.now.saturating_add(step).min(limit);
                    self.advance(to, total, watch)?;
                    let series = self.intervals(interval);
                    warmed_up = match growth {
                        None => summary::mser_accepts(&series),
                        Some(window) => summary::stopped_growing(&series, window),
                    };
                }
                // What was granted before may still be delivered: begin after that.
                let margin = self.plant.delivery().min(1 << 20);
                self.open(self.now + margin);
                self.advance(self.now + margin, total, watch)?;
                Ok(warmed_up)
            }
        }
    }

    fn measure(&mut self, watch: &mut Watcher<'_>) -> Result<(), RunError> {
        let end = self.partitions[0].collector.to;
        self.advance(end, u64::from(end), watch)
    }

    /// Measures from cycle `from` on.
    fn open(&mut self, from: Cycle) {
        let times = self.plant.times;
        let to = from.saturating_add(times.measure);
        let start = from - times.series.map_or(0, |(_, before)| before).min(from);
        self.samples = agents::Samples::new(&self.plant, &self.partitions, start);
        self.trees = congestion::Samples::new(&self.plant, &self.partitions, start);
        for partition in &mut self.partitions {
            let collector = &mut partition.collector;
            (collector.from, collector.to) = (from, to);
            if let Some((width, _)) = times.series {
                let bins = ((to - start) / width) as usize;
                collector.by_generation = Bins::new(start, width, bins);
                collector.by_delivery = Bins::new(start, width, bins);
            }
        }
    }

    /// Records the mean latency per interval during the warm-up.
    fn observe(&mut self, interval: Cycle, limit: Cycle) {
        for partition in &mut self.partitions {
            partition.collector.intervals = Bins::new(0, interval, (limit / interval) as usize);
        }
    }

    /// Mean latency of each interval that is over.
    fn intervals(&self, interval: Cycle) -> Vec<f64> {
        let mut bins = Bins::default();
        for partition in &self.partitions {
            bins.merge(&partition.collector.intervals);
        }
        let complete = (self.now / interval) as usize;
        let all = bins.bins().iter().take(complete);
        // Intervals without a delivery say nothing about the latency.
        let full = all.filter(|sums| sums.packets > 0);
        full.map(|sums| sums.latency as f64 / sums.packets as f64).collect()
    }

    /// Cycles between two looks at whether the jobs have ended.
    fn chunk(&self) -> Cycle {
        (CHUNK / self.plant.topology.hosts()).clamp(20, 1_000)
    }

    /// Runs to cycle `to`, with the checks on the way.
    fn advance(&mut self, to: Cycle, of: u64, watch: &mut Watcher<'_>) -> Result<(), RunError> {
        // Whole windows, which a large network needs to keep what it has fetched.
        let chunk = self.chunk().next_multiple_of(self.window);
        while self.now < to {
            let mut next = self.now.saturating_add(chunk).min(to);
            if let Some(samples) = &mut self.samples {
                samples.take(&mut self.partitions, self.now);
                next = next.min(samples.next());
            }
            if let Some(trees) = &mut self.trees {
                trees.take(&self.plant, &self.partitions, &self.firsts, self.now);
                next = next.min(trees.next());
            }
            self.post.run(&mut self.partitions, next, self.lookahead);
            self.now = next;
            if self.now >= self.recount || self.now == to {
                self.recount = self.now.saturating_add(RECOUNT);
                self.check()?;
            }
            self.watchdog.look(&self.plant, &self.partitions, &self.firsts, self.now)?;
            let progress = Progress { cycle: u64::from(self.now), of };
            if watch(progress).is_break() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), RunError> {
        checks::conservation(&self.partitions)?;
        if self.full_checks {
            checks::full(&self.plant, &self.partitions, &self.firsts)?;
        }
        Ok(())
    }

    /// Looks for a cycle among the dependencies that were recorded.
    fn audit(&self) -> Result<(), RunError> {
        let mut pairs = Vec::new();
        for (partition, first) in self.partitions.iter().zip(&self.firsts) {
            let Some(observed) = &partition.dependencies else { return Ok(()) };
            pairs.extend(observed.pairs(&self.plant, *first));
        }
        match dependencies::cycle(&pairs) {
            None => Ok(()),
            Some(cycle) => Err(RunError::Deadlock(format!(
                "the channel dependencies of this run form a cycle: {}",
                dependencies::describe(&cycle)
            ))),
        }
    }
}

/// First router of each partition, and the total. Domains are never split.
fn divide(topology: &dyn Topology, options: &RunOptions) -> Vec<u32> {
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

/// The shortest latency of a link between two partitions.
fn lookahead(plant: &Plant, division: &Division<'_>) -> Cycle {
    let topology = &*plant.topology;
    let mut shortest = Cycle::MAX;
    for router in (0..topology.routers()).map(RouterId) {
        let home = division.partition_of(router);
        for port in 0..topology.radix(router) {
            if let Peer::Router { router: other, class, .. } =
                topology.peer(router, crate::ids::PortId(port))
                && division.partition_of(other) != home
            {
                shortest = shortest.min(plant.classes[class as usize].latency);
            }
        }
    }
    shortest
}

fn footprint(plant: &Plant) -> Footprint {
    use size_of as bytes;
    let topology = &*plant.topology;
    let ports = u64::from(*plant.port_bases().last().unwrap_or(&0));
    let (hosts, routers) = (u64::from(topology.hosts()), u64::from(topology.routers()));
    let links = u64::from(plant.links());
    let injection_queues = hosts * u64::from(plant.flows.classes());
    let vcs = plant.classes.iter().map(|c| u64::from(c.vcs)).max().unwrap_or(1);
    // And a place on the list of requested outputs.
    let per_port = bytes::<state::Input>() + bytes::<state::Output>() + bytes::<u32>();
    let rows = vcs * (u64::from(plant.lengths) + u64::from(plant.shares()))
        + u64::from(plant.sensing == Sensing::Waiting);
    let fixed = ports * (per_port as u64 + rows * bytes::<u32>() as u64)
        + plant.queues() * bytes::<state::Queue>() as u64
        + (links * vcs + injection_queues) * bytes::<u32>() as u64
        + if plant.voqs { islip::footprint(plant) } else { 0 }
        + hosts * bytes::<state::Host>() as u64
        + routers * (bytes::<state::Router>() + bytes::<[u32; PathKind::ALL.len()]>()) as u64
        + 4 * u64::from(plant.horizon());
    let smallest = u64::from(plant.packet_sizes().0);
    let decided = if plant.on_arrival { bytes::<state::Wish>() } else { 0 };
    let packet = (bytes::<packet::Slot>() + decided) as u64;
    let deepest = plant.classes.iter().map(plant::LinkClass::memory).max();
    let in_network = (links * deepest.unwrap_or(0)).div_ceil(smallest);
    let host_queues = injection_queues * u64::from(plant.nic_queue()).div_ceil(smallest);
    let Some((ranks, packets)) = jobs::footprint(plant, in_network + host_queues) else {
        let worst = match plant.injection_queue {
            u32::MAX => u64::MAX,
            queue => {
                let injecting = injection_queues * u64::from(queue).div_ceil(smallest);
                fixed + (in_network + injecting) * packet
            }
        };
        return Footprint { fixed_bytes: fixed, worst_bytes: worst, message_phits: 0 };
    };
    let fixed = fixed + ranks;
    let packet = packet + bytes::<nic::Parcel>() as u64;
    let worst = fixed.saturating_add(packets.saturating_mul(packet));
    let message_phits = plant.jobs.as_ref().map_or(0, |jobs| jobs.work().1);
    Footprint { fixed_bytes: fixed, worst_bytes: worst, message_phits }
}

//! Running a network: warm-up, measurement, windows of time, checks on the way.

mod adaptation;
pub(crate) mod agent_samples;
mod checks;
pub(crate) mod congestion;
mod credits;
mod division;
mod entropies;
#[cfg(test)]
mod expiry;
mod flows;
mod in_flight;
mod jobs;
mod legs;
mod looks;
#[cfg(test)]
mod lost;
mod marks;
mod notices;
mod path;
mod pauses;
mod precision;
mod queue_samples;
mod rate_samples;
mod replay;
mod retransmissions;
mod retries;
mod statistics;
mod stopping;
mod streams;
mod summary;
mod verdict;
mod warmed_up;
mod watchdog;
mod windows;

use std::sync::Arc;

use self::division::{Division, divide};
use self::in_flight::InFlight;
use self::legs::Leg;
use self::watchdog::Watchdog;
use self::windows::Post;
use super::books::{cycle, describe};
use super::checkpoint::{self, Heading};
use super::egress::SilenceBins;
use super::hosts::Hosts;
use super::inspect::{Inspect, Network};
use super::machine::{Datapath, Egress, Machine};
use super::model::Model;
use super::partition::Partition;
use super::{Progress, RunError, RunOptions, Watcher};
use crate::ids::Cycle;
use crate::outcome::{Outcome, Stopping};
use crate::probe::collect::Bins;
use crate::spec::Spec;
use crate::state::{CheckpointError, State, state};

pub(crate) use self::division::partitions;
pub(crate) use self::legs::warm_up;
pub(crate) use self::rate_samples::Place as RatePlace;

/// Runs a model on a machine that can.
pub(crate) fn run<M: Machine>(
    (spec, model, from): (&Arc<Spec>, &Arc<Model>, Option<&[u8]>),
    options: &RunOptions,
    watch: &mut Watcher<'_>,
) -> Result<Outcome, RunError> {
    let mut network = match from {
        None => Running::<M>::begin((spec, model), options),
        Some(checkpoint) => Running::resume((spec, model), checkpoint, options)?,
    };
    loop {
        network.advance(watch)?;
        let Some(leg) = network.next_leg()? else { break };
        network.leg = leg;
    }
    if model.jobs.is_some() {
        network.end_jobs();
        network.audit()?;
    } else {
        network.audit()?;
        network.partitions.iter_mut().for_each(Partition::finish);
    }
    let mut outcome = summary::outcome(&network, spec.probes.links);
    let from = network.partitions[0].path.core.collector.from;
    // A critical path names nodes, which are read for that.
    network.faults()?;
    // The largest records there may be: not copied.
    outcome.queues = network.queues.take().map(|queues| queues.record_from(from));
    outcome.rates = network.rates.take().map(|rates| rates.record_from(from));
    Ok(outcome)
}

/// A network in motion.
struct Running<M: Machine> {
    spec: Arc<Spec>,
    model: Arc<Model>,
    /// What it does at the moment.
    leg: Leg,
    /// The warm-up was found to be over, where that is looked for.
    warmed_up: bool,
    partitions: Vec<Partition<M>>,
    /// First router of each partition, and the total.
    firsts: Vec<u32>,
    /// Cycles that a partition may run alone.
    lookahead: Cycle,
    /// The same, at most, were every domain a partition: does not depend on how many there are.
    window: Cycle,
    post: Post,
    now: Cycle,
    /// Cycle before which nothing can happen.
    idle: Cycle,
    /// Cycle from which on packets are to be counted again.
    recount: Cycle,
    watchdog: Watchdog,
    /// Packets in the network, once the measurement is planned.
    in_flight: InFlight,
    /// Samples of the agents, once the measurement is planned.
    samples: Option<agent_samples::Samples>,
    /// Samples of the congestion trees, once the measurement is planned.
    trees: Option<congestion::Samples>,
    /// Samples of queues, once the measurement is planned.
    queues: Option<queue_samples::Samples>,
    /// Samples of rates, once the measurement is planned.
    rates: Option<rate_samples::Samples>,
    /// How the run came to its end, if that is when enough is known.
    stopping: Option<Stopping>,
}

/// Cycles between two counts of all packets, which in a large network take as long as some cycles.
const RECOUNT: Cycle = 1_000;

/// Keeps the state of a run.
pub(super) trait Keep {
    /// See [`Progress::checkpoint`].
    fn checkpoint(&self) -> Result<Vec<u8>, CheckpointError>;
}

impl<M: Machine> Keep for Running<M> {
    fn checkpoint(&self) -> Result<Vec<u8>, CheckpointError> {
        let heading = Heading::new::<M>(&self.spec, &self.model, &self.firsts);
        checkpoint::pack(&heading, self)
    }
}

impl<M: Machine> State for Running<M> {
    state! {
        keep leg, warmed_up, now, idle, recount, watchdog, in_flight, samples, trees, queues, rates,
            stopping;
        each partitions;
        leave spec, model, firsts, lookahead, window, post;
    }
}

impl<M: Machine> Running<M> {
    /// At cycle 0.
    fn begin((spec, model): (&Arc<Spec>, &Arc<Model>), options: &RunOptions) -> Self {
        let firsts = partitions(model, &model.port_bases(), options);
        let mut network = Self::new((spec, model), options, firsts);
        network.leg = network.first_leg();
        network
    }

    /// As it was when the checkpoint was taken.
    fn resume(
        (spec, model): (&Arc<Spec>, &Arc<Model>),
        checkpoint: &[u8],
        options: &RunOptions,
    ) -> Result<Self, CheckpointError> {
        let (heading, state) = checkpoint::unpack(checkpoint)?;
        heading.check::<M>(spec, model)?;
        let (changes, measure) = (heading.changes(spec), heading.measure);
        let mut network = Self::new((spec, model), options, heading.firsts);
        let mut rest = &state[..];
        network.load(&mut rest)?;
        if !rest.is_empty() {
            return Err(CheckpointError::Damaged("there is more than the state of the run".into()));
        }
        if changes.any() {
            network.change(changes)?;
        }
        if measure != model.times.measure && !changes.warmup {
            network.measure_anew(measure)?;
        }
        Ok(network)
    }

    /// As the spec says it is before anything happens; `firsts` has the first router of each partition, and the total.
    fn new(
        (spec, model): (&Arc<Spec>, &Arc<Model>),
        options: &RunOptions,
        firsts: Vec<u32>,
    ) -> Self {
        let port_bases = model.port_bases();
        let record = spec.checks.dependencies;
        let division = Division { model, port_bases: &port_bases, firsts: &firsts };
        let count = firsts.len() as u32 - 1;
        let mut partitions: Vec<_> = (0..count).map(|i| division.build(i, record)).collect();
        let skips = model.jobs.is_some() && !options.every_cycle;
        partitions.iter_mut().for_each(|own: &mut Partition<M>| own.skips = skips);
        let lookahead_of =
            |firsts: &[u32]| Division { model, port_bases: &port_bases, firsts }.lookahead();
        let finest = RunOptions { partitions: Some(usize::MAX), ..options.clone() };
        let window = lookahead_of(&divide(&*model.topology, &finest)).clamp(1, 1_000);
        let lookahead = lookahead_of(&firsts);
        Self {
            spec: Arc::clone(spec),
            model: Arc::clone(model),
            leg: Leg::default(),
            warmed_up: true,
            partitions,
            lookahead,
            window,
            firsts,
            post: Post::new(count as usize, options.threads),
            now: 0,
            idle: 0,
            recount: 0,
            watchdog: Watchdog::new(model.times.watchdog),
            in_flight: InFlight::default(),
            samples: None,
            trees: None,
            queues: None,
            rates: None,
            stopping: None,
        }
    }

    /// Measures from cycle `from` on.
    fn open(&mut self, from: Cycle) {
        self.open_until(from, from.saturating_add(self.model.times.measure));
    }

    /// Measures these cycles.
    fn open_until(&mut self, from: Cycle, to: Cycle) {
        let times = self.model.times;
        let start = from - times.series.map_or(0, |(_, before)| before).min(from);
        self.samples = agent_samples::Samples::new(&self.model, self.now, start);
        self.trees = congestion::Samples::new(&self.model, self.now, start);
        self.queues = queue_samples::Samples::new(&self.network(), start, to);
        self.rates = rate_samples::Samples::new(&self.network(), start, to);
        self.in_flight = InFlight::new(from, to, self.window);
        for partition in &mut self.partitions {
            let Datapath { core, hosts, egress, .. } = &mut partition.path;
            hosts.open(from, to);
            let streams = hosts.streams_mut().iter_mut().map(|stream| &mut stream.collector);
            for collector in std::iter::once(&mut core.collector).chain(streams) {
                collector.open(from, to);
                if let Some((width, _)) = times.series {
                    let bins = ((to - start) / width) as usize;
                    collector.by_generation = Bins::new(start, width, bins);
                    collector.by_delivery = Bins::new(start, width, bins);
                }
            }
            if let Some((width, _)) = times.series.filter(|_| self.model.pause_probe) {
                let count = (to - start).div_ceil(width) as usize;
                egress.record_silences(SilenceBins { start, width, count });
            }
        }
    }

    /// Runs to the end of the leg, with the checks on the way.
    fn advance(&mut self, watch: &mut Watcher<'_>) -> Result<(), RunError> {
        let Leg { to, of, .. } = self.leg;
        let stride = self.stride();
        while self.now < to {
            let mut next = self.now.saturating_add(stride).max(self.idle).min(to);
            if self.idle > self.now {
                // It looks in the cycles in which it would look otherwise.
                let look = self.watchdog.next().max(self.now + 1);
                next = next.min(look.checked_next_multiple_of(self.chunk()).unwrap_or(next));
            }
            if self.now >= self.in_flight.next() {
                let ends = self.model.egress.holds_ends;
                let leaving = self.partitions.iter().map(|own| own.path.egress.leaving());
                let leaving: u64 = if ends { leaving.sum() } else { 0 };
                self.in_flight.take(self.packets() + leaving);
            }
            next = next.min(self.in_flight.next());
            if let Some(samples) = &mut self.samples {
                let parts = self.partitions.iter_mut().map(|own| own as &mut dyn Inspect);
                samples.take(parts, self.now);
                next = next.min(samples.next());
            }
            if let Some(trees) = &mut self.trees {
                trees.take(&network(&self.model, &self.partitions, &self.firsts, self.now));
                next = next.min(trees.next());
            }
            if let Some(queues) = &mut self.queues {
                queues.take(&network(&self.model, &self.partitions, &self.firsts, self.now));
                next = next.min(queues.next());
            }
            if let Some(rates) = &mut self.rates {
                rates.take(&network(&self.model, &self.partitions, &self.firsts, self.now));
                next = next.min(rates.next());
            }
            let idle = next <= self.idle;
            if idle {
                self.partitions.iter_mut().for_each(|own| own.path.core.now = next);
            } else {
                self.post.run(&mut self.partitions, next, self.lookahead)?;
            }
            self.now = next;
            self.faults()?;
            if idle {
                // What has not moved need not be counted.
            } else if self.now >= self.recount || self.now == to {
                self.recount = self.now.saturating_add(RECOUNT);
                self.check()?;
            }
            if self.watchdog.is_due(self.now) {
                let Self { model, partitions, firsts, watchdog, now, .. } = self;
                watchdog.look(&network(model, partitions, firsts, *now))?;
            }
            let progress = Progress { cycle: u64::from(self.now), of, run: self };
            if watch(progress).is_break() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }

    /// Packets in the network.
    fn packets(&self) -> u64 {
        let collectors = || self.partitions.iter().map(|own| &own.path.core.collector);
        let generated: u64 = collectors().map(|collector| collector.generated).sum();
        // A copy that has been granted the output to its host is known for one when it is there.
        let twice = collectors().map(|collector| collector.retransmission.duplicates).sum::<u64>();
        let delivered = collectors().map(|collector| collector.delivered).sum::<u64>();
        (generated + twice).saturating_sub(delivered)
    }

    /// What checks, samples and results look at.
    fn network(&self) -> Network<'_> {
        network(&self.model, &self.partitions, &self.firsts, self.now)
    }

    /// The first mistake of a routing from outside of the engine ends the run, and so does a trace that cannot be read on.
    fn faults(&self) -> Result<(), RunError> {
        if let Some((job, message)) = self.model.jobs.as_ref().and_then(|jobs| jobs.fault()) {
            return Err(RunError::Trace(format!("job {job}: {message}")));
        }
        let faults = self.partitions.iter().filter_map(Inspect::fault);
        let first = faults.min_by_key(|fault| (fault.now, fault.router));
        first.map_or(Ok(()), |fault| Err(RunError::Routing(fault.message.clone())))
    }

    fn check(&self) -> Result<(), RunError> {
        let network = self.network();
        checks::conservation(&network)?;
        if self.spec.checks.full {
            checks::full(&network)?;
        }
        Ok(())
    }

    /// Looks for a cycle among the dependencies that were recorded.
    fn audit(&self) -> Result<(), RunError> {
        let mut pairs = Vec::new();
        for (partition, first) in self.network().parts() {
            let Some(observed) = partition.dependencies() else { return Ok(()) };
            pairs.extend(observed.pairs(&self.model, first));
        }
        match cycle(&pairs) {
            None => Ok(()),
            Some(cycle) => Err(RunError::Deadlock(format!(
                "the channel dependencies of this run form a cycle: {}",
                describe(&cycle)
            ))),
        }
    }
}

/// Partitions as checks, samples and results look at them.
fn network<'a, M: Machine>(
    model: &'a Model,
    partitions: &'a [Partition<M>],
    firsts: &'a [u32],
    now: Cycle,
) -> Network<'a> {
    let partitions = partitions.iter().map(|partition| partition as &dyn Inspect).collect();
    Network { model, partitions, firsts, now }
}

//! Measuring until enough is known.
//!
//! A look is taken whenever the measurement has become a fifth longer. Packets that have been granted may be
//! counted as delivered already, so each comes a little before the end that the measurement has for now: then it can
//! still be moved.

use super::Running;
use super::legs::{Kind, Leg};
use super::precision::{self, Changes};
use super::verdict::{FEWEST, FEWEST_TIMES, SATURATION};
use crate::ids::Cycle;
use crate::kernel::hosts::Hosts;
use crate::kernel::machine::{Datapath, Egress, Machine};
use crate::kernel::model::{Asked, LEAST, LEAST_MEASURED, WarmupTimes};
use crate::kernel::ramp;
use crate::outcome::Stopping;
use crate::probe::collect::{Batch, Collector};

/// What a look decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Stop,
    GoOn,
    /// What has been measured shows a trend: the network was not in its steady state.
    Restart,
    /// The network does not keep up with its hosts.
    Behind,
}

impl<M: Machine> Running<M> {
    /// Measures until the means are known as well as is asked, or to the end: until the first look.
    pub(super) fn first_look(&mut self, asked: Asked) -> Leg {
        let (margin, end) = self.bounds();
        let usual = || ramp::least(&self.model).clamp(LEAST.into(), end.into()) as Cycle;
        let latest = (end / 2).max(end - self.model.times.measure.min(end));
        let from = asked.warmup.unwrap_or_else(usual).max(2 * margin).min(latest);
        self.stopping = Some(Stopping::default());
        // What does not keep up is dropped until half of the time is over.
        let most = if from < end / 2 { end / 2 } else { end };
        self.open_until(from, from.saturating_add(from.max(self.least())).min(most));
        self.until_look()
    }

    /// Cycles of a measurement whose mean may be called known.
    fn least(&self) -> Cycle {
        LEAST_MEASURED.min(self.model.times.measure / 2)
    }

    /// Whether as much has been measured as was dropped, and enough.
    fn is_long(&self, (from, to): (Cycle, Cycle)) -> bool {
        let (_, end) = self.bounds();
        to - from >= self.least().max(from.min(end - from))
    }

    /// Cycles between a look and the end that the measurement has then, and the last end that it can have.
    fn bounds(&self) -> (Cycle, Cycle) {
        let end = Cycle::try_from(self.model.times.most()).unwrap_or(Cycle::MAX);
        (self.model.delivery().min(1 << 20), end)
    }

    /// Until the next look, or to the end.
    fn until_look(&self) -> Leg {
        let (margin, end) = self.bounds();
        let Collector { from, to, .. } = self.partitions[0].path.core.collector;
        let (kind, to) = match to == end {
            true => (Kind::Measures, end),
            false => (Kind::Looks, to.saturating_sub(margin).max(from)),
        };
        Leg { kind, to, of: end.into() }
    }

    /// Looks, and says what comes next.
    pub(super) fn after_look(&mut self, asked: Asked) -> Leg {
        let (margin, end) = self.bounds();
        let Collector { from, to, .. } = self.partitions[0].path.core.collector;
        let (decision, is_long) = (self.look(&asked), self.is_long((from, to)));
        let stopping = self.stopping.get_or_insert_default();
        stopping.looks += 1;
        let half = end / 2;
        // What a network accepts that does not keep up moves for long: that of the second half is told.
        let again = match decision {
            Decision::Stop if is_long => {
                stopping.reached = true;
                return Leg { kind: Kind::Measures, to, of: end.into() };
            }
            Decision::Restart => to <= half,
            Decision::Behind => to == half,
            Decision::Stop | Decision::GoOn => false,
        };
        if again {
            stopping.restarts += 1;
            self.forget();
            self.open_until(to, 2 * to);
        } else {
            let longer = to.saturating_add(((to - from) / 5).max(2 * margin));
            let next = if to < half { longer.min(half) } else { longer.min(end) };
            self.in_flight.extend(next);
            self.extend(next);
        }
        self.until_look()
    }

    /// Looks at a measurement that has come to the last end that it can have.
    pub(super) fn last_look(&mut self, asked: Asked) {
        let Collector { from, to, .. } = self.partitions[0].path.core.collector;
        let stopping = self.stopping.unwrap_or_default();
        if !stopping.reached {
            let reached = self.is_long((from, to)) && self.look(&asked) == Decision::Stop;
            self.stopping = Some(Stopping { looks: stopping.looks + 1, reached, ..stopping });
        }
    }

    /// What was asked for and is not reached.
    pub(super) fn not_reached(&self) -> Option<Asked> {
        match (self.model.times.warmup, self.stopping) {
            (WarmupTimes::Precise(asked), Some(Stopping { reached: false, .. })) => Some(asked),
            _ => None,
        }
    }

    /// Looks at what has been measured so far.
    fn look(&self, asked: &Asked) -> Decision {
        let mut known = Collector::new();
        let cores = || self.partitions.iter().map(|own| &own.path.core);
        for core in cores() {
            let Collector { from, to, batch_bits, batches, .. } = &core.collector;
            (known.from, known.to, known.batch_bits) = (*from, *to, *batch_bits);
            // Only those that are over.
            let over = (self.now.saturating_sub(*from) >> batch_bits) as usize;
            known.batches.resize(over, Batch::default());
            for (sums, batch) in known.batches.iter_mut().zip(batches) {
                sums.merge(batch);
            }
        }
        let measured = self.now - known.from;
        known.to = known.from + ((known.batches.len() as Cycle) << known.batch_bits);
        let attempted: u64 = cores().map(|core| core.collector.attempted_phits).sum();
        let attempted = attempted as f64 / f64::from(measured.max(1));
        decide(asked, attempted, &known, &self.in_flight.counts)
    }

    /// The measurement ends later.
    pub(super) fn extend(&mut self, to: Cycle) {
        for partition in &mut self.partitions {
            let Datapath { core, hosts, .. } = &mut partition.path;
            core.collector.extend(to);
            hosts.streams_mut().iter_mut().for_each(|stream| stream.collector.extend(to));
            hosts.open(core.collector.from, to);
        }
    }

    /// Forgets what has been measured.
    fn forget(&mut self) {
        for partition in &mut self.partitions {
            let Datapath { core, hosts, egress, .. } = &mut partition.path;
            core.collector.forget();
            hosts.streams_mut().iter_mut().for_each(|stream| stream.forget());
            egress.forget();
            core.hosts.iter_mut().for_each(|host| (host.injected, host.accepted) = (0, 0));
            core.outputs.iter_mut().for_each(|output| output.sent = 0);
            core.paths.iter_mut().for_each(|counts| counts.fill(0));
        }
    }
}

/// What is to be done after such a measurement, in which so many phits a cycle were attempted.
fn decide(asked: &Asked, attempted: f64, known: &Collector, in_flight: &[u64]) -> Decision {
    let sums = known.sums();
    let (Some(latency), Some(accepted), Some(changes)) =
        (precision::latency(known), precision::accepted(known), Changes::of(known, in_flight))
    else {
        return Decision::GoOn;
    };
    if sums.packets < FEWEST {
        return Decision::GoOn;
    }
    let widest = asked.latency.into_iter().chain(asked.accepted).fold(f64::MAX, f64::min);
    // The halves of a line differ by half of its rise.
    let trend = |change: precision::Change| change.certain && change.rise.abs() > 2.0 * widest;
    if trend(changes.latency) || trend(changes.in_flight) {
        return Decision::Restart;
    }
    let cycles = f64::from(known.to - known.from);
    let rate = sums.phits as f64 / cycles;
    let mean = sums.latency as f64 / sums.packets as f64;
    let (first, second) = known.batches.split_at(known.batches.len() / 2);
    let latency_of = |half: &[Batch]| {
        let (latency, packets) = half.iter().fold((0, 0), |(latency, packets), batch| {
            (latency + batch.latency, packets + batch.packets)
        });
        latency as f64 / packets.max(1) as f64
    };
    let rate_of = |half: &[Batch]| {
        let phits: u64 = half.iter().map(|batch| batch.phits).sum();
        phits as f64 / ((half.len() as f64) * f64::from(1u32 << known.batch_bits))
    };
    let enough = |asked: Option<f64>, mean: f64, half_width: f64, halves: f64| {
        // The difference of two halves varies twice as much as their mean.
        asked.is_none_or(|asked| half_width <= asked * mean && halves.abs() <= 2.0 * asked * mean)
    };
    let keeps_up = rate >= SATURATION * attempted;
    if !keeps_up {
        return Decision::Behind;
    }
    let stop = latency.correlation_times >= FEWEST_TIMES
        && !changes.in_flight.certain
        && enough(asked.latency, mean, latency.half_width, latency_of(second) - latency_of(first))
        && enough(asked.accepted, rate, accepted.half_width, rate_of(second) - rate_of(first));
    if stop { Decision::Stop } else { Decision::GoOn }
}

//! What a run does, leg by leg. What comes after a leg follows from the state at its end, so that a run can go on from
//! any place.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::in_flight::InFlight;
use super::{Heading, Running, checkpoint, warmed_up};
use crate::ids::Cycle;
use crate::kernel::checkpoint::Changes;
use crate::kernel::egress::SilenceBins;
use crate::kernel::hosts::Hosts;
use crate::kernel::machine::{Datapath, Egress, Machine};
use crate::kernel::model::{Model, WarmupTimes};
use crate::kernel::{RunError, RunOptions, Watcher};
use crate::probe::collect::{Bins, Collector};
use crate::spec::Spec;
use crate::state::CheckpointError;

/// Warms a network up on a machine that can, and keeps its state.
pub(crate) fn warm_up<M: Machine>(
    (spec, model): (&Arc<Spec>, &Arc<Model>),
    options: &RunOptions,
    watch: &mut Watcher<'_>,
) -> Result<Vec<u8>, RunError> {
    let mut network = Running::<M>::begin((spec, model), options);
    network.warm_up()?;
    network.advance(watch)?;
    let heading = Heading::new::<M>(spec, model, &network.firsts);
    Ok(checkpoint::pack(&heading.warm(), &network)?)
}

/// A part of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Leg {
    pub(super) kind: Kind,
    /// It ends in this cycle.
    pub(super) to: Cycle,
    /// Cycles of the whole run, as far as is known.
    pub(super) of: u64,
}

/// What is done in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// Warming up, for a given time.
    WarmsUp,
    /// Warming up, until a look at whether that is enough.
    Observes,
    /// Measuring, until a look at whether that is enough.
    Looks,
    /// Measuring to the end, from some cycle of the leg on.
    #[default]
    Measures,
    /// Running jobs, until a look at whether they have ended.
    Works,
}

impl<M: Machine> Running<M> {
    /// The beginning.
    pub(super) fn first_leg(&mut self) -> Leg {
        let (model, times) = (Arc::clone(&self.model), self.model.times);
        if let Some(jobs) = &model.jobs {
            self.open(0);
            return self.work(jobs);
        }
        match times.warmup {
            WarmupTimes::Fixed(warmup) => {
                self.open(warmup);
                Leg { kind: Kind::WarmsUp, to: warmup, of: times.most() }
            }
            // The beginning of the measurement is found while it measures.
            WarmupTimes::Precise(asked) => self.first_look(asked),
            WarmupTimes::Automatic { interval, limit, growth } => {
                self.observe(interval, limit);
                self.observing((interval, limit), growth.is_some())
            }
        }
    }

    /// What comes after the leg that has ended, if anything does.
    pub(super) fn next_leg(&mut self) -> Result<Option<Leg>, RunError> {
        let model = Arc::clone(&self.model);
        Ok(match (self.leg.kind, model.times.warmup) {
            (Kind::WarmsUp, _) => Some(self.measuring()),
            (Kind::Observes, WarmupTimes::Automatic { interval, limit, growth }) => {
                let series = self.intervals(interval);
                self.warmed_up = match growth {
                    None => warmed_up::mser_accepts(&series),
                    Some(window) => warmed_up::stopped_growing(&series, window),
                };
                if !self.warmed_up && self.now < limit {
                    return Ok(Some(self.observing((interval, limit), growth.is_some())));
                }
                // What was granted before may still be delivered: begin after that.
                self.open(self.now + self.model.delivery().min(1 << 20));
                Some(self.measuring())
            }
            (Kind::Looks, WarmupTimes::Precise(asked)) => Some(self.after_look(asked)),
            (Kind::Measures, WarmupTimes::Precise(asked)) => {
                self.last_look(asked);
                None
            }
            (Kind::Works, _) => match &model.jobs {
                Some(jobs) if !self.jobs_end(jobs)? => Some(self.work(jobs)),
                _ => None,
            },
            (Kind::Measures | Kind::Observes | Kind::Looks, _) => None,
        })
    }

    /// To the end of the measurement.
    fn measuring(&self) -> Leg {
        let Collector { to, .. } = self.partitions[0].path.core.collector;
        Leg { kind: Kind::Measures, to, of: to.into() }
    }

    /// Until the next look at whether the warm-up is over.
    fn observing(&self, (interval, limit): (Cycle, Cycle), grows: bool) -> Leg {
        let step = if grows { interval } else { 5 * interval };
        let to = self.now.saturating_add(step).min(limit);
        let of = u64::from(limit) + u64::from(self.model.times.measure);
        Leg { kind: Kind::Observes, to, of }
    }

    /// Records the mean latency per interval during the warm-up.
    fn observe(&mut self, interval: Cycle, limit: Cycle) {
        for partition in &mut self.partitions {
            partition.path.core.collector.intervals =
                Bins::new(0, interval, (limit / interval) as usize);
        }
    }

    /// Mean latency of each interval that is over.
    fn intervals(&self, interval: Cycle) -> Vec<f64> {
        let mut bins = Bins::default();
        for partition in &self.partitions {
            bins.merge(&partition.path.core.collector.intervals);
        }
        let complete = (self.now / interval) as usize;
        let all = bins.bins().iter().take(complete);
        // Intervals without a delivery say nothing about the latency.
        let full = all.filter(|sums| sums.packets > 0);
        full.map(|sums| sums.latency as f64 / sums.packets as f64).collect()
    }

    /// The measurement ends in another cycle; nothing of it has been counted yet.
    fn prolong(&mut self, (from, to): (Cycle, Cycle)) {
        self.in_flight = InFlight::new(from, to, self.window);
        self.extend(to);
        let Some((width, before)) = self.model.times.series else { return };
        let start = from - before.min(from);
        for partition in &mut self.partitions {
            let Datapath { core, hosts, egress, .. } = &mut partition.path;
            let streams = hosts.streams_mut().iter_mut().map(|stream| &mut stream.collector);
            for collector in std::iter::once(&mut core.collector).chain(streams) {
                let bins = ((to - start) / width) as usize;
                collector.by_generation.lengthen(bins);
                collector.by_delivery.lengthen(bins);
            }
            if self.model.pause_probe {
                let count = (to - start).div_ceil(width) as usize;
                egress.record_silences(SilenceBins { start, width, count });
            }
        }
    }

    /// Measures as long as the spec says, where the checkpoint says so many cycles: only what has not begun can.
    pub(super) fn measure_anew(&mut self, before: Cycle) -> Result<(), CheckpointError> {
        let Collector { from, .. } = self.partitions[0].path.core.collector;
        let measure = self.model.times.measure;
        let refused = |why: &str| {
            let message = format!("{why}, for {before} cycles, and the spec says {measure}");
            Err(CheckpointError::Foreign(message))
        };
        match self.leg.kind {
            Kind::Works | Kind::Looks => refused("it measures as it goes"),
            // Not open yet.
            Kind::Observes => Ok(()),
            _ if self.now > from => refused("it has begun to measure"),
            _ if measure < before => refused("it can only measure for longer: it measures"),
            // What is on its way to a host may be counted beyond the end.
            _ if before < self.model.delivery() => refused("what it measures is too short"),
            kind => {
                self.prolong((from, from.saturating_add(measure)));
                if kind == Kind::Measures {
                    self.leg = self.measuring();
                }
                self.leg.of = u64::from(from) + u64::from(measure);
                Ok(())
            }
        }
    }

    /// Goes on with what is another in the spec: the network stays as it is, the traffic begins again, and the measurement is put
    /// off or brought forward. Nothing of it may have been counted, which grants do that are still to be delivered.
    pub(super) fn change(&mut self, changes: Changes) -> Result<(), CheckpointError> {
        let warmup = self.fixed_warmup()?;
        let model = Arc::clone(&self.model);
        if !matches!(self.leg.kind, Kind::WarmsUp | Kind::Observes) {
            return Err(unchangeable("once it measures"));
        }
        if changes.warmup {
            let Collector { from, .. } = self.partitions[0].path.core.collector;
            let (now, known) = (self.now, self.now.saturating_add(model.delivery()));
            if from < known {
                let why = format!("of its own: cycle {now} is too near to {from}, its end");
                return Err(unchangeable(&why));
            }
            let least = now.saturating_add(self.before_measuring());
            if warmup < least {
                return Err(unchangeable(&format!("before cycle {least}: {now} are over")));
            }
            self.open(warmup);
            // No rule says any more that it is not.
            self.warmed_up = true;
            self.leg = Leg { kind: Kind::WarmsUp, to: warmup, of: model.times.most() };
        }
        if changes.traffic() {
            for partition in &mut self.partitions {
                partition.path.core.restart(changes.seed);
            }
        }
        Ok(())
    }

    /// Warms up for the time of the spec, less what is to be known before a measurement, which has no beginning yet.
    pub(super) fn warm_up(&mut self) -> Result<(), CheckpointError> {
        let warmup = self.fixed_warmup()?;
        let to = warmup.saturating_sub(self.before_measuring());
        self.open(NEVER);
        self.leg = Leg { kind: Kind::WarmsUp, to, of: to.into() };
        Ok(())
    }

    /// Cycles before a measurement whose grants may be a part of it, or of its series.
    fn before_measuring(&self) -> Cycle {
        self.model
            .delivery()
            .saturating_add(self.model.times.series.map_or(0, |(_, before)| before))
    }

    /// The cycles of a warm-up of synthetic traffic that lasts as long as the spec says.
    fn fixed_warmup(&self) -> Result<Cycle, CheckpointError> {
        let Model { jobs, traffic, times, .. } = &*self.model;
        if jobs.is_some() || !traffic.streams().is_empty() {
            return Err(unchangeable("beside a workload or streams"));
        }
        match times.warmup {
            WarmupTimes::Fixed(warmup) => Ok(warmup),
            _ => Err(unchangeable("unless `run.warmup` is a time")),
        }
    }
}

/// A cycle that no run reaches.
const NEVER: Cycle = Cycle::MAX / 2;

fn unchangeable(why: &str) -> CheckpointError {
    let what = "a run cannot go on with another load, seed or warm-up";
    CheckpointError::Foreign(format!("{what} {why}"))
}

//! Samples of the state of the routing agents.

use crate::ids::{Cycle, RouterId};
use crate::kernel::inspect::Inspect;
use crate::kernel::model::Model;
use crate::outcome::AgentSeries;
use crate::spec::SpecError;
use serde::{Deserialize, Serialize};

/// Values in a record, at most: 128 MB.
const MOST_VALUES: u64 = 1 << 24;

/// What has been sampled so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct Samples {
    series: AgentSeries,
    first: Cycle,
    every: Cycle,
    /// Cycle of the next sample.
    next: Cycle,
    sums: Vec<f64>,
    row: Vec<f64>,
}

/// Refuses a record that has no gauges, no routers or too many values.
pub(crate) fn check(model: &Model) -> Result<(), SpecError> {
    let Some((every, domain)) = model.times.agents else { return Ok(()) };
    let names = (model.routing.agent)(RouterId(0), 1).gauges().len() as u64;
    if names == 0 {
        let message = "this routing algorithm keeps no state that could be recorded";
        return Err(SpecError::new("probes.agents", message));
    }
    let routers = members(model, domain).len() as u64;
    if routers == 0 {
        let topology = &model.topology;
        let last = topology.domain(RouterId(topology.routers() - 1));
        let message = format!("there is no domain {domain}");
        let path = "probes.agents.domain";
        return Err(SpecError::new(path, message).choices([format!("0 to {last}")]));
    }
    let before = model.times.series.map_or(0, |(_, before)| before);
    let span = u64::from(before) + u64::from(model.times.measure);
    let per_sample = (routers + 1) * names;
    if (span / u64::from(every) + 1).saturating_mul(per_sample) > MOST_VALUES {
        let message = format!("{per_sample} values every {every} cycles are too many");
        let least = (span * per_sample).div_ceil(MOST_VALUES);
        let path = "probes.agents.every";
        return Err(SpecError::new(path, message).choices([format!("{least} cycles or more")]));
    }
    Ok(())
}

/// The routers of a domain.
fn members(model: &Model, domain: u32) -> Vec<u32> {
    let all = 0..model.topology.routers();
    all.filter(|&router| model.topology.domain(RouterId(router)) == domain).collect()
}

impl Samples {
    /// Samples from `start` on, but not of the past.
    pub(crate) fn new(model: &Model, now: Cycle, start: Cycle) -> Option<Self> {
        let (every, domain) = model.times.agents?;
        let past = now.saturating_sub(start).div_ceil(every);
        let names = (model.routing.agent)(RouterId(0), 1).gauges();
        let series = AgentSeries {
            width: u64::from(every),
            routers: members(model, domain),
            names,
            ..AgentSeries::default()
        };
        let first = start + past * every;
        Some(Self { series, first, every, next: first, sums: Vec::new(), row: Vec::new() })
    }

    /// Cycle of the next sample.
    pub(crate) fn next(&self) -> Cycle {
        self.next
    }

    /// Takes the samples of cycle `now`, if it is their time.
    pub(crate) fn take<'a>(
        &mut self,
        partitions: impl Iterator<Item = &'a mut (dyn Inspect + 'a)>,
        now: Cycle,
    ) {
        if now != self.next {
            return;
        }
        self.next = now.saturating_add(self.every);
        self.sums.clear();
        self.sums.resize(self.series.names.len(), 0.0);
        let mut routers = 0.0;
        for partition in partitions {
            let first = partition.core().first_router;
            for router in first..first + partition.core().routers.len() as u32 {
                self.row.clear();
                partition.agents_mut().routing.read(RouterId(router), now, &mut self.row);
                self.sums.iter_mut().zip(&self.row).for_each(|(sum, value)| *sum += value);
                if self.series.routers.contains(&router) {
                    self.series.values.extend_from_slice(&self.row);
                }
                routers += 1.0;
            }
        }
        self.series.mean.extend(self.sums.iter().map(|sum| sum / routers));
    }

    /// The record of a measurement that begins at `from`.
    pub(crate) fn record(&self, from: Cycle) -> AgentSeries {
        let start = i64::from(self.first) - i64::from(from);
        AgentSeries { start, ..self.series.clone() }
    }
}

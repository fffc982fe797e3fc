//! Samples of rates and windows.

use serde::{Deserialize, Serialize};

use crate::ids::{Cycle, HostId, PortId, RouterId};
use crate::kernel::inspect::Network;
use crate::outcome::{RateSeries, RatedFlow};

/// What has been sampled so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct Samples {
    series: RateSeries,
    places: Vec<Place>,
    first: Cycle,
    every: Cycle,
    /// Cycle of the next sample.
    next: Cycle,
}

/// Where the limiters of a flow are.
#[derive(Serialize, Deserialize)]
pub(crate) struct Place {
    /// Partition of the host, and its number there.
    part: u32,
    host: u32,
    /// Router and port of the destination, if only what is for it counts.
    to: Option<(RouterId, PortId)>,
}

impl Samples {
    /// Samples from `start` to `to`, but not of the past.
    pub(crate) fn new(network: &Network<'_>, start: Cycle, to: Cycle) -> Option<Self> {
        let model = network.model;
        let plan = model.probed.rates.as_ref()?;
        let first = start + network.now.saturating_sub(start).div_ceil(plan.every) * plan.every;
        let place = |flow: &RatedFlow| {
            let (home, _) = model.topology.home_of(HostId(flow.host));
            let part = network.firsts.partition_point(|first| *first <= home.0) - 1;
            let mut hosts = network.partitions[part].core().hosts.iter();
            let host = hosts.position(|host| host.id.0 == flow.host).unwrap_or(0) as u32;
            let to = flow.destination.map(|to| model.topology.home_of(HostId(to)));
            Place { part: part as u32, host, to }
        };
        // A run that ends by itself hardly ever takes as long as it may.
        let samples = if model.jobs.is_some() { 0 } else { plan.samples(first, to) };
        let windows = if plan.windows { samples } else { 0 };
        let series = RateSeries {
            start: 0,
            width: plan.every.into(),
            flows: plan.flows.clone(),
            rates: Vec::with_capacity(samples as usize * plan.flows.len()),
            windows: Vec::with_capacity(windows as usize * plan.flows.len()),
        };
        let places = plan.flows.iter().map(place).collect();
        Some(Self { series, places, first, every: plan.every, next: first })
    }

    /// Cycle of the next sample.
    pub(crate) fn next(&self) -> Cycle {
        self.next
    }

    /// Takes the sample of cycle `now`, if it is its time.
    pub(crate) fn take(&mut self, network: &Network<'_>) {
        if network.now != self.next {
            return;
        }
        self.next = network.now.saturating_add(self.every);
        for Place { part, host, to } in &self.places {
            let (rate, window) = network.partitions[*part as usize].least(*host, *to);
            self.series.rates.push(rate);
            self.series.windows.extend(window);
        }
    }

    /// The record of a measurement that begins at `from`.
    pub(crate) fn record_from(self, from: Cycle) -> RateSeries {
        let start = i64::from(self.first) - i64::from(from);
        RateSeries { start, ..self.series }
    }
}

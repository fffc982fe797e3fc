//! Samples of the lengths of queues.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::ids::Cycle;
use crate::kernel::inspect::{Inspect, Network};
use crate::kernel::model::{ProbedPort, Queues};
use crate::outcome::QueueSeries;

/// What has been sampled so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct Samples {
    series: QueueSeries,
    /// Partition of each port, and its number there.
    ports: Vec<(u32, u32)>,
    first: Cycle,
    every: Cycle,
    /// Cycle of the next sample.
    next: Cycle,
}

/// Phits of packets that have been granted and keep their memory, by input and VC.
type Held = BTreeMap<(u32, u8), u32>;

impl Samples {
    /// Samples from `start` to `to`, but not of the past.
    pub(crate) fn new(network: &Network<'_>, start: Cycle, to: Cycle) -> Option<Self> {
        let model = network.model;
        let plan = model.probed.queues.as_ref()?;
        let past = network.now.saturating_sub(start).div_ceil(plan.every);
        let first = start + past * plan.every;
        let place = |port: &ProbedPort| {
            let router = port.router.0;
            let part = network.firsts.partition_point(|first| *first <= router) - 1;
            let core = network.partitions[part].core();
            let base = core.routers[(router - core.first_router) as usize].port_base;
            (part as u32, base + u32::from(port.port.0))
        };
        // A run that ends by itself hardly ever takes as long as it may.
        let samples = if model.jobs.is_some() { 0 } else { plan.samples(first, to) };
        let series = QueueSeries {
            start: 0,
            width: u64::from(plan.every),
            places: plan.places(model),
            phits: Vec::with_capacity((samples * plan.values()) as usize),
        };
        let ports = plan.ports.iter().map(place).collect();
        Some(Self { series, ports, first, every: plan.every, next: first })
    }

    /// Cycle of the next sample.
    pub(crate) fn next(&self) -> Cycle {
        self.next
    }

    /// Takes the sample of cycle `now`, if it is its time.
    pub(crate) fn take(&mut self, network: &Network<'_>) {
        let Some(plan) = network.model.probed.queues.as_ref().filter(|_| network.now == self.next)
        else {
            return;
        };
        self.next = network.now.saturating_add(self.every);
        let held: Vec<Held> = network.partitions.iter().map(|part| held(*part)).collect();
        let into = &mut self.series.phits;
        for (probed, (part, port)) in plan.ports.iter().zip(&self.ports) {
            let (partition, held) = (network.partitions[*part as usize], &held[*part as usize]);
            record(into, probed.input, |vc| {
                let kept = held.get(&(*port, vc)).copied().unwrap_or(0);
                partition.buffered(*port, vc).unwrap_or_else(|| queued(partition, *port, vc) + kept)
            });
            record(into, probed.output, |queue| partition.outgoing(*port, queue));
        }
    }

    /// The record of a measurement that begins at `from`.
    pub(crate) fn record_from(self, from: Cycle) -> QueueSeries {
        let start = i64::from(self.first) - i64::from(from);
        QueueSeries { start, ..self.series }
    }
}

/// Adds the lengths of queues, each or their sum.
fn record(into: &mut Vec<u32>, queues: Queues, mut length: impl FnMut(u8) -> u32) {
    match queues {
        Queues::None => {}
        Queues::Sum(count) => into.push((0..count).map(length).sum()),
        Queues::Each(count) => into.extend((0..count).map(&mut length)),
    }
}

/// Phits in the queues of a VC of an input.
fn queued(partition: &dyn Inspect, input: u32, vc: u8) -> u32 {
    let core = partition.core();
    let queues = partition.vc_queues(input as usize, vc).into_iter();
    let packets = queues.flat_map(|queue| core.packets(queue));
    let buffered = packets.filter(|(place, _)| !core.registers.hold(*place));
    buffered.map(|(_, packet)| u32::from(packet.size)).sum()
}

/// What keeps its memory where nobody counts it.
fn held(partition: &dyn Inspect) -> Held {
    let (core, mut all) = (partition.core(), Held::new());
    if core.model.egress.holds_input {
        for departing in partition.departing() {
            if let Some(place) = departing.held {
                let size = core.pool[departing.packet].packet.size;
                *all.entry(place).or_default() += u32::from(size);
            }
        }
    }
    all
}

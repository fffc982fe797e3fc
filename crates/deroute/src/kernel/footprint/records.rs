//! What probes record.

use std::mem::size_of;

use super::super::model::{Model, QueuePlan, pause_rows};
use super::super::run::RatePlace;
use super::{bytes, grown};
use crate::ids::Cycle;
use crate::outcome::{PauseRow, QueuePlace, RatedFlow};
use crate::probe::collect::Sums;

/// What probes record where its size is known: `queue_samples::Samples::new`, `rate_samples::Samples::new`.
pub(super) fn fixed(model: &Model) -> u64 {
    queue_records(model) + rate_records(model)
}

fn rate_records(model: &Model) -> u64 {
    let Some(plan) = &model.probed.rates else { return 0 };
    let flows = plan.flows.len() as u64;
    let samples = if model.jobs.is_some() { 0 } else { plan.samples(0, recorded(model)) };
    let each = if plan.windows { 2 } else { 1 };
    bytes::<f64>(each * samples * flows) + bytes::<RatedFlow>(flows) + bytes::<RatePlace>(flows)
}

fn queue_records(model: &Model) -> u64 {
    let Some(plan) = &model.probed.queues else { return 0 };
    let (places, ports) = (plan.values(), plan.ports.len() as u64);
    let values = if model.jobs.is_some() { 0 } else { samples(model, plan) * places };
    bytes::<u32>(values) + bytes::<QueuePlace>(places) + bytes::<(u32, u32)>(ports)
}

/// What probes record as it happens: queues in a run that ends by itself, and pauses, of which there are copies
/// when the result is made.
pub(super) fn growing(model: &Model) -> u64 {
    let queues = match &model.probed.queues {
        Some(plan) if model.jobs.is_some() => grown(samples(model, plan) * plan.values()),
        _ => 0,
    };
    let pauses = match &model.pause {
        Some(plan) if model.pause_probe => {
            let rows = pause_rows(model, plan);
            let bins = bytes::<u32>(4 * rows * model.times.pause_bins());
            bins + rows * (2 * size_of::<PauseRow>() + size_of::<Vec<u32>>()) as u64
        }
        _ => 0,
    };
    let rates = match &model.probed.rates {
        Some(plan) if model.jobs.is_some() => {
            let each = if plan.windows { 2 } else { 1 };
            each * grown(plan.samples(0, recorded(model)) * plan.flows.len() as u64)
        }
        _ => 0,
    };
    bytes::<u32>(queues) + bytes::<f64>(rates) + pauses
}

/// Time series at the end of a run: each partition has two for the whole traffic and two for each stream, of which
/// the sums are made, and their columns.
pub(super) fn series(model: &Model, parts: u64) -> u64 {
    let Some((width, _)) = model.times.series else { return 0 };
    let bins = u64::from(recorded(model) / width);
    let record = (parts + 1) * bytes::<Sums>(bins) + bytes::<[u64; 4]>(bins);
    2 * (1 + model.traffic.streams().len() as u64) * record
}

/// Samples of queues at the most.
fn samples(model: &Model, plan: &QueuePlan) -> u64 {
    plan.samples(0, recorded(model))
}

/// Cycles of a record in time, at the most.
fn recorded(model: &Model) -> Cycle {
    let before = model.times.series.map_or(0, |(_, before)| before);
    before.saturating_add(model.times.measure)
}

//! What a trace did, and how its collectives went.

use super::statistics::ratio;
use crate::kernel::model::Model;
use crate::outcome::{CollectiveUse, ReplayOutcome};
use crate::probe::messages::Record;
use crate::workload::Job;

/// The result of a job that follows a trace; `None` if it takes steps, or sends flows.
pub(super) fn outcome(
    job: &Job,
    total: &Record,
    unreceived: u64,
    model: &Model,
) -> Option<ReplayOutcome> {
    let named = job.schedules.iter().any(|schedule| schedule.data().is_some());
    if job.flows.is_some() || job.steps() > 0 && !named {
        return None;
    }
    let (cycle_ns, phit_bytes) = (model.scale.cycle_ns(), model.scale.phit_bytes());
    let collectives = job.schedules.iter().zip(&total.collectives);
    let collectives =
        collectives.filter(|(_, parts)| parts.count > 0).filter_map(|(plan, parts)| {
            let (members, data, factor) = plan.data()?;
            let mean = ratio(parts.cycles, parts.count);
            let bytes = data as f64 * phit_bytes;
            let algorithm = if mean > 0.0 { bytes / (mean * cycle_ns) } else { 0.0 };
            Some(CollectiveUse {
                name: plan.name.clone(),
                asked: plan.asked().map(str::to_owned),
                members,
                phits: data,
                parts: parts.count,
                mean,
                min: parts.min.into(),
                max: parts.max.into(),
                algorithm_bandwidth: algorithm,
                bus_bandwidth: algorithm * factor,
            })
        });
    Some(ReplayOutcome {
        says: job.says(),
        control_messages: total.control,
        unreceived,
        collectives: collectives.collect(),
    })
}

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
    let uses = job.uses.all();
    if job.flows.is_some() || job.steps() > 0 && uses.is_empty() {
        return None;
    }
    let (cycle_ns, phit_bytes) = (model.scale.cycle_ns(), model.scale.phit_bytes());
    let counted = uses.iter().zip(&total.collectives).filter(|(_, parts)| parts.count > 0);
    let collectives = counted.map(|(of, parts)| {
        let mean = ratio(parts.cycles, parts.count);
        let bytes = of.phits as f64 * phit_bytes;
        let algorithm = if mean > 0.0 { bytes / (mean * cycle_ns) } else { 0.0 };
        CollectiveUse {
            name: of.name.clone(),
            asked: of.asked.map(str::to_owned),
            members: of.members,
            phits: of.phits,
            parts: parts.count,
            mean,
            min: parts.min.into(),
            max: parts.max.into(),
            algorithm_bandwidth: algorithm,
            bus_bandwidth: algorithm * of.factor,
        }
    });
    Some(ReplayOutcome {
        says: job.says(),
        control_messages: total.control,
        unreceived,
        collectives: collectives.collect(),
    })
}

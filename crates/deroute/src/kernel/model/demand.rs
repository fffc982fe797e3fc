//! Who sends what, and for how long that is looked at.

use super::times::{self, Times, WarmupTimes};
use crate::spec::{Scale, Spec, SpecError};
use crate::traffic::{Setting, Workload as Traffic};
use crate::workload::Jobs;

/// When the run begins and ends, the programs, and the synthetic traffic.
pub(super) fn resolve(
    spec: &Spec,
    scale: &Scale,
    setting: &Setting<'_>,
) -> Result<(Times, Option<Jobs>, Traffic), SpecError> {
    let mut times = times::resolve(spec, scale)?;
    let jobs = jobs(spec, scale, setting)?;
    if let Some(jobs) = &jobs {
        (times.warmup, times.measure) = (WarmupTimes::Fixed(0), jobs.limit);
    }
    let measure_from = match times.warmup {
        WarmupTimes::Fixed(warmup) => Some(warmup),
        WarmupTimes::Automatic { .. } => None,
    };
    let traffic = Traffic::build(&spec.traffic, scale, setting, measure_from)?;
    Ok((times, jobs, traffic))
}

/// The programs, if there are any; without them there must be traffic.
fn jobs(spec: &Spec, scale: &Scale, setting: &Setting<'_>) -> Result<Option<Jobs>, SpecError> {
    let Some(workload) = &spec.workload else {
        if spec.traffic.is_silent() {
            let choices = ["a table", "a table workload instead"];
            return Err(SpecError::new("traffic", "is missing").choices(choices));
        }
        return Ok(None);
    };
    let fixed = crate::spec::Run::default();
    for (key, as_always) in [
        ("warmup", spec.run.warmup == fixed.warmup),
        ("measure", spec.run.measure == fixed.measure),
    ] {
        if !as_always {
            let message = "a run with a workload is measured from its first cycle to its end";
            let choices = ["nothing", "workload.limit"];
            return Err(SpecError::new(format!("run.{key}"), message).choices(choices));
        }
    }
    Jobs::build(workload, scale, setting).map(Some)
}

/// Smallest and largest packet in phits.
pub(super) fn packet_sizes(jobs: Option<&Jobs>, traffic: &Traffic) -> (u16, u16) {
    match jobs {
        None => traffic.packet_sizes(),
        Some(jobs) if traffic.is_silent() => (1, jobs.packet),
        Some(jobs) => (1, jobs.packet.max(traffic.packet_sizes().1)),
    }
}

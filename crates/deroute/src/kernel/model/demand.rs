//! Who sends what, and for how long that is looked at.

use std::sync::Arc;

use super::links;
use super::times::{self, Times, WarmupTimes};
use crate::congestion::NoticePlan;
use crate::spec::{Scale, Spec, SpecError};
use crate::topology::{self, Topology};
use crate::traffic::{Senders, Setting, TrafficStream, Workload as Traffic};
use crate::workload::Jobs;

/// When the run begins and ends, the programs, and the synthetic traffic in so many classes of service.
pub(super) fn resolve(
    spec: &Spec,
    scale: &Scale,
    topology: &Arc<dyn Topology>,
    (classes, notices): (u8, Option<NoticePlan>),
) -> Result<(Times, Option<Jobs>, Traffic), SpecError> {
    let mut times = times::resolve(spec, scale)?;
    let seen = topology::seen_by_traffic(&spec.network.topology, topology)?;
    let setting = &Setting { topology: &*seen, seed: spec.run.seed };
    let jobs = jobs(spec, scale, setting, (classes, notices))?;
    if let Some(jobs) = &jobs {
        (times.warmup, times.measure) = (WarmupTimes::Fixed(0), jobs.limit);
    }
    let measure_from = match times.warmup {
        WarmupTimes::Fixed(warmup) => Some(warmup),
        WarmupTimes::Automatic { .. } | WarmupTimes::Precise(_) => None,
    };
    let free = |host| jobs.as_ref().is_none_or(|jobs| jobs.seats(host).is_empty());
    let senders = Senders { period: links::host_period(spec, scale)?, classes, free: &free };
    let traffic = Traffic::build_for(&senders, &spec.traffic, scale, setting, measure_from)?;
    own_class(&traffic, notices)?;
    Ok((times, jobs, traffic))
}

/// The programs, if there are any; without them there must be traffic.
fn jobs(
    spec: &Spec,
    scale: &Scale,
    setting: &Setting<'_>,
    (classes, notices): (u8, Option<NoticePlan>),
) -> Result<Option<Jobs>, SpecError> {
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
        ("precision", spec.run.precision.is_none()),
    ] {
        if !as_always {
            let message = "a run with a workload is measured from its first cycle to its end";
            let choices = ["nothing", "workload.limit"];
            return Err(SpecError::new(format!("run.{key}"), message).choices(choices));
        }
    }
    let jobs = Jobs::build(workload, scale, setting)?;
    jobs.check_classes((classes, notices.map(|notices| notices.class)))?;
    Ok(Some(jobs))
}

/// Smallest and largest packet in phits, notifications of congestion among them.
pub(super) fn packet_sizes(
    jobs: Option<&Jobs>,
    traffic: &Traffic,
    notices: Option<NoticePlan>,
) -> (u16, u16) {
    let (smallest, largest) = match jobs {
        None => traffic.packet_sizes(),
        Some(jobs) if traffic.is_silent() => (1, jobs.packet),
        Some(jobs) => (1, jobs.packet.max(traffic.packet_sizes().1)),
    };
    let notice = notices.map_or(smallest, |notices| notices.size);
    (smallest.min(notice), largest.max(notice))
}

/// Refuses streams of the class that notifications have for themselves.
fn own_class(traffic: &Traffic, notices: Option<NoticePlan>) -> Result<(), SpecError> {
    let streams = traffic.streams().iter();
    let same = |class: u8| notices.is_some_and(|notices| notices.class == class);
    let Some(index) = streams.map(TrafficStream::class).position(same) else { return Ok(()) };
    let message = "notifications have this class of service for themselves";
    let point = notices.map_or("", |notices| notices.point);
    let choices = ["another class".to_owned(), format!("another {point}.notifications.class")];
    Err(SpecError::new(format!("traffic.stream[{index}].class"), message).choices(choices))
}

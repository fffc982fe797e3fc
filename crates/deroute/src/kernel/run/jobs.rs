//! Runs with a workload: from the first cycle until every rank has ended.

use super::legs::{Kind, Leg};
use super::statistics::{percentiles, ratio};
use super::{Running, flows, path, replay};
use crate::ids::Cycle;
use crate::kernel::RunError;
use crate::kernel::hosts::{Hosts, Worker};
use crate::kernel::inspect::Network;
use crate::kernel::machine::{Datapath, Machine};
use crate::kernel::partition::Partition;
use crate::outcome::{JobArrays, JobOutcome, MessageLatency, Messages, WorkloadOutcome};
use crate::probe::histogram;
use crate::probe::messages::Record;
use crate::workload::process::{Activity, Doing};
use crate::workload::{Job, Jobs};

/// Ranks that a message names.
const NAMED: usize = 3;

impl<M: Machine> Running<M> {
    /// Until the next look at whether all ranks have ended; the result does not depend on when that is.
    pub(super) fn work(&mut self, jobs: &Jobs) -> Leg {
        self.idle = self.idle_until();
        // Whole chunks, so that this looks when it would look otherwise.
        let chunks = (self.idle - self.now) / self.chunk();
        let to = self.now.saturating_add(chunks.max(1) * self.chunk()).min(jobs.limit);
        Leg { kind: Kind::Works, to, of: self.expected(jobs.work().1).max(to.into()) }
    }

    /// Have all ranks ended, or is it the limit?
    pub(super) fn jobs_end(&self, jobs: &Jobs) -> Result<bool, RunError> {
        let network = self.network();
        let counts = Counts::of(&network);
        if counts.sent > counts.received {
            return Ok(self.now >= jobs.limit);
        }
        if counts.ended == jobs.ranks() {
            return Ok(true);
        }
        if workers(&network).all(|worker| worker.process.is_stuck()) {
            return Err(RunError::Deadlock(format!(
                "at cycle {} no message is on its way, but {}",
                self.now,
                waiting(jobs, &network)
            )));
        }
        Ok(self.now >= jobs.limit)
    }

    /// All ranks have ended, or it is the limit: the result is computed.
    pub(super) fn end_jobs(&mut self) {
        // What has been granted the output to its host counts, unless much may wait there.
        if self.model.egress.holds_ends {
            self.close(self.now);
        }
        self.partitions.iter_mut().for_each(Partition::finish);
        // Synthetic traffic has gone on until now, messages have not.
        let end = if self.model.traffic.is_silent() { makespan(&self.network()) } else { self.now };
        self.close(end);
    }

    /// The measurement has lasted until a cycle.
    fn close(&mut self, end: Cycle) {
        for partition in &mut self.partitions {
            let Datapath { core, hosts, .. } = &mut partition.path;
            core.collector.to = end.max(1);
            hosts.open(0, end.max(1));
            hosts.streams_mut().iter_mut().for_each(|stream| stream.collector.to = end.max(1));
        }
    }

    /// The first cycle in which anything can happen.
    fn idle_until(&self) -> Cycle {
        let all = || self.partitions.iter();
        if all().any(|own| !own.skips || own.path.hosts.cargo() != Some(0)) {
            return self.now;
        }
        all().fold(Cycle::MAX, |to, own| own.due(to))
    }

    /// Cycles that the run may take in total, judged by what has arrived of its messages: while that is nothing, as many
    /// as if one phit had arrived by the next look.
    fn expected(&self, phits: u64) -> u64 {
        let arrived: u64 = records(&self.network()).flatten().map(|r| r.arrived_phits).sum();
        let (now, share) =
            (self.now.max(self.chunk()), phits.max(1) as f64 / arrived.max(1) as f64);
        (f64::from(now) * share) as u64 + u64::from(self.chunk())
    }
}

/// Cycle in which the last job ended, or now.
fn makespan(network: &Network<'_>) -> Cycle {
    let Some(jobs) = &network.model.jobs else { return network.now };
    let ends = (0..jobs.jobs.len()).map(|index| {
        let total = total(network, jobs, index);
        if total.ended == jobs.jobs[index].ranks() { total.last } else { network.now }
    });
    ends.max().unwrap_or(network.now)
}

fn workers<'a>(network: &Network<'a>) -> impl Iterator<Item = &'a Worker> {
    let each = network.partitions.iter().filter_map(|partition| partition.interfaces());
    each.flat_map(|interfaces| &interfaces.nics).flat_map(|nic| &nic.workers)
}

fn records<'a>(network: &Network<'a>) -> impl Iterator<Item = &'a Vec<Record>> {
    let each = network.partitions.iter().filter_map(|partition| partition.interfaces());
    each.map(|interfaces| &interfaces.records)
}

/// What all jobs have done in the whole network.
struct Counts {
    sent: u64,
    received: u64,
    ended: u32,
}

impl Counts {
    fn of(network: &Network<'_>) -> Self {
        let none = Self { sent: 0, received: 0, ended: 0 };
        records(network).flatten().fold(none, |sum, record| Self {
            sent: sum.sent + record.sent,
            received: sum.received + record.received,
            ended: sum.ended + record.ended,
        })
    }
}

/// What a job has done in the whole network.
fn total(network: &Network<'_>, jobs: &Jobs, job: usize) -> Record {
    let mut total = Record::new(jobs.jobs[job].uses.all().len());
    records(network).for_each(|records| total.merge(&records[job]));
    total
}

/// What the first ranks that have not ended do.
fn waiting(jobs: &Jobs, network: &Network<'_>) -> String {
    let mut left: Vec<&Worker> = workers(network).filter(|worker| worker.ended.is_none()).collect();
    left.sort_by_key(|worker| (worker.seat.job, worker.seat.rank));
    let say = |worker: &&Worker| {
        let job = &jobs.jobs[worker.seat.job as usize];
        let doing = match worker.process.doing(job) {
            Doing::Waits(what) => what,
            Doing::Busy(what) => what.to_owned(),
            Doing::Ended => "has ended".to_owned(),
        };
        format!("rank {} of {} {doing}", worker.seat.rank, job.name)
    };
    let mut said: Vec<String> = left.iter().take(NAMED).map(say).collect();
    if left.len() > NAMED {
        said.push(format!("{} more ranks have not ended", left.len() - NAMED));
    }
    said.join("; ")
}

/// Why a run has not ended; `None` if it has.
pub(crate) fn unfinished(network: &Network<'_>) -> Option<String> {
    let jobs = network.model.jobs.as_ref()?;
    let counts = Counts::of(network);
    let (all, when) = (jobs.ranks(), format!("after {} cycles (workload.limit)", jobs.limit));
    if counts.ended < all {
        let (left, still) = (all - counts.ended, waiting(jobs, network));
        return Some(format!("{when} {left} of {all} ranks have not ended: {still}"));
    }
    let left = counts.sent - counts.received;
    (left > 0).then(|| format!("{when} {left} messages have not arrived"))
}

/// The result of the workload, if there is one.
pub(crate) fn outcome(network: &Network<'_>) -> Option<WorkloadOutcome> {
    let jobs = network.model.jobs.as_ref()?;
    let each = jobs.jobs.iter().enumerate().map(|(index, job)| {
        let seats = workers(network).filter(|worker| worker.seat.job as usize == index);
        job_outcome(job, &total(network, jobs, index), seats, network)
    });
    Some(WorkloadOutcome { makespan: u64::from(makespan(network)), jobs: each.collect() })
}

fn job_outcome<'a>(
    job: &Job,
    total: &Record,
    seats: impl Iterator<Item = &'a Worker>,
    network: &Network<'_>,
) -> JobOutcome {
    let now = network.now;
    let since = |cycle: Cycle| u64::from(cycle.saturating_sub(job.start));
    let finished = total.ended == job.ranks();
    let ranks = f64::from(job.ranks());
    let mut arrays = JobArrays {
        iteration_end: total.iterations.iter().map(|end| since(*end)).collect(),
        rank_end: vec![0; job.ranks() as usize],
        rank_computed: vec![0; job.ranks() as usize],
        rank_collective: vec![0; job.ranks() as usize],
        rank_receive: vec![0; job.ranks() as usize],
        rank_send: vec![0; job.ranks() as usize],
        rank_wait: vec![0; job.ranks() as usize],
        ..JobArrays::default()
    };
    let mut unreceived = 0;
    let mut all: Vec<Option<&Worker>> = vec![None; job.ranks() as usize];
    for worker in seats {
        let rank = worker.seat.rank as usize;
        arrays.rank_end[rank] = since(worker.ended.unwrap_or(now));
        arrays.rank_computed[rank] = worker.process.computed;
        for (what, array) in [
            (Activity::Collective, &mut arrays.rank_collective),
            (Activity::Receive, &mut arrays.rank_receive),
            (Activity::Send, &mut arrays.rank_send),
            (Activity::Wait, &mut arrays.rank_wait),
        ] {
            array[rank] = worker.process.spent(what);
        }
        unreceived += worker.process.unreceived() as u64;
        all[rank] = Some(worker);
    }
    let flows = flows::outcome(job, total, network.model, &mut arrays);
    if job.kept > 0 {
        timeline(&mut arrays, &all, since);
    }
    let asked = finished && job.critical_path;
    let critical_path = asked.then(|| path::outcome(job, &all, total.last, &mut arrays)).flatten();
    let communication = || {
        let pairs = arrays.rank_end.iter().zip(&arrays.rank_computed);
        pairs.map(|(end, computed)| end.saturating_sub(*computed))
    };
    let time = since(if finished { total.last } else { now });
    let iterations = arrays.iteration_end.len() as u64;
    let last = arrays.iteration_end.last().copied().unwrap_or(0);
    JobOutcome {
        name: job.name.clone(),
        ranks: job.ranks(),
        finished,
        start: u64::from(job.start),
        time,
        iterations,
        iteration_mean: ratio(last, iterations),
        compute_mean: arrays.rank_computed.iter().sum::<u64>() as f64 / ranks,
        communication_mean: communication().sum::<u64>() as f64 / ranks,
        communication_max: communication().max().unwrap_or(0),
        messages: messages(total),
        replay: replay::outcome(job, total, unreceived, network.model),
        flows,
        critical_path,
        arrays,
    }
}

/// When each rank did what.
fn timeline(arrays: &mut JobArrays, workers: &[Option<&Worker>], since: impl Fn(Cycle) -> u64) {
    arrays.timeline_ranks.push(0);
    for worker in workers {
        for (begin, what) in worker.iter().flat_map(|own| own.process.course.activities()) {
            arrays.timeline_begin.push(since(begin));
            arrays.timeline_activity.push(what);
        }
        arrays.timeline_ranks.push(arrays.timeline_begin.len() as u64);
    }
}

fn messages(total: &Record) -> Messages {
    let most = u64::from(total.max);
    Messages {
        sent: total.sent - total.control,
        received: total.received - total.control,
        phits: total.phits,
        packets: total.packets,
        resequenced: total.held,
        resequenced_share: ratio(total.held, total.packets),
        resequencing_buffer_max: total.most_held,
        latency: MessageLatency {
            mean: ratio(total.latency, total.received - total.control),
            min: if total.received == total.control { 0 } else { u64::from(total.min) },
            max: most,
            percentiles: percentiles(&total.histogram, most),
            histogram_error: 10f64.powi(-i32::from(histogram::DIGITS)),
        },
    }
}

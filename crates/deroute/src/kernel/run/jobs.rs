//! Runs with a workload: from the first cycle until every rank has ended.

use super::Running;
use super::statistics::{percentiles, ratio};
use crate::ids::Cycle;
use crate::kernel::hosts::{Hosts, Interface};
use crate::kernel::inspect::Network;
use crate::kernel::machine::{Datapath, Machine};
use crate::kernel::partition::Partition;
use crate::kernel::{RunError, Watcher};
use crate::outcome::{JobArrays, JobOutcome, MessageLatency, Messages, WorkloadOutcome};
use crate::probe::collect::HISTOGRAM_DIGITS;
use crate::probe::messages::Record;
use crate::workload::process::State;
use crate::workload::{Job, Jobs};

/// Ranks that a message names.
const NAMED: usize = 3;

impl<M: Machine> Running<M> {
    /// Runs until all ranks have ended, or to the limit. The result does not depend on when this
    /// looks, but is computed then.
    pub(crate) fn run_jobs(&mut self, watch: &mut Watcher<'_>) -> Result<(), RunError> {
        let model = std::sync::Arc::clone(&self.model);
        let Some(jobs) = &model.jobs else { return Ok(()) };
        self.open(0);
        let phits = jobs.work().1;
        while self.now < jobs.limit {
            let to = self.now.saturating_add(self.chunk()).min(jobs.limit);
            self.advance(to, self.expected(phits), watch)?;
            let network = self.network();
            let counts = Counts::of(&network);
            if counts.sent > counts.received {
                continue;
            }
            if counts.ended == jobs.ranks() {
                break;
            }
            if nics(&network).all(stuck) {
                return Err(RunError::Deadlock(format!(
                    "at cycle {} no message is on its way, but {}",
                    self.now,
                    waiting(jobs, &network)
                )));
            }
        }
        // What has been granted the output to its host counts.
        self.partitions.iter_mut().for_each(Partition::finish);
        // Synthetic traffic has gone on until now, messages have not.
        let end = if model.traffic.is_silent() { makespan(&self.network()) } else { self.now };
        for partition in &mut self.partitions {
            let Datapath { core, hosts, .. } = &mut partition.path;
            core.collector.to = end.max(1);
            hosts.open(0, end.max(1));
            hosts.streams_mut().iter_mut().for_each(|stream| stream.collector.to = end.max(1));
        }
        Ok(())
    }

    /// Cycles that the run may take in total, judged by what has arrived of its messages.
    fn expected(&self, phits: u64) -> u64 {
        let arrived: u64 = records(&self.network()).flatten().map(|r| r.arrived_phits).sum();
        let (now, share) = (u64::from(self.now), phits.max(1) as f64 / arrived.max(1) as f64);
        (now as f64 * share) as u64 + u64::from(self.chunk())
    }
}

/// Cycle in which the last job ended, or now.
fn makespan(network: &Network<'_>) -> Cycle {
    let Some(jobs) = &network.model.jobs else { return network.now };
    let ends = (0..jobs.jobs.len()).map(|index| {
        let total = total(network, index);
        if total.ended == jobs.jobs[index].ranks() { total.last } else { network.now }
    });
    ends.max().unwrap_or(network.now)
}

fn nics<'a>(network: &Network<'a>) -> impl Iterator<Item = &'a Interface> {
    let each = network.partitions.iter().filter_map(|partition| partition.interfaces());
    each.flat_map(|interfaces| &interfaces.nics)
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
fn total(network: &Network<'_>, job: usize) -> Record {
    let mut total = Record::new();
    records(network).for_each(|records| total.merge(&records[job]));
    total
}

/// Only a message could make the rank go on.
fn stuck(nic: &Interface) -> bool {
    matches!(nic.process.state, State::Waiting { .. } | State::Done)
}

/// What the first ranks that have not ended do.
fn waiting(jobs: &Jobs, network: &Network<'_>) -> String {
    let mut left: Vec<&Interface> = nics(network).filter(|nic| nic.ended.is_none()).collect();
    left.sort_by_key(|nic| (nic.seat.job, nic.seat.rank));
    let say = |nic: &&Interface| {
        let job = &jobs.jobs[nic.seat.job as usize];
        let (iteration, step) = nic.process.place();
        let doing = match nic.process.state {
            State::Waiting { from, .. } => format!("waits for a message from rank {from}"),
            State::Computing(_) => "computes".into(),
            State::Ready | State::Done => "goes on".into(),
        };
        let (of, name) = (job.iterations, job.step_name(step));
        let (rank, job) = (nic.seat.rank, &job.name);
        format!("rank {rank} of {job} {doing} (iteration {} of {of}, {name})", iteration + 1)
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
        let seats = nics(network).filter(|nic| nic.seat.job as usize == index);
        job_outcome(job, &total(network, index), seats, network.now)
    });
    Some(WorkloadOutcome { makespan: u64::from(makespan(network)), jobs: each.collect() })
}

fn job_outcome<'a>(
    job: &Job,
    total: &Record,
    seats: impl Iterator<Item = &'a Interface>,
    now: Cycle,
) -> JobOutcome {
    let since = |cycle: Cycle| u64::from(cycle.saturating_sub(job.start));
    let finished = total.ended == job.ranks();
    let ranks = f64::from(job.ranks());
    let mut arrays = JobArrays {
        iteration_end: total.iterations.iter().map(|end| since(*end)).collect(),
        rank_end: vec![0; job.ranks() as usize],
        rank_computed: vec![0; job.ranks() as usize],
    };
    for nic in seats {
        let rank = nic.seat.rank as usize;
        arrays.rank_end[rank] = since(nic.ended.unwrap_or(now));
        arrays.rank_computed[rank] = nic.process.computed;
    }
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
        arrays,
    }
}

fn messages(total: &Record) -> Messages {
    let most = u64::from(total.max);
    Messages {
        sent: total.sent,
        received: total.received,
        phits: total.phits,
        packets: total.packets,
        resequenced: total.held,
        resequenced_share: ratio(total.held, total.packets),
        resequencing_buffer_max: total.most_held,
        latency: MessageLatency {
            mean: ratio(total.latency, total.received),
            min: if total.received == 0 { 0 } else { u64::from(total.min) },
            max: most,
            percentiles: percentiles(&total.histogram, most),
            histogram_error: 10f64.powi(-i32::from(HISTOGRAM_DIGITS)),
        },
    }
}

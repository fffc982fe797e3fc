//! Programs that send messages and wait for them.
//!
//! What the ranks of a job do is a [`program::Program`]: a graph of computations, sends, receives and
//! collectives, read from a trace (`trace`) or made of [`step::Step`]s. A step is a list of operations for each
//! rank: send, wait, compute. It is never written down: any operation of any rank is computed from
//! its number, so that thousands of ranks cost nothing but where each of them is. To add a step: a file, a variant
//! in `spec.rs`, a line in [`steps::build`].

pub(crate) mod actions;
mod bruck;
mod collective;
mod comms;
mod dissemination;
mod exchange;
mod flows;
mod job;
mod lists;
pub(crate) mod matching;
mod node;
mod origin;
mod packed;
mod pages;
mod placement;
pub(crate) mod process;
pub(crate) mod program;
mod recursive_doubling;
mod ring;
mod schedule;
pub mod spec;
mod spill;
mod stencil;
mod step;
mod steps;
mod trace;
mod tree;
mod uses;

pub use flows::{Flow, Flows};
pub use job::Job;
pub use node::Node;
use placement::Room;
use serde::{Deserialize, Serialize};
pub use step::Op;
use step::{Site, Step};

use crate::ids::{Cycle, HostId};
use crate::spec::{Scale, SpecError};
use crate::traffic::Setting;

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Index of the job.
    pub job: u32,
    /// Rank in the job.
    pub rank: u32,
}

/// All jobs of a run, resolved.
pub struct Jobs {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Phits of the largest packet.
    pub packet: u16,
    /// Cycle in which the run gives up.
    pub limit: Cycle,
    /// The ranks on each host, if any.
    seats: Vec<Vec<Seat>>,
    most_seats: usize,
}

impl Jobs {
    /// Resolves the workload.
    ///
    /// # Errors
    /// The first thing that is impossible, with its path.
    pub fn build(
        spec: &spec::Workload,
        scale: &Scale,
        setting: &Setting<'_>,
    ) -> Result<Self, SpecError> {
        let path = "workload.packet_size";
        let size = scale.phits(path, &spec.packet_size)?;
        let Some(packet) = u16::try_from(size).ok().filter(|size| *size > 0) else {
            let message = format!("{size} phits is no packet size");
            return Err(SpecError::new(path, message).choices(["1 to 65535 phits"]));
        };
        let limit = step::duration(scale, "workload.limit", &spec.limit)?;
        if limit == 0 {
            let message = "a run of 0 cycles does nothing";
            return Err(SpecError::new("workload.limit", message).choices(["at least 1 cycle"]));
        }
        if spec.jobs.is_empty() {
            return Err(SpecError::new("workload.jobs", "is empty").choices(["at least one job"]));
        }
        let mut seats = vec![Vec::new(); setting.topology.hosts() as usize];
        let mut jobs = Vec::<Job>::new();
        for (index, each) in spec.jobs.iter().enumerate() {
            let free = seats.iter().filter(|seats| seats.is_empty()).count();
            let run = (scale, setting.seed, limit);
            let (mut job, ranks) = Job::build(each, index, run, (free, seats.len()))?;
            let path = format!("workload.jobs[{index}]");
            if jobs.iter().any(|other| other.name == job.name) {
                let message = format!("{:?} is the name of two jobs", job.name);
                return Err(SpecError::new(format!("{path}.name"), message));
            }
            let room = Room { seats: &seats, topology: setting.topology, seed: setting.seed };
            job.hosts = placement::place(each, ranks, &path, &room)?;
            for (rank, host) in job.hosts.iter().enumerate() {
                seats[host.index()].push(Seat { job: index as u32, rank: rank as u32 });
            }
            jobs.push(job);
        }
        let most_seats = seats.iter().map(Vec::len).max().unwrap_or(0);
        Ok(Self { jobs, packet, limit, seats, most_seats })
    }

    /// The ranks on a host.
    pub fn seats(&self, host: HostId) -> &[Seat] {
        &self.seats[host.index()]
    }

    /// Most ranks on a host.
    pub(crate) fn most_seats(&self) -> usize {
        self.most_seats
    }

    /// Which of the ranks of its host a rank is.
    #[inline]
    pub(crate) fn worker(&self, host: HostId, rank: u32) -> u32 {
        if self.most_seats == 1 {
            return 0;
        }
        let place = self.seats(host).iter().position(|seat| seat.rank == rank);
        place.unwrap_or(0) as u32
    }

    /// The shortest latency within nodes, if some job has nodes.
    pub(crate) fn node_latency(&self) -> Option<Cycle> {
        self.jobs.iter().filter_map(|job| Some(job.node?.latency)).min()
    }

    /// Number of ranks of all jobs.
    pub fn ranks(&self) -> u32 {
        self.jobs.iter().map(Job::ranks).sum()
    }

    /// Bytes of the programs that were read, and of flows.
    pub fn bytes(&self) -> u64 {
        let flows = |job: &Job| job.flows.as_ref().map_or(0, |flows| flows.all.capacity());
        let bytes = |job: &Job| job.program.bytes() + (flows(job) * size_of::<Flow>()) as u64;
        self.jobs.iter().map(bytes).sum()
    }

    /// Bytes of temporary files that programs are read from as they run.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.jobs.iter().map(|job| job.program.file_bytes()).sum()
    }

    /// What went wrong first while one of them was read, and the name of its job.
    pub(crate) fn fault(&self) -> Option<(&str, &str)> {
        self.jobs.iter().find_map(|job| Some((&*job.name, job.program.fault()?)))
    }

    /// Number of flows of all jobs.
    pub fn flows(&self) -> u64 {
        self.jobs.iter().filter_map(|job| job.flows.as_ref()).map(|flows| flows.work().0).sum()
    }

    /// Refuses flows of classes of service that they cannot have.
    pub(crate) fn check_classes(&self, classes: (u8, Option<u8>)) -> Result<(), SpecError> {
        let flows = self.jobs.iter().map(|job| job.flows.as_ref()).enumerate();
        flows.filter_map(|(index, flows)| Some((index, flows?))).try_for_each(|(index, flows)| {
            flows.check_classes(classes, &format!("workload.jobs[{index}].flows"))
        })
    }

    /// Messages and phits of all jobs.
    pub fn work(&self) -> (u64, u64) {
        sum(self.jobs.iter().map(Job::work))
    }

    /// Messages and phits that are likely to be under way at a time.
    pub(crate) fn at_once(&self) -> (u64, u64) {
        sum(self.jobs.iter().map(Job::at_once))
    }

    /// Pairs of ranks of which one is likely to send to the other.
    pub(crate) fn pairs(&self) -> u64 {
        self.jobs.iter().map(Job::pairs).fold(0, u64::saturating_add)
    }
}

/// As large as a number can be, if it is larger.
fn sum(all: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    all.fold((0, 0), |(a, b), (c, d)| (a.saturating_add(c), b.saturating_add(d)))
}

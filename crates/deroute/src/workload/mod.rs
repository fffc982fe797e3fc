//! Programs that send messages and wait for them.
//!
//! A program is a list of operations for each rank: send, wait, compute. It is never written down:
//! a [`Step`] computes any operation of any rank from its number, so that thousands of ranks cost
//! nothing but where each of them is. To add a step: a file, a variant in `spec.rs`, a line in
//! [`step`].

mod bruck;
mod dissemination;
mod exchange;
mod placement;
pub mod process;
mod recursive_doubling;
mod ring;
pub mod spec;
mod stencil;
mod tree;

use crate::ids::{Cycle, HostId};
use crate::spec::{Quantity, Scale, SpecError};
use crate::traffic::Setting;

/// One operation of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Hands a message to the network interface and goes on.
    Send {
        /// Rank that it is for.
        to: u32,
        /// Phits, at least 1.
        phits: u32,
        /// What the receiver waits for.
        tag: u32,
    },
    /// Goes on when a message has arrived whole. As many waits for the same sender and tag take as
    /// many messages.
    Wait {
        /// Rank that sends it.
        from: u32,
        /// The sender's tag.
        tag: u32,
    },
    /// Goes on after so many cycles.
    Compute {
        /// Cycles; 0 does nothing.
        cycles: Cycle,
    },
}

impl Op {
    /// An operation that does nothing.
    pub const NOTHING: Self = Self::Compute { cycles: 0 };
}

/// What every rank of a job does in one step of its program.
pub trait Step: Send + Sync {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Operation `index` of a rank, counted from 0; `None` after the last one. Tags are below
    /// [`Step::tags`].
    fn op(&self, rank: u32, index: u32) -> Option<Op>;

    /// Number of tags.
    fn tags(&self) -> u32;

    /// Every rank sends as much as the others.
    fn uniform(&self) -> bool;
}

/// What a step is built from.
struct Site<'a> {
    ranks: u32,
    /// Of the step in the spec.
    path: String,
    scale: &'a Scale,
}

impl Site<'_> {
    /// A size in phits, rounded up.
    fn phits(&self, key: &str, size: &Quantity) -> Result<u32, SpecError> {
        let path = format!("{}.{key}", self.path);
        let value = self.scale.phits_up(&path, size)?;
        u32::try_from(value).ok().filter(|v| (1..1 << 30).contains(v)).ok_or_else(|| {
            let message = format!("{value} phits is no size of a message");
            SpecError::new(path, message).choices(["1 to 1073741823 phits"])
        })
    }

    fn root(&self, root: u32) -> Result<u32, SpecError> {
        if root < self.ranks {
            return Ok(root);
        }
        let message = format!("there is no rank {root}");
        let path = format!("{}.root", self.path);
        Err(SpecError::new(path, message).choices([format!("0 to {}", self.ranks - 1)]))
    }
}

/// Computes, alone.
struct Compute(Cycle);

impl Step for Compute {
    fn name(&self) -> &'static str {
        "compute"
    }

    fn op(&self, _rank: u32, index: u32) -> Option<Op> {
        (index == 0).then_some(Op::Compute { cycles: self.0 })
    }

    fn tags(&self) -> u32 {
        0
    }

    fn uniform(&self) -> bool {
        true
    }
}

/// Builds a step. The catalogue.
fn step(
    spec: &spec::Step,
    path: &str,
    ranks: u32,
    scale: &Scale,
) -> Result<Box<dyn Step>, SpecError> {
    let site = |key: &str| Site { ranks, path: format!("{path}.{key}"), scale };
    let sized = |key: &str, all: &spec::Collective| site(key).phits("size", &all.size);
    let rooted = |key: &str, tree: &spec::Rooted| -> Result<_, SpecError> {
        Ok((site(key).root(tree.root)?, site(key).phits("size", &tree.size)?))
    };
    Ok(match spec {
        spec::Step::Compute(time) => {
            Box::new(Compute(duration(scale, &format!("{path}.compute"), time)?))
        }
        spec::Step::Stencil(grid) => stencil::build(grid, &site("stencil"))?,
        spec::Step::Exchange(matrix) => exchange::build(matrix, &site("exchange"))?,
        spec::Step::Dissemination(all) => dissemination::build(ranks, sized("dissemination", all)?),
        spec::Step::RecursiveDoubling(all) => {
            recursive_doubling::build(ranks, sized("recursive_doubling", all)?)
        }
        spec::Step::Ring(all) => ring::build(ranks, sized("ring", all)?),
        spec::Step::Bruck(all) => bruck::build(ranks, sized("bruck", all)?, &site("bruck"))?,
        spec::Step::Broadcast(tree) => tree::broadcast(ranks, rooted("broadcast", tree)?),
        spec::Step::Reduce(tree) => tree::reduce(ranks, rooted("reduce", tree)?),
    })
}

fn duration(scale: &Scale, path: &str, time: &Quantity) -> Result<Cycle, SpecError> {
    let value = scale.cycles(path, time)?;
    u32::try_from(value).ok().filter(|v| *v < 1 << 31).ok_or_else(|| {
        let message = format!("{value} cycles is out of range");
        SpecError::new(path, message).choices(["0 to 2147483647 cycles"])
    })
}

/// A step and the first of its tags.
struct Placed {
    step: Box<dyn Step>,
    first_tag: u32,
}

/// A job, resolved.
pub struct Job {
    /// Its name.
    pub name: String,
    /// The host of each rank.
    pub hosts: Vec<HostId>,
    /// First cycle.
    pub start: Cycle,
    /// Times that all steps are taken.
    pub iterations: u32,
    steps: Vec<Placed>,
    /// Tags of one iteration.
    tags: u32,
    /// Messages and phits of one iteration.
    work: (u64, u64),
}

impl Job {
    fn build(
        spec: &spec::Job,
        index: usize,
        scale: &Scale,
        seats: &[Option<Seat>],
    ) -> Result<Self, SpecError> {
        let path = format!("workload.jobs[{index}]");
        let wrong = |key: &str, message: String, choices: &str| {
            Err(SpecError::new(format!("{path}.{key}"), message).choices([choices]))
        };
        let left = seats.iter().filter(|seat| seat.is_none()).count();
        if spec.ranks == 0 || spec.ranks as usize > left {
            let (ranks, all) = (spec.ranks, seats.len());
            let message = format!("{ranks} ranks need a host each, and {left} of {all} are left");
            return wrong("ranks", message, &format!("1 to {left}"));
        }
        if !(1..=1 << 20).contains(&spec.iterations) {
            let message = format!("{} iterations is out of range", spec.iterations);
            return wrong("iterations", message, "1 to 1048576");
        }
        if spec.steps.is_empty() {
            return wrong(
                "steps",
                "a program without steps does nothing".into(),
                "a list of steps",
            );
        }
        let (mut steps, mut tags, mut work) = (Vec::new(), 0u64, (0u64, 0u64));
        for (i, each) in spec.steps.iter().enumerate() {
            let step = step(each, &format!("{path}.steps[{i}]"), spec.ranks, scale)?;
            let first_tag = tags as u32;
            tags += u64::from(step.tags());
            let (messages, phits) = effort(&*step, spec.ranks);
            work = (work.0.saturating_add(messages), work.1.saturating_add(phits));
            steps.push(Placed { step, first_tag });
        }
        if tags * u64::from(spec.iterations) > u32::MAX.into() {
            let most = format!("at most {}", u64::from(u32::MAX) / tags);
            let message = format!("{} iterations of {tags} tags are too many", spec.iterations);
            return wrong("iterations", message, &most);
        }
        let name = spec.name.clone().unwrap_or_else(|| format!("job{}", index + 1));
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_-+".contains(c)) {
            return wrong("name", format!("{name:?} is not a name"), "letters, digits, _ - +");
        }
        let start = duration(scale, &format!("{path}.start"), &spec.start)?;
        let (iterations, tags, hosts) = (spec.iterations, tags as u32, Vec::new());
        Ok(Self { name, hosts, start, iterations, steps, tags, work })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Steps of an iteration.
    pub fn steps(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Name of a step.
    pub fn step_name(&self, step: u32) -> &'static str {
        self.steps[step as usize].step.name()
    }

    /// An operation of a rank; `None` after the last one of the step.
    pub fn op(&self, rank: u32, iteration: u32, step: u32, index: u32) -> Option<Op> {
        let Placed { step, first_tag } = &self.steps[step as usize];
        let base = iteration * self.tags + first_tag;
        Some(match step.op(rank, index)? {
            Op::Send { to, phits, tag } => Op::Send { to, phits, tag: base + tag },
            Op::Wait { from, tag } => Op::Wait { from, tag: base + tag },
            compute => compute,
        })
    }

    /// Messages and phits of all iterations.
    pub fn work(&self) -> (u64, u64) {
        let times = u64::from(self.iterations);
        (self.work.0.saturating_mul(times), self.work.1.saturating_mul(times))
    }
}

/// Messages and phits that all ranks send in a step.
fn effort(step: &dyn Step, ranks: u32) -> (u64, u64) {
    let sent = |rank| {
        let (mut messages, mut phits) = (0, 0);
        for op in (0..).map_while(|index| step.op(rank, index)) {
            if let Op::Send { phits: more, .. } = op {
                (messages, phits) = (messages + 1, phits + u64::from(more));
            }
        }
        (messages, phits)
    };
    if step.uniform() {
        let (messages, phits): (u64, u64) = sent(0);
        return (messages * u64::from(ranks), phits * u64::from(ranks));
    }
    (0..ranks).map(sent).fold((0, 0), |sum: (u64, u64), one| (sum.0 + one.0, sum.1 + one.1))
}

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The rank on each host, if any.
    seats: Vec<Option<Seat>>,
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
        let limit = duration(scale, "workload.limit", &spec.limit)?;
        if limit == 0 {
            let message = "a run of 0 cycles does nothing";
            return Err(SpecError::new("workload.limit", message).choices(["at least 1 cycle"]));
        }
        if spec.jobs.is_empty() {
            return Err(SpecError::new("workload.jobs", "is empty").choices(["at least one job"]));
        }
        let mut seats = vec![None; setting.topology.hosts() as usize];
        let mut jobs = Vec::<Job>::new();
        for (index, each) in spec.jobs.iter().enumerate() {
            let mut job = Job::build(each, index, scale, &seats)?;
            let path = format!("workload.jobs[{index}]");
            if jobs.iter().any(|other| other.name == job.name) {
                let message = format!("{:?} is the name of two jobs", job.name);
                return Err(SpecError::new(format!("{path}.name"), message));
            }
            job.hosts = placement::place(each, &path, &seats, setting.seed)?;
            for (rank, host) in job.hosts.iter().enumerate() {
                seats[host.index()] = Some(Seat { job: index as u32, rank: rank as u32 });
            }
            jobs.push(job);
        }
        Ok(Self { jobs, packet, limit, seats })
    }

    /// The rank on a host.
    pub fn seat(&self, host: HostId) -> Option<Seat> {
        self.seats[host.index()]
    }

    /// Number of ranks of all jobs.
    pub fn ranks(&self) -> u32 {
        self.jobs.iter().map(Job::ranks).sum()
    }

    /// Messages and phits of all jobs.
    pub fn work(&self) -> (u64, u64) {
        let all = self.jobs.iter().map(Job::work);
        all.fold((0, 0), |(a, b), (c, d)| (a.saturating_add(c), b.saturating_add(d)))
    }
}

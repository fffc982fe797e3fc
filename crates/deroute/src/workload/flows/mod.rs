//! Flows: messages that begin at given times and that nobody waits for.
//!
//! A flow is a message of a rank, so that packets, entropies, limiters and windows are those of all messages. To
//! add a generator: a file, a field in `spec.rs`, a line in [`generators`].

mod all_to_all;
mod incast;
mod list;
mod permutation;
mod poisson;
mod sizes;
pub mod spec;

use self::spec::FlowsSpec;
use super::actions::{Action, Then};
use super::packed::Packed;
use super::program::Program;
use super::step::duration;
use crate::ids::Cycle;
use crate::spec::{Quantity, Scale, SpecError};

/// Most flows of a job.
const MOST: usize = 1 << 24;

/// Where the bins of sizes end, unless the spec says so.
const BINS: [&str; 4] = ["10 KB", "100 KB", "1 MB", "10 MB"];

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Rank that sends it.
    pub from: u32,
    /// Rank that it is for.
    pub to: u32,
    /// Its data, at least 1 phit.
    pub phits: u32,
    /// When it begins, after the start of its job.
    pub start: Cycle,
    /// Class of service.
    pub class: u8,
}

/// The flows of a job.
#[derive(Debug)]
pub struct Flows {
    /// All of them, in the order of the spec. The tag of a message is its place here.
    pub all: Vec<Flow>,
    /// Phits of the largest flow of each bin but the last.
    pub bins: Vec<u64>,
    /// The completion of each is kept.
    pub table: bool,
}

/// What flows are made for.
pub(super) struct Site<'a> {
    pub(super) ranks: u32,
    pub(super) seed: u64,
    /// Class of service of those that name none.
    pub(super) class: u8,
    pub(super) scale: &'a Scale,
    /// The flows in the spec.
    pub(super) path: String,
}

/// The name of a generator, and the flows that it makes if the spec asks for it.
type Generated = (&'static str, Option<Result<Vec<Flow>, SpecError>>);

/// The generators that a spec asks for. The catalogue: one line each.
fn generators(spec: &FlowsSpec, site: &Site<'_>) -> [Generated; 5] {
    [
        ("list", spec.list.as_ref().map(|flows| list::build(flows, site))),
        ("incast", spec.incast.as_ref().map(|own| incast::build(own, site))),
        ("permutation", spec.permutation.as_ref().map(|own| permutation::build(own, site))),
        ("all_to_all", spec.all_to_all.as_ref().map(|own| all_to_all::build(own, site))),
        ("poisson", spec.poisson.as_ref().map(|own| poisson::build(own, site))),
    ]
}

impl Flows {
    /// Resolves the flows of a job that begins at `start`, in a run that gives up at `limit`.
    pub(super) fn build(
        spec: &FlowsSpec,
        site: &Site<'_>,
        (start, limit): (Cycle, Cycle),
    ) -> Result<Self, SpecError> {
        let path = &site.path;
        if let Some(file) = &spec.file {
            let message = format!("{file:?}: the engine reads no files");
            return Err(SpecError::new(format!("{path}.file"), message).choices(["list"]));
        }
        let all = generators(spec, site);
        let names = all.each_ref().map(|(name, _)| *name);
        let mut given = all.into_iter().filter_map(|(name, flows)| Some((name, flows?)));
        let Some((name, flows)) = given.next() else {
            return Err(SpecError::new(path.as_str(), "says of no flow").choices(names));
        };
        if let Some((other, _)) = given.next() {
            let message = format!("stands beside `{name}`");
            let error = SpecError::new(format!("{path}.{other}"), message);
            return Err(error.choices(["one of both"]));
        }
        let all = flows?;
        if all.is_empty() {
            return Err(SpecError::new(format!("{path}.{name}"), "there is no flow in it"));
        }
        if all.len() > MOST {
            let message = format!("{} flows are too many", all.len());
            let error = SpecError::new(format!("{path}.{name}"), message);
            return Err(error.choices([format!("at most {MOST}")]));
        }
        let late = |flow: &Flow| flow.start >= limit.saturating_sub(start);
        if let Some(index) = all.iter().position(late) {
            let place = if name == "list" { format!("[{index}].start") } else { String::new() };
            let begins = all[index].start.saturating_add(start);
            let message = format!("a flow begins in cycle {begins}, when the run is over");
            let error = SpecError::new(format!("{path}.{name}{place}"), message);
            return Err(error.choices([format!("before workload.limit = {limit} cycles")]));
        }
        Ok(Self { all, bins: bins(spec.bins.as_deref(), site)?, table: spec.table })
    }

    /// What the ranks do: each waits until its next flow begins, and sends it.
    pub(super) fn program(&self, ranks: u32) -> Program {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        order.sort_by_key(|index| self.all[*index as usize].start);
        let mut nodes: Vec<Vec<Packed>> = vec![Vec::new(); ranks as usize];
        let mut times = vec![0; ranks as usize];
        for index in order {
            let Flow { from, to, phits, start, .. } = self.all[index as usize];
            let (own, time) = (&mut nodes[from as usize], &mut times[from as usize]);
            let cycles = start - std::mem::replace(time, start);
            let wait = (cycles > 0).then_some(Action::Idle { cycles });
            let send = Action::Send { to, phits, tag: index, comm: 0, synchronous: false };
            for action in wait.into_iter().chain([send]) {
                let mut node = Packed::new(action, Then::Ended, 0);
                node.needs = u32::from(!own.is_empty());
                own.push(node);
            }
        }
        Program::kept(nodes.into_iter())
    }

    /// Number and phits of all.
    pub(super) fn work(&self) -> (u64, u64) {
        (self.all.len() as u64, self.all.iter().map(|flow| u64::from(flow.phits)).sum())
    }

    /// Refuses classes of service that there are not, or that notifications have for themselves.
    pub(crate) fn check_classes(
        &self,
        (classes, own): (u8, Option<u8>),
        path: &str,
    ) -> Result<(), SpecError> {
        let wrong = |flow: &&Flow| flow.class >= classes || own == Some(flow.class);
        let Some(flow) = self.all.iter().find(wrong) else { return Ok(()) };
        let others = (0..classes).filter(|class| own != Some(*class));
        let message = format!("no flow can be of class {}", flow.class);
        let choices = others.map(|class| class.to_string());
        Err(SpecError::new(format!("{path}.class"), message).choices(choices))
    }
}

impl Site<'_> {
    /// The size of a flow in phits.
    fn size(&self, key: &str, size: &Quantity) -> Result<u32, SpecError> {
        let path = format!("{}.{key}", self.path);
        let phits = self.scale.phits_up(&path, size)?;
        u32::try_from(phits).ok().filter(|size| (1..1 << 30).contains(size)).ok_or_else(|| {
            let message = format!("{phits} phits is no size of a flow");
            SpecError::new(path, message).choices(["1 to 1073741823 phits"])
        })
    }

    fn time(&self, key: &str, time: &Quantity) -> Result<Cycle, SpecError> {
        duration(self.scale, &format!("{}.{key}", self.path), time)
    }

    /// A rank of the job.
    fn rank(&self, key: &str, rank: u32) -> Result<u32, SpecError> {
        if rank < self.ranks {
            return Ok(rank);
        }
        let error =
            SpecError::new(format!("{}.{key}", self.path), format!("there is no rank {rank}"));
        Err(error.choices([format!("0 to {}", self.ranks - 1)]))
    }

    /// Refuses jobs in which nobody has anybody to send to.
    fn others(&self, key: &str) -> Result<(), SpecError> {
        if self.ranks > 1 {
            return Ok(());
        }
        let message = "a single rank has nobody to send to";
        Err(SpecError::new(format!("{}.{key}", self.path), message).choices(["ranks = 2 or more"]))
    }
}

/// Where bins of sizes end.
fn bins(spec: Option<&[Quantity]>, site: &Site<'_>) -> Result<Vec<u64>, SpecError> {
    let defaults = || BINS.map(Quantity::from).to_vec();
    let bounds = spec.map_or_else(defaults, <[Quantity]>::to_vec);
    let mut ends = Vec::<u64>::new();
    for (index, bound) in bounds.iter().enumerate() {
        let path = format!("{}.bins[{index}]", site.path);
        let end = site.scale.phits_down(&path, bound)?;
        match ends.last() {
            Some(last) if *last >= end => {
                if spec.is_some() {
                    let message = format!("{bound} is no more than the bin before");
                    return Err(SpecError::new(path, message).choices(["rising sizes"]));
                }
            }
            _ => ends.push(end),
        }
    }
    Ok(ends)
}

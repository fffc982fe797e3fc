//! Collectives by named algorithm, for any number of members. The catalogue.
//!
//! | collective | algorithms, the default first |
//! |---|---|
//! | barrier | dissemination |
//! | broadcast, reduce | binomial; ring |
//! | allreduce | recursive doubling up to 2048 bytes or with fewer members than phits, else halving-doubling; ring, double binary tree, hierarchical |
//! | gather, scatter | binomial; linear where sizes differ |
//! | allgather | Bruck below 80 KiB in total, else ring; recursive doubling |
//! | alltoall | Bruck up to 256 bytes from 8 members on, linear up to 32 KiB, else pairwise; pairwise where sizes differ |
//! | reduce-scatter | pairwise; halving; ring |
//! | scan | linear |
//!
//! The thresholds are those of MPICH (Thakur, Rabenseifner and Gropp 2005).

mod all_to_all;
pub mod asked;
mod binomial;
mod chain;
mod chunked;
mod double_tree;
mod fold;
mod gather_all;
mod halving;
mod hierarchical;
mod pieces;
mod rings;
mod rounds;
mod scan;
pub mod spec;

use self::rings::Rings;
use self::spec::{Algorithm, CollectiveKind};
use super::schedule::{Group, Schedule};
use super::step::Step;
use super::{bruck, dissemination, recursive_doubling, tree};

/// Phits that members send or receive, each at least 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sizes {
    /// As many for each member: of the whole data, or of the block of one member where everybody has a block.
    Same(u32),
    /// The block of each member.
    Blocks(Box<[u32]>),
    /// What one member has for each.
    Row(Box<[u32]>),
}

impl Sizes {
    /// The block of a member.
    fn block(&self, member: u32) -> u32 {
        match self {
            Self::Same(phits) => *phits,
            Self::Blocks(all) | Self::Row(all) => all[member as usize],
        }
    }

    /// Blocks of some members.
    fn sum(&self, members: impl Iterator<Item = u32>) -> u32 {
        members.map(|member| self.block(member)).fold(0, u32::saturating_add).max(1)
    }
}

/// A collective to be resolved.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it does.
    pub kind: CollectiveKind,
    /// Number of members.
    pub members: u32,
    /// Where it begins or ends, if it does.
    pub root: u32,
    /// Sizes in phits.
    pub sizes: Sizes,
    /// Bytes that the default is chosen by.
    pub bytes: u64,
}

/// The algorithm that a call takes if nobody says.
pub fn usual(call: &Call) -> Algorithm {
    let Call { kind, members, sizes, bytes, .. } = call;
    let (members, bytes) = (u64::from(*members), *bytes);
    let differ = !matches!(sizes, Sizes::Same(_));
    match kind {
        CollectiveKind::Barrier => Algorithm::Dissemination,
        CollectiveKind::Broadcast | CollectiveKind::Reduce => Algorithm::Binomial,
        CollectiveKind::Allreduce => {
            let fewer = matches!(sizes, Sizes::Same(phits) if u64::from(*phits) < members);
            if bytes <= 2048 || fewer {
                Algorithm::RecursiveDoubling
            } else {
                Algorithm::HalvingDoubling
            }
        }
        CollectiveKind::Gather | CollectiveKind::Scatter => match differ {
            true => Algorithm::Linear,
            false => Algorithm::Binomial,
        },
        CollectiveKind::Allgather => match differ || bytes.saturating_mul(members) >= 80 << 10 {
            true => Algorithm::RING,
            false => Algorithm::Bruck,
        },
        CollectiveKind::Alltoall => match () {
            () if differ => Algorithm::Pairwise,
            () if bytes <= 256 && members >= 8 => Algorithm::Bruck,
            () if bytes <= 32 << 10 => Algorithm::Linear,
            () => Algorithm::Pairwise,
        },
        CollectiveKind::ReduceScatter => Algorithm::Pairwise,
        CollectiveKind::Scan => Algorithm::Linear,
    }
}

/// Resolves a collective, by the algorithm that is asked for or the usual one.
///
/// # Errors
/// An algorithm that the collective cannot take, and one that it cannot take with these members.
pub fn build(call: &Call, asked: Option<&Algorithm>) -> Result<Schedule, String> {
    let usual = usual(call);
    let algorithm = asked.unwrap_or(&usual);
    let name = format!("{}, {}", call.kind.name(), algorithm.name());
    let (phits, factor) = data(call);
    let plan = Schedule::new(name).of_data(call.members, phits, factor);
    if call.members == 1 {
        return Ok(plan);
    }
    lanes(plan, call, algorithm)?.ok_or_else(|| {
        let given = if matches!(call.sizes, Sizes::Same(_)) { "" } else { " of different sizes" };
        format!("{}{given} does not go by {}", call.kind.name(), algorithm.name())
    })
}

/// Resolves a collective of a trace: where the algorithm that is asked for does not fit its members or their sizes, by the
/// usual one, which the schedule says.
///
/// # Errors
/// An algorithm that the collective never takes.
pub fn build_fitting(call: &Call, asked: Option<&Algorithm>) -> Result<Schedule, String> {
    match (build(call, asked), asked) {
        (Err(_), Some(asked)) if takes(call.kind, asked) => {
            Ok(build(call, None)?.instead_of(asked.name()))
        }
        (built, _) => built,
    }
}

/// Whether a collective goes by an algorithm with some number of members.
fn takes(kind: CollectiveKind, algorithm: &Algorithm) -> bool {
    let call = Call { kind, members: 2, root: 0, sizes: Sizes::Same(1), bytes: 0 };
    let never = matches!(lanes(Schedule::new(""), &call, algorithm), Ok(None));
    !never && *algorithm != Algorithm::Hierarchical { group: 0 }
}

/// What nccl-tests call the size, in phits, and the factor that makes bus bandwidth of algorithm bandwidth.
fn data(call: &Call) -> (u64, f64) {
    use CollectiveKind::{Allgather, Allreduce, Alltoall, Gather, ReduceScatter, Scatter};
    let n = f64::from(call.members);
    let all = match &call.sizes {
        Sizes::Same(phits) => u64::from(*phits) * u64::from(call.members),
        Sizes::Blocks(blocks) | Sizes::Row(blocks) => blocks.iter().map(|b| u64::from(*b)).sum(),
    };
    let whole = all / u64::from(call.members);
    match call.kind {
        Allreduce => (whole, 2.0 * (n - 1.0) / n),
        Allgather | ReduceScatter | Alltoall | Gather | Scatter => (all, (n - 1.0) / n),
        _ => (whole, 1.0),
    }
}

type Lanes = Result<Option<Schedule>, String>;
type Part = (Box<dyn Step>, Group);

fn lanes(plan: Schedule, call: &Call, algorithm: &Algorithm) -> Lanes {
    use CollectiveKind as Kind;
    let Call { members: n, root, sizes, .. } = call;
    let (n, root) = (*n, *root);
    let whole = match sizes {
        Sizes::Same(phits) => Some(*phits),
        _ => None,
    };
    let one = |step: Box<dyn Step>| Ok(Some((step, Group::All)));
    let found: Result<Option<Part>, String> = match (call.kind, algorithm, whole) {
        (_, Algorithm::Ring { channels, chunks, order }, _) => {
            let asked = Rings { channels: *channels, chunks: *chunks, order: order.as_ref() };
            return asked.build(plan, call);
        }
        (Kind::Allreduce, _, Some(phits)) => return allreduce(plan, (n, phits), algorithm),
        (Kind::Barrier, Algorithm::Dissemination, Some(phits)) => {
            one(dissemination::build(n, phits))
        }
        (Kind::Broadcast, Algorithm::Binomial, Some(phits)) => {
            one(tree::broadcast(n, (root, phits)))
        }
        (Kind::Reduce, Algorithm::Binomial, Some(phits)) => one(tree::reduce(n, (root, phits))),
        (Kind::Gather, Algorithm::Binomial, Some(phits)) => {
            one(binomial::build(n, (root, phits), false))
        }
        (Kind::Scatter, Algorithm::Binomial, Some(phits)) => {
            one(binomial::build(n, (root, phits), true))
        }
        (Kind::Gather, Algorithm::Linear, _) => one(binomial::linear(n, root, sizes, false)),
        (Kind::Scatter, Algorithm::Linear, _) => one(binomial::linear(n, root, sizes, true)),
        (Kind::Allgather, Algorithm::Bruck, _) => one(gather_all::bruck(n, sizes)),
        (Kind::Allgather, Algorithm::RecursiveDoubling, _) => {
            one(gather_all::recursive_doubling(n, sizes)?)
        }
        (Kind::Alltoall, Algorithm::Bruck, Some(phits)) => one(bruck::of(n, phits)?),
        (Kind::Alltoall, Algorithm::Pairwise, _) => one(all_to_all::pairwise(n, sizes)),
        (Kind::Alltoall, Algorithm::Linear, _) => one(all_to_all::linear(n, sizes)),
        (Kind::ReduceScatter, Algorithm::Pairwise, _) => one(all_to_all::reduce_scatter(n, sizes)),
        (Kind::ReduceScatter, Algorithm::HalvingDoubling, _) => {
            one(halving::reduce_scatter(n, sizes)?)
        }
        (Kind::Scan, Algorithm::Linear, Some(phits)) => one(scan::build(n, phits)),
        _ => Ok(None),
    };
    Ok(found?.map(|part| plan.lane([part])))
}

/// What one of several has of so many phits; the first ones have more where they cannot be divided.
fn share(of: u32, index: u32, count: u32) -> u32 {
    (of / count + u32::from(index < of % count)).max(1)
}

/// Allreduce of so many phits among so many members.
fn allreduce(plan: Schedule, (n, phits): (u32, u32), algorithm: &Algorithm) -> Lanes {
    Ok(Some(match algorithm {
        Algorithm::RecursiveDoubling => {
            plan.lane([(recursive_doubling::build(n, phits), Group::All)])
        }
        Algorithm::HalvingDoubling => plan.lane([(halving::allreduce(n, phits), Group::All)]),
        Algorithm::DoubleBinaryTree { chunks } => {
            let shifted = || Group::ordered((0..n).map(|place| (place + 1) % n).collect());
            let chunks = (*chunks).clamp(1, phits.div_ceil(2));
            (0..2 * chunks).fold(plan, |plan, lane| {
                let half = share(phits, lane % 2, 2);
                let step = double_tree::build(n, share(half, lane / 2, chunks));
                let group = if lane % 2 == 0 { Group::All } else { shifted() };
                plan.lane([(step, group)])
            })
        }
        Algorithm::Hierarchical { group: 0 } => return Err("a group has no members".into()),
        Algorithm::Hierarchical { group } => hierarchical::build(plan, (n, phits), *group),
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests;

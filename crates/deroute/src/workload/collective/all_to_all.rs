//! All-to-all, with blocks of one size or of any, and reduce-scatter in pairs.
//!
//! # What it does
//! Every member has a block for every other. Pairwise: in round `k`, from 1 to `n - 1`, a member sends to the one `k`
//! after it and waits for the one `k` before it. Linear: it sends all blocks at once, the one for the member
//! after it first, and waits for all. A reduce-scatter in pairs sends the block of each member to it.
//!
//! # Source
//! Thakur, Rabenseifner and Gropp 2005.
//!
//! # Limits
//! An empty block is a message all the same.

use super::Sizes;
use super::rounds::{Round, Rounds};
use crate::workload::step::{Op, Step};

fn name(sizes: &Sizes) -> &'static str {
    if matches!(sizes, Sizes::Row(_)) { "alltoallv" } else { "alltoall" }
}

/// All-to-all in pairs.
pub(super) fn pairwise(n: u32, sizes: &Sizes) -> Box<dyn Step> {
    in_pairs(name(sizes), n, sizes)
}

/// Reduce-scatter in pairs.
pub(super) fn reduce_scatter(n: u32, sizes: &Sizes) -> Box<dyn Step> {
    in_pairs("reduce_scatter", n, sizes)
}

fn in_pairs(name: &'static str, n: u32, sizes: &Sizes) -> Box<dyn Step> {
    let sizes = sizes.clone();
    Box::new(Rounds {
        name,
        rounds: n - 1,
        uniform: matches!(sizes, Sizes::Same(_)),
        at: move |rank: u32, round: u32| {
            let to = (rank + 1 + round) % n;
            Round::of(to, sizes.block(to), (rank + n - 1 - round) % n)
        },
    })
}

struct Linear {
    n: u32,
    sizes: Sizes,
}

/// All-to-all at once.
pub(super) fn linear(n: u32, sizes: &Sizes) -> Box<dyn Step> {
    Box::new(Linear { n, sizes: sizes.clone() })
}

impl Step for Linear {
    fn name(&self) -> &'static str {
        name(&self.sizes)
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let others = self.n - 1;
        if index < others {
            let to = (rank + 1 + index) % self.n;
            return Some(Op::Send { to, phits: self.sizes.block(to).max(1), tag: 0 });
        }
        let back = index - others;
        (back < others).then(|| Op::Wait { from: (rank + self.n - 1 - back) % self.n, tag: 0 })
    }

    fn tags(&self) -> u32 {
        1
    }

    fn uniform(&self) -> bool {
        matches!(self.sizes, Sizes::Same(_))
    }
}

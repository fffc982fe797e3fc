//! All-gather, and its reverse along a ring, reduce-scatter.
//!
//! # What it does
//! Every member has a block, and gets those of all. Along a ring a member passes on the block that it got last, for
//! `n - 1` rounds. By Bruck's algorithm it sends, in round `k`, the first `2^k` blocks that it has to the member
//! `2^k` before it (the rest in the last round): `ceil(log2 n)` rounds. By recursive doubling members whose numbers differ
//! in bit `k` exchange all that they have. Reduce-scatter along a ring passes on sums instead.
//!
//! # Source
//! Thakur, Rabenseifner and Gropp 2005; Bruck et al. 1997.
//!
//! # Limits
//! Recursive doubling needs a power of two.

use super::Sizes;
use super::rounds::{Round, Rounds};
use crate::workload::dissemination::rounds;
use crate::workload::step::Step;

/// All-gather along a ring.
pub(super) fn ring(n: u32, sizes: &Sizes) -> Box<dyn Step> {
    let sizes = sizes.clone();
    Box::new(Rounds {
        name: "allgather",
        rounds: n - 1,
        uniform: matches!(sizes, Sizes::Same(_)),
        at: move |rank: u32, round: u32| {
            let block = sizes.block((rank + n - round) % n);
            Round::of((rank + 1) % n, block, (rank + n - 1) % n)
        },
    })
}

/// Reduce-scatter along a ring: the sum of a block ends with its member.
pub(super) fn reduce_scatter(n: u32, sizes: &Sizes) -> Box<dyn Step> {
    let sizes = sizes.clone();
    Box::new(Rounds {
        name: "reduce_scatter",
        rounds: n.saturating_sub(1),
        uniform: matches!(sizes, Sizes::Same(_)),
        at: move |rank: u32, round: u32| {
            let block = sizes.block((rank + 2 * n - 1 - round) % n);
            Round::of((rank + 1) % n, block, (rank + n - 1) % n)
        },
    })
}

/// All-gather by Bruck's algorithm.
pub(super) fn bruck(n: u32, sizes: &Sizes) -> Box<dyn Step> {
    let sizes = sizes.clone();
    Box::new(Rounds {
        name: "allgather",
        rounds: rounds(n),
        uniform: matches!(sizes, Sizes::Same(_)),
        at: move |rank: u32, round: u32| {
            let distance: u32 = 1 << round;
            let count = distance.min(n - distance);
            let phits = sizes.sum((0..count).map(|block| (rank + block) % n));
            Round::of((rank + n - distance) % n, phits, (rank + distance) % n)
        },
    })
}

/// All-gather by recursive doubling.
pub(super) fn recursive_doubling(n: u32, block: u32) -> Result<Box<dyn Step>, String> {
    if !n.is_power_of_two() {
        return Err(format!("recursive doubling gathers from a power of two, not {n} members"));
    }
    Ok(Box::new(Rounds {
        name: "allgather",
        rounds: rounds(n),
        uniform: true,
        at: move |rank: u32, round: u32| {
            let other = rank ^ (1u32 << round);
            Round::of(other, block.saturating_mul(1u32 << round), other)
        },
    }))
}

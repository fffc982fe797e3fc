//! All-gather, and its reverse along a ring, reduce-scatter.
//!
//! # What it does
//! Every member has a block, and gets those of all. Along a ring a member passes on the block that it got last, for
//! `n - 1` rounds. By Bruck's algorithm it sends, in round `k`, the first `2^k` blocks that it has to the member
//! `2^k` before it (the rest in the last round): `ceil(log2 n)` rounds. By recursive doubling members whose numbers differ
//! in bit `k` exchange all that they have; if their number is no power of two, the first ones come in pairs, of which the
//! second member has the blocks of both. Reduce-scatter along a ring passes on sums instead.
//!
//! # Source
//! Thakur, Rabenseifner and Gropp 2005; Bruck et al. 1997.

use super::Sizes;
use super::fold::Fold;
use super::pieces::Pieces;
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
///
/// # Errors
/// If a message would be too large.
pub(super) fn recursive_doubling(n: u32, sizes: &Sizes) -> Result<Box<dyn Step>, String> {
    let (fold, sizes) = (Fold::new(n), sizes.clone());
    let all: u64 = (0..n).map(|member| u64::from(sizes.block(member))).sum();
    if all >= 1 << 30 {
        return Err(format!("the blocks of {n} members are too many phits"));
    }
    // The blocks of a member and of those before it, in the order of the members.
    let blocks = match sizes {
        Sizes::Same(block) => Pieces::Even { phits: block * n, pieces: n },
        _ => Pieces::of((0..n).map(|member| sizes.block(member))),
    };
    let all = all as u32;
    Ok(Box::new(Rounds {
        name: "allgather",
        rounds: fold.all_rounds(fold.rounds),
        uniform: fold.pairs == 0 && matches!(sizes, Sizes::Same(_)),
        at: move |rank: u32, round: u32| {
            // The first of a pair has its own block already.
            let back = all - sizes.block(rank.saturating_sub(1));
            fold.round((rank, round, fold.rounds), [sizes.block(rank), back], |number, round| {
                let known = number >> round << round;
                let (first, end) = (fold.first(known), fold.first(known + (1 << round)));
                let other = fold.member(number ^ (1 << round));
                Round::of(other, blocks.phits(first, end - first), other)
            })
        },
    }))
}

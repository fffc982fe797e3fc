//! All-reduce by recursive halving and doubling, and reduce-scatter by its first half.
//!
//! # What it does
//! In round `k` members whose numbers differ in bit `k` each send the half of what they still have that the other one
//! keeps; after `log2 n` rounds each has the sum of one piece, and the rounds are gone through backwards to gather
//! the pieces. Every member sends `2 (n - 1) / n` times its data. If the number of members is no power of
//! two, the first ones come in pairs, as with recursive doubling: the first of a pair hands its data to the second one, and gets
//! the result, or its block of it.
//!
//! # Source
//! Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005.
//!
//! # Limits
//! A message has at least a phit. Adding takes no time.

use super::Sizes;
use super::fold::Fold;
use super::pieces::Pieces;
use super::rounds::{Round, Rounds};
use crate::workload::step::Step;

/// Who is left when those in pairs have become one, and what there is to halve.
struct Halving {
    fold: Fold,
    pieces: Pieces,
}

impl Halving {
    /// The halves that a member keeps and gives away in a round: their first pieces, and how many.
    fn halves(&self, number: u32, round: u32) -> (u32, u32, u32) {
        let (mut first, mut count) = (0, 1 << self.fold.rounds);
        for bit in 0..round {
            count /= 2;
            first += count * (number >> bit & 1);
        }
        let (half, upper) = (count / 2, number >> round & 1);
        (first + half * upper, first + half * (1 - upper), half)
    }

    /// A round, counted from 0: first halving, then doubling.
    fn round(&self, number: u32, round: u32) -> Round {
        let rounds = self.fold.rounds;
        let halving = round < rounds;
        let bit = if halving { round } else { 2 * rounds - 1 - round };
        let (kept, given, half) = self.halves(number, bit);
        let other = self.fold.member(number ^ (1 << bit));
        Round::of(other, self.pieces.phits(if halving { given } else { kept }, half), other)
    }
}

/// All-reduce.
pub(super) fn allreduce(n: u32, phits: u32) -> Box<dyn Step> {
    let fold = Fold::new(n);
    let own = Halving { fold, pieces: Pieces::Even { phits, pieces: 1 << fold.rounds } };
    let rounds = 2 * fold.rounds;
    Box::new(Rounds {
        name: "allreduce",
        rounds: fold.all_rounds(rounds),
        uniform: fold.pairs == 0 && phits.is_multiple_of(n),
        at: move |rank: u32, round: u32| {
            let whole = [phits, phits];
            fold.round((rank, round, rounds), whole, |number, round| own.round(number, round))
        },
    })
}

/// Reduce-scatter of blocks of so many phits.
///
/// # Errors
/// If a message would be too large.
pub(super) fn reduce_scatter(n: u32, sizes: &Sizes) -> Result<Box<dyn Step>, String> {
    let fold = Fold::new(n);
    let all = u32::try_from((0..n).map(|member| u64::from(sizes.block(member))).sum::<u64>());
    let Some(all) = all.ok().filter(|all| *all < 1 << 30) else {
        return Err(format!("the blocks of {n} members are too many phits"));
    };
    // A piece ends with the number whose bits are those of its own place backwards.
    let of = |number: u32| {
        let block = sizes.block(fold.member(number));
        block + if number < fold.pairs { sizes.block(2 * number) } else { 0 }
    };
    let backwards = |piece: u32| piece.reverse_bits() >> (31 - fold.rounds) >> 1;
    let pieces = match sizes {
        Sizes::Same(_) if fold.pairs == 0 => Pieces::Even { phits: all, pieces: n },
        _ => Pieces::of((0..1 << fold.rounds).map(|piece| of(backwards(piece)))),
    };
    let (own, sizes, rounds) = (Halving { fold, pieces }, sizes.clone(), fold.rounds);
    Ok(Box::new(Rounds {
        name: "reduce_scatter",
        rounds: fold.all_rounds(rounds),
        uniform: fold.pairs == 0 && matches!(sizes, Sizes::Same(_)),
        at: move |rank: u32, round: u32| {
            let phits = [all, sizes.block(rank.saturating_sub(1))];
            fold.round((rank, round, rounds), phits, |number, round| own.round(number, round))
        },
    }))
}

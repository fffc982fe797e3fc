//! All-reduce by recursive halving and doubling, and reduce-scatter by its first half.
//!
//! # What it does
//! In round `k` members whose numbers differ in bit `k` each send the half of what they still have that the other one
//! keeps; after `log2 n` rounds each has the sum of one piece, and the rounds are gone through backwards to gather
//! the pieces. Every member sends `2 (n - 1) / n` times its data. If the number of members is no power of
//! two, the first ones come in pairs, as with recursive doubling.
//!
//! # Source
//! Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005.
//!
//! # Limits
//! A message has at least a phit. Adding takes no time. Reduce-scatter needs a power of two.

use super::rounds::{Round, Rounds};
use crate::workload::step::Step;

/// Who is left when those in pairs have become one, and what each has.
#[derive(Clone, Copy)]
struct Halving {
    rounds: u32,
    pairs: u32,
    phits: u32,
}

impl Halving {
    fn new(n: u32, phits: u32) -> Self {
        let rounds = n.ilog2();
        Self { rounds, pairs: n - (1 << rounds), phits }
    }

    /// Phits of some pieces.
    fn phits(&self, first: u32, count: u32) -> u32 {
        let pieces = 1u64 << self.rounds;
        let before = |piece: u32| u64::from(self.phits) * u64::from(piece) / pieces;
        (before(first + count) - before(first)).max(1) as u32
    }

    /// Number among those that are left; none for the first of a pair.
    fn number(&self, rank: u32) -> Option<u32> {
        match rank < 2 * self.pairs {
            true => (rank % 2 == 1).then_some(rank / 2),
            false => Some(rank - self.pairs),
        }
    }

    fn rank(&self, number: u32) -> u32 {
        if number < self.pairs { 2 * number + 1 } else { number + self.pairs }
    }

    /// The halves that a member keeps and gives away in a round: their first pieces, and how many.
    fn halves(&self, number: u32, round: u32) -> (u32, u32, u32) {
        let (mut first, mut count) = (0, 1 << self.rounds);
        for bit in 0..round {
            count /= 2;
            first += count * (number >> bit & 1);
        }
        let (half, upper) = (count / 2, number >> round & 1);
        (first + half * upper, first + half * (1 - upper), half)
    }

    /// A round, counted from 0: first halving, then doubling.
    fn round(&self, number: u32, round: u32) -> Round {
        let halving = round < self.rounds;
        let bit = if halving { round } else { 2 * self.rounds - 1 - round };
        let (kept, given, half) = self.halves(number, bit);
        let other = self.rank(number ^ (1 << bit));
        Round::of(other, self.phits(if halving { given } else { kept }, half), other)
    }
}

/// All-reduce.
pub(super) fn allreduce(n: u32, phits: u32) -> Box<dyn Step> {
    let own = Halving::new(n, phits);
    let last = 2 * own.rounds + 1;
    Box::new(Rounds {
        name: "allreduce",
        rounds: last + 1,
        uniform: own.pairs == 0 && phits.is_multiple_of(n),
        at: move |rank: u32, round: u32| {
            let paired = rank < 2 * own.pairs;
            match (own.number(rank), round) {
                (None, 0) => Round { send: Some((rank + 1, phits)), wait: None },
                (None, _) => Round { send: None, wait: (round == last).then_some(rank + 1) },
                (Some(_), 0) => Round { send: None, wait: paired.then(|| rank - 1) },
                (Some(_), _) if round == last => {
                    Round { send: paired.then(|| (rank - 1, phits)), wait: None }
                }
                (Some(number), _) => own.round(number, round - 1),
            }
        },
    })
}

/// Reduce-scatter of so many phits.
pub(super) fn reduce_scatter(n: u32, phits: u32) -> Result<Box<dyn Step>, String> {
    let own = Halving::new(n, phits);
    if own.pairs > 0 {
        return Err(format!("halving scatters to a power of two, not {n} members"));
    }
    Ok(Box::new(Rounds {
        name: "reduce_scatter",
        rounds: own.rounds,
        uniform: phits.is_multiple_of(n),
        at: move |rank, round| own.round(rank, round),
    }))
}

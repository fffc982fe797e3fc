//! All-reduce by recursive doubling.
//!
//! # What it does
//! In round `k` ranks whose numbers differ in bit `k` exchange their sums. If the number of ranks is no
//! power of two, the first ranks come in pairs: the even ones hand their data to the odd ones
//! before, and get the result after.
//!
//! # Source
//! Thakur, Rabenseifner and Gropp 2005.
//!
//! # Parameters
//! `size`: of every message.
//!
//! # Limits
//! Adding takes no time.
//!
//! # Example
//! ```toml
//! steps = [{ recursive_doubling = { size = 1 } }]
//! ```

use super::{Op, Step};

struct RecursiveDoubling {
    ranks: u32,
    phits: u32,
    /// Rounds among the ranks that are left when those in pairs have become one.
    rounds: u32,
    /// Pairs.
    pairs: u32,
}

pub(super) fn build(ranks: u32, phits: u32) -> Box<dyn Step> {
    let rounds = ranks.ilog2();
    Box::new(RecursiveDoubling { ranks, phits, rounds, pairs: ranks - (1 << rounds) })
}

impl RecursiveDoubling {
    /// The partner of a rank that is left, in a round.
    fn partner(&self, rank: u32, round: u32) -> u32 {
        let number = if rank < 2 * self.pairs { rank / 2 } else { rank - self.pairs };
        let other = number ^ (1 << round);
        if other < self.pairs { 2 * other + 1 } else { other + self.pairs }
    }
}

impl Step for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive_doubling"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        debug_assert!(rank < self.ranks);
        let (phits, last) = (self.phits, self.rounds + 1);
        let paired = rank < 2 * self.pairs;
        if paired && rank.is_multiple_of(2) {
            return match index {
                0 => Some(Op::Send { to: rank + 1, phits, tag: 0 }),
                1 => Some(Op::Wait { from: rank + 1, tag: last }),
                _ => None,
            };
        }
        let before = u32::from(paired);
        if index < before {
            return Some(Op::Wait { from: rank - 1, tag: 0 });
        }
        let (round, send) = ((index - before) / 2, (index - before).is_multiple_of(2));
        if round == self.rounds {
            return (paired && send).then(|| Op::Send { to: rank - 1, phits, tag: last });
        }
        if round > self.rounds {
            return None;
        }
        let (other, tag) = (self.partner(rank, round), round + 1);
        Some(if send { Op::Send { to: other, phits, tag } } else { Op::Wait { from: other, tag } })
    }

    fn tags(&self) -> u32 {
        self.rounds + 2
    }

    fn uniform(&self) -> bool {
        self.pairs == 0
    }
}

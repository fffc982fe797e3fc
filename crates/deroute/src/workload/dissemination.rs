//! Dissemination.
//!
//! # What it does
//! Every rank hears from every other: in round `k` it sends to the rank `2^k` after it and waits for
//! the message of the rank `2^k` before it, around the ring of ranks, for `ceil(log2 n)` rounds. A
//! barrier, or an all-reduce of `size`.
//!
//! # Source
//! Hensgen, Finkel and Manber 1988; McDonald et al., SC 2019, Fig. 7c.
//!
//! # Parameters
//! `size`: of every message.
//!
//! # Limits
//! If the number of ranks is no power of two, some are heard twice: right for a barrier or a
//! maximum, not for a sum.
//!
//! # Example
//! ```toml
//! steps = [{ dissemination = { size = 1 } }]
//! ```

use super::{Op, Step};

struct Dissemination {
    ranks: u32,
    phits: u32,
}

pub(super) fn build(ranks: u32, phits: u32) -> Box<dyn Step> {
    Box::new(Dissemination { ranks, phits })
}

/// Rounds in which the distance doubles until it reaches all ranks.
pub(super) fn rounds(ranks: u32) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// Round `round` of `rank`: the rank that far after it, and that far before it.
pub(super) fn partners(ranks: u32, rank: u32, round: u32) -> (u32, u32) {
    let distance = 1 << round;
    ((rank + distance) % ranks, (rank + ranks - distance) % ranks)
}

impl Step for Dissemination {
    fn name(&self) -> &'static str {
        "dissemination"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let tag = index / 2;
        if tag >= self.tags() {
            return None;
        }
        let (to, from) = partners(self.ranks, rank, tag);
        let send = index.is_multiple_of(2);
        Some(if send { Op::Send { to, phits: self.phits, tag } } else { Op::Wait { from, tag } })
    }

    fn tags(&self) -> u32 {
        rounds(self.ranks)
    }

    fn uniform(&self) -> bool {
        true
    }
}

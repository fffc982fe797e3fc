//! All-to-all by Bruck's algorithm.
//!
//! # What it does
//! Every rank has data for every other. In round `k` it sends all that is to go a distance with bit
//! `k` set to the rank `2^k` after it, in one message: `ceil(log2 n)` messages a rank instead of
//! `n - 1`, for about `log2(n) / 2` times the data.
//!
//! # Source
//! Bruck, Ho, Kipnis, Upfal and Weathersby 1997.
//!
//! # Parameters
//! `size`: the data for one rank.
//!
//! # Limits
//! The rotations before and after, which move data within a rank, take no time.
//!
//! # Example
//! ```toml
//! steps = [{ bruck = { size = "1 KB" } }]
//! ```

use super::dissemination::{partners, rounds};
use super::{Op, Site, Step};
use crate::spec::SpecError;

struct Bruck {
    ranks: u32,
    /// Phits of the message of each round.
    phits: Vec<u32>,
}

pub(super) fn build(ranks: u32, phits: u32, site: &Site<'_>) -> Result<Box<dyn Step>, SpecError> {
    of(ranks, phits).map_err(|message| SpecError::new(format!("{}.size", site.path), message))
}

/// Of so many phits for each rank.
pub(super) fn of(ranks: u32, phits: u32) -> Result<Box<dyn Step>, String> {
    let blocks = |round: u32| (0..ranks).filter(|distance| distance >> round & 1 == 1).count();
    let sizes = (0..rounds(ranks)).map(|round| {
        u32::try_from(blocks(round) as u64 * u64::from(phits)).ok().filter(|size| *size < 1 << 30)
    });
    match sizes.collect() {
        Some(phits) => Ok(Box::new(Bruck { ranks, phits })),
        None => Err(format!("{phits} phits for each of {ranks} ranks make messages too long")),
    }
}

impl Step for Bruck {
    fn name(&self) -> &'static str {
        "bruck"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let tag = index / 2;
        let phits = *self.phits.get(tag as usize)?;
        let (to, from) = partners(self.ranks, rank, tag);
        let send = index.is_multiple_of(2);
        Some(if send { Op::Send { to, phits, tag } } else { Op::Wait { from, tag } })
    }

    fn tags(&self) -> u32 {
        self.phits.len() as u32
    }

    fn uniform(&self) -> bool {
        true
    }
}

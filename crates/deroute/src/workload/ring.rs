//! All-reduce along a ring.
//!
//! # What it does
//! The data is cut into as many pieces as there are ranks. For `n - 1` rounds every rank sends a piece
//! to the next one, which adds its own; for another `n - 1` the sums go round. Every rank sends
//! `2 (n - 1) / n` times its data, which is the least possible.
//!
//! # Source
//! Patarasuk and Yuan 2009.
//!
//! # Parameters
//! `size`: the data of a rank.
//!
//! # Limits
//! A piece is at least a phit. Adding takes no time.
//!
//! # Example
//! ```toml
//! steps = [{ ring = { size = "1 MB" } }]
//! ```

use super::{Op, Step};

struct Ring {
    ranks: u32,
    phits: u32,
}

pub(super) fn build(ranks: u32, phits: u32) -> Box<dyn Step> {
    Box::new(Ring { ranks, phits })
}

impl Ring {
    /// Phits of a piece; the first ones are longer where the data cannot be divided.
    fn piece(&self, index: u32) -> u32 {
        (self.phits / self.ranks + u32::from(index < self.phits % self.ranks)).max(1)
    }
}

impl Step for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let (tag, ranks) = (index / 2, self.ranks);
        if tag >= self.tags() {
            return None;
        }
        if index % 2 == 1 {
            return Some(Op::Wait { from: (rank + ranks - 1) % ranks, tag });
        }
        // Its own piece first, then always the one that it received last.
        let piece = (rank + 2 * ranks - tag) % ranks;
        Some(Op::Send { to: (rank + 1) % ranks, phits: self.piece(piece), tag })
    }

    fn tags(&self) -> u32 {
        2 * (self.ranks - 1)
    }

    fn uniform(&self) -> bool {
        true
    }
}

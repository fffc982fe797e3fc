//! Broadcast and reduction along a ring that is open at the root.
//!
//! # What it does
//! Counted from the root, a member waits for a chunk from the one before, and hands it to the next one; a reduction begins
//! behind the root and ends at it. With chunks of `q` phits, and `a` cycles from link to link, `c` chunks among `n` members
//! take `(n - 1)(a + q) + (c - 1) q`: with many of them hardly more than the data takes on a link, and a binomial tree
//! `log2 n` times as much.
//!
//! # Source
//! NCCL does so.
//!
//! # Limits
//! A chunk has at least a phit. Adding takes no time.

use crate::workload::step::{Op, Step};

struct Chain {
    name: &'static str,
    members: u32,
    /// Where it begins.
    first: u32,
    phits: u32,
    chunks: u32,
}

/// From a root to all.
pub(super) fn broadcast(members: u32, (root, phits): (u32, u32), chunks: u32) -> Box<dyn Step> {
    let chunks = chunks.clamp(1, phits);
    Box::new(Chain { name: "broadcast", members, first: root, phits, chunks })
}

/// From all to a root.
pub(super) fn reduce(members: u32, (root, phits): (u32, u32), chunks: u32) -> Box<dyn Step> {
    let (first, chunks) = ((root + 1) % members, chunks.clamp(1, phits));
    Box::new(Chain { name: "reduce", members, first, phits, chunks })
}

impl Step for Chain {
    fn name(&self) -> &'static str {
        self.name
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let (n, tag) = (self.members, index / 2);
        if tag >= self.chunks {
            return None;
        }
        let place = (rank + n - self.first) % n;
        Some(match index % 2 {
            0 if place > 0 => Op::Wait { from: (rank + n - 1) % n, tag },
            1 if place < n - 1 => {
                let phits = self.phits / self.chunks + u32::from(tag < self.phits % self.chunks);
                Op::Send { to: (rank + 1) % n, phits, tag }
            }
            _ => Op::NOTHING,
        })
    }

    fn tags(&self) -> u32 {
        self.chunks
    }

    fn uniform(&self) -> bool {
        false
    }
}

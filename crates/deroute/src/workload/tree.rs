//! Broadcast and reduction along a binomial tree.
//!
//! # What it does
//! Counted from the root, the parent of a rank is that with its lowest set bit cleared. Broadcast: a rank
//! waits for its parent, then sends to its children, the one with the most descendants first.
//! Reduction: it waits for its children, the one with the fewest first, then sends to its parent.
//! `n - 1` messages, `ceil(log2 n)` deep.
//!
//! # Source
//! Thakur, Rabenseifner and Gropp 2005.
//!
//! # Parameters
//! `root` (default 0), `size` of every message.
//!
//! # Limits
//! Adding takes no time. A reduction and a broadcast after one another are an all-reduce.
//!
//! # Example
//! ```toml
//! steps = [{ reduce = { size = "1 KB" } }, { broadcast = { size = "1 KB" } }]
//! ```

use super::dissemination::rounds;
use super::{Op, Step};

struct Tree {
    ranks: u32,
    root: u32,
    phits: u32,
    down: bool,
}

pub(super) fn broadcast(ranks: u32, (root, phits): (u32, u32)) -> Box<dyn Step> {
    Box::new(Tree { ranks, root, phits, down: true })
}

pub(super) fn reduce(ranks: u32, (root, phits): (u32, u32)) -> Box<dyn Step> {
    Box::new(Tree { ranks, root, phits, down: false })
}

impl Tree {
    /// Number of a rank counted from the root, and the rounds before it has descendants.
    fn place(&self, rank: u32) -> (u32, u32) {
        let number = (rank + self.ranks - self.root) % self.ranks;
        (number, if number == 0 { rounds(self.ranks) } else { number.trailing_zeros() })
    }

    fn rank(&self, number: u32) -> u32 {
        (number + self.root) % self.ranks
    }
}

impl Step for Tree {
    fn name(&self) -> &'static str {
        if self.down { "broadcast" } else { "reduce" }
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let (number, height) = self.place(rank);
        let (is_root, phits) = (number == 0, self.phits);
        // Broadcast: parent, then children from the highest bit down. Reduction: the reverse.
        let to_parent = if self.down { 0 } else { height };
        if index == to_parent && !is_root {
            let parent = self.rank(number & (number - 1));
            return Some(if self.down {
                Op::Wait { from: parent, tag: 0 }
            } else {
                Op::Send { to: parent, phits, tag: 0 }
            });
        }
        let child = if self.down { index.checked_sub(u32::from(!is_root))? } else { index };
        if child >= height {
            return None;
        }
        let bit = if self.down { height - 1 - child } else { child };
        let other = number + (1 << bit);
        if other >= self.ranks {
            return Some(Op::NOTHING);
        }
        let other = self.rank(other);
        Some(if self.down {
            Op::Send { to: other, phits, tag: 0 }
        } else {
            Op::Wait { from: other, tag: 0 }
        })
    }

    fn tags(&self) -> u32 {
        1
    }

    fn uniform(&self) -> bool {
        false
    }
}

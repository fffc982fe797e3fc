//! Gather to one member, and scatter from it.
//!
//! # What it does
//! Along a binomial tree: counted from the root, the parent of a member is that with its lowest set bit cleared. Gather:
//! a member waits for its children, the one with the fewest descendants first, and sends what it has of
//! all of them to its parent. Scatter: the reverse. Linear: everybody sends to the root, or the root
//! to everybody.
//!
//! # Source
//! Thakur, Rabenseifner and Gropp 2005.
//!
//! # Limits
//! Blocks of different sizes go in a line.

use super::Sizes;
use crate::workload::dissemination::rounds;
use crate::workload::step::{Op, Step};

struct Binomial {
    n: u32,
    root: u32,
    block: u32,
    down: bool,
}

pub(super) fn build(n: u32, (root, block): (u32, u32), down: bool) -> Box<dyn Step> {
    Box::new(Binomial { n, root, block, down })
}

impl Binomial {
    fn member(&self, number: u32) -> u32 {
        (number + self.root) % self.n
    }

    /// What a member, counted from the root, and its descendants have.
    fn phits(&self, number: u32) -> u32 {
        let descendants = if number == 0 { self.n } else { 1 << number.trailing_zeros() };
        descendants.min(self.n - number).saturating_mul(self.block)
    }
}

impl Step for Binomial {
    fn name(&self) -> &'static str {
        if self.down { "scatter" } else { "gather" }
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let number = (rank + self.n - self.root) % self.n;
        let height = if number == 0 { rounds(self.n) } else { number.trailing_zeros() };
        let with_parent = if self.down { 0 } else { height };
        if index == with_parent && number != 0 {
            let parent = self.member(number & (number - 1));
            let phits = self.phits(number);
            return Some(match self.down {
                true => Op::Wait { from: parent, tag: 0 },
                false => Op::Send { to: parent, phits, tag: 0 },
            });
        }
        let child = match self.down {
            true => index.checked_sub(u32::from(number != 0))?,
            false => index,
        };
        if child >= height {
            return None;
        }
        let other = number + (1 << if self.down { height - 1 - child } else { child });
        if other >= self.n {
            return Some(Op::NOTHING);
        }
        let phits = self.phits(other);
        Some(match self.down {
            true => Op::Send { to: self.member(other), phits, tag: 0 },
            false => Op::Wait { from: self.member(other), tag: 0 },
        })
    }

    fn tags(&self) -> u32 {
        1
    }

    fn uniform(&self) -> bool {
        false
    }
}

struct Line {
    n: u32,
    root: u32,
    sizes: Sizes,
    down: bool,
}

/// Everybody and the root, one after the other.
pub(super) fn linear(n: u32, root: u32, sizes: &Sizes, down: bool) -> Box<dyn Step> {
    Box::new(Line { n, root, sizes: sizes.clone(), down })
}

impl Step for Line {
    fn name(&self) -> &'static str {
        if self.down { "scatter" } else { "gather" }
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let (root, tag) = (self.root, 0);
        if rank != root {
            return (index == 0).then(|| match self.down {
                true => Op::Wait { from: root, tag },
                false => Op::Send { to: root, phits: self.sizes.block(rank).max(1), tag },
            });
        }
        let other = (root + 1 + index) % self.n;
        (index < self.n - 1).then(|| match self.down {
            true => Op::Send { to: other, phits: self.sizes.block(other).max(1), tag },
            false => Op::Wait { from: other, tag },
        })
    }

    fn tags(&self) -> u32 {
        1
    }

    fn uniform(&self) -> bool {
        false
    }
}

//! Prefix sums along a line.
//!
//! # What it does
//! A member waits for the sum of those before it, adds its own, and sends it to the next one.
//!
//! # Source
//! MPI 4.1, 6.11.
//!
//! # Limits
//! `n - 1` messages one after the other.

use crate::workload::step::{Op, Step};

struct Scan {
    n: u32,
    phits: u32,
}

pub(super) fn build(n: u32, phits: u32) -> Box<dyn Step> {
    Box::new(Scan { n, phits })
}

impl Step for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        match index {
            0 if rank == 0 => Some(Op::NOTHING),
            0 => Some(Op::Wait { from: rank - 1, tag: 0 }),
            1 if rank + 1 == self.n => None,
            1 => Some(Op::Send { to: rank + 1, phits: self.phits, tag: 0 }),
            _ => None,
        }
    }

    fn tags(&self) -> u32 {
        1
    }

    fn uniform(&self) -> bool {
        false
    }
}

//! Random permutation.
//!
//! # What it does
//! Every host sends to one other host and receives from one; drawn uniformly among the
//! permutations without a fixed point.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2.
//!
//! # Parameters
//! `seed`: default that of the run.
//!
//! # Limits
//! Needs two hosts.
//!
//! # Example
//! ```toml
//! pattern = { permutation = { seed = 7 } }
//! ```

use super::fixed::Fixed;
use super::{Pattern, Setting};
use crate::rng::{Owner, Stream};
use crate::spec::SpecError;

pub(super) fn build(
    seed: Option<u64>,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let hosts = setting.topology.hosts();
    if hosts < 2 {
        return Err(SpecError::new(path, "a single host has nobody to send to"));
    }
    let mut rng = Stream::new(seed.unwrap_or(setting.seed), Owner::Network);
    Fixed::build(derangement(hosts, &mut rng), path)
}

/// A permutation without a fixed point, of at least 2.
pub(crate) fn derangement(count: u32, rng: &mut Stream) -> Vec<u32> {
    let mut to: Vec<u32> = (0..count).collect();
    // About 1 in e shuffles has no fixed point.
    while to.iter().enumerate().any(|(from, &to)| from as u32 == to) {
        for last in (1..count).rev() {
            to.swap(last as usize, rng.below(last + 1) as usize);
        }
    }
    to
}

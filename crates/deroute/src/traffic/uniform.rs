//! Uniform traffic (UN).
//!
//! # What it does
//! Every packet goes to any other host with the same probability.
//!
//! # Source
//! Thesis 3.2.2.1.1.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs two hosts.
//!
//! # Example
//! ```toml
//! pattern = "uniform"
//! ```

use super::{Pattern, Setting};
use crate::ids::HostId;
use crate::rng::Stream;
use crate::spec::SpecError;

struct Uniform {
    others: u32,
}

pub(super) fn build(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let hosts = setting.topology.hosts();
    if hosts < 2 {
        return Err(SpecError::new(path, "a single host has nobody to send to"));
    }
    Ok(Box::new(Uniform { others: hosts - 1 }))
}

impl Pattern for Uniform {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        let other = rng.below(self.others);
        HostId(if other < source.0 { other } else { other + 1 })
    }
}

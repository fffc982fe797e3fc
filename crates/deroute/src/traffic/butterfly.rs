//! Butterfly.
//!
//! # What it does
//! The highest and the lowest bit of a host's number change places. The half of the hosts where they are
//! equal sends nothing.
//!
//! # Source
//! Duato, Yalamanchili and Ni, Interconnection Networks: An Engineering Approach, 9.2.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs a power of two of hosts, at least 4.
//!
//! # Example
//! ```toml
//! pattern = "butterfly"
//! ```

use super::fixed::{Fixed, bits};
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let ends = 1 | 1 << (bits(path, setting)? - 1);
    let swap = |host: u32| if [0, ends].contains(&(host & ends)) { host } else { host ^ ends };
    Fixed::of(swap, path, setting)
}

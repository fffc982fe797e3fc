//! Perfect shuffle.
//!
//! # What it does
//! A host sends to the one whose number is its own with the bits rotated to the left by one: bit `i` of the
//! destination is bit `i - 1` of the source, and bit 0 its highest. The first and the last host send
//! nothing.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2; Stone, IEEE Transactions on
//! Computers 1971.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs a power of two of hosts, at least 4.
//!
//! # Example
//! ```toml
//! pattern = "shuffle"
//! ```

use super::fixed::{Fixed, bits, rotated};
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let bits = bits(path, setting)?;
    Fixed::of(|host| rotated(host, bits - 1, bits), path, setting)
}

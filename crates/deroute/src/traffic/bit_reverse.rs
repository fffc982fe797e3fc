//! Bit reversal.
//!
//! # What it does
//! A host sends to the one whose number has its bits in reverse order: with `b` bits, bit `i` of the
//! destination is bit `b - 1 - i` of the source. Palindromes send nothing.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs a power of two of hosts, at least 4.
//!
//! # Example
//! ```toml
//! pattern = "bit_reverse"
//! ```

use super::fixed::{Fixed, bits};
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let bits = bits(path, setting)?;
    Fixed::of(|host| host.reverse_bits() >> (u32::BITS - bits), path, setting)
}

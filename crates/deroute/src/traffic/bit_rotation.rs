//! Bit rotation.
//!
//! # What it does
//! A host sends to the one whose number is its own with the bits rotated to the right: with `b` bits, bit
//! `i` of the destination is bit `i + by` modulo `b` of the source. Numbers that a rotation does not change
//! send nothing.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2. With `by` half of the
//! bits, rounded down, this is their transposition also where the number of bits is odd: in a network of 32
//! hosts, a rotation by 2 of 5 bits.
//!
//! # Parameters
//! `by`: 1 to `b - 1` bits (default 1). `b - 1` is the perfect shuffle.
//!
//! # Limits
//! Needs a power of two of hosts, at least 4.
//!
//! # Example
//! ```toml
//! pattern = { bit_rotation = { by = 2 } }
//! ```

use super::fixed::{Fixed, bits, rotated};
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(
    by: u32,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let bits = bits(path, setting)?;
    if bits > 1 && !(1..bits).contains(&by) {
        let message = format!("a rotation of {bits} bits by {by} is none");
        return Err(SpecError::new(format!("{path}.bit_rotation.by"), message)
            .choices([format!("1 to {}", bits - 1)]));
    }
    Fixed::of(|host| rotated(host, by.min(bits), bits), path, setting)
}

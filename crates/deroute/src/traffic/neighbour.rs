//! Nearest neighbour.
//!
//! # What it does
//! Everybody sends to the next one on a ring.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2, where the rings are those
//! of the digits of a number.
//!
//! # Parameters
//! `ring`: `"hosts"` (default), all of them on one; `"coordinates"` of the routers of a lattice; or
//! `{ digits = RADIX }` of the number of the host.
//!
//! # Limits
//! Needs two hosts. Numbers have digits of a radix if the number of hosts is a power of it.
//!
//! # Example
//! ```toml
//! pattern = { neighbour = {} }
//! ```

use super::ring::{self, Ring};
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(
    ring: Ring,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    ring::build((ring, "neighbour"), |k| u32::from(k > 1), path, setting)
}

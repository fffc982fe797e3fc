//! Tornado.
//!
//! # What it does
//! Everybody sends almost half-way around a ring: by `ceil(k / 2) - 1` of `k`, so that in a torus all
//! packets go the same way round.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2, where the rings are those
//! of the digits of a number. The CEE paper (section V) does not say what its rings are; in its 2-ary
//! trees digits would not move at all, so the default is the ring of all hosts.
//!
//! # Parameters
//! `ring`: `"hosts"` (default), all of them on one; `"coordinates"` of the routers of a lattice; or
//! `{ digits = RADIX }` of the number of the host.
//!
//! # Limits
//! Rings of at least 3. Numbers have digits of a radix if the number of hosts is a power of it.
//!
//! # Example
//! ```toml
//! pattern = { tornado = { ring = { digits = 8 } } }
//! ```

use super::ring::{self, Ring};
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(
    ring: Ring,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    ring::build((ring, "tornado"), |k| k.div_ceil(2).saturating_sub(1), path, setting)
}

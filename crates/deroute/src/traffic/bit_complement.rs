//! Bit complement (BC).
//!
//! # What it does
//! Host `i` of `N` sends to host `N - 1 - i`. Where `N` is a power of two, that complements every bit of the
//! number; in a lattice, every coordinate of the router and the place on it.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2; McDonald et al., SC 2019,
//! 6.1.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs an even number of hosts.
//!
//! # Example
//! ```toml
//! pattern = "bit_complement"
//! ```

use super::fixed::Fixed;
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let hosts = setting.topology.hosts();
    if hosts % 2 == 1 {
        let message = format!("of {hosts} hosts the one in the middle would send to itself");
        return Err(SpecError::new(path, message).choices(["an even number of hosts"]));
    }
    Fixed::of(|host| hosts - 1 - host, path, setting)
}

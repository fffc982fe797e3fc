//! Shift.
//!
//! # What it does
//! Every host sends to the one a fixed number of hosts ahead, the last ones to the first.
//!
//! # Source
//! The phases of an all-to-all exchange: Zahavi et al., Concurrency and Computation 2010. D-mod-K carries
//! every shift of a full fat tree without contention.
//!
//! # Parameters
//! `by`: hosts ahead; negative is behind. Default: half of the hosts, rounded down.
//!
//! # Limits
//! Not a multiple of the number of hosts.
//!
//! # Example
//! ```toml
//! pattern = { shift = { by = 16 } }
//! ```

use super::fixed::Fixed;
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(
    by: Option<i64>,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let hosts = i64::from(setting.topology.hosts());
    let step = by.unwrap_or(hosts / 2).rem_euclid(hosts);
    if let Some(by) = by
        && hosts > 1
        && step == 0
    {
        let message = format!("{by} of {hosts} hosts ahead is the source itself");
        let choices = [format!("1 to {}", hosts - 1), format!("-1 to -{}", hosts - 1)];
        return Err(SpecError::new(format!("{path}.shift.by"), message).choices(choices));
    }
    Fixed::of(|host| ((i64::from(host) + step) % hosts) as u32, path, setting)
}

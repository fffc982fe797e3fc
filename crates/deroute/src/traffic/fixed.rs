//! Patterns in which a host always sends to the same other host, or to none.

use super::{Pattern, Setting};
use crate::ids::HostId;
use crate::rng::Stream;
use crate::spec::SpecError;

/// Where every host sends; a host whose destination would be itself sends nothing.
pub(super) struct Fixed {
    to: Vec<u32>,
}

impl Fixed {
    /// The pattern that sends from host `n` to host `to[n]`.
    ///
    /// # Errors
    /// Where every host would send to itself.
    pub(super) fn build(to: Vec<u32>, path: &str) -> Result<Box<dyn Pattern>, SpecError> {
        if (0..).zip(&to).all(|(from, to)| from == *to) {
            let message = format!("of {} hosts each would send to itself", to.len());
            return Err(SpecError::new(path, message).choices(["a larger network"]));
        }
        Ok(Box::new(Self { to }))
    }

    /// The same, from a function of the host's number.
    pub(super) fn of(
        to: impl Fn(u32) -> u32,
        path: &str,
        setting: &Setting<'_>,
    ) -> Result<Box<dyn Pattern>, SpecError> {
        Self::build((0..setting.topology.hosts()).map(to).collect(), path)
    }
}

impl Pattern for Fixed {
    fn draw(&self, source: HostId, _rng: &mut Stream) -> HostId {
        HostId(self.to[source.index()])
    }

    fn sends(&self, source: HostId) -> bool {
        self.to[source.index()] != source.0
    }

    fn fan_out(&self) -> Option<u32> {
        Some(1)
    }
}

/// Bits of the number of a host, at least one.
///
/// # Errors
/// Where the number of hosts is not a power of two.
pub(super) fn bits(path: &str, setting: &Setting<'_>) -> Result<u32, SpecError> {
    let hosts = setting.topology.hosts();
    if hosts.is_power_of_two() && hosts > 1 {
        return Ok(hosts.trailing_zeros());
    }
    let message =
        format!("{hosts} hosts are not a power of two: their numbers are no words of bits");
    let below = u64::from(hosts).max(4).next_power_of_two() / 2;
    let sizes = format!("networks of {below} or {} hosts", 2 * below);
    let others = ["bit_complement", "shift", "tornado", "neighbour"].map(str::to_owned);
    Err(SpecError::new(path, message).choices([sizes].into_iter().chain(others)))
}

/// The lowest `bits` of a number rotated to the right: bit `i` of the result is bit `i + by`.
pub(super) fn rotated(number: u32, by: u32, bits: u32) -> u32 {
    let word = u64::from(number) | u64::from(number) << bits;
    (word >> by) as u32 & ((1u64 << bits) - 1) as u32
}

//! Matrix transposition.
//!
//! # What it does
//! The hosts are the entries of a square matrix, row by row: host `i n + j` sends to host `j n + i`. Where
//! the number of hosts has an even number of bits, its upper and lower half change places. The diagonal
//! sends nothing.
//!
//! # Source
//! Dally and Towles, Principles and Practices of Interconnection Networks, 3.2.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs a square number of hosts, at least 4. For an odd number of bits there is `bit_rotation` by half of
//! them, rounded down.
//!
//! # Example
//! ```toml
//! pattern = "transpose"
//! ```

use super::fixed::Fixed;
use super::{Pattern, Setting};
use crate::spec::SpecError;

pub(super) fn build(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let hosts = setting.topology.hosts();
    let side = hosts.isqrt();
    if side * side != hosts {
        let message = format!("{hosts} hosts are no square matrix");
        let [below, above] = [side, side + 1].map(|side| u64::from(side.max(2)).pow(2));
        let mut choices = vec![format!("networks of {below} or {above} hosts")];
        if hosts.is_power_of_two() && hosts > 2 {
            let half = hosts.trailing_zeros() / 2;
            choices.push(format!("{{ bit_rotation = {{ by = {half} }} }}"));
        }
        return Err(SpecError::new(path, message).choices(choices));
    }
    Fixed::of(|host| host % side * side + host / side, path, setting)
}

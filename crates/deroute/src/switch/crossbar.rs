//! How long a packet occupies the crossbar.

use crate::ids::Cycle;

/// How long a packet occupies the crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossbar {
    /// Phits per cycle and port.
    Speed(u32),
    /// As fast as the packet arrives, to any number of packets per output.
    Ideal,
}

impl Crossbar {
    /// Until when an input is read and an output is written, if a packet of so many phits is
    /// granted whose tail arrives in cycle `tail`.
    #[inline]
    pub fn held(self, now: Cycle, tail: Cycle, size: u32) -> (Cycle, Cycle) {
        match self {
            Self::Speed(speed) => {
                // A division is slow, and hardly any switch is faster than 2.
                let cycles = match speed {
                    1 => size,
                    2 => size.div_ceil(2),
                    _ => size.div_ceil(speed),
                };
                let end = tail.max(now + cycles);
                (end, end)
            }
            Self::Ideal => (tail.max(now + 1), now),
        }
    }
}

//! The links between routers, and the buffers at their ends.

use crate::ids::Cycle;

/// Links of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkClass {
    pub(crate) latency: Cycle,
    pub(crate) vcs: u8,
    /// Phits that a VC may hold.
    pub(crate) buffer: u32,
    /// Those of them that it shares with the other VCs of its port.
    pub(crate) shared: u32,
    /// Cycles that a phit takes.
    pub(crate) period: u32,
}

impl LinkClass {
    /// Phits that a VC has for itself.
    pub(crate) fn reserve(&self) -> u32 {
        self.buffer - self.shared
    }

    /// Phits that a port may hold.
    pub(crate) fn memory(&self) -> u64 {
        u64::from(self.reserve()) * u64::from(self.vcs) + u64::from(self.shared)
    }
}

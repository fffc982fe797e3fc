//! How often a run looks at the whole network: to count, to tell how far it is, to be ended or kept.

use super::Running;
use crate::ids::Cycle;
use crate::kernel::machine::Machine;

/// Host-cycles between two looks: about a second of work.
const CHUNK: u32 = 5_000_000;
/// Phits of packets for which that is so: a cycle moves more packets, if they are shorter.
const PHITS: u16 = 10;

impl<M: Machine> Running<M> {
    /// Cycles between two looks at whether the jobs have ended.
    pub(super) fn chunk(&self) -> Cycle {
        self.cycles_of(CHUNK)
    }

    /// Cycles between two looks at the whole network: whole windows, which a large network needs to keep what it has fetched.
    pub(super) fn stride(&self) -> Cycle {
        let phits = self.model.packet_sizes().1.clamp(1, PHITS);
        let host_cycles = CHUNK / u32::from(PHITS) * u32::from(phits);
        self.cycles_of(host_cycles).next_multiple_of(self.window)
    }

    fn cycles_of(&self, host_cycles: u32) -> Cycle {
        (host_cycles / self.model.topology.hosts()).clamp(20, 1_000)
    }
}

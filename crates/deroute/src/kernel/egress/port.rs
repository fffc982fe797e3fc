//! What is kept of an output, of the link of a host, and of what waits there.

use crate::ids::Cycle;
use crate::kernel::core::packet::BufferId;
use crate::kernel::core::ports::LeadsTo;
use serde::{Deserialize, Serialize};

/// An output, or the link of a host. Half a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(super) struct Port {
    /// The link is free from this cycle on, and the last packet has left.
    pub(super) free_at: Cycle,
    pub(super) left_at: Cycle,
    /// Earliest cycle of a wake-up that is scheduled; `Cycle::MAX` if none is.
    pub(super) wakeup_at: Cycle,
    /// Phits in its queues.
    pub(super) phits: u32,
    /// Queues that hold packets.
    pub(super) occupied: u64,
    /// Cycles that a phit takes on its link.
    pub(super) period: u32,
    /// The queue that the last packet was in.
    pub(super) leaving: u8,
    /// Some of its queues have been told to be silent.
    pub(super) silenced: bool,
    pub(super) owner: Owner,
}

/// What a port is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Owner(u8);

/// Kinds of places where ports lead: those of outputs, and those of the links of hosts.
pub(super) const DIRECTIONS: usize = LeadsTo::ALL.len() + 1;

/// A queue of an output: first and last packet, its phits, and when the first may leave. When the next one may, each
/// packet says (in `Slot::arrival`), so that nothing is read of the others when it goes.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[repr(align(16))]
pub(super) struct Fifo {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) phits: u32,
    pub(super) ready: Cycle,
}

const _: () = assert!(size_of::<Port>() == 32);

/// A packet that leaves a port.
pub(super) struct Departure {
    pub(super) packet: u32,
    /// The queue that it was in.
    pub(super) queue: u8,
    pub(super) owner: Owner,
    /// Cycles that it takes on the link.
    pub(super) duration: u32,
}

/// A packet in a queue: the VC that it has requested of its output, and where its memory is that it gives back when it
/// leaves.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) vc: u8,
    /// `NOWHERE` if it has none.
    held: BufferId,
}

impl Waiting {
    pub(super) fn new(vc: u8, held: Option<(u32, u8)>) -> Self {
        let held = held.map_or(BufferId::NOWHERE, |(port, vc)| BufferId::new(port, vc));
        Self { vc, held }
    }

    /// Input and VC whose memory it has.
    pub(super) fn held(self) -> Option<(u32, u8)> {
        (self.held != BufferId::NOWHERE).then(|| (self.held.port(), self.held.vc()))
    }

    /// Nobody needs its memory any more.
    pub(super) fn let_go(&mut self) {
        self.held = BufferId::NOWHERE;
    }
}

impl Owner {
    const QUEUE_PER_VC: u8 = 1 << 2;
    const ROOM_BY_QUEUE: u8 = 1 << 3;

    /// Of a port that leads there; `queue_per_vc` is as below, and so is `room_by_queue`.
    pub(super) fn new(leads_to: usize, queue_per_vc: bool, room_by_queue: bool) -> Self {
        let per_vc = if queue_per_vc { Self::QUEUE_PER_VC } else { 0 };
        let by_queue = if room_by_queue { Self::ROOM_BY_QUEUE } else { 0 };
        Self(leads_to as u8 | per_vc | by_queue)
    }

    /// Where it leads; the links of hosts are the last.
    #[inline(always)]
    pub(super) fn leads_to(self) -> usize {
        usize::from(self.0 & 3)
    }

    /// Each VC at the other end has a queue, and not each class of service.
    #[inline(always)]
    pub(super) fn queue_per_vc(self) -> bool {
        self.0 & Self::QUEUE_PER_VC != 0
    }

    /// Whether there is room for a packet, its queue says, whose number is that of the VC that it requests: other queues
    /// have memory of their own, or there are none.
    #[inline(always)]
    pub(super) fn room_by_queue(self) -> bool {
        self.0 & Self::ROOM_BY_QUEUE != 0
    }

    /// Does it lead to a host?
    #[inline(always)]
    pub(super) fn to_host(self) -> bool {
        self.leads_to() == LeadsTo::Host as usize
    }
}

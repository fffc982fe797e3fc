//! What acknowledgements say.

use crate::congestion::Trail;
use crate::ids::Cycle;
use serde::{Deserialize, Serialize};

/// What a host hears of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Report {
    /// One was in a queue that was too long: by so much.
    Feedback(u8),
    /// One has come.
    Received(Receipt),
    /// Of one that left in a cycle only the header has come.
    Missing { number: u32, left: Cycle },
}

/// What an acknowledgement says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// Its phits, and those of its flow that have come with it.
    pub(crate) phits: u16,
    pub(crate) come: u32,
    /// When it left its host.
    pub(crate) left: Cycle,
    pub(crate) marked: bool,
    /// Links between switches on its way.
    pub(crate) hops: u8,
    /// Where is kept what it has met; [`NONE`](crate::kernel::core::packet::NONE) if nothing is.
    pub(crate) trail: u32,
    /// Its number in its flow, where packets are sent again.
    pub(crate) number: u32,
}

/// An acknowledgement, and what its host makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Acknowledged<'a> {
    pub(crate) receipt: Receipt,
    /// Phits that have come since what was heard before, and those that are still under way.
    pub(crate) newly: f64,
    pub(crate) under_way: f64,
    /// Phits of the flow that will have come when all of these have.
    pub(crate) sent: u32,
    /// The cycle in which it is heard.
    pub(crate) now: f64,
    /// What the packet has met on its way, where switches write that.
    pub(crate) met: Option<&'a Trail>,
}

impl Acknowledged<'_> {
    /// Cycles from the first phit of the packet to the last one of its acknowledgement.
    pub(crate) fn round_trip(&self) -> f64 {
        self.now - f64::from(self.receipt.left)
    }

    /// One of a packet of so many phits, unmarked, that left in a cycle, heard in another.
    #[cfg(test)]
    pub(super) fn of(phits: u16, left: Cycle, now: f64) -> Self {
        let (come, marked) = (phits.into(), false);
        let receipt = Receipt { phits, come, left, marked, hops: 0, trail: 0, number: 0 };
        Self { receipt, newly: phits.into(), under_way: 0.0, sent: 0, now, met: None }
    }
}

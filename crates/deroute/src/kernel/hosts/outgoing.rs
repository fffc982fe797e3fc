//! Messages on their way into an injection queue.

use serde::{Deserialize, Serialize};

use crate::ids::{Cycle, HostId};
use crate::workload::process::Descriptor;

/// A message that is being cut.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Outgoing {
    pub(super) descriptor: Descriptor,
    pub(super) to: HostId,
    /// Phits that have been cut off.
    pub(super) cut: u32,
    /// Number among the messages of the host; where they take turns, among the turns.
    pub(super) serial: u32,
    pub(super) issued: Cycle,
}

//! What was sent again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that were lost or trimmed and sent again, over the whole run. `injected + retransmitted` of a run in which nothing is
/// under way at the end is `delivered + lost + trimmed + duplicates`, of all packets and of `packets`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetransmissionUse {
    /// What happened, one sentence each.
    pub says: Vec<String>,
    /// Packets of which switches left the header.
    pub trimmed: u64,
    /// Packets that receivers asked for, of which they had the header.
    pub nacks: u64,
    /// Packets whose timeout was over.
    pub timeouts: u64,
    /// Packets that were sent again, or wait for that.
    pub retransmitted: u64,
    /// Packets that came to a host which had them, and were dropped there.
    pub duplicates: u64,
}

//! What is recorded of the rate limiters of hosts.

use crate::ids::{PortId, RouterId};
use serde::{Deserialize, Serialize};

/// The rate limiters of the hosts of a partition.
pub(crate) trait Limits {
    /// What they did.
    fn record(&self) -> LimitRecord;

    /// The least rate of a host, to all or to one destination, as a share of its link.
    fn rate(&self, host: u32, to: Option<(RouterId, PortId)>) -> f64;
}

/// What the limiters of a partition did, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LimitRecord {
    /// Notifications that hosts have heard; each cuts a rate.
    pub(crate) cuts: u64,
    /// Limiters that were begun, those that ended because their rate was that of the link again, and most of one
    /// host at once.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    pub(crate) most: u32,
    /// Lowest rate, as a share of the link.
    pub(crate) lowest: f64,
}

impl Default for LimitRecord {
    fn default() -> Self {
        Self { cuts: 0, begun: 0, ended: 0, most: 0, lowest: 1.0 }
    }
}

impl LimitRecord {
    /// Adds those of another partition.
    pub(crate) fn add(&mut self, other: &Self) {
        self.cuts += other.cuts;
        self.begun += other.begun;
        self.ended += other.ended;
        self.most = self.most.max(other.most);
        self.lowest = self.lowest.min(other.lowest);
    }
}

//! What is recorded of the limits of flows: rates and windows.

use crate::ids::{PortId, RouterId};
use crate::reaction::Limit;
use serde::{Deserialize, Serialize};

/// The limits of the flows of the hosts of a partition.
pub(crate) trait Limits {
    /// What they did.
    fn record(&self) -> LimitRecord;

    /// The least rate of a host, to all or to one destination, as a share of its link; and the smallest window in phits, if
    /// flows have windows.
    fn least(&self, host: u32, to: Option<(RouterId, PortId)>) -> (f64, Option<f64>);
}

/// What the limiters of a partition did, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LimitRecord {
    /// Times that a rate was cut, or a window; each notification cuts a rate.
    pub(crate) cuts: u64,
    /// Limits that were begun, those that ended because their rate was that of the link again, and most of one
    /// host at once.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    pub(crate) most: u32,
    /// Lowest rate, as a share of the link.
    pub(crate) lowest: f64,
    pub(crate) windows: WindowRecord,
}

/// What the windows of a partition did, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WindowRecord {
    /// Times that the next packet of a flow did not fit.
    pub(crate) held: u64,
    /// Times that an acknowledgement made a window larger.
    pub(crate) raises: u64,
    /// Smallest and largest window, in phits.
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// Most phits of a flow under way.
    pub(crate) under_way: u32,
}

impl Default for LimitRecord {
    fn default() -> Self {
        let windows = WindowRecord::default();
        Self { cuts: 0, begun: 0, ended: 0, most: 0, lowest: 1.0, windows }
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
        self.windows.add(&other.windows);
    }

    /// A host heard that a packet has come, and the limit of its flow, rate and window, was another one before.
    pub(crate) fn follow(&mut self, before: (f64, Option<f64>), limit: &Limit) {
        let (rate, window) = (limit.rate(), limit.window());
        let change = window.zip(before.1).map_or(0.0, |(now, before)| now - before);
        let change = if change == 0.0 { rate - before.0 } else { change };
        self.cuts += u64::from(change < 0.0);
        self.windows.raises += u64::from(change > 0.0);
        self.note(limit);
    }

    /// A flow has this limit.
    pub(crate) fn note(&mut self, limit: &Limit) {
        self.lowest = self.lowest.min(limit.rate());
        if let Some(window) = limit.window() {
            self.windows.least = self.windows.least.min(window);
            self.windows.most = self.windows.most.max(window);
        }
    }
}

impl Default for WindowRecord {
    fn default() -> Self {
        Self { held: 0, raises: 0, least: f64::INFINITY, most: 0.0, under_way: 0 }
    }
}

impl WindowRecord {
    fn add(&mut self, other: &Self) {
        self.held += other.held;
        self.raises += other.raises;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.under_way = self.under_way.max(other.under_way);
    }
}

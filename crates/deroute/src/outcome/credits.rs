//! What credits in messages did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Credits that came back in messages on the links of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreditUse {
    /// Link class of the topology, or `host`.
    pub class: String,
    /// Links of the class, each direction counted.
    pub links: u32,
    /// Messages over the whole run, and those of them that were lost.
    pub messages: u64,
    /// Those of them that were lost.
    pub lost_messages: u64,
    /// Phits of the buffer of a VC.
    pub buffer: u32,
    /// Cycles until a credit is back at the latest, if the receiver frees the buffer at once and no message is lost.
    pub round_trip: u64,
    /// Share of the rate of its link that a VC alone has at the least, where its receiver keeps up.
    pub sustained: f64,
}

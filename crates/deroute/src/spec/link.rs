//! Links between routers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FlowControl, Quantity, RetrySpec};

/// The links of one class, and the input buffers at their ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Propagation delay: cycles, a time, or a length of cable (5 ns a metre). At least 1 cycle.
    pub latency: Quantity,
    /// Virtual channels, 1 to 64, or `"auto"` (default): as many as the routing needs.
    #[serde(default)]
    pub vcs: Vcs,
    /// Input buffer of each VC: phits, or an amount of data. `"auto"` (default): what travels in a round trip of
    /// the link and the pipeline of the switch, and two of the largest packets: what one VC needs to fill the link.
    #[serde(default = "Quantity::auto")]
    pub buffer: Quantity,
    /// Memory of the port that its VCs share beyond their own `buffer`, which is then their reserve (DAMQ,
    /// Tamir and Frazier 1992). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Quantity>,
    /// Rate: `"100 Gb/s"`, or a share such as `"25%"` or `"1/4"` of a phit a cycle, whose inverse is a
    /// whole number. Default: a phit a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity>,
    /// When a packet may go over links of this class. Default: `network.flow_control`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControl>,
    /// Frames that break are sent again. Default: none breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
}

/// A single link that is slower than its class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowLink {
    /// The routers at its ends; where several links join them, the first that is not slowed yet.
    pub routers: [u32; 2],
    /// Its rate in both directions, as in [`Link::rate`].
    pub rate: Quantity,
}

/// Virtual channels of a link: so many, or as many as the routing needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number from 1 to 64, or \"auto\"")]
pub enum Vcs {
    /// So many, 1 to 64.
    Count(u8),
    /// As many as the routing needs, in each class of the queuing scheme.
    Auto(Auto),
}

/// What stands for a number that follows from the rest of the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Auto {
    /// It does.
    Auto,
}

impl Vcs {
    /// The number, if there is one.
    pub fn count(self) -> Option<u8> {
        match self {
            Self::Count(count) => Some(count),
            Self::Auto(_) => None,
        }
    }
}

impl Default for Vcs {
    fn default() -> Self {
        Self::Auto(Auto::Auto)
    }
}

impl From<u8> for Vcs {
    fn from(count: u8) -> Self {
        Self::Count(count)
    }
}

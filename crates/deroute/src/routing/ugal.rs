use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{PhaseA, VcUse};

/// Parameters of UGAL with local information.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UgalSpec {
    /// Which routers may be the intermediate one. Default `lgl`.
    pub phase_a: PhaseA,
    /// `T` of equation 2-1 in phits; positive favours the minimal path. Default 0.
    pub threshold: i32,
    /// What `Q` measures. Default `port`.
    pub queue: QueueMetric,
    /// What `H` of the minimal path counts. Default `path`.
    pub hops: HopCount,
    /// Decide again in every cycle in which the packet waits at the head of the injection queue,
    /// as FOGSim does. Default `false`: decide once.
    pub redecide: bool,
    /// How the VC follows from the place on the path. Default `path-position`.
    pub vc_use: VcUse,
}

/// What the queue length `Q` of an output measures. Both count the phits that were granted to the
/// output and whose credits have not come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMetric {
    /// Sum over the VCs of the port.
    #[default]
    Port,
    /// The VC that the packet would take (FOGSim).
    Vc,
}

/// What the hop count of a minimal path is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HopCount {
    /// The hops of the path itself.
    #[default]
    Path,
    /// The hops it would have under the consecutive arrangement, whatever the wiring is (FOGSim).
    Consecutive,
}

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ugal::UgalSpec;

/// Parameters of Piggyback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiggybackSpec {
    /// `F` of equation 2-2 in percent. Default 120.
    pub factor_percent: u32,
    /// `T` of equation 2-2 in phits per port. Default 50: five packets of 10 phits.
    pub flag_threshold: u32,
    /// The mean of equation 2-2 includes the tested port (FOGSim). Default `false`.
    pub own_port_in_mean: bool,
    /// The UGAL decision that a path must pass as well.
    pub ugal: UgalSpec,
}

impl Default for PiggybackSpec {
    fn default() -> Self {
        Self {
            factor_percent: 120,
            flag_threshold: 50,
            own_port_in_mean: false,
            ugal: UgalSpec::default(),
        }
    }
}

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{PhaseA, VcUse};

/// Parameters of Valiant's routing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ValiantSpec {
    /// Which routers may be the intermediate one. Default `lgl`.
    pub phase_a: PhaseA,
    /// How the VC follows from the place on the path. Default `path-position`.
    pub vc_use: VcUse,
}

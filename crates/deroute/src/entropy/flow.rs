//! One entropy for each flow.
//!
//! # What it does
//! All packets of a host to one destination take the same path, which a hash of both gives: what ECMP does
//! in a fat tree, for any routing that draws its paths.
//!
//! # Source
//! Hopps, RFC 2992.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! Needs a routing that draws: paths (ECMP, oblivious ones up a fat tree, Valiant, O1TURN), one detour (UGAL and Piggyback;
//! with an entropy they weigh the same one whenever they reconsider), whether to take it (QCN-Switch), or one of outputs
//! that are as good (adaptive ones, hop by hop). Fixed paths have nothing to spray, nor have those that pauses or
//! notifications alone decide (MAR-bP, Switch AR). Flows that share a link go on sharing it.
//!
//! # Example
//! ```toml
//! [network.nic.entropy.flow]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntropyPlan, Setting};
use crate::spec::SpecError;

/// Parameters of one entropy for each flow: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {}

/// Resolves the parameters.
pub(crate) fn plan(_spec: &FlowSpec, setting: &Setting<'_>) -> Result<EntropyPlan, SpecError> {
    super::check(setting.routing)?;
    Ok(EntropyPlan { values: 1, recycled: 0, freeze: None })
}

//! Oblivious packet spraying.
//!
//! # What it does
//! Every packet gets one of `values` entropies at random, so that the packets of a flow take as many paths,
//! whatever the load on them is.
//!
//! # Source
//! Dixit et al., On the impact of packet spraying in data center networks, INFOCOM 2013; by entropy values:
//! the Ultra Ethernet Specification 1.0.
//!
//! # Parameters
//! `values`, 1 to 65536 (default 65536).
//!
//! # Limits
//! Needs a routing that draws paths, as `flow` does. Packets arrive out of order
//! (`network.nic.resequencing`; messages of a workload are put together in any case). A slow path gets as
//! much as a fast one.
//!
//! # Example
//! ```toml
//! [network.nic.entropy.oblivious]
//! values = 256
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntropyPlan, MOST, Setting};
use crate::spec::SpecError;

/// Parameters of oblivious packet spraying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ObliviousSpec {
    /// Different values, 1 to 65536. Default 65536.
    pub values: u32,
}

impl Default for ObliviousSpec {
    fn default() -> Self {
        Self { values: MOST }
    }
}

/// Resolves the parameters.
pub(crate) fn plan(spec: &ObliviousSpec, setting: &Setting<'_>) -> Result<EntropyPlan, SpecError> {
    super::check(setting.routing)?;
    let values = super::values("network.nic.entropy.oblivious.values", spec.values)?;
    Ok(EntropyPlan { values, recycled: 0, freeze: None })
}

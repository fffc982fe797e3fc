//! What a routing did that adapts by what the flow control or notifications tell it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a routing did, over the whole run and all routers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdaptationUse {
    /// What acted and what did not, one sentence each.
    pub says: Vec<String>,
    /// How often it did what: the reference of the routing says what these count.
    pub counts: BTreeMap<String, u64>,
}

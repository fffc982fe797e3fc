use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of minimal routing: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinimalSpec {}

//! What a user asks of a topology.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wiring of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Topology {
    /// Groups of fully connected routers, fully connected by global links (thesis 2.2.1).
    Dragonfly(DragonflySpec),
    /// A lattice, fully connected in every dimension: HyperX, flattened butterfly, hypercube.
    Hyperx(HyperXSpec),
    /// One switch with every host on it: the reference without a network.
    Crossbar(CrossbarSpec),
}

/// A Dragonfly. Link classes: `local`, `global`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflySpec {
    /// Hosts per router.
    pub p: u32,
    /// Routers per group.
    pub a: u32,
    /// Global links per router.
    pub h: u32,
    /// Groups, 2 to `a * h / trunk + 1`. Default: as many as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// Which router owns the link to which group. Default `palmtree`.
    #[serde(default)]
    pub arrangement: Arrangement,
    /// Palmtree only: the first router connects to the following groups, not to the preceding
    /// ones. Default `false`.
    #[serde(default)]
    pub mirror: bool,
    /// Parallel global links between two groups. Default 1.
    #[serde(default = "one")]
    pub trunk: u32,
}

fn one() -> u32 {
    1
}

/// Arrangement of the global links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Relative: router `i`, global port `k` reaches the group `i * h + k + 1` before its own.
    #[default]
    Palmtree,
    /// Absolute: the links of a group reach groups 0, 1, 2, ... in order, its own left out.
    Consecutive,
}

/// A HyperX. Link classes: `dim1`, `dim2`, ... in the order of `widths`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperXSpec {
    /// Routers along each dimension, 2 to 256; 1 to 8 dimensions.
    pub widths: Vec<u32>,
    /// Hosts of every router.
    pub hosts: u32,
    /// Parallel links between two routers that differ in one coordinate. Default 1.
    #[serde(default = "one")]
    pub trunk: u32,
}

/// A single switch. It has no links between routers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossbarSpec {
    /// Hosts on the switch.
    pub hosts: u32,
}

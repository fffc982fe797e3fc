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
    /// One switch with the hosts of another network, whose groups, coordinates and levels patterns still see:
    /// what that network could do at best.
    CrossbarOf(Box<Topology>),
    /// A generalised fat tree: any number of levels, slimmed or not, with parallel links.
    FatTree(FatTreeSpec),
    /// A real-life fat tree of switches with the same number of ports.
    Rlft(RlftSpec),
    /// A k-ary n-tree.
    KaryTree(KaryTreeSpec),
    /// A folded Clos network, whole or in part.
    FoldedClos(FoldedClosSpec),
    /// Any network, as a list of its links.
    Graph(GraphSpec),
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

/// A generalised fat tree (PGFT; XGFT without parallel links). Link classes: `level1` between the
/// switches of the hosts and those above them, `level2`, ...
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTreeSpec {
    /// Children of a switch, by level from the hosts up; 1 to 8 levels. The first are hosts.
    pub children: Vec<u32>,
    /// Parents of a switch of the level below, by level; the first is 1, of a host.
    pub parents: Vec<u32>,
    /// Parallel links between two neighbours, by level; the first is 1. Default: 1 everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Vec<u32>>,
}

/// A real-life fat tree. Link classes: `level1`, `level2`, ... as of a fat tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RlftSpec {
    /// Ports of every switch, an even number.
    pub ports: u32,
    /// Levels of switches, 1 to 8.
    pub stages: u32,
}

/// A k-ary n-tree. Link classes: `level1`, `level2`, ... as of a fat tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KaryTreeSpec {
    /// Children and parents of a switch.
    pub k: u32,
    /// n: levels of switches, 1 to 8.
    pub levels: u32,
}

/// A folded Clos network. Link classes: `level1`, `level2`, ... as of a fat tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoldedClosSpec {
    /// Ports of every switch, an even number.
    pub ports: u32,
    /// Levels of switches, 1 to 8.
    pub levels: u32,
    /// Subtrees below the top switches. Default: as many as a top switch has ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
}

/// Any network. Link class: `link`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// Links, each as the numbers of the two routers that it connects; parallel ones may repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<[u32; 2]>,
    /// A file of the links instead, as CSV or GraphML; the lab reads it, next to the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Hosts of every router, or of each.
    pub hosts: GraphHosts,
    /// Which of several shortest paths is taken. Default `next`.
    #[serde(default)]
    pub ties: Ties,
    /// VCs among which the hops of a path are numbered. Default: one for each hop of the longest path.
    /// With fewer a deadlock is possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_vcs: Option<u8>,
}

/// Hosts of the routers of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number of hosts, or a list with one for each router")]
pub enum GraphHosts {
    /// The same for every router.
    Every(u32),
    /// One number for each router.
    Each(Vec<u32>),
}

/// Which of several shortest paths of a graph is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ties {
    /// The one whose next router has the next number, counted from the router's own on and round; of
    /// parallel links the first.
    #[default]
    Next,
    /// Each is the choice of some destination routers, as a hash of both ends says.
    Hash {
        /// Seed of the hash. Default 0.
        #[serde(default)]
        seed: u64,
    },
}

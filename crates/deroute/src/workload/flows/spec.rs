//! What a user asks of flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::Quantity;

/// Flows: messages that hosts send at given times, and that nobody waits for. Just one of `list`, `incast`,
/// `permutation`, `all_to_all` and `poisson` says which. Sources and destinations are ranks of the job: with the
/// default placement, and no other job, hosts. The flows of a host take turns, packet by packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlowsSpec {
    /// One by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<FlowEntry>>,
    /// A CSV file with a source, a destination, a size and perhaps a start and a class in each line; `#` begins a
    /// comment. Its path is relative to the experiment file. The lab reads it and hands `list` to the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From many to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incast: Option<IncastSpec>,
    /// Everybody sends to one other and receives from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permutation: Option<PermutationSpec>,
    /// From everybody to everybody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_to_all: Option<AllToAllSpec>,
    /// Arrivals at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<PoissonSpec>,
    /// Class of service of those that name none. Default 0.
    #[serde(skip_serializing_if = "crate::spec::is_default")]
    pub class: u8,
    /// Sizes that results are told apart by: a bin ends with each of them. Default 10 KB, 100 KB, 1 MB, 10 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Vec<Quantity>>,
    /// Keep the completion of each flow. Default `false`.
    #[serde(skip_serializing_if = "crate::spec::is_default")]
    pub table: bool,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowEntry {
    /// Rank that sends it.
    pub source: u32,
    /// Rank that it is for.
    pub destination: u32,
    /// Its data, rounded up to whole phits.
    pub size: Quantity,
    /// When it begins, after the start of the job. Default 0.
    #[serde(default = "now", skip_serializing_if = "is_now")]
    pub start: Quantity,
    /// Class of service. Default: that of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<u8>,
}

/// Flows from many ranks to one, all at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncastSpec {
    /// Ranks that send, drawn at random. Default: all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub senders: Option<u32>,
    /// The rank that receives. Default 0.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub to: u32,
    /// Size of each flow.
    pub size: Quantity,
    /// Flows of each sender, one after the other in time. Default 1.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub rounds: u32,
    /// Time between the rounds. Default 0.
    #[serde(default = "now", skip_serializing_if = "is_now")]
    pub every: Quantity,
}

/// A flow from each rank to another one, drawn among the permutations without a fixed point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermutationSpec {
    /// Size of each flow.
    pub size: Quantity,
    /// Seed of the draw. Default: the seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A flow from each rank to each other one; that to the next rank is the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAllSpec {
    /// Size of each flow.
    pub size: Quantity,
}

/// Flows of random sizes that begin at random times, from each rank to others with equal probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Mean load that they offer: phits per rank and cycle.
    pub load: f64,
    /// They begin within this time.
    pub within: Quantity,
    /// Their sizes.
    pub sizes: FlowSizes,
    /// Seed of the draws. Default: the seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Distribution of the sizes of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowSizes {
    /// A cluster that serves web searches (DCTCP, SIGCOMM 2010): 1.7 MB in the mean.
    WebSearch,
    /// A cluster for data mining (VL2, SIGCOMM 2009): half of the flows have up to 1100 B, and the mean is 12.7 MB.
    DataMining,
    /// All have this size.
    Fixed(Quantity),
    /// Sizes, and the share of the flows that are not larger, both rising to 1; evenly distributed in between.
    List(Vec<(Quantity, f64)>),
    /// A CSV file with a size and that share in each line; `#` begins a comment. Its path is relative to the
    /// experiment file. The lab reads it and hands `list` to the engine.
    File(String),
}

fn now() -> Quantity {
    Quantity::Number(0)
}

fn is_now(start: &Quantity) -> bool {
    *start == now()
}

fn once() -> u32 {
    1
}

fn is_once(number: &u32) -> bool {
    *number == 1
}

//! What a user asks of programs that send messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::Quantity;

/// Programs that send messages and wait for them. The run begins with an empty network, is measured
/// from its first cycle, and ends when all of them have ended. The hosts that run none generate the
/// synthetic traffic, if there is any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Largest packet: messages are cut into packets of this size, and a rest.
    pub packet_size: Quantity,
    /// Give up after this time; the result is then `unfinished`. Default 10000000 cycles.
    #[serde(default = "patience")]
    pub limit: Quantity,
    /// The programs, each on hosts of its own. They are placed in this order.
    pub jobs: Vec<Job>,
}

fn patience() -> Quantity {
    Quantity::Number(10_000_000)
}

/// A parallel program: ranks that go through the same steps, each on a host of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its name in results. Default: `job` and its number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Processes, one per host.
    pub ranks: u32,
    /// Which rank is on which host. Default `linear`.
    #[serde(default)]
    pub placement: Placement,
    /// When it begins. Default 0.
    #[serde(default = "now", skip_serializing_if = "is_now")]
    pub start: Quantity,
    /// How often all steps are taken. Default 1.
    #[serde(default = "once")]
    pub iterations: u32,
    /// The steps of an iteration, in order.
    pub steps: Vec<Step>,
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

/// Which rank is on which host, among the hosts that the jobs before have left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// Rank after rank on host after host.
    #[default]
    Linear,
    /// On random hosts.
    Random {
        /// Seed of the draw. Default: the seed of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
    /// Blocks of a stencil, one after the other, on host after host: `[2, 2, 1]` puts squares of
    /// four ranks on the four hosts of a router.
    Blocked {
        /// Ranks along each dimension of the stencil; they divide its shape.
        block: Vec<u32>,
    },
    /// The host of each rank, in the order of the ranks.
    Hosts(Vec<u32>),
    /// A text file with the host of each rank, in the order of the ranks; `#` begins a comment. Its
    /// path is relative to the experiment file. The lab reads it and hands `hosts` to the engine.
    File(String),
}

/// A step that all ranks of a job take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Computes for this time.
    Compute(Quantity),
    /// Exchanges messages with the neighbours in a grid.
    Stencil(StencilSpec),
    /// Exchanges the messages of a traffic matrix.
    Exchange(ExchangeSpec),
    /// Collective: every rank hears from every other, by dissemination.
    Dissemination(Collective),
    /// All-reduce by recursive doubling.
    RecursiveDoubling(Collective),
    /// All-reduce along a ring, in as many pieces as there are ranks.
    Ring(Collective),
    /// All-to-all by Bruck's algorithm; the size is that of the data for one rank.
    Bruck(Collective),
    /// Broadcast from one rank along a binomial tree.
    Broadcast(Rooted),
    /// Reduction to one rank along a binomial tree.
    Reduce(Rooted),
}

/// A collective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// Data of a rank, rounded up to whole phits.
    pub size: Quantity,
}

/// A collective with a root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rooted {
    /// The rank that sends or receives. Default 0.
    #[serde(default)]
    pub root: u32,
    /// Data, rounded up to whole phits.
    pub size: Quantity,
}

/// A halo exchange in a grid of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StencilSpec {
    /// Ranks along each dimension, 1 to 3 of them, the first one varying fastest; 27 points in 3.
    pub shape: Vec<u32>,
    /// The grid is closed: every rank has all neighbours. Default `true`.
    #[serde(default = "yes")]
    pub periodic: bool,
    /// Sizes of the messages.
    pub messages: StencilMessages,
}

fn yes() -> bool {
    true
}

/// Sizes of the messages to neighbours, rounded up to whole phits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StencilMessages {
    /// What a rank with all neighbours sends in total, in equal parts.
    Equal(Quantity),
    /// What a rank with all neighbours sends in total, divided by weights.
    Weighted {
        /// What a rank with all neighbours sends in total.
        total: Quantity,
        /// Weight of a neighbour that shares a face.
        face: u32,
        /// Weight of a neighbour that shares an edge.
        edge: u32,
        /// Weight of a neighbour that shares a corner.
        corner: u32,
    },
    /// The size of each message.
    Sizes {
        /// To a neighbour that shares a face.
        face: Quantity,
        /// To a neighbour that shares an edge.
        edge: Quantity,
        /// To a neighbour that shares a corner.
        corner: Quantity,
    },
}

/// A traffic matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeSpec {
    /// Messages: sender, receiver, size (rounded up to whole phits).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<(u32, u32, Quantity)>,
    /// A text file with a sender, a receiver and a size in each line; `#` begins a comment. Its path
    /// is relative to the experiment file. The lab reads it and hands `messages` to the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

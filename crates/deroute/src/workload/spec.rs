//! What a user asks of programs that send messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::Quantity;
pub use crate::workload::collective::spec::*;
pub use crate::workload::flows::spec::*;
pub use crate::workload::trace::spec::*;

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
    /// Processes. Of a trace, its own number if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Ranks on a host, one after the other. Default 1.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub ranks_per_host: u32,
    /// How messages between ranks of one host travel.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub within_host: WithinHost,
    /// Ranks that a network of their own joins. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeSpec>,
    /// Which rank is on which host. Default `linear`.
    #[serde(default)]
    pub placement: Placement,
    /// When it begins. Default 0.
    #[serde(default = "now", skip_serializing_if = "is_now")]
    pub start: Quantity,
    /// How often all steps are taken. Default 1.
    #[serde(default = "once")]
    pub iterations: u32,
    /// How messages travel.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub protocol: Protocol,
    /// The steps of an iteration, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What the ranks do, in place of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// Flows that the ranks send, in place of steps. `ranks` is then all hosts that are left, if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsSpec>,
    /// Keep when each rank did what, of a million activities of all ranks together. Default `false`.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub timeline: bool,
    /// Follow back, from its end, what its time is made of: which computations and messages, of which ranks. Keeps some
    /// 200 bytes of each message. Default `false`.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub critical_path: bool,
}

/// Messages between ranks of one host: they take `latency`, and the time of their phits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WithinHost {
    /// Until the first phit is there. Default 1 cycle.
    pub latency: Quantity,
    /// Phits that follow each other in a cycle. Default 1.
    pub phits_per_cycle: u32,
}

impl Default for WithinHost {
    fn default() -> Self {
        Self { latency: Quantity::Number(1), phits_per_cycle: 1 }
    }
}

/// Consecutive ranks that a network of their own joins (scale-up), as NVLink does the GPUs of a server: messages between
/// them take it, and those between nodes the hosts' links. A rank sends one message at a time, and receives one at a
/// time, the one that began to arrive first; a message of `s` phits that waits for none takes `latency + s / bandwidth`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Ranks of a node; the last one may have fewer.
    pub ranks: u32,
    /// Of a rank, in each direction: `"450 GB/s"`, or a multiple of a phit a cycle such as `"900%"`.
    pub bandwidth: Quantity,
    /// Until the first phit is there: at least 1 cycle.
    pub latency: Quantity,
}

/// How messages travel: small ones at once, large ones when their receive is posted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Protocol {
    /// Largest message that is sent without asking (eager). A larger one asks with a control message, and is sent when
    /// another one has come back (rendezvous). Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eager_limit: Option<Quantity>,
    /// Size of a control message. Default 1 phit.
    pub control: Quantity,
    /// When the send of an eager message ends. That of a larger one ends when its last phit has left the host; one that the program
    /// buffers itself (`MPI_Bsend`) ends at once whatever its size, and its data goes as that of any other. Default
    /// `buffered`.
    pub send_ends: SendEnds,
}

impl Default for Protocol {
    fn default() -> Self {
        Self { eager_limit: None, control: Quantity::Number(1), send_ends: SendEnds::Buffered }
    }
}

/// When the send of an eager message ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendEnds {
    /// At once: the message is copied.
    #[default]
    Buffered,
    /// When its last phit has left the host.
    Injected,
}

fn now() -> Quantity {
    Quantity::Number(0)
}

fn is_now(start: &Quantity) -> bool {
    *start == now()
}

pub(super) fn once() -> u32 {
    1
}

fn is_once(number: &u32) -> bool {
    *number == 1
}

/// Which rank is on which host, among the hosts that the jobs before have left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// Rank after rank on host after host.
    #[default]
    Linear,
    /// On the first free host of each router, router after router, then on the second ones, and so on.
    RoundRobin,
    /// As a rail-optimised network is wired: the hosts of a `node` are on as many routers, one on each, and those of
    /// the next node beside them, until the routers are full; then the next routers. Where the network has fewer
    /// routers with hosts, they take turns.
    Rails,
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
    /// A collective by a named algorithm.
    Collective(CollectiveSpec),
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

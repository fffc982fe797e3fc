//! What a user asks of collectives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::Quantity;

/// A collective of all ranks of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectiveSpec {
    /// What it does.
    pub kind: CollectiveKind,
    /// Data of a rank, rounded up to whole phits; where everybody has a block (gather, scatter, allgather, alltoall,
    /// reduce_scatter), that of a block. Default 1 phit.
    #[serde(default = "least")]
    pub size: Quantity,
    /// The rank that it begins or ends at, where there is one. Default 0.
    #[serde(default)]
    pub root: u32,
    /// How. Default: as MPI libraries do for the number of ranks and the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
}

fn least() -> Quantity {
    Quantity::Number(1)
}

/// Collectives.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Nobody goes on before all have come.
    Barrier,
    /// From one to all.
    Broadcast,
    /// A sum of all to one.
    Reduce,
    /// A sum of all to all.
    Allreduce,
    /// A block of each to one.
    Gather,
    /// A block for each from one.
    Scatter,
    /// A block of each to all.
    Allgather,
    /// A block of each for each.
    Alltoall,
    /// A sum of all, a block of it to each.
    ReduceScatter,
    /// To each the sum of those up to it.
    Scan,
}

impl CollectiveKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Gather,
        Self::Scatter,
        Self::Allgather,
        Self::Alltoall,
        Self::ReduceScatter,
        Self::Scan,
    ];

    /// Its name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::ReduceScatter => "reduce_scatter",
            Self::Scan => "scan",
        }
    }
}

/// Algorithms of collectives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Algorithm {
    /// Partners whose distance doubles.
    Dissemination,
    /// A binomial tree.
    Binomial,
    /// Pairs whose distance doubles.
    RecursiveDoubling,
    /// Halves to partners, then back.
    HalvingDoubling,
    /// Along a ring; broadcast and reduce along one that is open at the root.
    Ring {
        /// Rings that share the data, 1 to 1024; no more than the smallest block has phits. Default 1.
        #[serde(default = "single")]
        channels: u32,
        /// Chunks, 1 to 65536, that a message is cut into; each is passed on when it has come, the one before it first. Default 1.
        #[serde(default = "single", skip_serializing_if = "is_single")]
        chunks: u32,
        /// The members in the order of the rings. Default: as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<RingOrder>,
    },
    /// Two binary trees that share the data.
    DoubleBinaryTree {
        /// Pieces that follow each other in each tree, 1 to 65536. Default 1.
        #[serde(default = "single")]
        chunks: u32,
    },
    /// Bruck's.
    Bruck,
    /// With one partner after the other.
    Pairwise,
    /// With all at once, or along a line.
    Linear,
    /// Reduce-scatter within groups, a ring between them for each member, all-gather within groups.
    Hierarchical {
        /// Consecutive ranks of a group; the last one may have fewer.
        group: u32,
    },
}

fn single() -> u32 {
    1
}

fn is_single(number: &u32) -> bool {
    *number == single()
}

/// The members of rings in their orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RingOrder {
    /// Of each ring all members, from 0 on, in the order in which they pass on what they have: `[[0, 2, 1, 3]]`. If there
    /// are fewer lists than rings, they take turns.
    Members(Vec<Vec<u32>>),
    /// A text file with a ring in each line; `#` begins a comment. Its path is relative to the experiment file. The lab reads it
    /// and hands `members` to the engine.
    File(String),
}

impl Algorithm {
    /// One ring of the members as they are.
    pub const RING: Self = Self::Ring { channels: 1, chunks: 1, order: None };

    /// Its name in a spec.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dissemination => "dissemination",
            Self::Binomial => "binomial",
            Self::RecursiveDoubling => "recursive_doubling",
            Self::HalvingDoubling => "halving_doubling",
            Self::Ring { .. } => "ring",
            Self::DoubleBinaryTree { .. } => "double_binary_tree",
            Self::Bruck => "bruck",
            Self::Pairwise => "pairwise",
            Self::Linear => "linear",
            Self::Hierarchical { .. } => "hierarchical",
        }
    }
}

/// The algorithm of each collective; the usual one where there is none, or where it does not fit the members or their sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CollectiveChoices {
    /// Of barrier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<Algorithm>,
    /// Of broadcast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Algorithm>,
    /// Of reduce.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce: Option<Algorithm>,
    /// Of allreduce.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allreduce: Option<Algorithm>,
    /// Of gather.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gather: Option<Algorithm>,
    /// Of scatter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scatter: Option<Algorithm>,
    /// Of allgather.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allgather: Option<Algorithm>,
    /// Of alltoall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alltoall: Option<Algorithm>,
    /// Of reduce_scatter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_scatter: Option<Algorithm>,
    /// Of scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan: Option<Algorithm>,
}

impl CollectiveChoices {
    /// The algorithm of a collective.
    pub fn of(&self, kind: CollectiveKind) -> Option<&Algorithm> {
        match kind {
            CollectiveKind::Barrier => self.barrier.as_ref(),
            CollectiveKind::Broadcast => self.broadcast.as_ref(),
            CollectiveKind::Reduce => self.reduce.as_ref(),
            CollectiveKind::Allreduce => self.allreduce.as_ref(),
            CollectiveKind::Gather => self.gather.as_ref(),
            CollectiveKind::Scatter => self.scatter.as_ref(),
            CollectiveKind::Allgather => self.allgather.as_ref(),
            CollectiveKind::Alltoall => self.alltoall.as_ref(),
            CollectiveKind::ReduceScatter => self.reduce_scatter.as_ref(),
            CollectiveKind::Scan => self.scan.as_ref(),
        }
    }
}

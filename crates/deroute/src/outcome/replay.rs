//! What a trace did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a job did that follows a trace, or has collectives by named algorithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayOutcome {
    /// How messages travelled and matched, one sentence each.
    pub says: Vec<String>,
    /// Messages that asked whether data may be sent, or said that it may.
    pub control_messages: u64,
    /// Messages that had arrived at the end and that nobody had received.
    pub unreceived: u64,
    /// Its collectives, by algorithm, members and size; what all members call once is one of them.
    pub collectives: Vec<CollectiveUse>,
}

/// Collectives of one algorithm, number of members and size. Bandwidths are those of nccl-tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollectiveUse {
    /// The collective, and its algorithm.
    pub name: String,
    /// The algorithm that was asked for, if it does not fit so many members or their sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Members.
    pub members: u32,
    /// Data in phits, as in nccl-tests: of a rank, and of all blocks of a rank where everybody has a block. Of an all-to-all
    /// with unequal blocks, the most that one rank sends or receives, its own block included (`alltoallv_perf` of 2.19); of a
    /// gather or scatter with unequal blocks, all of them.
    pub phits: u64,
    /// Parts that ranks took in them.
    pub parts: u64,
    /// Cycles that a part took, on the average.
    pub mean: f64,
    /// The shortest: that of who came last, where all wait for each other.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// Data over mean time, in bytes a nanosecond.
    pub algorithm_bandwidth: f64,
    /// The same times what a rank has to send of its data at least, over its data.
    pub bus_bandwidth: f64,
}

/// What the time of a job is made of, followed back from its end: computations and messages, each of which began when
/// the one before it had ended. In cycles; the sum is the time of the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriticalPath {
    /// A rank computed.
    pub compute: u64,
    /// A rank could not go on before its message had left its host.
    pub send: u64,
    /// A message with data was on its way, from its send to its last phit.
    pub network: u64,
    /// A message was that asks whether data may be sent, or says that it may.
    pub handshake: u64,
    /// A rank did nothing, because its program says so.
    pub wait: u64,
    /// Parts of the path.
    pub parts: u64,
    /// The longest of them, ten at the most.
    pub longest: Vec<PathPart>,
}

/// A part of a critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathPart {
    /// `compute`, `send`, `network`, `handshake`, or `wait`.
    pub what: String,
    /// The rank; of a message the one that it is for.
    pub rank: u32,
    /// The rank that began it: of a message its sender.
    pub from: u32,
    /// When it began, in cycles from the start of the job.
    pub begin: u64,
    /// How long it took.
    pub cycles: u64,
    /// Phits of a message.
    pub phits: u32,
    /// The call that began it, and where it stands; empty if the protocol did.
    pub call: String,
}

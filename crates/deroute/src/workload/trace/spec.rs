//! What a user asks of a trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::collective::spec::CollectiveChoices;

/// A trace that the ranks of a job follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// A file, a folder, or a tar archive, possibly compressed with gzip. The lab takes its path relative to the
    /// experiment file.
    pub file: String,
    /// Its format. Default: told by how it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TraceFormat>,
    /// Digest of what is in it, so that results of another content are others. The lab fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Computations take so many times what the trace says; 0 leaves the network alone. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub compute: f64,
    /// The same for each rank, beside `compute`. Default 1 for all.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub compute_of_rank: RankFactors,
    /// Messages, and what collectives carry, have so many times the bytes, rounded up to whole bytes, then to whole
    /// phits. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub messages: f64,
    /// Floating-point operations a second, for traces that count operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// What a receive from any source or with any tag takes. Default `recorded`.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub wildcards: Wildcards,
    /// Calls and computations kept in memory at the most, at 32 bytes each. What the ranks do beyond is in a temporary file, in the
    /// folder of temporary files (`TMPDIR`), from which each rank reads page by page as it runs; no result depends on it.
    /// Default 33554432: 1 GiB.
    #[serde(default = "kept", skip_serializing_if = "is_kept")]
    pub kept: u64,
    /// Algorithms of the collectives; the usual one of each that is left out.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub collectives: CollectiveChoices,
}

/// A factor for each rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of factors, or { file = \"factors.txt\" }")]
pub enum RankFactors {
    /// In the order of the ranks; empty if all have 1.
    Each(Vec<f64>),
    /// From a file.
    File(FactorsFile),
}

impl Default for RankFactors {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

/// A text file with a factor for each rank, in the order of the ranks; `#` begins a comment. Its path is relative to the
/// experiment file. The lab reads it and hands the list to the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorsFile {
    /// Its path.
    pub file: String,
}

fn one() -> f64 {
    1.0
}

fn kept() -> u64 {
    1 << 25
}

fn is_kept(value: &u64) -> bool {
    *value == kept()
}

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

/// What a receive from any source or with any tag takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wildcards {
    /// What it got when the trace was recorded, where the trace says so.
    #[default]
    Recorded,
    /// What arrives first.
    Arrival,
}

/// Formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// Deroute's own: a text file for each rank.
    MpiTrace,
    /// GOAL, the text of LogGOPSim and ATLAHS.
    Goal,
    /// The same, compiled.
    GoalBinary,
    /// SimGrid's time-independent traces.
    TimeIndependent,
    /// Dimemas.
    Dimemas,
    /// Chakra, of MLCommons and astra-sim.
    Chakra,
    /// Paraver, of Extrae.
    Paraver,
    /// DUMPI, of SST.
    Dumpi,
}

impl TraceFormat {
    /// Its name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::MpiTrace => "mpi-trace",
            Self::Goal => "goal",
            Self::GoalBinary => "goal-binary",
            Self::TimeIndependent => "time-independent",
            Self::Dimemas => "dimemas",
            Self::Chakra => "chakra",
            Self::Paraver => "paraver",
            Self::Dumpi => "dumpi",
        }
    }
}

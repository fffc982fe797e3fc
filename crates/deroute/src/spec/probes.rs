//! Probes of queues and of rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Quantity;

/// Samples of the lengths of queues in time.
///
/// Of an input buffer the phits that it holds count, as flow control counts them: a packet with all its phits from the
/// arrival of its first one until it is granted, or until it leaves where it keeps its memory (IBOQ). Without
/// a link of its own (`network.nic.link`), the input buffer behind a host is its injection queue. Of an output
/// the phits count that have been granted and have not begun to leave; where the departure is known at the
/// grant, the cycles until its link would be free, which is what its buffer is measured by.
/// Behind a crossbar that is no faster than the links nothing waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueProbe {
    /// Cycles between samples. The first is taken where the time series would begin.
    pub every: Quantity,
    /// The ports whose queues are recorded, those of their inputs and of their outputs.
    pub ports: ProbedPorts,
    /// Whether each VC counts alone. Default `vc`.
    #[serde(default)]
    pub by: QueueDetail,
}

/// Ports of routers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbedPorts {
    /// All that lead somewhere. A sample takes 4 bytes for each queue of the network; a record takes 64 MB
    /// at the most.
    All,
    /// Those of links of some classes; `host` for those that lead to hosts.
    Classes(Vec<String>),
    /// Those that lead to some hosts.
    Hosts(Vec<u32>),
    /// Router and port of each.
    List(Vec<[u32; 2]>),
}

/// What is recorded of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueDetail {
    /// Each VC of the input, and each queue of the output: one for each VC with PFC, one for each class of service
    /// otherwise.
    #[default]
    Vc,
    /// The sums.
    Port,
}

/// Samples of the rates at which hosts may send, in time.
///
/// A rate is that of a rate limiter (`network.nic.reaction_point`), as a share of the link of its host: 1 for what has no
/// limiter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateProbe {
    /// Cycles between samples. The first is taken where the time series would begin.
    pub every: Quantity,
    /// Whose rates are recorded. A record has 16,777,216 values at the most.
    pub flows: ProbedFlows,
}

/// What has a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbedFlows {
    /// The slowest flow of each of some hosts.
    Hosts(Vec<u32>),
    /// What a host sends to another one: source and destination of each. The slowest of its classes of service; where all
    /// that a host sends has one limiter, that one.
    Pairs(Vec<[u32; 2]>),
}

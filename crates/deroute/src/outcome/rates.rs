//! Rates and windows in time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rates and windows in time. Sample `i` is taken at the beginning of cycle `start + i * width`, relative to the
/// beginning of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateSeries {
    /// Cycle of the first sample, relative to the beginning of the measurement (negative is before).
    pub start: i64,
    /// Cycles between samples.
    pub width: u64,
    /// What has the rates.
    pub flows: Vec<RatedFlow>,
    /// Shares of the link of the host; 1 without a limiter: row-major, samples x `flows`.
    pub rates: Vec<f64>,
    /// Windows in phits, the smallest one of a host, and the one with which a flow begins that has sent nothing: row-major,
    /// samples x `flows`. Empty if flows have none.
    #[serde(default)]
    pub windows: Vec<f64>,
}

/// A flow, or the slowest one of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RatedFlow {
    /// Host that sends.
    pub host: u32,
    /// Host to which it does; none for the slowest flow of the host.
    pub destination: Option<u32>,
}

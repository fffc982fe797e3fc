//! What the streams of the traffic did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Latency, SeriesColumns};

/// What one stream did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamOutcome {
    /// Name of the stream.
    pub name: String,
    /// Class of service.
    pub class: u8,
    /// Hosts that send it.
    pub hosts: u32,
    /// Loads, in phits per sending host and cycle.
    pub load: StreamLoad,
    /// The same as shares of the link of a host.
    pub link_share: StreamLoad,
    /// Its packets.
    pub packets: StreamPackets,
    /// Latency of the packets delivered in the measurement, in cycles.
    pub latency: Latency,
    /// The latency of each of them over what it would have been on the same path, had it never waited.
    pub slowdown: Slowdown,
    /// Packets delivered in the measurement, after a later one of the same source and destination.
    pub out_of_order: u64,
    /// Fraction of the packets delivered in the measurement.
    pub out_of_order_share: f64,
    /// By the cycle in which a packet was delivered, in the bins of the outcome's `series`, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesColumns>,
}

/// Loads of a stream over the measurement, whether it sends all the time or not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamLoad {
    /// What the spec asks for.
    pub offered: f64,
    /// What the hosts tried to generate.
    pub attempted: f64,
    /// What the destinations consumed.
    pub accepted: f64,
    /// Half-width of the 95% confidence interval of `accepted`.
    pub accepted_ci95: f64,
}

/// Packets of a stream, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamPackets {
    /// Entered an injection queue.
    pub generated: u64,
    /// Found the injection queue full.
    pub refused: u64,
    /// Consumed by their destination.
    pub delivered: u64,
    /// Lost for want of room.
    pub lost: u64,
    /// Delivered in the measurement: the sample behind `latency`.
    pub measured: u64,
}

/// Latencies over those of the same packets, had they never waited: 1 and more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowdown {
    /// Mean; 0 when nothing was delivered.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// Percentiles from a histogram.
    pub percentiles: Vec<SlowdownPercentile>,
}

/// One percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowdownPercentile {
    /// Percent of the packets that are not slower.
    pub percent: f64,
    /// Latency over that of the same packet, had it never waited; as exact as a percentile of the latency.
    pub ratio: f64,
}

/// What receiving hosts did to put packets in order, in the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResequencingUse {
    /// Packets of synthetic traffic that arrived.
    pub packets: u64,
    /// Packets that arrived after a later one of the same stream, source and destination.
    pub out_of_order: u64,
    /// Fraction of the packets.
    pub out_of_order_share: f64,
    /// Packets that had to wait for an earlier one.
    pub held: u64,
    /// Fraction of the packets.
    pub held_share: f64,
    /// Cycles that one of them waited, mean.
    pub wait_mean: f64,
    /// Phits that wait at a host, mean over hosts and time.
    pub buffer_mean: f64,
    /// Most phits that waited at one host.
    pub buffer_max: u32,
    /// Packets that found no room to wait, and were dropped.
    pub dropped: u64,
}

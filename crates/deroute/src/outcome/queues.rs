//! Queues in time.

use super::is_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lengths of queues in time. Sample `i` is taken at the beginning of cycle `start + i * width`, relative to the
/// beginning of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueSeries {
    /// Cycle of the first sample, relative to the beginning of the measurement (negative is before).
    pub start: i64,
    /// Cycles between samples.
    pub width: u64,
    /// The queues.
    pub places: Vec<QueuePlace>,
    /// Phits in them: row-major, samples x `places`.
    pub phits: Vec<u32>,
}

/// A queue of a port, or all queues of one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueuePlace {
    /// Router.
    pub router: u32,
    /// Its port.
    pub port: u32,
    /// Host to which the port leads, if it does.
    pub host: Option<u32>,
    /// Input buffer, or queue at the output.
    pub side: QueueSide,
    /// VC, or class of service of a queue at an output that is not one of a VC; none for all of the port.
    pub vc: Option<u32>,
    /// Phits that it can hold; none if that is not limited, or is not its own.
    pub capacity: Option<u32>,
    /// Phits from which on its sender is told to be silent; none if it never is.
    pub xoff: Option<u32>,
    /// Phits down to which its sender is told to go on.
    pub xon: Option<u32>,
}

/// Side of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueSide {
    /// What comes from the link waits for the crossbar.
    Input,
    /// What comes from the crossbar waits for the link.
    Output,
}

/// Pauses and losses of every link and VC. Bin `i` covers `[start + i * width, start + (i + 1) * width)` cycles
/// relative to the beginning of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PauseSeries {
    /// First cycle of the bins, relative to the beginning of the measurement (negative is before).
    pub start: i64,
    /// Cycles in a bin; 0 without a time series.
    pub width: u64,
    /// A row for each VC of each link, or for each link where the whole link is paused.
    pub rows: Vec<PauseRow>,
    /// Cycles of each bin in which the sender was told to be silent: row-major, bins x `rows`.
    pub paused: Vec<u32>,
}

/// What happened on a link in one direction, of one VC or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PauseRow {
    /// Router and output port that send; none if a host does.
    pub from: Option<[u32; 2]>,
    /// Router and input port that receive.
    pub to: [u32; 2],
    /// Host that sends, if one does.
    pub host: Option<u32>,
    /// VC; none for all of the link.
    pub vc: Option<u32>,
    /// Class of the link: an element of `flow_control.links`.
    pub class: u32,
    /// Frames that the receiver sent over the whole run, and those of them that told the sender to be silent.
    pub frames: u64,
    /// Frames that told the sender to be silent.
    pub stops: u64,
    /// Cycles of the measurement in which the sender was told to be silent.
    pub paused: u64,
    /// Most phits that the buffer held over the whole run.
    pub buffer_max: u32,
    /// Most of them that it held above XOFF.
    pub headroom_max: u32,
    /// Packets lost over the whole run for want of room.
    pub lost_packets: u64,
    /// Their phits.
    pub lost_phits: u64,
    /// Packets trimmed over the whole run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trimmed_packets: u64,
}

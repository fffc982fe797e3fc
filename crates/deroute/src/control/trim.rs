//! Trimming: what finds no room goes on as its header.
//!
//! # What it does
//! A packet is sent when its link is free. If the buffer at the other end does not hold it, its payload is
//! cut off there, and its header goes on in the class of the acknowledgements, which has a buffer of its
//! own. The receiving host asks for the packet, and its source sends it again
//! (`network.nic.retransmission`). A header that finds no room either is lost, and counted.
//!
//! # Source
//! Ultra Ethernet Specification 1.0, packet trimming; Handley et al., Re-architecting datacenter networks and
//! stacks for low latency and high performance (NDP), SIGCOMM 2017, where a header has 64 B.
//!
//! # Parameters
//! `header`: what is left of a packet, phits or an amount of data (default `"64 B"`), less than the largest
//! packet.
//!
//! # Deadlock freedom
//! Nothing waits for a buffer.
//!
//! # Limits
//! Headers take the path of notifications from where they were cut. By strict priority they pass all
//! data, if their class is the highest, as it is by default. A packet that is no larger than a header is
//! cut as well.
//!
//! # Example
//! ```toml
//! [network.flow_control.trim]
//! header = "64 B"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::headroom::PausePlan;
use super::lossy::{self, LossySpec};
use super::{ControlPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of trimming.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrimSpec {
    /// What is left of a packet: phits, or an amount of data. Default `"64 B"`.
    pub header: Quantity,
}

impl Default for TrimSpec {
    fn default() -> Self {
        Self { header: "64 B".into() }
    }
}

/// Buffers that nobody guards, and the phits of a header.
pub(crate) fn plan(spec: &TrimSpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    let path = format!("{}.trim.header", setting.path);
    let header = setting.scale.phits_up(&path, &spec.header)?;
    let largest = setting.largest;
    let fits = u16::try_from(header).ok().filter(|header| (1..largest).contains(header));
    let Some(header) = fits else {
        let message = format!("a header of {header} phits is no part of a packet of {largest}");
        let choices = [format!("1 to {} phits", largest.saturating_sub(1))];
        return Err(SpecError::new(path, message).choices(choices));
    };
    Ok(match lossy::plan(&LossySpec {}, setting)? {
        ControlPlan::Pause(plan) => ControlPlan::Pause(PausePlan { trim: Some(header), ..plan }),
        other => other,
    })
}

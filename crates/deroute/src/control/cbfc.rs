//! Credit-based flow control of Ethernet links (CBFC).
//!
//! # What it does
//! As with credits, the sender of each VC counts what is free in the buffer at the other end, and grants a
//! packet only if all of it has room there. The receiver counts all that has ever left the buffer, and sends
//! these counts in messages: one for all VCs of a link, as soon as one of them has grown, but not before
//! `interval` is over since the last. A message waits for the packet on the wire, goes before all others, and
//! takes its part of the link. One that is lost does no harm but delay, for the next one says the same and more.
//!
//! # Source
//! Ultra Ethernet Specification 1.0.2, 5.2; Kung, Blackwell and Chapman, Credit-Based Flow Control for ATM
//! Networks (SIGCOMM 1994), for cumulative counts.
//!
//! # Parameters
//! `interval` between messages of a link at the least, in cycles or as a time (required); `message` on the wire
//! with preamble and gap, in phits or as an amount of data (required); `cell` of the buffer, of which a packet
//! takes whole ones, in phits or as an amount of data (default: a phit); `lost_messages`, the share of messages
//! that are lost, drawn from random numbers of the link (default 0).
//!
//! # Deadlock freedom
//! That of the routing, as with credits.
//!
//! # Limits
//! A buffer must hold the largest packet in whole cells. A VC alone has the full rate of its link only with a
//! buffer of one round trip: the pipeline, both ways, the interval, the longest packet and the message on the way
//! back, and a packet. Priority flow control needs two: one to be sure, and one not to run dry. The outcome says
//! what a buffer sustains. A host with a link of its own sends while the credits of a class cover the largest packet.
//!
//! # Example
//! ```toml
//! [network.flow_control.cbfc]
//! interval = "100 ns"
//! message = "64 B"
//! cell = "256 B"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlPlan, LinkClass, Setting};
use crate::ids::Cycle;
use crate::spec::{Quantity, SpecError};

/// Parameters of credit-based flow control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbfcSpec {
    /// Time between messages of a link at the least: cycles or a time.
    pub interval: Quantity,
    /// A message on the wire: phits, or an amount of data.
    pub message: Quantity,
    /// What a buffer is made of; a packet takes whole ones: phits, or an amount of data. Default: one phit.
    #[serde(default = "phit", skip_serializing_if = "is_phit")]
    pub cell: Quantity,
    /// Share of messages that are lost, 0 or more and less than 1. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_messages: f64,
}

fn phit() -> Quantity {
    Quantity::Number(1)
}

fn is_phit(cell: &Quantity) -> bool {
    *cell == phit()
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// Credits that come back in messages, on the links of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MessagePlan {
    /// Phits that are counted as one.
    pub(crate) cell: u32,
    /// Phits of a message on the link that it takes.
    pub(crate) message: u32,
    /// Cycles between messages at the least.
    pub(crate) interval: Cycle,
    /// Share of messages that are lost.
    pub(crate) lost: f64,
    /// Phits of a buffer.
    pub(crate) buffer: u32,
    /// Phits, in whole cells, of the largest packet.
    pub(crate) largest: u32,
    /// Cycles until a credit is back, but for the pipeline of a switch: both ways, the interval, and the longest
    /// packet and the message on the way back.
    pub(crate) loop_delay: Cycle,
    /// Cycles of the largest packet on the link.
    pub(crate) duration: Cycle,
}

impl MessagePlan {
    /// Phits that a packet takes.
    #[inline]
    pub(crate) fn charge(&self, size: u32) -> u32 {
        size.div_ceil(self.cell) * self.cell
    }

    /// Share of the rate of its link that a VC alone has at the least, with switches of this pipeline.
    pub(crate) fn sustains(&self, pipeline: Cycle) -> f64 {
        let packets = f64::from(self.buffer / self.largest);
        (packets * f64::from(self.duration) / f64::from(self.loop_delay + pipeline)).min(1.0)
    }
}

/// Resolves the parameters, and checks the buffers.
pub(crate) fn plan(spec: &CbfcSpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    let (scale, at) = (setting.scale, |key: &str| format!("{}.cbfc.{key}", setting.path));
    let interval = scale.interval(&at("interval"), &spec.interval, 1)?;
    let message = scale.phits_up(&at("message"), &spec.message)?;
    let cell = scale.buffer(&at("cell"), &spec.cell)?;
    let largest = u64::from(setting.largest).div_ceil(cell.into()) * u64::from(cell);
    if largest > u64::from(u16::MAX) {
        let message = format!("{cell} phits are no cell: the largest packet would take {largest}");
        return Err(SpecError::new(at("cell"), message).choices(["less", "\"256 B\""]));
    }
    if !(0.0..1.0).contains(&spec.lost_messages) {
        let message = format!("{} is no share of messages", spec.lost_messages);
        return Err(SpecError::new(at("lost_messages"), message).choices(["0 or more, below 1"]));
    }
    let link = setting.link.unwrap_or(LinkClass {
        latency: 0,
        vcs: 1,
        buffer: u32::MAX,
        shared: 0,
        period: 1,
    });
    if message >= u64::from(interval / link.period) {
        let message = format!(
            "a message of {message} phits in every {interval} cycles leaves nothing of a link on which a \
             phit takes {} cycles",
            link.period
        );
        let choices = ["a longer interval", "a shorter message"];
        return Err(SpecError::new(at("interval"), message).choices(choices));
    }
    if link.shared > 0 {
        let path = format!("{}.shared", setting.at);
        let message = "counts in messages are those of buffers that a VC has for itself";
        return Err(SpecError::new(path, message).choices(["nothing", "a larger `buffer`"]));
    }
    let (message, largest) = (message as u32, largest as u32);
    if link.buffer < largest {
        let path = format!("{}.buffer", setting.at);
        let message =
            format!("{} phits do not hold the largest packet, {largest} in cells", link.buffer);
        return Err(SpecError::new(path, message).choices([format!("at least {largest} phits")]));
    }
    let (longest, period) = (u32::from(setting.largest), link.period);
    Ok(ControlPlan::Messages(MessagePlan {
        cell,
        message,
        interval,
        lost: spec.lost_messages,
        buffer: link.buffer,
        largest,
        loop_delay: 2 * link.latency + interval + (longest + message) * period,
        duration: longest * period,
    }))
}

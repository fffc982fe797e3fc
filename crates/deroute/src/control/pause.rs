//! PAUSE of the whole link.
//!
//! # What it does
//! The VCs of a port share its memory, that of all their buffers together. When it holds more than
//! `xoff`, its receiver tells the sender to be silent on the whole link, and to go on when it holds no
//! more than `xon`. The frame that says so waits for the packet on the wire, and goes before all others.
//!
//! # Source
//! IEEE 802.3x (annex 31B); thesis 2.4.2.
//!
//! # Parameters
//! `xoff` and `xon` of a port, in phits or as amounts of data (default: `xoff` leaves the headroom, `xon`
//! is two of the largest packets less); `response` of the sender, in cycles or as a time (default: the
//! limit of IEEE 802.1Qbb for the next rate that it has: 60, 80, 118, 394, 905 quanta of 512 bits at
//! 10, 25, 40, 100, 400 Gb/s); `phy_delay` of each end (default 0); `frame` on the wire (default 84 B,
//! with preamble and gap); `quanta` that a pause lasts, which is then renewed at half time (default:
//! until further notice); `lossy` to allow limits by which packets can be lost (default false);
//! `shared_buffer`, memory that the ports of a switch share (default: none).
//!
//! # Deadlock freedom
//! That of a routing without VCs: whoever is silent waits for the buffer at the other end, as one
//! without credits does, but VCs that are silenced together do not part what waits. Trees are free of
//! deadlock; a Dragonfly whose VCs break its cycles is not. The watchdog and `checks.dependencies` take the
//! VCs of a link for one.
//!
//! # Limits
//! The headroom above `xoff` is a packet that is on the wire back when the frame is to be sent, the
//! frame, both ways, the response, and a packet that has begun; a buffer that cannot have it is refused
//! unless `lossy`, and so are `quanta` that may be over before they are renewed. A packet counts with all its phits from the arrival of its first one. Hosts never
//! pause their router, and are paused only if they have a link of their own (`network.nic.link`).
//!
//! # Example
//! ```toml
//! [network.flow_control.pause]
//! xoff = "86 KB"
//! xon = "84 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::headroom::Pauses;
use super::memory::SharedBufferSpec;
use super::{ControlPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of PAUSE of the whole link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PauseSpec {
    /// The sender is told to be silent when the buffer holds more than this: phits, or an amount of
    /// data. Default: what leaves the headroom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Quantity>,
    /// It is told to go on when the buffer holds no more than this. Default: two of the largest
    /// packets less than `xoff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Quantity>,
    /// Time from the arrival of a frame to its effect: cycles or a time. Default: the limit of IEEE
    /// 802.1Qbb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Quantity>,
    /// Delay of the physical layer at each end: cycles or a time. Default 0.
    pub phy_delay: Quantity,
    /// A pause frame on the wire: phits, or an amount of data. Default `"84 B"`.
    pub frame: Quantity,
    /// Quanta of 512 bit times that a pause lasts, 1 to 65535. Default: until further notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<u32>,
    /// Packets may be lost: they are counted. Default `false`.
    pub lossy: bool,
    /// Memory that the ports of a switch share beyond `xoff`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferSpec>,
}

impl Default for PauseSpec {
    fn default() -> Self {
        Self {
            xoff: None,
            xon: None,
            response: None,
            phy_delay: Quantity::Number(0),
            frame: "84 B".into(),
            quanta: None,
            lossy: false,
            shared_buffer: None,
        }
    }
}

/// Resolves the limits.
pub(crate) fn plan(spec: &PauseSpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    let pauses = Pauses {
        path: "network.flow_control.pause",
        xoff: &spec.xoff,
        xon: &spec.xon,
        response: &spec.response,
        phy_delay: &spec.phy_delay,
        frame: &spec.frame,
        quanta: spec.quanta,
        lossy: spec.lossy,
        whole_link: true,
        shared: &spec.shared_buffer,
    };
    Ok(ControlPlan::Pause(pauses.plan(setting)?))
}

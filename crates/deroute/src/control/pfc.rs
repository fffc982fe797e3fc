//! Priority flow control (PFC).
//!
//! # What it does
//! Every VC of a link is a priority. When the buffer of a VC holds more than `xoff`, its receiver tells
//! the sender to be silent on that VC, and to go on when it holds no more than `xon`. The frame that
//! says so waits for the packet on the wire, and goes before all others.
//!
//! # Source
//! IEEE 802.1Qbb; thesis 2.4.2; the CEE paper, II.B.
//!
//! # Parameters
//! `xoff` and `xon` of a VC, in phits or as amounts of data (default: `xoff` leaves the headroom, `xon`
//! is two of the largest packets less); `response` of the sender, in cycles or as a time (default: the
//! limit of IEEE 802.1Qbb for the next rate that it has: 60, 80, 118, 394, 905 quanta of 512 bits at
//! 10, 25, 40, 100, 400 Gb/s); `phy_delay` of each end (default 0); `frame` on the wire (default 84 B,
//! with preamble and gap); `quanta` that a pause lasts, which is then renewed at half time (default:
//! until further notice); `lossy` to allow limits by which packets can be lost (default false);
//! `shared_buffer`, memory that the ports of a switch share (default: none).
//!
//! # Deadlock freedom
//! That of the routing: whoever is silent waits for the buffer at the other end, as one without
//! credits does. Each VC has an output buffer of its own, so that none waits for another's pause.
//!
//! # Limits
//! The headroom above `xoff` is a packet that is on the wire back when the frame is to be sent, the
//! frame and one of each other VC, both ways, the response, and a packet that has begun; a buffer that
//! cannot have it is refused unless `lossy`, and so are `quanta` that may be over before they are renewed. A packet counts with all its phits from the arrival of its first one. Hosts never
//! pause their router, and are paused only if they have a link of their own (`network.nic.link`).
//!
//! # Example
//! ```toml
//! [network.flow_control.pfc]
//! xoff = "86 KB"
//! xon = "84 KB"
//! ```

use super::headroom::{PauseParameters, Pauses};
use super::{ControlPlan, Setting};
use crate::spec::SpecError;

/// Parameters of Priority flow control.
pub type PfcSpec = PauseParameters;

/// Resolves the limits.
pub(crate) fn plan(spec: &PfcSpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    Ok(ControlPlan::Pause(Pauses::new(spec, ("pfc", false), setting).plan(setting)?))
}

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

use super::headroom::{PauseParameters, Pauses};
use super::{ControlPlan, Setting};
use crate::spec::SpecError;

/// Parameters of PAUSE of the whole link.
pub type PauseSpec = PauseParameters;

/// Resolves the limits.
pub(crate) fn plan(spec: &PauseSpec, setting: &Setting<'_>) -> Result<ControlPlan, SpecError> {
    Ok(ControlPlan::Pause(Pauses::new(spec, ("pause", true), setting).plan(setting)?))
}

//! DCTCP (Data Center TCP): a window that is cut by the fraction of packets that are marked.
//!
//! # What it does
//! A flow begins with `initial_window` and adds what is acknowledged (slow start) until the first cut; later it adds a
//! packet in each window (congestion avoidance). Once in each window of data, alpha = (1 - `gain`) alpha + `gain` F,
//! where F is the fraction of what was acknowledged since the last time that was marked; alpha begins with 1. The first
//! marked packet takes alpha / 2 off the window, no later one does until all that was under way then is acknowledged.
//! A packet that its receiver asks for takes the half, once in the same time; one whose time is over leaves one packet,
//! and slow start to the half. A cut leaves two packets.
//!
//! # Source
//! RFC 8257, 3.3 to 3.5; Alizadeh et al., Data center TCP (DCTCP), SIGCOMM 2010. Slow start, congestion avoidance and the
//! window of two packets: RFC 5681, 3.1. The initial window: RFC 6928. Every packet is acknowledged on its own, so that a
//! receiver has nothing to remember.
//!
//! # Parameters
//! `largest_window` (required), of the receiver: phits or data. `initial_window`: likewise (default: ten of the largest
//! packets of the run, or `largest_window`). `gain`, above 0, up to 1 (default 1/16).
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`) and marks (`network.congestion_point.ecn`; the source has a step:
//! `kmin` and `kmax` the same). Where packets can be lost it needs `network.nic.retransmission`.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.dctcp]
//! largest_window = "256 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DctcpPlan, Law, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DctcpSpec {
    /// Largest window, that of the receiver: phits, or an amount of data.
    pub largest_window: Quantity,
    /// Window with which a flow begins: phits, or an amount of data. Default: ten of the largest packets of the run, or
    /// the largest window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Quantity>,
    /// Weight of a window of data in alpha, above 0, up to 1. Default 1/16.
    #[serde(default = "sixteenth")]
    pub gain: f64,
}

fn sixteenth() -> f64 {
    1.0 / 16.0
}

const PATH: &str = "network.nic.reaction_point.dctcp";

/// Packets of the default initial window.
const INITIAL: u32 = 10;

/// Resolves the parameters.
pub(crate) fn plan(spec: &DctcpSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    setting.marked(PATH)?;
    let at = |key: &str| format!("{PATH}.{key}");
    let most = setting.window(&at("largest_window"), &spec.largest_window)?;
    let initial = match &spec.initial_window {
        None => most.min(INITIAL * u32::from(setting.largest)),
        Some(given) => setting.window(&at("initial_window"), given)?,
    };
    if initial > most {
        let message = format!("{initial} phits are more than the largest window");
        return Err(SpecError::new(at("initial_window"), message)
            .choices([format!("{} to {most}", setting.largest)]));
    }
    Ok(ReactionPlan::of_destinations(Law::Dctcp(DctcpPlan {
        packet: setting.largest.into(),
        initial: initial.into(),
        most: most.into(),
        gain: super::share(&at("gain"), spec.gain)?,
    })))
}

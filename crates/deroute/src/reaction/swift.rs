//! Swift: a window that follows the delay of acknowledgements.
//!
//! # What it does
//! The round trip of a packet, from the cycle in which it leaves its host to the last phit of its
//! acknowledgement, is held against a target. Below it a window of w packets grows by `increase` / w for
//! each packet acknowledged, below one packet by `increase`; at or above it, at most once in a round trip,
//! it shrinks by the share `decrease` (delay - target) / delay, but by no more than `most_cut`. The target is
//! `target`, and `hop` for each link between switches on the way, and with `flow_scaling`
//! a / sqrt(w) - b between 0 and `range`, where a and b make it 0 for `most` packets and `range` for `least`.
//! A window of less than a packet lets one packet leave in each round trip / w. A packet that is lost cuts the
//! window by `most_cut`, at most once in a round trip; after five timeouts in a row, as in htsim, it is the smallest.
//!
//! # Source
//! Kumar et al., Swift: delay is simple and effective for congestion control in the datacenter, SIGCOMM
//! 2020, algorithm 1 and 3.1 to 3.5. A cut begins its round trip; the printed line would also have
//! acknowledgements that change nothing begin one.
//!
//! # Parameters
//! No defaults where the values of deployments are not published: `target`, a time; `increase`, in packets;
//! `decrease` and `most_cut`, shares; `least_window` and `largest_window`, phits or data, between which the
//! window stays; a flow begins with the largest. `hop`: a time (default none). `flow_scaling`: `range`, a time,
//! `least` and `most`, in packets (default none). A packet is the largest one of the run.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), and receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`). Where packets can be lost it needs
//! `network.nic.retransmission`. Hosts take what arrives at once: there is no window for endpoints.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.swift]
//! target = "25 us"
//! increase = 1.0
//! decrease = 0.8
//! most_cut = 0.5
//! least_window = "100 B"
//! largest_window = "100 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Law, ReactionPlan, Setting, SwiftPlan};
use crate::spec::{Quantity, SpecError};

/// Parameters of Swift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwiftSpec {
    /// Round trip that it aims at: cycles, or a time.
    pub target: Quantity,
    /// Packets by which a window grows in a round trip below the target.
    pub increase: f64,
    /// Share of the excess delay by which a window shrinks, 0 to 1.
    pub decrease: f64,
    /// Share of a window that a cut takes at the most, 0 to 1.
    pub most_cut: f64,
    /// Smallest window, which may be less than a packet: phits, or an amount of data.
    pub least_window: Quantity,
    /// Largest window, with which a flow begins: phits, or an amount of data.
    pub largest_window: Quantity,
    /// What each link between switches adds to the target. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop: Option<Quantity>,
    /// What small windows add to the target. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_scaling: Option<FlowScaling>,
}

/// What small windows add to the target of Swift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowScaling {
    /// The most: cycles, or a time.
    pub range: Quantity,
    /// Packets of the window that adds the most.
    pub least: f64,
    /// Packets of the window that adds nothing.
    pub most: f64,
}

const PATH: &str = "network.nic.reaction_point.swift";

/// Resolves the parameters.
pub(crate) fn plan(spec: &SwiftSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    let at = |key: &str| format!("{PATH}.{key}");
    let time = |key: &str, time: &Quantity| -> Result<f64, SpecError> {
        Ok(f64::from(setting.scale.duration(&at(key), time)?))
    };
    let most = f64::from(setting.window(&at("largest_window"), &spec.largest_window)?);
    let least = setting.scale.phits_down(&at("least_window"), &spec.least_window)?;
    if !(1..=most as u64).contains(&least) {
        let message = format!("{least} phits are no smallest window");
        let choices = [format!("1 to those of the largest, {most}")];
        return Err(SpecError::new(at("least_window"), message).choices(choices));
    }
    let scaling = match &spec.flow_scaling {
        None => (0.0, 0.0, 0.0),
        Some(scaling) => {
            let FlowScaling { range, least, most } = scaling;
            let range = time("flow_scaling.range", range)?;
            if !(0.0 < *least && least < most && most.is_finite()) {
                let message = format!("{least} to {most} packets are no range");
                return Err(SpecError::new(at("flow_scaling"), message)
                    .choices(["least above 0 and below most"]));
            }
            let a = range / (least.sqrt().recip() - most.sqrt().recip());
            (range, a, a / most.sqrt())
        }
    };
    Ok(ReactionPlan::of_destinations(Law::Swift(SwiftPlan {
        target: time("target", &spec.target)?,
        hop: spec.hop.as_ref().map_or(Ok(0.0), |hop| time("hop", hop))?,
        scaling,
        increase: super::positive(&at("increase"), spec.increase)?,
        decrease: super::share(&at("decrease"), spec.decrease)?,
        most_cut: super::share(&at("most_cut"), spec.most_cut)?,
        packet: setting.largest.into(),
        least: least as f64,
        most,
        period: f64::from(period),
    })))
}

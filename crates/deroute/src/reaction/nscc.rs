//! Network signaled congestion control (NSCC) of Ultra Ethernet.
//!
//! # What it does
//! Each acknowledgement says whether its packet was marked, and how much longer than `base_rtt` its round
//! trip took: its queueing delay. Unmarked and below `target`, the window grows in proportion to what is
//! missing to the target; unmarked and above, by a fair share; marked and above, at most once in
//! `base_rtt`, it shrinks by 0.8 of the excess of the mean delay, no more than a half; marked and below,
//! nothing: another path will do. Increases are summed and take effect after 8 packets or `base_rtt`, each
//! of the latter with a small increase for all. Unmarked and with hardly any delay for a window's worth, it
//! grows by a quarter of what is acknowledged (fast increase). Where little has come in a round trip and the delay is
//! beyond four targets or a packet was lost, the window becomes what has come (quick adapt), and marked acknowledgements
//! and losses of what was under way are ignored. Any other loss takes its packet off the window. A shorter round trip than `base_rtt` takes its place for its flow.
//!
//! # Source
//! Ultra Ethernet Specification 1.0, NSCC; constants and order of the rules as in uet-htsim, commit 40ccb05,
//! `sim/uec.cpp`: steps in parts of a round trip of 12 us at 100 Gb/s.
//!
//! # Parameters
//! `base_rtt`: the longest round trip without queues, a time; no default. `target`: queueing delay, a time
//! (default `base_rtt`, and 0.75 of it where switches trim packets). `quick_adapt` (default true). A window begins at its largest,
//! 1.5 times what the link of a host sends in `base_rtt`, and is never below the largest packet of the run.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`) and marks (`network.congestion_point.ecn`; the source
//! marks between 0.2 and 0.8 of what a link sends in `base_rtt`). Paths are those of `network.nic.entropy`.
//! Where packets can be lost it needs `network.nic.retransmission`.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.nscc]
//! base_rtt = "6 us"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Law, NsccPlan, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of NSCC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NsccSpec {
    /// Longest round trip without queues: cycles, or a time.
    pub base_rtt: Quantity,
    /// Queueing delay that it aims at: cycles, or a time. Default: that of `base_rtt`, or 0.75 of it with trimming.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Quantity>,
    /// Sets the window to what has come when little does. Default true.
    #[serde(default = "yes")]
    pub quick_adapt: bool,
}

fn yes() -> bool {
    true
}

const PATH: &str = "network.nic.reaction_point.nscc";

/// The target with trimming, in round trips.
const TRIMMING: f64 = 0.75;

/// Resolves the parameters.
pub(crate) fn plan(spec: &NsccSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    setting.marked(PATH)?;
    let scale = &setting.scale;
    let time = |key: &str, time: &Quantity| -> Result<f64, SpecError> {
        Ok(f64::from(scale.duration(&format!("{PATH}.{key}"), time)?))
    };
    let base_rtt = time("base_rtt", &spec.base_rtt)?;
    let usual = if setting.trims { TRIMMING * base_rtt } else { base_rtt };
    let target = spec.target.as_ref().map_or(Ok(usual), |target| time("target", target))?;
    // 12 us at 100 Gb/s.
    let reference = (12_000.0 / scale.cycle_ns(), 150_000.0 / scale.phit_bytes());
    let link = (f64::from(setting.largest), f64::from(period).recip());
    let mut plan = NsccPlan::new((base_rtt, target), link, reference, 1_000.0 / scale.cycle_ns());
    plan.quick_adapt = spec.quick_adapt;
    Ok(ReactionPlan::of_destinations(Law::Nscc(plan)))
}

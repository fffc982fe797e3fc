//! Reaction point of HPCC (high precision congestion control): windows by in-band telemetry.
//!
//! # What it does
//! Each flow has a window W, the data of its link in `base_rtt` at first, and a rate, W over `base_rtt`. An
//! acknowledgement brings back what its packet has met at each output. With what the one before it brought, that gives
//! the use of each link: the shorter of both queues over what the link carries in `base_rtt`, plus the share of the time
//! between both in which it was busy. U follows the largest of the uses, with the weight of that time in `base_rtt`. Where
//! U is `utilisation` or more, or after `stages` round trips with less, W is W_c `utilisation` / U + `increase`; otherwise
//! W_c + `increase`. W_c becomes W once a round trip: with the acknowledgement of the first packet that was sent after the
//! last time.
//!
//! # Source
//! Li et al., HPCC: High precision congestion control, SIGCOMM 2019, algorithm 1 and 3.3.
//!
//! # Parameters
//! `base_rtt` (required): round-trip time of an idle network, the longest there is; `increase` (required), W_AI, in phits or
//! as an amount of data: of the data of the link in `base_rtt` the 20th part, 1 - `utilisation`, over as many flows as are
//! expected to share a link; `utilisation` eta (default 0.95); `stages` (default 5).
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`), and switches that write what packets meet
//! (`network.congestion_point.int`). Packets of a flow that take different paths tell of different links: each tells only
//! by the packet before it that took the same. A window is no less than `increase`, and one packet may always be under way.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.hpcc]
//! base_rtt = "13 us"
//! increase = "80 B"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HpccPlan, Law, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of the reaction point of HPCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HpccSpec {
    /// Round-trip time of an idle network: cycles or a time.
    pub base_rtt: Quantity,
    /// Step of the window: phits, or an amount of data.
    pub increase: Quantity,
    /// Use of links that flows aim at, above 0, up to 1. Default 0.95.
    #[serde(default = "utilisation")]
    pub utilisation: f64,
    /// Round trips in which a window only takes steps, from 0. Default 5.
    #[serde(default = "stages")]
    pub stages: u32,
}

fn utilisation() -> f64 {
    0.95
}

fn stages() -> u32 {
    5
}

const PATH: &str = "network.nic.reaction_point.hpcc";

/// Resolves the parameters.
pub(crate) fn plan(spec: &HpccSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = f64::from(setting.host_period(PATH)?);
    setting.acknowledged(PATH)?;
    if !setting.telemetry {
        let message = "no switch writes what packets meet";
        return Err(SpecError::new(PATH, message).choices(["network.congestion_point.int"]));
    }
    let at = |key: &str| format!("{PATH}.{key}");
    if !(spec.utilisation > 0.0 && spec.utilisation <= 1.0) {
        let message = format!("{} is no use of a link", spec.utilisation);
        return Err(SpecError::new(at("utilisation"), message).choices(["above 0, up to 1"]));
    }
    let base = f64::from(setting.scale.duration(&at("base_rtt"), &spec.base_rtt)?);
    let increase = setting.cycle_of_phits(&at("increase"), &spec.increase)?;
    let most = base / period;
    if increase > most {
        let message = format!("{increase} phits are more than the link carries in base_rtt");
        return Err(SpecError::new(at("increase"), message).choices([format!("up to {most:.0}")]));
    }
    let HpccSpec { utilisation, stages, .. } = *spec;
    let plan = HpccPlan { base, most, increase, utilisation, stages };
    Ok(ReactionPlan::of_destinations(Law::Hpcc(plan)))
}

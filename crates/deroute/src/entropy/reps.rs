//! Recycled entropies packet spraying (REPS).
//!
//! # What it does
//! A packet that arrives without a mark took a path that is not congested: its acknowledgement brings its
//! entropy back, and the host keeps the last `recycled` of them for each destination, of which each packet
//! takes the oldest. Where none is kept, a packet gets one of `values` entropies at random. When a packet is not
//! acknowledged in time, a path is taken to be broken: for `freeze`, packets to that destination take the last `recycled`
//! entropies that came back in turn, once more each. Then these are forgotten, and 16 packets get entropies at random.
//!
//! # Source
//! Bonato et al., REPS: Recycling Entropies for Packet Spraying to Adaptively Explore Paths and Mitigate
//! Failures, arXiv 2407.21625 (2024). Freezing: `htsim/sim/uec_mp.cpp` of spcl/HTSIM, commit 8a33f33, which freezes only
//! where switches trim: a timeout then tells of a failure, not of a full queue.
//!
//! # Parameters
//! `values`, 1 to 65536 (default 65536); `recycled`, 1 to 16 (default 8); `freeze`, a time (default 10 ms where switches
//! trim packets, and none elsewhere).
//!
//! # Limits
//! Needs a routing that draws paths, as `flow` does, receivers that acknowledge every packet
//! (`network.nic.notification_point.acknowledgement`) and marks (`network.congestion_point.ecn`); `freeze` needs timeouts
//! (`network.nic.retransmission`).
//!
//! # Example
//! ```toml
//! [network.nic.entropy.reps]
//! recycled = 8
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EntropyPlan, MOST, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of recycled entropies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepsSpec {
    /// Different values, 1 to 65536. Default 65536.
    pub values: u32,
    /// Values that are kept for a destination, 1 to 16. Default 8.
    pub recycled: u8,
    /// Time after a timeout in which values that came back are used again and no new ones: cycles or a time. Default
    /// `"10 ms"` where switches trim packets, and none elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Quantity>,
}

impl Default for RepsSpec {
    fn default() -> Self {
        Self { values: MOST, recycled: 8, freeze: None }
    }
}

const PATH: &str = "network.nic.entropy.reps";

/// The default of `freeze` where switches trim packets.
const FREEZE: &str = "10 ms";

/// Resolves the parameters.
pub(crate) fn plan(spec: &RepsSpec, setting: &Setting<'_>) -> Result<EntropyPlan, SpecError> {
    super::check(setting.routing)?;
    let values = super::values(&format!("{PATH}.values"), spec.values)?;
    if !(1..=16).contains(&spec.recycled) {
        let message = format!("{} is no number of values that are kept", spec.recycled);
        return Err(SpecError::new(format!("{PATH}.recycled"), message).choices(["1 to 16"]));
    }
    if !setting.acknowledged {
        let message = "no host would ever learn which packets came without a mark";
        let choices = ["network.nic.notification_point.acknowledgement"];
        return Err(SpecError::new(PATH, message).choices(choices));
    }
    if !setting.marked {
        let message = "no packet would ever be marked";
        return Err(SpecError::new(PATH, message).choices(["network.congestion_point.ecn"]));
    }
    if spec.freeze.is_some() && !setting.resends {
        let message = "no host would ever find that a packet is late";
        let choices = ["network.nic.retransmission"];
        return Err(SpecError::new(format!("{PATH}.freeze"), message).choices(choices));
    }
    let usual = (setting.trims && setting.resends).then(|| Quantity::from(FREEZE));
    let freeze = spec.freeze.as_ref().or(usual.as_ref());
    let freeze = freeze.map(|time| setting.scale.duration(&format!("{PATH}.freeze"), time));
    Ok(EntropyPlan { values, recycled: spec.recycled, freeze: freeze.transpose()? })
}

//! Explicit congestion notification (ECN).
//!
//! # What it does
//! A packet that leaves a switch is marked with a probability that follows from the phits that it leaves
//! behind in the queues of its class at its output: 0 up to `kmin`, then growing linearly to `pmax` at
//! `kmax`, and 1 beyond. Every output has a random stream of its own. A mark stays to the end of the path.
//! Packets are counted as they leave, by output and class, and marks again where they are delivered.
//!
//! # Source
//! RFC 3168; the profile: Zhu et al., Congestion control for large-scale RDMA deployments (DCQCN),
//! SIGCOMM 2015; at the departure: Wu et al., CoNEXT 2012.
//!
//! # Parameters
//! `kmin` and `kmax` in phits or as amounts of data (required; 5 KB and 200 KB in DCQCN, at 40 Gb/s; both
//! the same is a step); `pmax`, a probability (default 0.01, as in DCQCN).
//!
//! # Limits
//! All packets can be marked. Only what waits at an output counts, behind the crossbar: a switch that has
//! no queues there is refused. Receivers tell sources of marks if they have a notification point
//! (`network.nic.notification_point`).
//!
//! # Example
//! ```toml
//! [network.congestion_point.ecn]
//! kmin = "5 KB"
//! kmax = "200 KB"
//! pmax = 0.01
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionPlan, MarkPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of explicit congestion notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnSpec {
    /// Longest queue behind a packet by which it is never marked: phits, or an amount of data.
    pub kmin: Quantity,
    /// Queue beyond which every packet is marked: phits, or an amount of data, at least `kmin`.
    pub kmax: Quantity,
    /// Probability of a mark at `kmax`, 0 to 1. Default 0.01.
    #[serde(default = "percent")]
    pub pmax: f64,
}

fn percent() -> f64 {
    0.01
}

/// Resolves the parameters.
pub(crate) fn plan(spec: &EcnSpec, setting: &Setting) -> Result<CongestionPlan, SpecError> {
    let path = "network.congestion_point.ecn";
    if !setting.output_queues {
        let message = "marks follow from the queues at the outputs, and this switch has none";
        let choices = ["combined_queued", "output_queued", "input_buffered_output_queued"];
        return Err(SpecError::new(path, message).choices(choices));
    }
    let phits = |key: &str, quantity: &Quantity| {
        let path = format!("{path}.{key}");
        let phits = setting.scale.phits_up(&path, quantity)?;
        u32::try_from(phits).ok().filter(|phits| *phits < 1 << 30).ok_or_else(|| {
            let message = format!("{phits} phits is out of range");
            SpecError::new(path, message).choices(["0 to 1073741823 phits"])
        })
    };
    let (kmin, kmax) = (phits("kmin", &spec.kmin)?, phits("kmax", &spec.kmax)?);
    if kmin > kmax {
        let message = format!("{kmin} phits are more than kmax = {kmax}");
        let choices = [format!("at most {kmax} phits")];
        return Err(SpecError::new(format!("{path}.kmin"), message).choices(choices));
    }
    if !(0.0..=1.0).contains(&spec.pmax) {
        let message = format!("{} is no probability", spec.pmax);
        return Err(SpecError::new(format!("{path}.pmax"), message).choices(["0 to 1"]));
    }
    // Exact: scaling by a power of two does not round.
    let pmax = (spec.pmax * 2f64.powi(32)) as u64;
    Ok(CongestionPlan::Mark(MarkPlan { kmin, kmax, pmax }))
}

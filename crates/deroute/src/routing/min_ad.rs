//! Minimal adaptive routing (MIN-AD).
//!
//! # What it does
//! In every router a packet takes the dimension, of those in which it is not aligned with its
//! destination, whose port towards the destination's coordinate has the least queue; ties at random.
//! OmniWAR without deroutes.
//!
//! # Source
//! McDonald et al., "Practical and efficient incremental adaptive routing for HyperX networks", SC 2019,
//! 2.2 and 6.1.
//!
//! # Parameters
//! `queue` (default `vc`): what the queue of a port measures. `redecide` (default false): decide again in
//! every cycle in which a head is blocked.
//!
//! # Deadlock freedom
//! Distance classes: the n-th hop takes the n-th of N classes of VCs, for N dimensions.
//!
//! # Limits
//! As all shortest paths: a complement along one dimension of width w leaves 1/w of the load.
//!
//! # Example
//! ```toml
//! [routing.min_ad]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::omniwar::{self, OmniWarSpec};
use super::{Fabric, Plan, require_lattice};
use crate::spec::{QueueMetric, SpecError};

/// Parameters of minimal adaptive routing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MinAdSpec {
    /// What the queue of a port measures. Default `vc`.
    pub queue: QueueMetric,
    /// Decide again in every cycle in which a head is blocked, in every router. Default `false`: decide
    /// once, when the packet becomes the head of its queue.
    pub redecide: bool,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice.
pub fn plan(spec: &MinAdSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let lattice = require_lattice(fabric, "routing.min_ad")?;
    let MinAdSpec { queue, redecide } = *spec;
    let straight = OmniWarSpec { deroutes: Some(0), queue, redecide, ..Default::default() };
    omniwar::incremental(&straight, true, (fabric, lattice))
}

//! Hashed routing up a fat tree (ECMP).
//!
//! # What it does
//! A hash of source and destination host chooses the port that leads up at every level, so that all
//! packets of a flow take one path and different flows different ones.
//!
//! # Source
//! Hopps, RFC 2992; Crisan, Gusat and Minkenberg III-C.
//!
//! # Parameters
//! `seed` of the hash (default 0).
//!
//! # Deadlock freedom
//! Up and then down, on one VC.
//!
//! # Limits
//! Needs a fat tree. Flows that share a link go on sharing it.
//!
//! # Example
//! ```toml
//! [routing.ecmp]
//! seed = 1
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::upward::{self, Climb, Rise};
use super::{Fabric, Header, Memo, Plan, RouterView};
use crate::rng::mix;
use crate::spec::SpecError;
use crate::state::{State, state};
use crate::topology::Tree;

/// Parameters of hashed routing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcmpSpec {
    /// Seed of the hash. Default 0.
    pub seed: u64,
}

struct Ecmp {
    seed: u64,
}

impl State for Ecmp {
    state! { leave seed; }
}

impl Climb for Ecmp {
    #[inline]
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        header: &mut Header,
        rise: Rise,
    ) -> u32 {
        let flow = match header.memo() {
            Memo::FlowHash(hash) => hash,
            _ => {
                let flow = u64::from(upward::source(tree, view)) << 32 | u64::from(rise.host);
                let hash = mix(self.seed ^ mix(flow)) as u32;
                header.remember(Memo::FlowHash(hash));
                hash
            }
        };
        let hash = mix((rise.level as u64) << 32 | u64::from(flow)) >> 32;
        ((hash * u64::from(rise.ups)) >> 32) as u32
    }
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no fat tree.
pub fn plan(spec: &EcmpSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let seed = spec.seed;
    upward::plan(fabric, "routing.ecmp", move |_, _, _| Ecmp { seed })
}

//! Valiant routing (VLB) with four phase-A policies.
//!
//! # What it does
//! Draws a random intermediate router at the head of the injection queue; the packet goes there
//! minimally (phase A) and on to its destination minimally (phase B). If the draw is the source or
//! the destination router, the path is minimal.
//!
//! # Source
//! Thesis 2.3.2 and Table 5-1.
//!
//! # Parameters
//! `phase_a`: which routers may be drawn. `lgl` (default) any router of any other group, `lg-` the
//! landing router in any other group, `-gl` any router of the groups wired to the source router,
//! `-g-` the landing routers of its own global links. `own_group` (default true): `lgl` may draw
//! the source group as well; the other policies never do. The destination group may always be
//! drawn. `vc_use`: see the topology.
//!
//! # Deadlock freedom
//! Places l1 g1 l2 | l3 g2 l4; a Dragonfly needs 4 local and 2 global VCs.
//!
//! # Limits
//! Throughput is at most about one half. Without l2, ADV+h saturates at 2/(2h+1); without l1, ADVC
//! is unfair to the router that owns the minimal links.
//!
//! # Example
//! ```toml
//! [routing.valiant]
//! phase_a = "-gl"
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Header, Plan, RouterView, Routing, divert, follow, require_intermediates};
use crate::spec::{PhaseA, SpecError, VcUse};
use crate::topology::{Hop, Topology};

/// Parameters of Valiant's routing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ValiantSpec {
    /// Which routers may be the intermediate one. Default `lgl`.
    pub phase_a: PhaseA,
    /// `lgl` may also draw a router of the source group (thesis Table 5-1, note 3). Default `true`;
    /// FOGSim's default is `false`.
    pub own_group: bool,
    /// How the VC follows from the place on the path. Default `path-position`.
    pub vc_use: VcUse,
}

impl Default for ValiantSpec {
    fn default() -> Self {
        Self { phase_a: PhaseA::Lgl, own_group: true, vc_use: VcUse::PathPosition }
    }
}

struct Valiant {
    topology: Arc<dyn Topology>,
    spec: ValiantSpec,
}

pub fn plan(spec: &ValiantSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    require_intermediates(fabric, "routing.valiant")?;
    let (topology, spec) = (Arc::clone(&fabric.topology), spec.clone());
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        Box::new(Valiant { topology: Arc::clone(&topology), spec: spec.clone() })
    });
    Ok(Plan { agent, nonminimal: true })
}

impl Routing for Valiant {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.place == 0 {
            let ValiantSpec { phase_a: policy, own_group, .. } = self.spec;
            let drawn = self.topology.intermediate(policy, own_group, view.router, view.rng);
            divert(header, view.router, drawn.unwrap_or(view.router), policy.into());
        }
        follow(&*self.topology, view.router, header, self.spec.vc_use)
    }
}

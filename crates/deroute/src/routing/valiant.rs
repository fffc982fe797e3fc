//! Valiant routing (VLB) with four phase-A policies.
//!
//! # What it does
//! Draws a random intermediate router at the head of the injection queue; the packet goes there
//! minimally (phase A) and on to its destination minimally (phase B). If the draw is the source or
//! the destination router, the path is minimal.
//!
//! # Source
//! Thesis 2.3.2 and Table 5-1; `restricted`: 5.2; `recompute`: 5.3.
//!
//! # Parameters
//! `phase_a`: which routers may be drawn. `lgl` (default) any router of any other group, `lg-` the
//! landing router in any other group, `-gl` any router of the groups wired to the source router,
//! `-g-` the landing routers of its own global links. `own_group` (default true): `lgl` may draw
//! the source group as well; the other policies never do. The destination group may always be
//! drawn. `restricted` (RVLB, default false): a packet for the own group stays in it. `recompute`
//! (default false): draw again in every cycle in which the packet waits at the head of its injection
//! queue. `vc_use`: see the topology.
//!
//! # Deadlock freedom
//! Positions l1 g1 l2 - l3 g2 l4: a Dragonfly needs 4 local and 2 global VCs, with `vc_use = "compact"`
//! fewer for most policies.
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

use super::phase_a::{DetourPlan, Detours, Policy};
use super::{
    Fabric, Follows, Header, Hop, Injection, Ladder, Notification, Plan, Queue, RouterView,
    Routing, Watches, follow,
};
use crate::ids::{Cycle, RouterId};
use crate::spec::{SpecError, VcUse};
use crate::state::state;
use crate::topology::Topology;

/// Parameters of Valiant's routing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ValiantSpec {
    /// Which routers may be the intermediate one. Default `lgl`.
    pub phase_a: Policy,
    /// `lgl` may also draw a router of the source group (thesis Table 5-1, note 3). Default `true`;
    /// FOGSim's default is `false`.
    pub own_group: bool,
    /// The intermediate router of a packet that stays in its partition (a Dragonfly's group) is drawn
    /// there (RVLB, thesis 5.2). Default `false`; `true` with ACOR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restricted: Option<bool>,
    /// Draw the intermediate router again in every cycle in which the packet waits at the head of its
    /// injection queue (thesis 5.3). Default `false`; ACOR always does.
    pub recompute: bool,
    /// How the VC follows from the position on the path. Default `path-position`.
    pub vc_use: VcUse,
}

impl Default for ValiantSpec {
    fn default() -> Self {
        Self {
            phase_a: Policy::Lgl,
            own_group: true,
            restricted: None,
            recompute: false,
            vc_use: VcUse::PathPosition,
        }
    }
}

struct Valiant {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
    detours: Detours,
    recompute: bool,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology without intermediate routers, a phase-A policy that means nothing in it, and parameters of
/// ACOR out of range.
pub fn plan(spec: &ValiantSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let ValiantSpec { ref phase_a, own_group, restricted, recompute, vc_use } = *spec;
    let detours =
        DetourPlan::new(fabric, "routing.valiant", (phase_a, own_group, restricted), [15, 500])?;
    let ladder = detours.ladder("routing.valiant", vc_use)?;
    let (topology, vcs) = (Arc::clone(&fabric.topology), ladder.needs());
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        let (topology, detours) = (Arc::clone(&topology), detours.agent(first, count));
        Box::new(Valiant { topology, ladder: ladder.clone(), detours, recompute })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for Valiant {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.position == 0 {
            let (intermediate, kind) = self.detours.draw(view, header);
            header.divert(view.router, intermediate, kind);
        }
        follow(&*self.topology, &self.ladder, view.router, header)
    }

    fn follows(&self) -> Option<Follows> {
        Some(Follows { ladder: self.ladder.clone(), at_source: false })
    }

    fn watches(&self) -> Watches {
        let watches = self.detours.watches();
        Watches { reconsiders: watches.reconsiders || self.recompute, ..watches }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        self.detours.injection(queue, event, header.destination);
    }

    fn notified(&mut self, told: &Notification) {
        self.detours.notified(told);
    }

    fn gauges(&self) -> Vec<String> {
        self.detours.gauges()
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.detours.read(router, now, values);
    }

    fn bytes(&self) -> usize {
        self.detours.bytes()
    }

    state! { keep detours; leave topology, ladder, recompute; }
}

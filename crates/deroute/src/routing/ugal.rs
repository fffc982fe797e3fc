//! UGAL with local information (UGAL-L).
//!
//! # What it does
//! Draws Valiant's intermediate router, then takes the minimal path iff
//! `Q_min * H_min <= Q_vlb * H_vlb + T`, with the queue lengths of the two first hops and the hops
//! of the two paths.
//!
//! # Source
//! Thesis 2.3.3, equation 2-1.
//!
//! # Parameters
//! `phase_a` (default `lgl`), `own_group` (default true), `threshold` T in phits (default 0), `queue` (default: the whole port),
//! `hops` (default: those of the path), `redecide` (default false: the decision is taken once, when
//! the packet is first considered at the head of the injection queue), `vc_use`.
//!
//! # Deadlock freedom
//! As Valiant: 4 local and 2 global VCs in a Dragonfly.
//!
//! # Limits
//! The queues of the source router say little about a distant global link. A detour that begins
//! with the port of the minimal path has the same queue and more hops, so it never wins: under
//! ADV+i about one packet in ten stays minimal whatever the load, and one global link of a group
//! carries them all. Measured: 0.14 accepted at h=6 and 0.18 at h=4, with 0.3 offered.
//!
//! # Example
//! ```toml
//! [routing.ugal]
//! threshold = 0
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Header, Plan, RouterView, Routing, divert, follow, require_intermediates};
use crate::ids::RouterId;
use crate::probe::PathKind;
use crate::spec::{PhaseA, SpecError, VcUse};
use crate::topology::{Hop, Leg, Topology};

/// Parameters of UGAL with local information.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UgalSpec {
    /// Which routers may be the intermediate one. Default `lgl`.
    pub phase_a: PhaseA,
    /// `lgl` may also draw a router of the source group (thesis Table 5-1, note 3). Default `true`;
    /// FOGSim's default is `false`.
    pub own_group: bool,
    /// `T` of equation 2-1 in phits; positive favours the minimal path. Default 0.
    pub threshold: i32,
    /// What `Q` measures. Default `port`.
    pub queue: QueueMetric,
    /// What `H` of the minimal path counts. Default `path`.
    pub hops: HopCount,
    /// Decide again in every cycle in which the packet waits at the head of the injection queue,
    /// as FOGSim does. Default `false`: decide once.
    pub redecide: bool,
    /// How the VC follows from the place on the path. Default `path-position`.
    pub vc_use: VcUse,
}

impl Default for UgalSpec {
    fn default() -> Self {
        Self {
            phase_a: PhaseA::Lgl,
            own_group: true,
            threshold: 0,
            queue: QueueMetric::Port,
            hops: HopCount::Path,
            redecide: false,
            vc_use: VcUse::PathPosition,
        }
    }
}

/// What the queue length `Q` of an output measures. Both count the phits that were granted to the
/// output and whose credits have not come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMetric {
    /// Sum over the VCs of the port.
    #[default]
    Port,
    /// The VC that the packet would take (FOGSim).
    Vc,
}

/// What the hop count of a minimal path is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HopCount {
    /// The hops of the path itself.
    #[default]
    Path,
    /// The hops it would have under the consecutive arrangement, whatever the wiring is (FOGSim).
    Consecutive,
}

/// The decision between the minimal path and one through an intermediate router.
pub(super) struct Ugal {
    topology: Arc<dyn Topology>,
    spec: UgalSpec,
}

pub fn plan(spec: &UgalSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    require_intermediates(fabric, "routing.ugal")?;
    let (topology, spec) = (Arc::clone(&fabric.topology), spec.clone());
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        Box::new(Ugal::new(Arc::clone(&topology), spec.clone()))
    });
    Ok(Plan { agent, nonminimal: true })
}

impl Ugal {
    pub(super) fn new(topology: Arc<dyn Topology>, spec: UgalSpec) -> Self {
        Self { topology, spec }
    }

    pub(super) fn redecides(&self) -> bool {
        self.spec.redecide
    }

    pub(super) fn follow(&self, at: RouterId, header: &Header) -> Hop {
        follow(&*self.topology, at, header, self.spec.vc_use)
    }

    /// The source decision. The intermediate router is drawn when the packet has none yet;
    /// `forbidden` rules out the minimal path whatever the queues say.
    pub(super) fn decide(
        &self,
        view: &mut RouterView<'_>,
        header: &mut Header,
        forbidden: bool,
    ) -> Hop {
        let at = view.router;
        if header.root == Header::UNDRAWN {
            let UgalSpec { phase_a, own_group, .. } = self.spec;
            let drawn = self.topology.intermediate(phase_a, own_group, at, view.rng);
            header.root = drawn.unwrap_or(at);
        }
        (header.leg, header.kind) = (Leg::Minimal, PathKind::Minimal);
        let minimal = self.follow(at, header);
        if header.root == at || header.root == header.destination {
            return minimal;
        }
        divert(header, at, header.root, self.spec.phase_a.into());
        let valiant = self.follow(at, header);
        if forbidden || !self.prefers_minimal(view, header, minimal, valiant) {
            return valiant;
        }
        (header.leg, header.kind) = (Leg::Minimal, PathKind::Minimal);
        minimal
    }

    /// Equation 2-1.
    fn prefers_minimal(&self, view: &RouterView<'_>, header: &Header, min: Hop, vlb: Hop) -> bool {
        let (at, root, to) = (view.router, header.root, header.destination);
        let queue = |hop: Hop| match self.spec.queue {
            QueueMetric::Port => view.queues.port(hop.port),
            QueueMetric::Vc => view.queues.vc(hop.port, hop.vc),
        };
        let h_min = match self.spec.hops {
            HopCount::Path => self.topology.distance(at, to),
            HopCount::Consecutive => self.topology.consecutive_distance(at, to),
        };
        let h_vlb = self.topology.distance(at, root) + self.topology.distance(root, to);
        let weight = |queue: u32, hops: u32| i64::from(queue) * i64::from(hops);
        weight(queue(min), h_min) <= weight(queue(vlb), h_vlb) + i64::from(self.spec.threshold)
    }
}

impl Routing for Ugal {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.place == 0 {
            return self.decide(view, header, false);
        }
        self.follow(view.router, header)
    }

    fn reconsiders(&self) -> bool {
        self.redecides()
    }
}

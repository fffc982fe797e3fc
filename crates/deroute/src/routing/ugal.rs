//! UGAL with local information (UGAL-L), or with that of the group (UGAL-G).
//!
//! # What it does
//! Draws Valiant's intermediate router, then takes the minimal path iff
//! `Q_min * H_min <= Q_vlb * H_vlb + T`, with the queue lengths of the two first hops and the hops
//! of the two paths.
//!
//! With `information = "global"`, `Q` is the queue of the global link through which a path leaves the group,
//! whichever router has it: an ideal, because it is known at once.
//!
//! # Source
//! Thesis 2.3.3, equation 2-1; UGAL-G: Kim et al., "Technology-driven, highly-scalable Dragonfly topology", ISCA 2008. `hops = "simple"`: the Dragonfly's short form `Q_min <= 2 * Q_vlb + T` (thesis
//! 2.3.3; Jiang, Kim and Dally, ISCA 2009).
//!
//! # Parameters
//! `phase_a` (default `lgl`), `own_group` (default true), `threshold` T in phits (default 0), `queue` (default: the VC that the packet would take),
//! `hops` (default: those of the path), `information` (default `local`), `redecide` (default false: the decision is taken once, when
//! the packet is first considered at the head of the injection queue), `vc_use`.
//!
//! # Deadlock freedom
//! As Valiant: 4 local and 2 global VCs in a Dragonfly, or fewer.
//!
//! # Limits
//! The queues of the source router say little about a distant global link. A detour that begins
//! with the queue of the minimal path is longer, so it never wins: under ADV+i some 7% of the packets
//! stay minimal whatever the load, and one global link of a group carries them all. Measured with
//! the queues of thesis Table 3-1 after 5,000 cycles at h=6: 0.24 accepted of 0.3 offered, and 0.18
//! of 0.4.
//!
//! # Example
//! ```toml
//! [routing.ugal]
//! threshold = 0
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase_a::{DetourPlan, Detours, Policy};
use super::{
    Fabric, Follows, Header, Hop, Injection, Ladder, Message, Notification, Plan, Queue, Queues,
    RouterView, Routing, ValiantPhase, VcNeed, Watches, follow,
};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::spec::{SpecError, VcUse};
use crate::state::state;
use crate::topology::Topology;

/// Parameters of UGAL with local information.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UgalSpec {
    /// Which routers may be the intermediate one. Default `lgl`.
    pub phase_a: Policy,
    /// `lgl` may also draw a router of the source group (thesis Table 5-1, note 3). Default `true`;
    /// FOGSim's default is `false`.
    pub own_group: bool,
    /// The intermediate router of a packet that stays in its partition (a Dragonfly's group) is drawn
    /// there (thesis 5.2). Default `false`; `true` with ACOR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restricted: Option<bool>,
    /// `T` of equation 2-1 in phits; positive favours the minimal path. Default 0.
    pub threshold: i32,
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What `H` counts. Default `path`.
    pub hops: HopCount,
    /// Whose queues `Q` may be. Default `local`.
    #[serde(skip_serializing_if = "Information::is_default")]
    pub information: Information,
    /// Decide again in every cycle in which the packet waits at the head of the injection queue,
    /// as FOGSim does. Default `false`: decide once.
    pub redecide: bool,
    /// The same, and draw the intermediate router again (thesis 5.3). Default `false`; ACOR always
    /// does.
    pub recompute: bool,
    /// How the VC follows from the position on the path. Default `path-position`.
    pub vc_use: VcUse,
}

impl Default for UgalSpec {
    fn default() -> Self {
        Self {
            phase_a: Policy::Lgl,
            own_group: true,
            restricted: None,
            threshold: 0,
            queue: QueueMetric::Vc,
            hops: HopCount::Path,
            information: Information::Local,
            redecide: false,
            recompute: false,
            vc_use: VcUse::PathPosition,
        }
    }
}

/// What the queue length `Q` of an output measures. Both count what `network.sensing` says: by default
/// the phits that were granted to the output and whose credits have not come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMetric {
    /// Sum over the VCs of the port.
    Port,
    /// The VC that the packet would take; all VCs of its class where spare VCs are used.
    #[default]
    Vc,
}

/// What the hop counts of the two paths are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HopCount {
    /// The hops of the path itself.
    #[default]
    Path,
    /// Those that the minimal path would have under the consecutive arrangement, whatever the wiring is
    /// (FOGSim).
    Consecutive,
    /// One for the minimal path and two for the other, however long they are.
    Simple,
}

/// Whose queues a source router knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Information {
    /// Its own: `Q` is that of the first hop (UGAL-L).
    #[default]
    Local,
    /// Those of all global links of its group, at once: `Q` is that of the global link through which the path leaves
    /// the group, and that of the first hop where it stays inside (UGAL-G).
    Global,
}

impl Information {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// UGAL, checked.
#[derive(Clone)]
pub(super) struct UgalPlan {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
    spec: UgalSpec,
    detours: DetourPlan,
}

impl UgalPlan {
    /// `path` is where the parameters stand in the spec.
    pub(super) fn new(spec: &UgalSpec, fabric: &Fabric, path: &str) -> Result<Self, SpecError> {
        let global = spec.information == Information::Global;
        let refused = match fabric.topology.global_links() {
            _ if !global => None,
            0 => Some("no router of this network has global links"),
            _ if path != "routing.ugal" => {
                Some("only UGAL itself can know the queues of other routers")
            }
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(SpecError::new(format!("{path}.information"), refused).choices(["local"]));
        }
        let paths = (&spec.phase_a, spec.own_group, spec.restricted);
        let detours = DetourPlan::new(fabric, path, paths, [15, 50])?;
        let mut spec = spec.clone();
        spec.recompute |= detours.redraws() || spec.redecide && detours.adapts();
        spec.redecide |= spec.recompute;
        let ladder = detours.ladder(path, spec.vc_use)?;
        Ok(Self { topology: Arc::clone(&fabric.topology), ladder, spec, detours })
    }

    /// The virtual channels that the paths need.
    pub(super) fn vcs(&self) -> Vec<VcNeed> {
        self.ladder.needs()
    }

    /// The decision in the routers `first..first + count`.
    pub(super) fn agent(&self, first: RouterId, count: u32) -> Ugal {
        let detours = self.detours.agent(first, count);
        let (topology, ladder) = (Arc::clone(&self.topology), self.ladder.clone());
        let known = match self.spec.information {
            Information::Local => 0,
            Information::Global => topology.global_ports(first).len() * count as usize,
        };
        Ugal { topology, ladder, spec: self.spec.clone(), detours, first, known: vec![0; known] }
    }
}

/// The decision between the minimal path and one through an intermediate router.
pub(super) struct Ugal {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
    spec: UgalSpec,
    detours: Detours,
    first: RouterId,
    /// Queues of the global ports of all routers, if they are known to others: `[router][port]`.
    known: Vec<u32>,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology without intermediate routers, a phase-A policy that means nothing in it, and parameters of
/// ACOR out of range.
pub fn plan(spec: &UgalSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let plan = UgalPlan::new(spec, fabric, "routing.ugal")?;
    let vcs = plan.vcs();
    let agent =
        Box::new(move |first, count| -> Box<dyn Routing> { Box::new(plan.agent(first, count)) });
    Ok(Plan { agent, vcs })
}

impl Ugal {
    /// `T` of equation 2-1 as the spec has it.
    pub(super) fn threshold(&self) -> i32 {
        self.spec.threshold
    }

    pub(super) fn follow(&self, at: RouterId, header: &Header) -> Hop {
        follow(&*self.topology, &self.ladder, at, header)
    }

    /// The source decision. The intermediate router is drawn when the packet has none yet, or is to
    /// have another. Without a threshold, the minimal path is ruled out whatever the queues say.
    pub(super) fn decide(
        &mut self,
        view: &mut RouterView<'_>,
        header: &mut Header,
        threshold: Option<i32>,
    ) -> Hop {
        let detour = match header.intermediate() {
            Some(drawn) if !self.spec.recompute => (drawn, self.detours.fixed_kind()),
            _ => self.detours.draw(view, header),
        };
        self.choose(view, header, detour, threshold)
    }

    /// The decision for a packet whose detour is drawn: its intermediate router and its kind.
    pub(super) fn choose(
        &self,
        view: &RouterView<'_>,
        header: &mut Header,
        (intermediate, kind): (RouterId, PathKind),
        threshold: Option<i32>,
    ) -> Hop {
        let at = view.router;
        header.divert(at, intermediate, kind);
        let hop = self.follow(at, header);
        let (ValiantPhase::A, Some(threshold)) = (header.phase, threshold) else {
            return hop;
        };
        let mut straight = *header;
        straight.go_minimally();
        let (ends, minimal) = ((intermediate, header.destination), self.follow(at, &straight));
        if !self.prefers_minimal(view, ends, (minimal, hop), threshold) {
            return hop;
        }
        *header = straight;
        minimal
    }

    /// Where the queues of a router's global ports are.
    fn known(&self, router: RouterId) -> usize {
        (router.0 - self.first.0) as usize * self.topology.global_ports(router).len()
    }

    /// `Q` of a path that begins with a hop and leads to a router.
    fn queue(&self, view: &RouterView<'_>, hop: Hop, to: RouterId) -> u32 {
        if !self.known.is_empty()
            && let Some((owner, port)) = self.topology.minimal_global_port(view.router, to)
        {
            let first = self.topology.global_ports(owner).start;
            return self.known[self.known(owner) + usize::from(port.0 - first)];
        }
        self.length(view.queues, hop.port, hop.vc)
    }

    fn length(&self, queues: &dyn Queues, port: PortId, vc: VcId) -> u32 {
        match self.spec.queue {
            QueueMetric::Port => queues.port(port),
            QueueMetric::Vc => queues.lane(port, vc),
        }
    }

    /// Equation 2-1.
    fn prefers_minimal(
        &self,
        view: &RouterView<'_>,
        (intermediate, to): (RouterId, RouterId),
        (min, vlb): (Hop, Hop),
        threshold: i32,
    ) -> bool {
        let at = view.router;
        let waiting = self.queue(view, min, to);
        let h_min = match self.spec.hops {
            // Whatever its hops are.
            _ if waiting == 0 => 0,
            HopCount::Path => self.topology.distance(at, to),
            HopCount::Consecutive => self.topology.consecutive_distance(at, to),
            HopCount::Simple => 1,
        };
        let weight = |queue: u32, hops: u32| i64::from(queue) * i64::from(hops);
        let excess = weight(waiting, h_min) - i64::from(threshold);
        if excess <= 0 {
            return true; // Whatever the other queue is.
        }
        let topology = &*self.topology;
        let h_vlb = match self.spec.hops {
            HopCount::Simple => 2,
            _ => topology.distance(at, intermediate) + topology.distance(intermediate, to),
        };
        excess <= weight(self.queue(view, vlb, intermediate), h_vlb)
    }
}

impl Routing for Ugal {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.position == 0 {
            return self.decide(view, header, Some(self.spec.threshold));
        }
        self.follow(view.router, header)
    }

    fn follows(&self) -> Option<Follows> {
        Some(Follows { ladder: self.ladder.clone(), at_source: false })
    }

    fn watches(&self) -> Watches {
        let queues = !self.known.is_empty();
        Watches { reconsiders: self.spec.redecide, queues, ..self.detours.watches() }
    }

    fn queues_changed(&mut self, router: RouterId, queues: &dyn Queues, _: &mut Vec<Message>) {
        let begin = self.known(router);
        for (index, port) in self.topology.global_ports(router).enumerate() {
            // A path leaves the group through the first VC of a global link.
            self.known[begin + index] = self.length(queues, PortId(port), VcId(0));
        }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        // A packet that waits for its minimal path says nothing about the detours.
        if event != Injection::Blocked || header.kind() != PathKind::Minimal {
            self.detours.injection(queue, event, header.destination);
        }
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
        self.detours.bytes() + self.known.len() * size_of::<u32>()
    }

    state! { keep detours, known; leave topology, ladder, spec, first; }
}

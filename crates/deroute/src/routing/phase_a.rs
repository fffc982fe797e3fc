//! Where phase A of a non-minimal path leads: the policy that Valiant, UGAL and Piggyback share.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acor::{Acor, AcorPlan, AcorSpec, Thresholds};
use super::lian_detours::{LianDetourSpec, LianDetours, LianPlan};
use super::{Fabric, Header, Injection, Ladder, Notification, Queue, RouterView, Watches};
use crate::ids::{Cycle, RouterId};
use crate::probe::PathKind;
use crate::spec::{PhaseA, SpecError, VcUse};
use crate::state::{State, state};
use crate::topology::Topology;

/// Which routers may be the intermediate one: a fixed policy, or one that adapts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Policy {
    /// Any router: up to l1 g1 l2.
    #[default]
    #[serde(rename = "lgl")]
    Lgl,
    /// The router on which the global hop to any other group lands: up to l1 g1.
    #[serde(rename = "lg-")]
    Lg,
    /// Any router of the groups wired to the source router: g1, maybe l2.
    #[serde(rename = "-gl")]
    Gl,
    /// The landing routers of the source router's own global links: g1 alone.
    #[serde(rename = "-g-")]
    G,
    /// ACOR: short paths first, longer ones where packets are blocked.
    #[serde(rename = "acor")]
    Acor(AcorSpec),
    /// LIAN: local hops where the traffic of the own hosts asks for them.
    #[serde(rename = "lian")]
    Lian(LianDetourSpec),
}

/// A policy that has been checked against the network.
#[derive(Clone)]
pub(super) struct DetourPlan {
    topology: Arc<dyn Topology>,
    fixed: PhaseA,
    acor: Option<AcorPlan>,
    lian: Option<LianPlan>,
    /// All that may be used.
    policies: Vec<PhaseA>,
    own_group: bool,
    restricted: bool,
}

impl DetourPlan {
    /// `path` is where the algorithm's parameters stand in the spec; `thresholds` are ACOR's
    /// defaults. Paths are restricted if the spec says so, and under ACOR unless it forbids it.
    pub(super) fn new(
        fabric: &Fabric,
        path: &str,
        (policy, own_group, restricted): (&Policy, bool, Option<bool>),
        thresholds: Thresholds,
    ) -> Result<Self, SpecError> {
        super::require_intermediates(fabric, path)?;
        let (mut acor, mut lian) = (None, None);
        let adapts = matches!(policy, Policy::Acor(_) | Policy::Lian(_));
        let restricted = restricted.unwrap_or(adapts);
        let fixed = match policy {
            Policy::Lgl => PhaseA::Lgl,
            Policy::Lg => PhaseA::Lg,
            Policy::Gl => PhaseA::Gl,
            Policy::G => PhaseA::G,
            Policy::Acor(spec) => {
                let path = format!("{path}.phase_a.acor");
                acor = Some(AcorPlan::new(spec, fabric, &path, thresholds)?);
                PhaseA::Lgl
            }
            Policy::Lian(spec) => {
                let (path, paths) = (format!("{path}.phase_a.lian"), (own_group, restricted));
                lian = Some(LianPlan::of_policy(spec, fabric, &path, paths)?);
                PhaseA::Lgl
            }
        };
        let policies = match (&acor, &lian) {
            (Some(acor), _) => acor.policies(),
            (_, Some(_)) => vec![PhaseA::G, PhaseA::Gl, PhaseA::Lg, PhaseA::Lgl],
            _ => vec![fixed],
        };
        let known = fabric.topology.policies();
        if let Some(policy) = policies.iter().find(|policy| !known.contains(policy)) {
            let name = |policy: &PhaseA| PathKind::from(*policy).name();
            let message = format!("`{}` has no meaning in this topology", name(policy));
            let path = format!("{path}.phase_a");
            return Err(SpecError::new(path, message).choices(known.iter().map(name)));
        }
        let topology = Arc::clone(&fabric.topology);
        Ok(Self { topology, fixed, acor, lian, policies, own_group, restricted })
    }

    /// A ladder for minimal paths and for those of the policy.
    pub(super) fn ladder(&self, path: &str, vc_use: VcUse) -> Result<Ladder, SpecError> {
        let kinds = |policy: &PhaseA| self.topology.phase_a_kinds(*policy, self.restricted);
        let kinds = self.policies.iter().map(kinds).fold(0, |all, kinds| all | kinds);
        Ladder::detour(&*self.topology, path, kinds, vc_use)
    }

    /// The intermediate router must be drawn anew in every cycle in which a packet waits.
    pub(super) fn redraws(&self) -> bool {
        self.acor.as_ref().is_some_and(AcorPlan::counts_blocked)
    }

    /// A packet that is decided again may follow another policy than before.
    pub(super) fn adapts(&self) -> bool {
        self.acor.is_some() || self.lian.is_some()
    }

    /// The policy of the routers `first..first + count`.
    pub(super) fn agent(&self, first: RouterId, count: u32) -> Detours {
        let acor = self.acor.as_ref().map(|plan| plan.agent(first, count));
        let lian = self.lian.as_ref().map(|plan| plan.agent(first, count));
        Detours { plan: self.clone(), acor, lian }
    }
}

/// Draws intermediate routers.
pub(super) struct Detours {
    plan: DetourPlan,
    acor: Option<Acor>,
    lian: Option<LianDetours>,
}

impl State for Detours {
    state! { each acor, lian; leave plan; }
}

impl Detours {
    /// What the policy wants to be told.
    pub(super) fn watches(&self) -> Watches {
        let blocked = self.plan.redraws();
        let notifications = self.acor.is_some() && !blocked;
        let injections =
            self.lian.is_some() || self.acor.as_ref().is_some_and(Acor::follows_packets);
        let rounds = self.plan.acor.as_ref().is_some_and(AcorPlan::counts_rounds);
        let rest = Watches { injections, notifications, ..Watches::default() };
        Watches { reconsiders: blocked, blocked, rounds, ..rest }
    }

    /// Draws the intermediate router of a packet at the head of an injection queue.
    #[inline]
    pub(super) fn draw(
        &mut self,
        view: &mut RouterView<'_>,
        header: &Header,
    ) -> (RouterId, PathKind) {
        let (plan, at) = (&self.plan, view.router);
        if let Some(lian) = &mut self.lian {
            return lian.draw(view, header.destination);
        }
        let policy = match &mut self.acor {
            None => plan.fixed,
            Some(acor) => acor.policy_of(view),
        };
        let within = match plan.restricted {
            true => plan.topology.shared_partition(policy, (at, header.destination), view.rng),
            false => None,
        };
        let intermediate = within
            .or_else(|| plan.topology.intermediate(policy, plan.own_group, at, view.rng))
            .unwrap_or(at);
        (intermediate, policy.into())
    }

    /// The kind of every path of a policy that does not adapt.
    pub(super) fn fixed_kind(&self) -> PathKind {
        self.plan.fixed.into()
    }

    /// Something happened to a packet in an injection queue. Blocked attempts on minimal paths are
    /// not to be told by an algorithm that chose them.
    pub(super) fn injection(&mut self, queue: Queue, event: Injection, to: RouterId) {
        if let Some(lian) = &mut self.lian {
            return lian.record(queue, event, to);
        }
        let Some(acor) = &mut self.acor else { return };
        match event {
            Injection::Entered => {}
            Injection::Blocked => acor.blocked(queue),
            Injection::Left => acor.left(queue),
        }
    }

    /// A notification of congestion reaches its host, or passes.
    pub(super) fn notified(&mut self, told: &Notification) {
        if let Some(acor) = &mut self.acor {
            acor.notified(told);
        }
    }

    /// See [`super::Routing::bytes`].
    pub(super) fn bytes(&self) -> usize {
        let lian = self.lian.as_ref().map_or(0, LianDetours::bytes);
        self.acor.as_ref().map_or(0, Acor::bytes) + lian
    }

    /// See [`super::Routing::gauges`].
    pub(super) fn gauges(&self) -> Vec<String> {
        match (&self.acor, &self.lian) {
            (Some(acor), _) => acor.gauges(),
            (_, Some(lian)) => lian.gauges(),
            _ => Vec::new(),
        }
    }

    /// See [`super::Routing::read`].
    pub(super) fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        if let Some(acor) = &mut self.acor {
            acor.read(router, now, values);
        }
        if let Some(lian) = &mut self.lian {
            lian.read(router, now, values);
        }
    }
}

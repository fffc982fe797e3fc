//! LIAN's detours: as many local hops as the traffic of the own hosts asks for.
//!
//! What a router's hosts offer to each other group (`counters.rs`), and what that would put on the local links of the
//! groups in between (`local_links.rs`), say which policy a detour follows. No queue is looked at.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counters::{CountMode, CounterPlan, Counting, GroupCounters, packets};
use super::local_links::{LocalLinks, LocalLoads};
use super::{Fabric, Injection, Queue, RouterView};
use crate::ids::{Cycle, PortId, RouterId};
use crate::probe::PathKind;
use crate::rng::Stream;
use crate::spec::{PhaseA, Quantity, SpecError};
use crate::state::{State, state};
use crate::topology::{Peer, Topology};

/// Parameters of LIAN's detours, as `routing.lian` has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LianDetourSpec {
    /// History window HW. Default 200 cycles.
    pub window: Quantity,
    /// What a counter counts. Default `extended`.
    pub count: CountMode,
    /// Percent of a packet that a stored one counts in `extended` counters. Default 10.
    pub stored_percent: u32,
    /// ILCth: packets of an `IL` counter above which detours take the second local hop. Default 20.
    pub ilc_threshold: u32,
    /// GCSth: packets above which a `G` counter is saturated. Default 5.
    pub gcs_threshold: u32,
    /// SGCth: saturated groups among those wired to the router, above which detours take the first
    /// local hop. Default 3.
    pub sgc_threshold: u32,
}

impl Default for LianDetourSpec {
    fn default() -> Self {
        Self {
            window: 200.into(),
            count: CountMode::Extended,
            stored_percent: 10,
            ilc_threshold: 20,
            gcs_threshold: 5,
            sgc_threshold: 3,
        }
    }
}

/// When detours take their local hops, in packets and groups, and what the intermediate router shapes.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) ilc_threshold: u32,
    pub(super) gcs_threshold: u32,
    pub(super) sgc_threshold: u32,
    pub(super) whole_path: bool,
    /// Packets of the own partition stay there, and `lgl` may draw a router of the own group.
    pub(super) restricted: bool,
    pub(super) own_group: bool,
}

/// LIAN's detours, checked.
#[derive(Clone)]
pub(super) struct LianPlan {
    topology: Arc<dyn Topology>,
    counters: CounterPlan,
    links: LocalLinks,
    limits: Limits,
}

impl LianPlan {
    pub(super) fn new(topology: &Arc<dyn Topology>, counters: CounterPlan, limits: Limits) -> Self {
        let links = LocalLinks::new(&**topology);
        Self { topology: Arc::clone(topology), counters, links, limits }
    }

    /// Those of a phase-A policy, whose parameters stand at `path`.
    ///
    /// # Errors
    /// A topology without groups, and counters out of range.
    pub(super) fn of_policy(
        spec: &LianDetourSpec,
        fabric: &Fabric,
        path: &str,
        (own_group, restricted): (bool, bool),
    ) -> Result<Self, SpecError> {
        let LianDetourSpec { ref window, count, stored_percent, .. } = *spec;
        let LianDetourSpec { ilc_threshold, gcs_threshold, sgc_threshold, .. } = *spec;
        let counting = Counting { window, count, stored_percent, low: 0, high: 0 };
        let counters = CounterPlan::new(&counting, fabric, path)?;
        let whole_path = false;
        let limits = Limits {
            ilc_threshold,
            gcs_threshold,
            sgc_threshold,
            whole_path,
            restricted,
            own_group,
        };
        Ok(Self::new(&fabric.topology, counters, limits))
    }

    /// Those of the routers `first..first + count`.
    pub(super) fn agent(&self, first: RouterId, count: u32) -> LianDetours {
        let groups = (first.0..first.0 + count).map(RouterId);
        let groups = groups.flat_map(|router| wired(&*self.topology, &self.counters, router));
        LianDetours {
            limits: self.limits,
            counters: self.counters.agent(first, count),
            loads: self.links.agent(first, count),
            first,
            ports: self.topology.global_ports(first).len(),
            wired: groups.collect(),
            topology: Arc::clone(&self.topology),
        }
    }
}

/// Offsets of the groups behind a router's global ports, each once; 0 in other places.
fn wired(topology: &dyn Topology, counters: &CounterPlan, router: RouterId) -> Vec<u16> {
    let mut offsets = Vec::new();
    for port in topology.global_ports(router) {
        let offset = match topology.peer(router, PortId(port)) {
            Peer::Router { router: other, .. } => counters.offset(router, other),
            _ => 0,
        };
        offsets.push(if offsets.contains(&offset) { 0 } else { offset });
    }
    offsets
}

/// LIAN's detours in some consecutive routers.
pub(super) struct LianDetours {
    topology: Arc<dyn Topology>,
    limits: Limits,
    pub(super) counters: GroupCounters,
    loads: LocalLoads,
    first: RouterId,
    /// Global ports of a router.
    ports: usize,
    /// Offsets of the groups that they lead to: `[router][port]`; 0 for an unused port and a group
    /// that another port leads to.
    wired: Vec<u16>,
}

impl State for LianDetours {
    state! { keep counters, loads; leave topology, limits, first, ports, wired; }
}

impl LianDetours {
    /// Brings the counters of a router up to date.
    #[inline]
    pub(super) fn expire(&mut self, router: RouterId, now: Cycle) {
        let loads = &mut self.loads;
        self.counters.expire(router, now, |offset, change| loads.add(router, offset, change));
    }

    /// Do more than SGCth of the groups wired to the router receive more than GCSth?
    #[inline]
    fn takes_first_local(&self, router: RouterId) -> bool {
        let begin = (router.0 - self.first.0) as usize * self.ports;
        let counters = self.counters.of(router);
        let limit = packets(self.limits.gcs_threshold);
        // The counter of offset 0 stays 0.
        let above = |&&offset: &&u16| u64::from(counters[usize::from(offset)]) > limit;
        let saturated = self.wired[begin..begin + self.ports].iter().filter(above).count();
        saturated > self.limits.sgc_threshold as usize
    }

    /// The intermediate router of a packet for a router, whatever its counters said before.
    pub(super) fn draw(
        &mut self,
        view: &mut RouterView<'_>,
        destination: RouterId,
    ) -> (RouterId, PathKind) {
        self.expire(view.router, view.now);
        let offset = self.counters.plan().offset(view.router, destination);
        self.detour(view, destination, offset)
    }

    /// The same for a group `offset` groups ahead, by the counters as they are.
    pub(super) fn detour(
        &mut self,
        view: &mut RouterView<'_>,
        destination: RouterId,
        offset: u16,
    ) -> (RouterId, PathKind) {
        let at = view.router;
        let l1 = self.takes_first_local(at);
        let limit = packets(self.limits.ilc_threshold);
        let within = match self.limits.restricted && offset == 0 {
            true => self.topology.shared_partition(PhaseA::Lgl, (at, destination), view.rng),
            false => None,
        };
        if self.limits.whole_path && within.is_none() {
            let (intermediate, l2) = self.shape(at, destination, l1, view.rng);
            return (intermediate, policy(l1, l2).into());
        }
        let policy = policy(l1, self.loads.any_above(at, offset, limit));
        let drawn = within
            .or_else(|| self.topology.intermediate(policy, self.limits.own_group, at, view.rng));
        (drawn.unwrap_or(at), policy.into())
    }

    /// The intermediate router that shapes the whole path, and whether it takes the second local
    /// hop.
    fn shape(
        &self,
        at: RouterId,
        destination: RouterId,
        l1: bool,
        rng: &mut Stream,
    ) -> (RouterId, bool) {
        let topology = &*self.topology;
        let landing = if l1 { self.landing_towards(at, destination, rng) } else { None };
        let landing = landing.or_else(|| topology.intermediate(policy(l1, false), true, at, rng));
        let Some(landing) = landing else { return (at, false) };
        // The local link to the owner of the next global link.
        let Some((owner, _)) = topology.minimal_global_port(landing, destination) else {
            return (landing, false);
        };
        let limit = packets(self.limits.ilc_threshold);
        let size = topology.routers() / topology.groups();
        if size < 3 || !self.loads.above(at, (landing, owner), limit) {
            return (landing, false);
        }
        // Another router of the group, without the two ends of that link.
        let group = landing.0 - landing.0 % size;
        let mut other = RouterId(group + rng.below(size - 2));
        for end in [landing.min(owner), landing.max(owner)] {
            other.0 += u32::from(other >= end);
        }
        (other, true)
    }

    /// Where a path lands in a group that is wired to the destination router, other than the own
    /// group.
    fn landing_towards(
        &self,
        at: RouterId,
        destination: RouterId,
        rng: &mut Stream,
    ) -> Option<RouterId> {
        let topology = &*self.topology;
        let ports = topology.global_ports(destination);
        let (first, count) = (ports.start, ports.end - ports.start);
        let turn = rng.below(u32::from(count)) as u16;
        (0..count).find_map(|n| {
            let port = PortId(first + (turn + n) % count);
            let Peer::Router { router: gate, .. } = topology.peer(destination, port) else {
                return None;
            };
            let (owner, port) = topology.minimal_global_port(at, gate)?;
            match topology.peer(owner, port) {
                Peer::Router { router: landing, .. } => Some(landing),
                _ => None,
            }
        })
    }

    /// Something happened to a packet for a router in an injection queue.
    #[inline]
    pub(super) fn record(&mut self, queue: Queue, event: Injection, to: RouterId) {
        let loads = &mut self.loads;
        self.counters.record(queue, event, to, |offset, change| {
            loads.add(queue.router, offset, change);
        });
    }

    /// See [`super::Routing::gauges`].
    pub(super) fn gauges(&self) -> Vec<String> {
        let mut names = self.counters.gauges();
        names.extend(self.loads.gauges());
        names
    }

    /// See [`super::Routing::read`].
    pub(super) fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.expire(router, now);
        self.counters.read(router, values);
        self.loads.read(router, values);
    }

    /// See [`super::Routing::bytes`].
    pub(super) fn bytes(&self) -> usize {
        self.counters.bytes() + self.loads.bytes() + size_of_val(&*self.wired)
    }
}

/// The policy that takes these local hops.
fn policy(l1: bool, l2: bool) -> PhaseA {
    match (l1, l2) {
        (false, false) => PhaseA::G,
        (false, true) => PhaseA::Gl,
        (true, false) => PhaseA::Lg,
        (true, true) => PhaseA::Lgl,
    }
}

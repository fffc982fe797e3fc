//! Wiring: which port leads where, and what the shortest paths are.
//!
//! A topology knows nothing of switches, routings or time. To add one: a file, a variant in
//! `spec.rs`, a line in [`build`], and its facts in the conformance suite.

mod crossbar;
mod dragonfly;
mod fat_tree;
mod graph;
mod hyperx;
mod lattice;
pub mod spec;
mod tree;

pub use crossbar::Crossbar;
pub use dragonfly::Dragonfly;
pub use fat_tree::FatTree;
pub use graph::Graph;
pub use hyperx::HyperX;
pub use lattice::Lattice;
pub use tree::Tree;

use std::sync::Arc;

use crate::ids::{HostId, PortId, RouterId};
use crate::rng::Stream;
use crate::spec::{PhaseA, SpecError};

/// What a router port is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A host.
    Host(HostId),
    /// A port of another router, over a link of a class (index into [`Topology::classes`]).
    Router {
        /// The router at the other end.
        router: RouterId,
        /// Its port.
        port: PortId,
        /// Link class.
        class: u8,
    },
    /// Nothing.
    Unused,
}

/// The next hop of a shortest path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Output port.
    pub port: PortId,
    /// Kind of the hop: an index into [`Topology::hop_kinds`].
    pub kind: u8,
}

/// A kind of hop on a shortest path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopKind {
    /// Link class of the hop: an index into [`Topology::classes`].
    pub class: u8,
    /// Hops of this kind, one after the other, that a shortest path has at most.
    pub most: u8,
}

impl HopKind {
    /// A hop over a link of a class that a shortest path takes once, if at all.
    pub fn once(class: u8) -> Self {
        Self { class, most: 1 }
    }
}

/// A wiring of hosts and routers.
pub trait Topology: Send + Sync {
    /// Number of routers.
    fn routers(&self) -> u32;

    /// Number of hosts.
    fn hosts(&self) -> u32;

    /// Ports of a router, unused ones included. Hosts come first.
    fn radix(&self, router: RouterId) -> u16;

    /// What a port leads to. `peer(peer(x)) == x` for every router port.
    fn peer(&self, router: RouterId, port: PortId) -> Peer;

    /// The router of a host.
    fn router_of(&self, host: HostId) -> RouterId;

    /// The router port of a host.
    fn port_of(&self, host: HostId) -> PortId;

    /// The router of a host, and its port there.
    #[inline]
    fn home_of(&self, host: HostId) -> (RouterId, PortId) {
        (self.router_of(host), self.port_of(host))
    }

    /// Names of the link classes.
    fn classes(&self) -> &'static [&'static str];

    /// The kinds of hops on a shortest path, in the order in which it takes them; it may leave out
    /// any. At most 16.
    fn hop_kinds(&self) -> Vec<HopKind>;

    /// The kinds of [`Topology::hop_kinds`] that phase A of a policy may take, one bit each; with
    /// `restricted`, intermediate routers of [`Topology::shared_partition`] are drawn as well. By
    /// default all.
    fn phase_a_kinds(&self, _policy: PhaseA, _restricted: bool) -> u16 {
        u16::MAX
    }

    /// VCs among which the hops of a path are numbered, the last one for all that remain, if the user
    /// has limited them. A path may then be part of a deadlock.
    fn hop_vcs(&self) -> Option<u8> {
        None
    }

    /// The next hop of a shortest path from `at` to a different router `to`.
    fn next_hop(&self, at: RouterId, to: RouterId) -> Step;

    /// Router-to-router hops of the shortest path that [`Topology::next_hop`] follows.
    fn distance(&self, from: RouterId, to: RouterId) -> u32;

    /// Router-to-router hops under the consecutive arrangement, whatever the wiring is: what
    /// FOGSim uses. The distance itself where that has no meaning.
    fn consecutive_distance(&self, from: RouterId, to: RouterId) -> u32 {
        self.distance(from, to)
    }

    /// The phase-A policies that have a meaning here; none without intermediate routers.
    fn policies(&self) -> &'static [PhaseA];

    /// Draws Valiant's intermediate router; `None` where the policy has no meaning. With
    /// `own_group`, [`PhaseA::Lgl`] may also draw a router of `from`'s own group.
    fn intermediate(
        &self,
        policy: PhaseA,
        own_group: bool,
        from: RouterId,
        rng: &mut Stream,
    ) -> Option<RouterId>;

    /// Draws an intermediate router in the smallest partition of the network that holds both
    /// routers (thesis 5.2: a Dragonfly's group, the dimensions of a lattice that are not aligned);
    /// `None` if they share none. Where a policy has a meaning within a partition, it holds there.
    fn shared_partition(
        &self,
        _policy: PhaseA,
        _ends: (RouterId, RouterId),
        _rng: &mut Stream,
    ) -> Option<RouterId> {
        None
    }

    /// The domain of a router: routers that share state by broadcast (a Dragonfly's group). The
    /// routers of a domain are consecutive and always simulated together.
    fn domain(&self, router: RouterId) -> u32;

    /// The router of `from`'s domain, and its global port, through which the shortest path to `to`
    /// leaves the domain; `None` if it stays inside.
    fn minimal_global_port(&self, from: RouterId, to: RouterId) -> Option<(RouterId, PortId)>;

    /// The global ports of a router, those that lead out of its domain: what Piggyback watches.
    fn global_ports(&self, router: RouterId) -> std::ops::Range<u16>;

    /// Hosts of the routers that are `offset` groups ahead of `from`'s group, as a range.
    /// `None` without groups.
    fn hosts_ahead(&self, _from: HostId, _offset: i64) -> Option<std::ops::Range<u32>> {
        None
    }

    /// Number of groups that [`Topology::hosts_ahead`] counts in; 1 without groups.
    fn groups(&self) -> u32 {
        1
    }

    /// Global links between any two groups; which of them a shortest path takes may depend on the
    /// positions of its ends. 0 without groups.
    fn parallel_links(&self) -> u32 {
        0
    }

    /// Hosts of the next router of the same group; `None` without such a router.
    fn hosts_of_next_router(&self, _from: HostId) -> Option<std::ops::Range<u32>> {
        None
    }

    /// Global links of a router: the default number of groups of ADVC.
    fn global_links(&self) -> u32;

    /// The lattice that the routers form, if they do.
    fn lattice(&self) -> Option<&Lattice> {
        None
    }

    /// The fat tree that the routers form, if they do.
    fn tree(&self) -> Option<&Arc<Tree>> {
        None
    }

    /// Bytes of tables that grow faster than the network: a part of the footprint of a run. Default 0.
    fn table_bytes(&self) -> usize {
        0
    }
}

/// Builds the topology that the spec asks for.
///
/// # Errors
/// The first parameter that is impossible, with its path below `network.topology`.
pub fn build(spec: &spec::Topology) -> Result<Arc<dyn Topology>, SpecError> {
    Ok(match spec {
        spec::Topology::Dragonfly(spec) => Arc::new(Dragonfly::new(spec)?),
        spec::Topology::Hyperx(spec) => Arc::new(HyperX::new(spec)?),
        spec::Topology::Crossbar(spec) => Arc::new(Crossbar::new(spec)?),
        spec::Topology::CrossbarOf(other) => Arc::new(Crossbar::of(&*replaced(other)?)?),
        spec::Topology::FatTree(spec) => Arc::new(FatTree::new(spec)?),
        spec::Topology::Rlft(spec) => Arc::new(FatTree::rlft(spec)?),
        spec::Topology::KaryTree(spec) => Arc::new(FatTree::kary(spec)?),
        spec::Topology::FoldedClos(spec) => Arc::new(FatTree::folded_clos(spec)?),
        spec::Topology::Graph(spec) => Arc::new(Graph::new(spec)?),
    })
}

/// The network whose hosts patterns see: that of the spec, or the one that a crossbar stands for.
pub(crate) fn seen_by_traffic(
    spec: &spec::Topology,
    built: &Arc<dyn Topology>,
) -> Result<Arc<dyn Topology>, SpecError> {
    match spec {
        spec::Topology::CrossbarOf(other) => seen_by_traffic(other, &replaced(other)?),
        _ => Ok(Arc::clone(built)),
    }
}

/// The network that a crossbar stands for.
fn replaced(spec: &spec::Topology) -> Result<Arc<dyn Topology>, SpecError> {
    build(spec).map_err(|mut error| {
        let below = error.path.trim_start_matches("network.topology").to_owned();
        error.path = format!("network.topology.crossbar_of{below}");
        error
    })
}

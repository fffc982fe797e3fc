//! Conditional flow rules: the static alternatives to minimal paths that MAR-bP and QCN-Switch share.
//!
//! A packet that a host sends out of its group takes the rule of its minimal path, if the condition of that
//! rule holds, and otherwise the rule of the port by which it entered: host `i` has the `i`-th global
//! port of its router. From there on the path is minimal. In a lattice (a flattened butterfly), groups are
//! the routers of one coordinate along the first dimension, the one that minimal paths correct first, and host `i`
//! has the link to coordinate `i`; the one whose own coordinate that is has no alternative.

use std::sync::Arc;

use super::{Fabric, Follows, Header, Hop, Ladder, VcNeed, follow};
use crate::ids::{PortId, RouterId};
use crate::probe::PathKind;
use crate::spec::{PhaseA, SpecError, VcUse};
use crate::topology::{Peer, Topology};

/// The rules of all routers.
#[derive(Clone)]
pub(super) struct Conditional {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
}

impl Conditional {
    /// `path` is where the parameters stand in the spec.
    ///
    /// # Errors
    /// A topology that has neither groups nor dimensions.
    pub(super) fn new(fabric: &Fabric, path: &str, vc_use: VcUse) -> Result<Self, SpecError> {
        let topology = Arc::clone(&fabric.topology);
        if topology.groups() < 2 && topology.lattice().is_none() {
            let message = "this topology has no groups to take a detour over";
            let choices = ["network.topology.dragonfly", "network.topology.hyperx"];
            return Err(SpecError::new(path, message).choices(choices));
        }
        let kinds = topology.phase_a_kinds(PhaseA::G, false);
        let ladder = Ladder::detour(&*topology, path, kinds, vc_use)?;
        Ok(Self { topology, ladder })
    }

    /// The same, with the VCs for other detours.
    pub(super) fn with_ladder(self, ladder: Ladder) -> Self {
        Self { ladder, ..self }
    }

    /// The virtual channels that the paths need.
    pub(super) fn vcs(&self) -> Vec<VcNeed> {
        self.ladder.needs()
    }

    /// Packets in transit follow their path.
    pub(super) fn follows(&self) -> Follows {
        Follows { ladder: self.ladder.clone(), at_source: false }
    }

    pub(super) fn follow(&self, at: RouterId, header: &Header) -> Hop {
        follow(&*self.topology, &self.ladder, at, header)
    }

    /// The first hop of the minimal path, which the packet takes unless it is diverted.
    pub(super) fn minimal(&self, at: RouterId, header: &mut Header) -> Hop {
        header.go_minimally();
        self.follow(at, header)
    }

    /// Is the rule of the minimal path between two routers conditional?
    pub(super) fn is_conditional(&self, at: RouterId, to: RouterId) -> bool {
        match self.topology.lattice() {
            Some(lattice) => lattice.coordinate(at, 0) != lattice.coordinate(to, 0),
            None => self.topology.domain(at) != self.topology.domain(to),
        }
    }

    /// Does a port of a router lead to another group?
    pub(super) fn leaves_group(&self, at: RouterId, port: PortId) -> bool {
        match self.topology.peer(at, port) {
            Peer::Router { router, .. } => self.is_conditional(at, router),
            Peer::Host(_) | Peer::Unused => false,
        }
    }

    /// The router on which the `nth` alternative of a host behind a port lands, if it has one.
    pub(super) fn alternative(
        &self,
        at: RouterId,
        PortId(host): PortId,
        nth: u32,
    ) -> Option<RouterId> {
        let host = u32::from(host) + nth;
        if let Some(lattice) = self.topology.lattice() {
            let to = host % lattice.width(0);
            return (to != lattice.coordinate(at, 0)).then(|| lattice.moved(at, 0, to));
        }
        let ports = self.topology.global_ports(at);
        let count = u32::from(ports.end - ports.start);
        // Where ports are spare, the next one that is in use.
        (0..count).find_map(|skip| {
            let port = PortId(ports.start + ((host + skip) % count) as u16);
            match self.topology.peer(at, port) {
                Peer::Router { router, .. } => Some(router),
                _ => None,
            }
        })
    }

    /// Sends a packet that has a minimal path over another router.
    pub(super) fn divert(&self, at: RouterId, header: &mut Header, over: RouterId) -> Hop {
        self.detour(at, header, (over, PathKind::G))
    }

    /// The same, by a path of some kind.
    pub(super) fn detour(
        &self,
        at: RouterId,
        header: &mut Header,
        (over, kind): (RouterId, PathKind),
    ) -> Hop {
        header.divert(at, over, kind);
        // Over the very port of the minimal path, it is a detour nevertheless.
        self.follow(at, header)
    }
}

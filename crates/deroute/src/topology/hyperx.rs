//! HyperX and flattened butterfly.
//!
//! # What it does
//! Routers form a lattice; those that differ in one coordinate only are fully connected, by `trunk`
//! parallel links. Every width equal to the hosts of a router is a flattened butterfly, every width 2
//! a hypercube. Ports of a router: hosts, then for each dimension the other coordinates in ascending
//! order, the links to one of them side by side.
//!
//! # Source
//! Ahn et al., SC 2009; McDonald et al., SC 2019, 3.1 and 6; thesis 2.2.
//!
//! # Parameters
//! `widths` of the dimensions, `hosts` of every router, `trunk` (default 1).
//!
//! # Deadlock freedom
//! Shortest paths take the dimensions in order, on one VC to the intermediate router or directly to
//! the destination, and on the next one from there.
//!
//! Phase A of a detour may lead to any router (`lgl`), to one that is one hop away (`-g-`), or to one
//! that is a hop from there in another dimension, or there already (`-gl`). Restricted detours do so in
//! the dimensions in which source and destination differ.
//!
//! # Limits
//! At most 8 dimensions. Of parallel links, a shortest path uses the one that the destination's
//! number gives.
//!
//! # Example
//! ```toml
//! [network.topology.hyperx]
//! widths = [8, 8, 8]
//! hosts = 8
//! ```

use std::ops::Range;

use super::spec::HyperXSpec;
use super::{HopKind, Lattice, Peer, Step, Topology};
use crate::ids::{HostId, PortId, RouterId};
use crate::rng::Stream;
use crate::spec::{PhaseA, SpecError};

/// A HyperX network.
#[derive(Clone, Debug)]
pub struct HyperX {
    lattice: Lattice,
}

/// Names of the link classes.
const CLASSES: [&str; 8] = ["dim1", "dim2", "dim3", "dim4", "dim5", "dim6", "dim7", "dim8"];

impl HyperX {
    /// Checks the geometry.
    ///
    /// # Errors
    /// Widths or sizes that are impossible.
    pub fn new(spec: &HyperXSpec) -> Result<Self, SpecError> {
        let path = |key: &str| format!("network.topology.hyperx.{key}");
        if spec.widths.is_empty() || spec.widths.len() > CLASSES.len() {
            let message = format!("{} dimensions", spec.widths.len());
            return Err(SpecError::new(path("widths"), message).choices(["1 to 8 dimensions"]));
        }
        for (dim, &width) in spec.widths.iter().enumerate() {
            if !(2..=256).contains(&width) {
                let message = format!("{width} routers are no dimension");
                let at = path(&format!("widths[{dim}]"));
                return Err(SpecError::new(at, message).choices(["2 to 256"]));
            }
        }
        for (key, value) in [("hosts", spec.hosts), ("trunk", spec.trunk)] {
            if !(1..=1024).contains(&value) {
                let message = format!("{value} is out of range");
                return Err(SpecError::new(path(key), message).choices(["1 to 1024"]));
            }
        }
        let routers: u64 = spec.widths.iter().map(|&width| u64::from(width)).product();
        let hosts = routers * u64::from(spec.hosts);
        if hosts > 1 << 24 {
            let message = format!("{hosts} hosts are too many");
            return Err(SpecError::new(path("widths"), message).choices(["at most 16777216 hosts"]));
        }
        let others: u32 = spec.widths.iter().map(|&width| width - 1).sum();
        let radix = spec.hosts + others * spec.trunk;
        if radix > 1024 {
            let message = format!("a router would have {radix} ports");
            return Err(SpecError::new(path("hosts"), message).choices(["at most 1024 ports"]));
        }
        Ok(Self { lattice: Lattice::new(&spec.widths, spec.hosts, spec.trunk) })
    }
}

impl HyperX {
    /// A router one hop away in one of some dimensions; under `-gl` perhaps another hop from there, in
    /// another of them.
    fn nearby<D: Iterator<Item = usize>>(
        &self,
        policy: PhaseA,
        from: RouterId,
        dims: impl Fn() -> D,
        rng: &mut Stream,
    ) -> RouterId {
        let lattice = &self.lattice;
        let neighbours = dims().map(|dim| lattice.width(dim) - 1).sum();
        let (mut ticket, mut first) = (rng.below(neighbours), 0);
        for dim in dims() {
            first = dim;
            match ticket.checked_sub(lattice.width(dim) - 1) {
                Some(rest) => ticket = rest,
                None => break,
            }
        }
        let to = ticket + u32::from(ticket >= lattice.coordinate(from, first));
        let neighbour = lattice.moved(from, first, to);
        let others = || dims().filter(|&dim| dim != first);
        let count = others().count() as u32;
        if policy == PhaseA::G || count == 0 {
            return neighbour;
        }
        let second = others().nth(rng.below(count) as usize).unwrap_or(first);
        lattice.moved(neighbour, second, rng.below(lattice.width(second)))
    }
}

impl Topology for HyperX {
    fn routers(&self) -> u32 {
        self.lattice.routers()
    }

    fn hosts(&self) -> u32 {
        self.lattice.routers() * self.lattice.hosts()
    }

    fn radix(&self, _router: RouterId) -> u16 {
        self.lattice.radix()
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let lattice = &self.lattice;
        let Some((dim, to, copy)) = lattice.link(router, port) else {
            return Peer::Host(HostId(router.0 * lattice.hosts() + u32::from(port.0)));
        };
        let back = lattice.port(dim, to, lattice.coordinate(router, dim), copy);
        let router = lattice.moved(router, dim, to);
        Peer::Router { router, port: back, class: dim as u8 }
    }

    fn router_of(&self, host: HostId) -> RouterId {
        RouterId(host.0 / self.lattice.hosts())
    }

    fn port_of(&self, host: HostId) -> PortId {
        PortId((host.0 % self.lattice.hosts()) as u16)
    }

    fn classes(&self) -> &'static [&'static str] {
        &CLASSES[..self.lattice.dims()]
    }

    fn hop_kinds(&self) -> Vec<HopKind> {
        (0..self.lattice.dims()).map(|dim| HopKind::once(dim as u8)).collect()
    }

    #[inline]
    fn next_hop(&self, at: RouterId, to: RouterId) -> Step {
        let lattice = &self.lattice;
        let dim = lattice.first_unaligned(at, to).unwrap_or(0);
        let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
        Step { port: lattice.port(dim, from, target, to.0 % lattice.trunk()), kind: dim as u8 }
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        self.lattice.unaligned(from, to).count() as u32
    }

    fn policies(&self) -> &'static [PhaseA] {
        &[PhaseA::Lgl, PhaseA::Gl, PhaseA::G]
    }

    fn intermediate(
        &self,
        policy: PhaseA,
        _own_group: bool,
        from: RouterId,
        rng: &mut Stream,
    ) -> Option<RouterId> {
        match policy {
            PhaseA::Lgl => Some(RouterId(rng.below(self.lattice.routers()))),
            PhaseA::Lg => None,
            PhaseA::Gl | PhaseA::G => {
                let dims = || 0..self.lattice.dims();
                Some(self.nearby(policy, from, dims, rng))
            }
        }
    }

    /// The routers that share the coordinates of the aligned dimensions.
    fn shared_partition(
        &self,
        policy: PhaseA,
        (from, to): (RouterId, RouterId),
        rng: &mut Stream,
    ) -> Option<RouterId> {
        let lattice = &self.lattice;
        if policy != PhaseA::Lgl {
            return Some(self.nearby(policy, from, || lattice.unaligned(from, to), rng));
        }
        let draw = |at: RouterId, dim: usize| {
            let drawn = rng.below(lattice.width(dim));
            lattice.moved(at, dim, drawn)
        };
        Some(lattice.unaligned(from, to).fold(from, draw))
    }

    /// A row along the first dimension.
    fn domain(&self, router: RouterId) -> u32 {
        router.0 / self.lattice.width(0)
    }

    fn minimal_global_port(&self, from: RouterId, to: RouterId) -> Option<(RouterId, PortId)> {
        let lattice = &self.lattice;
        let owner = lattice.moved(from, 0, lattice.coordinate(to, 0));
        (owner != to).then(|| (owner, self.next_hop(owner, to).port))
    }

    fn global_ports(&self, router: RouterId) -> Range<u16> {
        let row = (self.lattice.width(0) - 1) * self.lattice.trunk();
        (self.lattice.hosts() + row) as u16..self.radix(router)
    }

    fn global_links(&self) -> u32 {
        0
    }

    fn lattice(&self) -> Option<&Lattice> {
        Some(&self.lattice)
    }
}

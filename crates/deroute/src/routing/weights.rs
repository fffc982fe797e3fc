//! What the incremental routings of a lattice share: candidates, their weights, their VCs.

use super::{Fabric, Header, RouterView, Watches};
use crate::ids::{PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::spec::QueueMetric;
use crate::topology::{Hop, Lattice};

/// VCs of each dimension, shared out among the classes of a routing: class `c` has the VCs `c`,
/// `c + classes`, `c + 2 * classes`, ...
#[derive(Clone)]
pub(super) struct Classes {
    vcs: Vec<u8>,
    classes: u8,
    queue: QueueMetric,
}

impl Classes {
    pub(super) fn new(fabric: &Fabric, classes: u8, queue: QueueMetric) -> Self {
        Self { vcs: fabric.vcs.clone(), classes, queue }
    }

    /// The emptiest VC of a class, and the queue that the class sees: its own VCs, or the port.
    #[inline]
    pub(super) fn look(
        &self,
        view: &RouterView<'_>,
        dim: usize,
        port: PortId,
        class: u8,
    ) -> (VcId, u32) {
        let queue = match self.queue {
            QueueMetric::Port => view.queues.port(port),
            QueueMetric::Vc => view.queues.class(port, VcId(class), self.classes),
        };
        if self.vcs[dim] - class <= self.classes {
            return (VcId(class), queue);
        }
        let all = (class..self.vcs[dim]).step_by(usize::from(self.classes)).map(VcId);
        let emptiest = all.min_by_key(|&vc| view.queues.taken(port, vc));
        (emptiest.unwrap_or(VcId(class)), queue)
    }
}

/// The dimension of the last hop if that was a deroute: the packet is still not aligned there.
#[inline]
pub(super) fn derouted_in(lattice: &Lattice, view: &RouterView<'_>, to: RouterId) -> Option<usize> {
    let dim = lattice.dimension(view.input)?;
    (lattice.coordinate(view.router, dim) != lattice.coordinate(to, dim)).then_some(dim)
}

/// Labels a packet as derouted if it has been, or is about to be: a choice that is taken back leaves
/// nothing behind. There is no intermediate router: its place in the header remembers.
#[inline]
pub(super) fn label(header: &mut Header, before: Option<usize>, derouted: bool) {
    if before.is_some() {
        header.root = header.destination;
    }
    let so_far = header.root != Header::UNDRAWN;
    header.kind = if derouted || so_far { PathKind::Derouted } else { PathKind::Minimal };
}

/// What an algorithm is told that decides once for every head, or again while it is blocked.
pub(super) fn reconsidering(redecide: bool) -> Watches {
    Watches { reconsiders: redecide, transit: redecide, ..Watches::default() }
}

/// The candidate with the least weight, ties at random.
pub(super) struct Best {
    /// Added to every queue.
    offset: u32,
    hop: Hop,
    weight: u64,
    ties: u32,
    derouted: bool,
}

impl Best {
    pub(super) fn none(offset: u32) -> Self {
        let hop = Hop { port: PortId(0), vc: VcId(0), place: 0 };
        Self { offset, hop, weight: u64::MAX, ties: 0, derouted: false }
    }

    /// A candidate with `hops` to go over it, `(queue + offset) * hops` heavy.
    #[inline]
    pub(super) fn offer(
        &mut self,
        view: &mut RouterView<'_>,
        hop: Hop,
        (queue, hops): (u32, u32),
        derouted: bool,
    ) {
        let weight = (u64::from(queue) + u64::from(self.offset)) * u64::from(hops);
        if weight > self.weight {
            return;
        }
        self.ties = if weight == self.weight { self.ties + 1 } else { 1 };
        if self.ties == 1 || view.rng.below(self.ties) == 0 {
            (self.hop, self.weight, self.derouted) = (hop, weight, derouted);
        }
    }

    /// The weight of the choice; above all others without one.
    pub(super) fn weight(&self) -> u64 {
        self.weight
    }

    /// The choice, and whether it is a deroute.
    pub(super) fn choice(&self) -> (Hop, bool) {
        (self.hop, self.derouted)
    }
}

//! What the incremental routings of a lattice share: candidates, their weights, their VCs.

use super::{Fabric, RouterView};
use crate::ids::{PortId, VcId};
use crate::spec::QueueMetric;
use crate::topology::Hop;

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
        let all = (class..self.vcs[dim]).step_by(usize::from(self.classes)).map(VcId);
        let (mut emptiest, mut sum) = ((u32::MAX, VcId(class)), 0);
        for vc in all {
            let queue = view.queues.vc(port, vc);
            sum += queue;
            emptiest = emptiest.min((queue, vc));
        }
        let queue = match self.queue {
            QueueMetric::Port => view.queues.port(port),
            QueueMetric::Vc => sum,
        };
        (emptiest.1, queue)
    }
}

/// The candidate with the least weight; ties at random.
pub(super) struct Best {
    hop: Hop,
    weight: u64,
    ties: u32,
    derouted: bool,
}

impl Best {
    pub(super) fn none() -> Self {
        let hop = Hop { port: PortId(0), vc: VcId(0), place: 0 };
        Self { hop, weight: u64::MAX, ties: 0, derouted: false }
    }

    /// A candidate with `hops` to go over it, `(queue + 1) * hops` heavy.
    #[inline]
    pub(super) fn offer(
        &mut self,
        view: &mut RouterView<'_>,
        hop: Hop,
        (queue, hops): (u32, u32),
        derouted: bool,
    ) {
        let weight = (u64::from(queue) + 1) * u64::from(hops);
        if weight > self.weight {
            return;
        }
        self.ties = if weight == self.weight { self.ties + 1 } else { 1 };
        if self.ties == 1 || view.rng.below(self.ties) == 0 {
            (self.hop, self.weight, self.derouted) = (hop, weight, derouted);
        }
    }

    /// The choice, and whether it is a deroute.
    pub(super) fn choice(&self) -> (Hop, bool) {
        (self.hop, self.derouted)
    }
}

//! What the incremental routings of a lattice share: candidates, their weights, their VCs.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::{Fabric, Header, Memo, Queues, RouterView, Watches};
use crate::ids::{PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::rng::Stream;
use crate::spec::QueueMetric;
use crate::topology::Lattice;

/// Lengths of the queues of consecutive ports, as an algorithm measures them.
#[derive(Clone)]
pub(super) struct Row {
    queue: QueueMetric,
    lengths: Vec<u32>,
}

impl Row {
    pub(super) fn new(lattice: &Lattice, queue: QueueMetric) -> Self {
        Self { queue, lengths: vec![0; usize::from(lattice.radix())] }
    }

    /// Measures consecutive ports, to be `at` in the row: the queues of the whole ports,
    /// or what `measure` writes.
    #[inline]
    pub(super) fn look(
        &mut self,
        queues: &dyn Queues,
        (at, ports): (u16, Range<u16>),
        measure: impl Fn(PortId, &mut [u32]),
    ) {
        let lengths = &mut self.lengths[usize::from(at)..][..ports.len()];
        match self.queue {
            QueueMetric::Vc => measure(PortId(ports.start), lengths),
            QueueMetric::Port => {
                let whole = ports.map(|port| queues.port(PortId(port)));
                lengths.iter_mut().zip(whole).for_each(|(length, whole)| *length = whole);
            }
        }
    }

    /// Lengthens the queues of the first ports.
    pub(super) fn add(&mut self, phits: &[u32]) {
        self.lengths.iter_mut().zip(phits).for_each(|(length, phits)| *length += phits);
    }
}

/// VCs of each dimension, shared out among the classes of a routing: class `c` has the VCs `c`,
/// `c + classes`, `c + 2 * classes`, ...
#[derive(Clone)]
pub(super) struct Classes {
    vcs: Vec<u8>,
    classes: u8,
}

impl Classes {
    pub(super) fn new(fabric: &Fabric, classes: u8) -> Self {
        Self { vcs: fabric.vcs.clone(), classes }
    }

    /// Measures consecutive ports, to be `at` in the row, as a class sees them: by its own VCs, or by the
    /// whole ports.
    #[inline]
    pub(super) fn look(
        &self,
        row: &mut Row,
        queues: &dyn Queues,
        at: (u16, Range<u16>),
        class: u8,
    ) {
        let own = |first, lengths: &mut [u32]| {
            queues.classes(first, VcId(class), self.classes, lengths);
        };
        row.look(queues, at, own);
    }

    /// The emptiest VC of a class at a port.
    #[inline]
    pub(super) fn emptiest(
        &self,
        queues: &dyn Queues,
        (dim, port): (usize, PortId),
        class: u8,
    ) -> VcId {
        if self.vcs[dim] - class <= self.classes {
            return VcId(class);
        }
        let all = (class..self.vcs[dim]).step_by(usize::from(self.classes)).map(VcId);
        all.min_by_key(|&vc| queues.taken(port, vc)).unwrap_or(VcId(class))
    }
}

/// The dimension of the last hop if that was a deroute: the packet is still not aligned there.
#[inline]
pub(super) fn derouted_in(lattice: &Lattice, view: &RouterView<'_>, to: RouterId) -> Option<usize> {
    let dim = lattice.dimension(view.input)?;
    (lattice.coordinate(view.router, dim) != lattice.coordinate(to, dim)).then_some(dim)
}

/// Labels a packet as derouted if it has been, or is about to be: a choice that is taken back leaves
/// nothing behind.
#[inline]
pub(super) fn label(header: &mut Header, before: Option<usize>, derouted: bool) {
    if before.is_some() {
        header.remember(Memo::Derouted);
    }
    // A hash of its flow says nothing of what it did.
    let so_far = !matches!(header.memo(), Memo::Nothing | Memo::FlowHash(_));
    header.set_kind(if derouted || so_far { PathKind::Derouted } else { PathKind::Minimal });
}

/// What an algorithm is told that decides once for every head, or again while it is blocked.
pub(super) fn reconsidering(redecide: bool) -> Watches {
    Watches { reconsiders: redecide, transit: redecide, lengths: true, ..Watches::default() }
}

/// The ports of a dimension to the destination's coordinate, with `hops` to go.
pub(super) struct Straight {
    pub(super) ports: Range<u16>,
    pub(super) hops: u32,
    /// They are candidates.
    pub(super) offered: bool,
}

/// The candidate with the least weight, ties at random.
pub(super) struct Best {
    /// Added to every queue.
    offset: u32,
    weight: u64,
    ties: u32,
    /// Its dimension and port.
    pub(super) output: (usize, PortId),
    pub(super) derouted: bool,
}

impl Best {
    /// More than any candidate weighs.
    const NONE: u64 = u64::MAX - 1;

    /// What is no candidate weighs more still.
    const NEVER: u64 = u64::MAX;

    pub(super) fn none(offset: u32) -> Self {
        Self { offset, weight: Self::NONE, ties: 0, output: (0, PortId(0)), derouted: false }
    }

    /// Consecutive ports of a dimension, measured in a row from `at` on, as candidates with `hops` to go
    /// over each: `(queue + offset) * hops` heavy.
    #[inline(always)]
    pub(super) fn offer(
        &mut self,
        rng: &mut Stream,
        row: &Row,
        (dim, at, ports): (usize, u16, Range<u16>),
        (hops, derouted): (u32, bool),
    ) {
        let hops = u64::from(hops);
        if let Some(port) = self.lightest(rng, row, (at, ports), |_, queue| queue * hops) {
            (self.output, self.derouted) = ((dim, port), derouted);
        }
    }

    /// All ports of a dimension, measured from `at` on: the straight ones, and the others with a hop more
    /// to go.
    #[inline(always)]
    pub(super) fn offer_all(
        &mut self,
        rng: &mut Stream,
        row: &Row,
        (dim, at, ports): (usize, u16, Range<u16>),
        straight: &Straight,
    ) {
        let Straight { ports: Range { start, end }, hops, offered } = *straight;
        let (count, own, other) = (end - start, u64::from(hops), u64::from(hops) + 1);
        let is_straight = |port: u16| port.wrapping_sub(start) < count;
        let weigh = |port, queue| match (is_straight(port), offered) {
            (true, false) => Self::NEVER,
            (straight, _) => queue * select_unpredictable(straight, own, other),
        };
        if let Some(port) = self.lightest(rng, row, (at, ports), weigh) {
            (self.output, self.derouted) = ((dim, port), !is_straight(port.0));
        }
    }

    /// Of some ports and the choice before, the lightest one, if it is among these.
    #[inline(always)]
    fn lightest(
        &mut self,
        rng: &mut Stream,
        row: &Row,
        (at, ports): (u16, Range<u16>),
        weigh: impl Fn(u16, u64) -> u64,
    ) -> Option<PortId> {
        let queues = &row.lengths[usize::from(at)..][..ports.len()];
        let (mut least, mut ties, mut chosen) = (self.weight, self.ties, u16::MAX);
        for (port, &queue) in ports.zip(queues) {
            let weight = weigh(port, u64::from(queue) + u64::from(self.offset));
            if weight == least {
                ties += 1;
                chosen = select_unpredictable(rng.below(ties) == 0, port, chosen);
            } else {
                // Without branches: hardly predictable.
                let less = weight < least;
                least = select_unpredictable(less, weight, least);
                ties = select_unpredictable(less, 1, ties);
                chosen = select_unpredictable(less, port, chosen);
            }
        }
        (self.weight, self.ties) = (least, ties);
        (chosen != u16::MAX).then_some(PortId(chosen))
    }

    /// The weight of the choice, unless something else is lighter, or as light and drawn.
    pub(super) fn unless(&self, rng: &mut Stream, other: u64) -> Option<u64> {
        let drawn = other == self.weight && rng.below(self.ties + 1) == 0;
        self.weight().filter(|&weight| weight <= other && !drawn)
    }

    /// The weight of the choice, if there is one.
    pub(super) fn weight(&self) -> Option<u64> {
        (self.weight != Self::NONE).then_some(self.weight)
    }
}

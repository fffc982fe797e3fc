//! Clos-AD: adaptive routing of the flattened butterfly.
//!
//! # What it does
//! UGAL with three changes. Detours stay within the dimensions in which source and destination are not
//! aligned. The source router weighs all of its ports in these dimensions, by `(Q + offset) * hops`; the
//! minimal path wins ties, and others are broken at random. If a port is chosen that is not on the
//! minimal path, an intermediate router is drawn whose shortest path uses this port: as the source in
//! the dimensions before, at random in those after. With sequential allocation, a decision counts the
//! packets that were decided on before and have yet to be granted.
//!
//! # Source
//! Kim, Dally and Abts, "Flattened butterfly: a cost-efficient topology for high-radix networks", ISCA
//! 2007; McDonald et al., SC 2019, 4.1.
//!
//! # Parameters
//! `sequential` (default false), `queue` (default `vc`): what `Q` measures. `offset` (default 1 phit): the
//! larger, the fewer detours around short queues. The hops of a port are those of the longest path
//! through it that may be drawn.
//!
//! # Deadlock freedom
//! As Valiant: two VCs.
//!
//! # Limits
//! Congestion that the source router does not see is not avoided. Needs a lattice.
//!
//! # Example
//! ```toml
//! [routing.clos_ad]
//! sequential = true
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::{Best, Row, Straight};
use super::{
    Fabric, Header, Hop, Injection, Ladder, Plan, Queue, RouterView, Routing, Watches, follow,
    require_lattice,
};
use crate::ids::{PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::rng::Stream;
use crate::spec::{QueueMetric, SpecError};
use crate::state::state;
use crate::topology::{Lattice, Topology};

/// Parameters of Clos-AD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClosAdSpec {
    /// Every decision sees those that other inputs of the router took before it. Default `false`.
    pub sequential: bool,
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What every queue is longer by when it is weighed, in phits. Default 1.
    pub offset: u32,
}

impl Default for ClosAdSpec {
    fn default() -> Self {
        Self { sequential: false, queue: QueueMetric::Vc, offset: 1 }
    }
}

struct ClosAd {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
    spec: ClosAdSpec,
    row: Row,
    first: RouterId,
    /// Ports of a router, classes of the queuing scheme, and injection queues of a host.
    ports: usize,
    classes: usize,
    queues: usize,
    /// Of each output, phits decided on and not granted; empty unless allocation is sequential.
    decided: Vec<u32>,
    /// The decision on the head of each injection queue: output and phits.
    heads: Vec<Option<(PortId, u16)>>,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice.
pub fn plan(spec: &ClosAdSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let row = Row::new(require_lattice(fabric, "routing.clos_ad")?, spec.queue);
    let (topology, spec) = (Arc::clone(&fabric.topology), spec.clone());
    let ladder = Ladder::valiant(&*topology, "routing.clos_ad")?;
    let vcs = ladder.needs();
    let classes = usize::from(fabric.classes);
    let queues = classes * usize::from(fabric.queues);
    let agent = Box::new(move |first, count: u32| -> Box<dyn Routing> {
        let ports = usize::from(topology.radix(first));
        let cells = if spec.sequential { ports * count as usize } else { 0 };
        Box::new(ClosAd {
            topology: Arc::clone(&topology),
            ladder: ladder.clone(),
            spec: spec.clone(),
            row: row.clone(),
            first,
            ports,
            classes,
            queues,
            decided: vec![0; cells],
            heads: vec![None; cells * queues],
        })
    });
    Ok(Plan { agent, vcs })
}

impl ClosAd {
    fn cell(&self, router: RouterId, port: PortId) -> usize {
        (router.0 - self.first.0) as usize * self.ports + port.index()
    }

    fn head(&self, router: RouterId, port: PortId, queue: u8) -> usize {
        self.cell(router, port) * self.queues + usize::from(queue)
    }

    fn queue(&self, view: &RouterView<'_>, port: PortId) -> u32 {
        let queue = match self.spec.queue {
            QueueMetric::Port => view.queues.port(port),
            QueueMetric::Vc => view.queues.lane(port, VcId(0)),
        };
        queue + self.decided.get(self.cell(view.router, port)).copied().unwrap_or(0)
    }

    /// The port out of the source router, unless it is the minimal one.
    fn decide(&mut self, view: &mut RouterView<'_>, minimal: Hop, to: RouterId) -> Option<PortId> {
        let Some(lattice) = self.topology.lattice() else { unreachable!("checked by `plan`") };
        let (at, queues) = (view.router, view.queues);
        let left = lattice.unaligned(at, to).count() as u32;
        let mut best = Best::none(self.spec.offset);
        for (before, dim) in lattice.unaligned(at, to).enumerate() {
            let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
            let (ports, straight) = (lattice.ports(dim), lattice.ports_to(dim, from, target));
            let lanes = |first, lengths: &mut [u32]| queues.lanes(first, VcId(0), lengths);
            self.row.look(queues, (0, ports.clone()), lanes);
            if self.spec.sequential {
                let first = self.cell(at, PortId(ports.start));
                self.row.add(&self.decided[first..][..ports.len()]);
            }
            // Phase A takes the dimensions from this one on, phase B all but perhaps this one. The
            // minimal path is none of the others.
            let hops = 2 * left - before as u32 - 1;
            let straight = Straight { ports: straight, hops, offered: before > 0 };
            best.offer_all(view.rng, &self.row, (dim, 0, ports), &straight);
        }
        let queue = u64::from(self.queue(view, minimal.port)) + u64::from(self.spec.offset);
        let lighter = best.weight().is_some_and(|weight| weight < queue * u64::from(left));
        lighter.then_some(best.output.1)
    }
}

/// A router to which the shortest path from `at` begins with a port, and that is aligned where `at` and
/// `to` are.
fn beyond(
    lattice: &Lattice,
    (at, to): (RouterId, RouterId),
    port: PortId,
    rng: &mut Stream,
) -> RouterId {
    let Some((dim, other, _)) = lattice.link(at, port) else { unreachable!("not a host's port") };
    let later = lattice.unaligned(at, to).filter(|&later| later > dim);
    later.fold(lattice.moved(at, dim, other), |router, later| {
        let drawn = rng.below(lattice.width(later));
        lattice.moved(router, later, drawn)
    })
}

impl Routing for ClosAd {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let (at, to) = (view.router, header.destination);
        let minimal = follow(&*self.topology, &self.ladder, at, header);
        if header.position > 0 {
            return minimal;
        }
        let hop = match (self.decide(view, minimal, to), self.topology.lattice()) {
            (Some(port), Some(lattice)) => {
                let intermediate = beyond(lattice, (at, to), port, view.rng);
                let topology = &*self.topology;
                let hops =
                    topology.distance(at, intermediate) + topology.distance(intermediate, to);
                // Another order of the dimensions is no detour.
                let detour = hops > topology.distance(at, to);
                let kind = if detour { PathKind::Lgl } else { PathKind::Minimal };
                header.divert(at, intermediate, kind);
                Hop { port, ..follow(topology, &self.ladder, at, header) }
            }
            _ => minimal,
        };
        if self.spec.sequential {
            let queue = view.injection_queue(self.classes);
            let (out, input) = (self.cell(at, hop.port), self.head(at, view.input, queue));
            self.decided[out] += u32::from(view.size);
            self.heads[input] = Some((hop.port, view.size));
        }
        hop
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.decided) + size_of_val(&*self.heads)
    }

    fn watches(&self) -> Watches {
        Watches { injections: self.spec.sequential, lengths: true, ..Watches::default() }
    }

    fn injection(&mut self, queue: Queue, event: Injection, _header: &Header) {
        if event != Injection::Left {
            return;
        }
        let input = self.head(queue.router, queue.port, queue.number);
        if let Some((port, size)) = self.heads[input].take() {
            let out = self.cell(queue.router, port);
            self.decided[out] -= u32::from(size);
        }
    }

    state! { keep decided, heads; leave topology, ladder, spec, row, first, ports, classes, queues; }
}

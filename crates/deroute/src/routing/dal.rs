//! DAL: dimensionally adaptive load-balancing.
//!
//! # What it does
//! In every router a packet may take any dimension in which it is not aligned with its destination:
//! straight to the destination's coordinate, or, once in each dimension, to any other one. Of the
//! outputs with room for it, it takes the one with the least `(Q + offset) * hops`, ties at random; if none has
//! room, the next hop in dimension order on the escape VC. The decision is taken again in every cycle in
//! which a head is blocked.
//!
//! # Source
//! Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC 2009;
//! McDonald et al., SC 2019, 4.2.
//!
//! # Parameters
//! `queue` (default `vc`): what `Q` measures; `vc` is the sum over all VCs but the escape VC. `offset`
//! (default 1 phit). `atomic` (default true): a VC takes a packet only while its buffer is known to be
//! empty.
//!
//! # Deadlock freedom
//! Duato 1993: every head may turn to VC 0, on which dimensions are in order. Without `atomic` that
//! needs a switch in which a head that is blocked can always change its mind, as this one can.
//!
//! # Limits
//! With `atomic`, a VC carries one packet in a round trip of its credits: a link carries at most
//! `packet size * VCs / round trip`. Needs a lattice and two VCs.
//!
//! # Example
//! ```toml
//! [routing.dal]
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::{Best, Row, derouted_in, label, reconsidering};
use super::{
    Fabric, Header, Hop, Memo, Plan, RouterView, Routing, VcNeed, Watches, require_lattice,
};
use crate::ids::{PortId, VcId};
use crate::spec::{QueueMetric, SpecError};
use crate::state::state;
use crate::topology::Topology;

/// Parameters of DAL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DalSpec {
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What every queue is longer by when it is weighed, in phits. Default 1.
    pub offset: u32,
    /// A VC takes a packet only while its buffer is known to be empty. Default `true`.
    pub atomic: bool,
}

impl Default for DalSpec {
    fn default() -> Self {
        Self { queue: QueueMetric::Vc, offset: 1, atomic: true }
    }
}

struct Dal {
    topology: Arc<dyn Topology>,
    /// VCs of each dimension.
    vcs: Arc<[u8]>,
    row: Row,
    spec: DalSpec,
}

/// The VC that is routed in dimension order.
const ESCAPE: VcId = VcId(0);

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice.
pub fn plan(spec: &DalSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let row = Row::new(require_lattice(fabric, "routing.dal")?, spec.queue);
    let (topology, spec) = (Arc::clone(&fabric.topology), spec.clone());
    let why = "one VC is kept in dimension order, to escape through";
    let need = |class: &&'static str| VcNeed { class, vcs: 2, why: why.into() };
    let needs = topology.classes().iter().map(need).collect();
    let vcs: Arc<[u8]> = fabric.vcs.clone().into();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        let (topology, vcs) = (Arc::clone(&topology), Arc::clone(&vcs));
        Box::new(Dal { topology, vcs, row: row.clone(), spec: spec.clone() })
    });
    Ok(Plan { agent, vcs: needs })
}

impl Dal {
    /// The VCs of a port with room for the packet.
    fn open<'a>(
        &self,
        view: &'a RouterView<'_>,
        (dim, port): (usize, PortId),
    ) -> impl Iterator<Item = VcId> + 'a {
        let adaptive = (ESCAPE.0 + 1..self.vcs[dim]).map(VcId);
        adaptive.filter(move |&vc| view.queues.fits(port, vc, view.size))
    }
}

impl Routing for Dal {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Some(lattice) = self.topology.lattice() else { unreachable!("checked by `plan`") };
        let (at, to, position) = (view.router, header.destination, header.position + 1);
        let before = derouted_in(lattice, view, to);
        let mut done = match header.memo() {
            Memo::DeroutedIn(dimensions) => dimensions,
            _ => 0,
        };
        if let Some(dim) = before {
            done |= 1 << dim;
            header.remember(Memo::DeroutedIn(done));
        }
        let left = lattice.unaligned(at, to).count() as u32;
        let mut best = Best::none(self.spec.offset);
        for dim in lattice.unaligned(at, to) {
            let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
            let (ports, straight) = (lattice.ports(dim), lattice.ports_to(dim, from, target));
            let queues = view.queues;
            let adaptive = |first, lengths: &mut [u32]| {
                queues.classes(first, VcId(ESCAPE.0 + 1), 1, lengths);
            };
            self.row.look(queues, (0, ports.clone()), adaptive);
            for port in ports.clone() {
                let derouted = !straight.contains(&port);
                let barred = derouted && done & 1 << dim != 0;
                if !barred && self.open(view, (dim, PortId(port))).next().is_some() {
                    let among = (dim, port - ports.start, port..port + 1);
                    let hops = left + u32::from(derouted);
                    best.offer(view.rng, &self.row, among, (hops, derouted));
                }
            }
        }
        label(header, None, best.derouted);
        let open =
            self.open(view, best.output).min_by_key(|&vc| view.queues.taken(best.output.1, vc));
        match open {
            Some(vc) if best.weight().is_some() => Hop { port: best.output.1, vc, position },
            _ => Hop { port: self.topology.next_hop(at, to).port, vc: ESCAPE, position },
        }
    }

    fn watches(&self) -> Watches {
        reconsidering(true)
    }

    fn atomic(&self) -> bool {
        self.spec.atomic
    }

    fn escape(&self) -> Option<VcId> {
        Some(ESCAPE)
    }

    state! { leave topology, vcs, row, spec; }
}

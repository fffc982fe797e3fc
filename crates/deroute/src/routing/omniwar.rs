//! OmniWAR: omni-dimensional weighted adaptive routing.
//!
//! # What it does
//! In every router a packet may take any dimension in which it is not aligned with its destination:
//! straight to the destination's coordinate, or, while it has hops to spare, to any other one. The
//! decision is taken anew in every router: the output with the least `(Q + offset) * hops`, ties at
//! random.
//!
//! # Source
//! McDonald et al., "Practical and efficient incremental adaptive routing for HyperX networks", SC 2019,
//! 5.2.
//!
//! # Parameters
//! `deroutes` M: hops to spare for the longest of shortest paths (default: as many as there are dimensions);
//! shorter ones have more. `back_to_back` (default true): two deroutes in a row may be in the same
//! dimension. `queue` (default `vc`): what `Q` measures. `offset` (default 1 phit): the larger, the fewer
//! deroutes around short queues. `redecide` (default false): decide again in every cycle in which a head is
//! blocked.
//!
//! # Deadlock freedom
//! Distance classes: the n-th hop takes the n-th of N + M classes of VCs.
//!
//! # Limits
//! Needs a lattice, and N + M VCs in every dimension.
//!
//! # Example
//! ```toml
//! [routing.omniwar]
//! deroutes = 5
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::{Best, Classes, Row, Straight, derouted_in, label, reconsidering};
use super::{Fabric, Header, Hop, Plan, RouterView, Routing, VcNeed, Watches, require_lattice};
use crate::spec::{QueueMetric, SpecError};
use crate::state::state;
use crate::topology::{Lattice, Topology};

/// Parameters of OmniWAR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OmniWarSpec {
    /// M: deroutes that a packet may take. Default: the number of dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deroutes: Option<u8>,
    /// Two deroutes in a row may be in the same dimension. Default `true`.
    pub back_to_back: bool,
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What every queue is longer by when it is weighed, in phits. Default 1.
    pub offset: u32,
    /// Decide again in every cycle in which a head is blocked, in every router. Default `false`: decide
    /// once, when the packet becomes the head of its queue.
    pub redecide: bool,
}

impl Default for OmniWarSpec {
    fn default() -> Self {
        Self {
            deroutes: None,
            back_to_back: true,
            queue: QueueMetric::Vc,
            offset: 1,
            redecide: false,
        }
    }
}

struct OmniWar {
    topology: Arc<dyn Topology>,
    classes: Classes,
    row: Row,
    /// N + M.
    hops: u8,
    /// Deroutes are not allowed, however many hops are to spare.
    straight: bool,
    spec: OmniWarSpec,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice, and deroutes that are too many.
pub fn plan(spec: &OmniWarSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    incremental(spec, false, (fabric, require_lattice(fabric, "routing.omniwar")?))
}

/// OmniWAR on a lattice, or only its straight hops.
pub(super) fn incremental(
    spec: &OmniWarSpec,
    straight: bool,
    (fabric, lattice): (&Fabric, &Lattice),
) -> Result<Plan, SpecError> {
    let topology = Arc::clone(&fabric.topology);
    let dims = topology.classes().len() as u8;
    let deroutes = spec.deroutes.unwrap_or(dims);
    let hops = dims.saturating_add(deroutes);
    if hops > 64 {
        let message = format!("{dims} dimensions and {deroutes} deroutes are too many hops");
        let choices = [format!("0 to {}", 64 - dims)];
        return Err(SpecError::new("routing.omniwar.deroutes", message).choices(choices));
    }
    let why = "each of at most N + M hops takes the next class of VCs";
    let need = |class: &&'static str| VcNeed { class, vcs: hops, why: why.into() };
    let vcs = topology.classes().iter().map(need).collect();
    let (classes, row) = (Classes::new(fabric, hops), Row::new(lattice, spec.queue));
    let spec = spec.clone();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        let (topology, classes) = (Arc::clone(&topology), classes.clone());
        Box::new(OmniWar {
            topology,
            classes,
            row: row.clone(),
            hops,
            straight,
            spec: spec.clone(),
        })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for OmniWar {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Some(lattice) = self.topology.lattice() else { unreachable!("checked by `plan`") };
        let (at, to) = (view.router, header.destination);
        let left = lattice.unaligned(at, to).count() as u32;
        let class = header.position;
        let spare = !self.straight && u32::from(self.hops - class) > left;
        let before = derouted_in(lattice, view, to);
        // The dimension of a deroute that must not be repeated.
        let last = before.filter(|_| !self.spec.back_to_back);
        let mut best = Best::none(self.spec.offset);
        let Self { row, .. } = self;
        let dims = || lattice.unaligned(at, to);
        let first = lattice.ports(dims().next().unwrap_or(0)).start;
        if spare {
            // The ports of all these dimensions at once, and of those between.
            let end = lattice.ports(dims().last().unwrap_or(0)).end;
            self.classes.look(row, view.queues, (0, first..end), class);
        }
        for dim in dims() {
            let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
            let straight = lattice.ports_to(dim, from, target);
            let index = straight.start - first;
            if !spare {
                self.classes.look(row, view.queues, (index, straight.clone()), class);
            }
            if spare && last != Some(dim) {
                let ports = lattice.ports(dim);
                let among = (dim, ports.start - first, ports);
                let straight = Straight { ports: straight, hops: left, offered: true };
                best.offer_all(view.rng, row, among, &straight);
            } else {
                best.offer(view.rng, row, (dim, index, straight), (left, false));
            }
        }
        label(header, before, best.derouted);
        let vc = self.classes.emptiest(view.queues, best.output, class);
        Hop { port: best.output.1, vc, position: class + 1 }
    }

    fn watches(&self) -> Watches {
        reconsidering(self.spec.redecide)
    }

    state! { leave topology, classes, row, hops, straight, spec; }
}

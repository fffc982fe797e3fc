//! DimWAR: dimensionally-ordered weighted adaptive routing.
//!
//! # What it does
//! Takes the dimensions of a lattice in order. In each, a packet goes straight to the coordinate of its
//! destination, or first to any other coordinate and then straight. The decision is taken anew in every
//! router: the output with the least `(Q + offset) * hops`, ties at random.
//!
//! # Source
//! McDonald et al., "Practical and efficient incremental adaptive routing for HyperX networks", SC 2019,
//! 5.1.
//!
//! # Parameters
//! `queue` (default `vc`): what `Q` measures. Every class of VCs has as many as there are for
//! it; a packet takes the emptiest. `offset` (default 1 phit): the larger, the fewer deroutes around short
//! queues. `classes` (default `hop`): which class of VCs a hop takes. `redecide` (default false): decide
//! again in every cycle in which a head is blocked.
//!
//! # Deadlock freedom
//! Two classes of VCs for any number of dimensions. With `hop` a deroute takes the second, a hop to the
//! destination's coordinate the first. With `arrival` the hop after a deroute takes the second, every
//! other one the first, so that straight hops and deroutes share their VCs. Either way the hop after a
//! deroute is a straight one, and dimensions are in order, so that positions only grow.
//!
//! # Limits
//! One deroute in each dimension; needs a lattice.
//!
//! # Example
//! ```toml
//! [routing.dimwar]
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::{Best, Classes, Row, Straight, derouted_in, label, reconsidering};
use super::{Fabric, Header, Hop, Plan, RouterView, Routing, VcNeed, Watches, require_lattice};
use crate::spec::{QueueMetric, SpecError};
use crate::state::state;
use crate::topology::Topology;

/// Parameters of DimWAR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DimWarSpec {
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What every queue is longer by when it is weighed, in phits. Default 1.
    pub offset: u32,
    /// Which class of VCs a hop takes. Default `hop`.
    pub classes: DimWarClasses,
    /// Decide again in every cycle in which a head is blocked, in every router. Default `false`: decide
    /// once, when the packet becomes the head of its queue.
    pub redecide: bool,
}

impl Default for DimWarSpec {
    fn default() -> Self {
        let (queue, classes) = (QueueMetric::Vc, DimWarClasses::Hop);
        Self { queue, offset: 1, classes, redecide: false }
    }
}

/// What the two classes of VCs are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DimWarClasses {
    /// The second for deroutes (the paper).
    #[default]
    Hop,
    /// The second for the hop after a deroute (the authors' simulator).
    Arrival,
}

struct DimWar {
    topology: Arc<dyn Topology>,
    classes: Classes,
    row: Row,
    spec: DimWarSpec,
}

/// Classes of VCs.
const CLASSES: u8 = 2;

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice.
pub fn plan(spec: &DimWarSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let lattice = require_lattice(fabric, "routing.dimwar")?;
    let topology = Arc::clone(&fabric.topology);
    let why = "deroutes need a second class of VCs";
    let need = |class: &&'static str| VcNeed { class, vcs: CLASSES, why: why.into() };
    let vcs = topology.classes().iter().map(need).collect();
    let (classes, row) = (Classes::new(fabric, CLASSES), Row::new(lattice, spec.queue));
    let spec = spec.clone();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        let (topology, classes) = (Arc::clone(&topology), classes.clone());
        Box::new(DimWar { topology, classes, row: row.clone(), spec: spec.clone() })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for DimWar {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Some(lattice) = self.topology.lattice() else { unreachable!("checked by `plan`") };
        let (at, to) = (view.router, header.destination);
        let dim = lattice.first_unaligned(at, to).unwrap_or(0);
        let hops = lattice.unaligned(at, to).count() as u32;
        let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
        let before = derouted_in(lattice, view, to);
        let (straight, ports) = (lattice.ports_to(dim, from, target), lattice.ports(dim));
        // The classes of a straight hop and of a deroute.
        let classes = match self.spec.classes {
            DimWarClasses::Hop => [0, 1],
            DimWarClasses::Arrival => [u8::from(before.is_some()); 2],
        };
        let mut best = Best::none(self.spec.offset);
        let Self { row, .. } = self;
        if before.is_some() {
            self.classes.look(row, view.queues, (0, straight.clone()), classes[0]);
            best.offer(view.rng, row, (dim, 0, straight), (hops, false));
        } else {
            self.classes.look(row, view.queues, (0, ports.clone()), classes[1]);
            if classes[0] != classes[1] {
                let among = (straight.start - ports.start, straight.clone());
                self.classes.look(row, view.queues, among, classes[0]);
            }
            let straight = Straight { ports: straight, hops, offered: true };
            best.offer_all(view.rng, row, (dim, 0, ports), &straight);
        }
        let Best { output: (_, port), derouted, .. } = best;
        label(header, before, derouted);
        let class = classes[usize::from(derouted)];
        let vc = self.classes.emptiest(view.queues, best.output, class);
        // Positions: a deroute and a straight hop in every dimension.
        let position = 2 * dim as u8 + 1 + u8::from(!derouted);
        Hop { port, vc, position }
    }

    fn watches(&self) -> Watches {
        reconsidering(self.spec.redecide)
    }

    state! { leave topology, classes, row, spec; }
}

//! Clos-AD: adaptive routing of the flattened butterfly.
//!
//! # What it does
//! UGAL with three changes. Detours stay within the dimensions in which source and destination are not
//! aligned. The source router weighs all of its ports in these dimensions, by `(Q + offset) * hops`; the
//! minimal path wins ties, and others are broken at random. If a port is chosen that is not on the
//! minimal path, an intermediate router is drawn whose shortest path uses this port: as the source in
//! the dimensions before, at random in those after. With sequential allocation, a decision counts the
//! heads of injection queues that were decided on before and have yet to be granted.
//!
//! As first published the intermediate router is chosen instead, a coordinate at a time: in each of these
//! dimensions in turn, by the router where the packet is then, the port with the shortest queue, or the
//! packet stays, if a dummy queue is shorter still. The source weighs the first port that comes of it.
//!
//! # Source
//! Kim, Dally and Abts, "Flattened butterfly: a cost-efficient topology for high-radix networks", ISCA
//! 2007; McDonald et al., SC 2019, 4.1.
//!
//! # Parameters
//! `intermediate`: `drawn` (default, SC 2019) or `chosen` (ISCA 2007). `sequential` (default false), `queue`
//! (default `vc`): what `Q` measures. `offset` (default 1 phit): the larger, the fewer detours around short
//! queues. The hops of a port are those of the longest path through it that may be drawn or chosen.
//!
//! A dummy queue has the packets that stayed, from their decision on, as if a port sent them, a phit in a
//! cycle; a packet that stays in all dimensions takes the minimal path and is in all of them. What travels is
//! not in it, so that it compares with ports best under `network.sensing = "waiting"`.
//!
//! # Deadlock freedom
//! As Valiant: two VCs.
//!
//! # Limits
//! Whether there is a detour depends on congestion that the source router sees. Needs a lattice.
//!
//! # Example
//! ```toml
//! [routing.clos_ad]
//! sequential = true
//! ```

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weights::{Best, Row, Straight};
use super::{
    Fabric, Header, Hop, Injection, Ladder, Memo, Plan, Queue, RouterView, Routing, ValiantPhase,
    Watches, follow, require_lattice,
};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::rng::Stream;
use crate::spec::{QueueMetric, SpecError};
use crate::state::state;
use crate::topology::{Lattice, Topology};

/// Parameters of Clos-AD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClosAdSpec {
    /// How a detour gets its intermediate router. Default `drawn`.
    pub intermediate: ClosAdIntermediate,
    /// Every decision sees those on heads of other injection queues before it. Default `false`.
    pub sequential: bool,
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What every queue is longer by when it is weighed, in phits. Default 1.
    pub offset: u32,
}

impl Default for ClosAdSpec {
    fn default() -> Self {
        Self {
            intermediate: ClosAdIntermediate::Drawn,
            sequential: false,
            queue: QueueMetric::Vc,
            offset: 1,
        }
    }
}

/// How Clos-AD gets the intermediate router of a detour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClosAdIntermediate {
    /// Drawn by the source router, beyond the port that weighs least (McDonald et al., SC 2019).
    #[default]
    Drawn,
    /// Chosen where the packet gets to each dimension, by the shortest queue (Kim et al., ISCA 2007).
    Chosen,
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
    /// Of each dimension of each router, when its dummy queue is empty again; empty unless intermediate
    /// routers are chosen.
    stays: Vec<Cycle>,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice.
pub fn plan(spec: &ClosAdSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let lattice = require_lattice(fabric, "routing.clos_ad")?;
    let row = Row::new(lattice, spec.queue);
    let dims = if spec.intermediate == ClosAdIntermediate::Chosen { lattice.dims() } else { 0 };
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
            stays: vec![0; dims * count as usize],
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
        let (at, router) = (view.router, self.cell(view.router, PortId(0)));
        let queue = u64::from(self.queue(view, minimal.port)) + u64::from(self.spec.offset);
        let lattice = lattice_of(&*self.topology);
        let left = lattice.unaligned(at, to).count() as u32;
        let mut best = Best::none(self.spec.offset);
        for (before, dim) in lattice.unaligned(at, to).enumerate() {
            let ports = lattice.ports(dim);
            look(&mut self.row, view, &ports, self.decided.get(router..));
            // Phase A takes the dimensions from this one on, phase B all but perhaps this one. The
            // minimal path is none of the others.
            let hops = 2 * left - before as u32 - 1;
            let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
            let straight = lattice.ports_to(dim, from, target);
            let straight = Straight { ports: straight, hops, offered: before > 0 };
            best.offer_all(view.rng, &self.row, (dim, 0, ports), &straight);
        }
        let lighter = best.weight().is_some_and(|weight| weight < queue * u64::from(left));
        lighter.then_some(best.output.1)
    }

    /// The same, if intermediate routers are chosen.
    fn climb(&mut self, view: &mut RouterView<'_>, minimal: Hop, to: RouterId) -> Option<PortId> {
        let (at, queue) = (view.router, self.queue(view, minimal.port));
        let left = lattice_of(&*self.topology).unaligned(at, to).count() as u32;
        let Some((dim, port, shortest)) = self.shortest(view, to, 0) else {
            self.stay(view, to, 0..usize::MAX);
            return None;
        };
        let lattice = lattice_of(&*self.topology);
        let before = lattice.unaligned(at, to).filter(|&before| before < dim).count() as u32;
        let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
        let straight = lattice.ports_to(dim, from, target).contains(&port.0);
        let hops = 2 * left - before - u32::from(straight);
        let weight = |queue: u32, hops| u64::from(queue + self.spec.offset) * u64::from(hops);
        let lighter = weight(shortest, hops) < weight(queue, left);
        if lighter {
            self.stay(view, to, 0..dim);
        }
        lighter.then_some(port)
    }

    /// Of the dimensions that are not aligned, from one on, the first in which a port has a shorter queue than the
    /// dummy queue, which port has the shortest, and how long that is. Ties at random.
    fn shortest(
        &mut self,
        view: &mut RouterView<'_>,
        to: RouterId,
        from: usize,
    ) -> Option<(usize, PortId, u32)> {
        let (at, router) = (view.router, self.cell(view.router, PortId(0)));
        let lattice = lattice_of(&*self.topology);
        let first = (at.0 - self.first.0) as usize * lattice.dims();
        for dim in lattice.unaligned(at, to).filter(|&dim| dim >= from) {
            let ports = lattice.ports(dim);
            look(&mut self.row, view, &ports, self.decided.get(router..));
            let mut best = Best::none(0);
            best.offer(view.rng, &self.row, (dim, 0, ports), (1, false));
            let stays = self.stays[first + dim].saturating_sub(view.now);
            if let Some(shortest) = best.unless(view.rng, u64::from(stays)) {
                return Some((dim, best.output.1, shortest as u32));
            }
        }
        None
    }

    /// The packet has stayed in those of these dimensions that are not aligned.
    fn stay(&mut self, view: &RouterView<'_>, to: RouterId, dims: Range<usize>) {
        let lattice = lattice_of(&*self.topology);
        let first = (view.router.0 - self.first.0) as usize * lattice.dims();
        for dim in lattice.unaligned(view.router, to).filter(|dim| dims.contains(dim)) {
            let empty = &mut self.stays[first + dim];
            *empty = view.now.max(*empty) + u32::from(view.size);
        }
    }

    /// Goes on with a detour where its last hop has led: through a port of the next dimension in which it does
    /// not stay.
    fn climb_on(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Option<PortId> {
        let (at, to) = (view.router, header.destination);
        let last = lattice_of(&*self.topology).dimension(view.input)?;
        let next = self.shortest(view, to, last + 1);
        self.stay(view, to, last + 1..next.map_or(usize::MAX, |(dim, ..)| dim));
        let (dim, port, _) = next?;
        let lattice = lattice_of(&*self.topology);
        let intermediate = across(lattice, at, port);
        if lattice.coordinate(intermediate, dim) != lattice.coordinate(to, dim) {
            header.set_kind(PathKind::Lgl);
        }
        header.remember(Memo::Intermediate(intermediate));
        header.phase = ValiantPhase::A;
        Some(port)
    }
}

fn lattice_of(topology: &dyn Topology) -> &Lattice {
    let Some(lattice) = topology.lattice() else { unreachable!("checked by `plan`") };
    lattice
}

/// Measures the ports of a dimension, with what has been decided on for each port of the router.
fn look(row: &mut Row, view: &RouterView<'_>, ports: &Range<u16>, decided: Option<&[u32]>) {
    let lanes = |first, lengths: &mut [u32]| view.queues.lanes(first, VcId(0), lengths);
    row.look(view.queues, (0, ports.clone()), lanes);
    if let Some(decided) = decided.filter(|decided| !decided.is_empty()) {
        row.add(&decided[usize::from(ports.start)..usize::from(ports.end)]);
    }
}

/// The router at the other end of a port.
fn across(lattice: &Lattice, at: RouterId, port: PortId) -> RouterId {
    let Some((dim, other, _)) = lattice.link(at, port) else { unreachable!("not a host's port") };
    lattice.moved(at, dim, other)
}

/// A router to which the shortest path from `at` begins with a port, and that is aligned where `at` and
/// `to` are.
fn beyond(
    lattice: &Lattice,
    (at, to): (RouterId, RouterId),
    port: PortId,
    rng: &mut Stream,
) -> RouterId {
    let dim = lattice.dimension(port);
    let later = lattice.unaligned(at, to).filter(|&later| Some(later) > dim);
    later.fold(across(lattice, at, port), |router, later| {
        let drawn = rng.below(lattice.width(later));
        lattice.moved(router, later, drawn)
    })
}

impl Routing for ClosAd {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let (at, to) = (view.router, header.destination);
        let chosen = self.spec.intermediate == ClosAdIntermediate::Chosen;
        let onward = match chosen && header.intermediate() == Some(at) && at != to {
            true => self.climb_on(view, header),
            false => None,
        };
        let minimal = follow(&*self.topology, &self.ladder, at, header);
        if header.position > 0 {
            return Hop { port: onward.unwrap_or(minimal.port), ..minimal };
        }
        let decided =
            if chosen { self.climb(view, minimal, to) } else { self.decide(view, minimal, to) };
        let hop = match decided {
            Some(port) => {
                let (topology, lattice) = (&*self.topology, lattice_of(&*self.topology));
                let intermediate = match self.spec.intermediate {
                    ClosAdIntermediate::Drawn => beyond(lattice, (at, to), port, view.rng),
                    ClosAdIntermediate::Chosen => across(lattice, at, port),
                };
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
        size_of_val(&*self.decided) + size_of_val(&*self.heads) + size_of_val(&*self.stays)
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

    state! { keep decided, heads, stays; leave topology, ladder, spec, row, first, ports, classes, queues; }
}

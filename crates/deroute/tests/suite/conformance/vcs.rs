//! The virtual channels that a routing says it needs are enough, and none is too many: with them the
//! audit finds no cycle of dependencies, and names one when two of them are merged.

use std::ops::ControlFlow;
use std::sync::Arc;

use deroute::ids::{PortId, RouterId, VcId};
use deroute::routing::{
    self, Fabric, Follows, Header, Hop, Message, Plan, Planner, Queues, RouterView, Routing,
    VcNeed, Wrapper,
};
use deroute::spec::{Scale, Spec, Warmup};
use deroute::topology::{self, Peer, Topology};
use deroute::{CheckpointError, RunError, RunOptions, Simulation};

use super::deadlock::channels;
use crate::support::catalogue::{LATTICE_ROUTINGS, ROUTINGS};
use crate::support::{self, value};

/// A routing whose last VC of some links is not its own: the one before takes its packets as well.
struct Merged {
    inner: Box<dyn Routing>,
    topology: Arc<dyn Topology>,
    /// The last VC of each link class; none where it is left alone.
    lasts: Vec<Option<VcId>>,
}

impl Wrapper for Merged {
    fn inner(&self) -> &dyn Routing {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Routing {
        &mut *self.inner
    }

    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let hop = self.inner.route(view, header);
        let peer = self.topology.peer(view.router, hop.port);
        let Peer::Router { class, .. } = peer else { panic!("a hop to a host") };
        let last = self.lasts[usize::from(class)] == Some(hop.vc);
        let vc = if last { VcId(hop.vc.0 - 1) } else { hop.vc };
        Hop { vc, ..hop }
    }

    /// The VC of a path may be merged.
    fn follows(&self) -> Option<Follows> {
        None
    }

    fn escape(&self) -> Option<VcId> {
        self.inner.escape()
    }

    fn queues_changed(&mut self, at: RouterId, queues: &dyn Queues, mail: &mut Vec<Message>) {
        self.inner.queues_changed(at, queues, mail);
    }

    fn save(&self, into: &mut Vec<u8>) -> Result<(), CheckpointError> {
        self.inner.save(into)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), CheckpointError> {
        self.inner.load(from)
    }
}

/// What a routing needs in the network of a spec.
fn needs(spec: &Spec, routing: &Planner<'_>) -> Vec<VcNeed> {
    let topology = topology::build(&spec.network.topology).unwrap();
    let classes = topology.classes().len();
    let scale = Scale::new("1 ns", "25 B").unwrap();
    let (latency, vcs, buffers) = (vec![1; classes], vec![64; classes], vec![100; classes]);
    let fabric = Fabric { topology, latency, vcs, buffers, classes: 1, queues: 1, scale };
    routing(&fabric).unwrap().vcs
}

/// Runs a spec in which links have the VCs that a routing needs; those of some classes, one fewer.
fn run(spec: &Spec, routing: &Planner<'_>, merged: &[usize]) -> Result<(), RunError> {
    let plan = |fabric: &Fabric| {
        let Plan { agent, vcs } = routing(fabric)?;
        let topology = Arc::clone(&fabric.topology);
        let last = |(class, vcs): (usize, &u8)| merged.contains(&class).then(|| VcId(vcs - 1));
        let lasts: Vec<_> = fabric.vcs.iter().enumerate().map(last).collect();
        let agent = Box::new(move |first, count| -> Box<dyn Routing> {
            let (topology, lasts) = (Arc::clone(&topology), lasts.clone());
            Box::new(Merged { inner: agent(first, count), topology, lasts })
        });
        Ok(Plan { agent, vcs })
    };
    let simulation = Simulation::build_with(spec, &plan).unwrap();
    let options = RunOptions { partitions: Some(1), ..RunOptions::default() };
    simulation.run(&options, &mut |_| ControlFlow::Continue(())).map(drop)
}

/// Traffic in a Dragonfly that takes all kinds of paths.
pub const EVERYWHERE: &str = "{ mix = [{ weight = 2, pattern = 'uniform' }, \
    { weight = 2, pattern = { adversarial = { offset = 1 } } }, \
    { weight = 1, pattern = 'adversarial_local' }] }";

/// A busy network of a routing, with as many VCs as it says that it needs.
pub fn tight(mut spec: Spec, routing: &Planner<'_>, pattern: &str) -> (Spec, Vec<VcNeed>) {
    spec.traffic.pattern = value(pattern);
    spec.traffic.load = 1.0;
    spec.run.warmup = Warmup::Fixed(0.into());
    spec.run.measure = 3_000.into();
    spec.checks.dependencies = true;
    spec.checks.watchdog = Some(1_000.into());
    let needs = needs(&spec, routing);
    for need in &needs {
        spec.network.links.get_mut(need.class).unwrap().vcs = need.vcs.into();
    }
    (spec, needs)
}

/// The cycle that an error names is one: each channel ends at the router that feeds the next.
fn closes(error: &RunError, topology: &dyn Topology) -> bool {
    let RunError::Deadlock(message) = error else { panic!("{error}") };
    let cycle = channels(message);
    (0..cycle.len()).all(|n| {
        let ([here, ..], [next, port, _]) = (cycle[n], cycle[(n + 1) % cycle.len()]);
        let peer = topology.peer(RouterId(next), PortId(port as u16));
        matches!(peer, Peer::Router { router, .. } if router.0 == here)
    }) && !cycle.is_empty()
}

/// The audit passes as long as no VC is merged, and names a cycle when one is, where `needed` says so.
pub fn check(spec: &Spec, routing: &Planner<'_>, merged: &[usize], needed: bool) {
    let topology = topology::build(&spec.network.topology).unwrap();
    match run(spec, routing, merged) {
        Ok(()) => assert!(!needed, "no cycle with {merged:?} merged\n{}", support::show(spec)),
        Err(error) => {
            assert!(needed && closes(&error, &*topology), "{error}\n{}", support::show(spec));
        }
    }
}

/// In a Dragonfly, the local links or the global ones lose a VC. With the next feasible VC, policies
/// that skip a local hop in phase A never reach the last of the VCs that are asked for.
#[test]
fn every_vc_of_a_dragonfly_counts() {
    for routing in ROUTINGS {
        let algorithm = value(routing);
        let plan = |fabric: &Fabric| routing::build(&algorithm, fabric);
        let (spec, needs) = tight(support::dragonfly(2, 4, 2), &plan, EVERYWHERE);
        check(&spec, &plan, &[], false);
        let skips = ["'lg-'", "'-g-'"].iter().any(|policy| routing.contains(policy));
        let spare = skips && routing.contains("next-feasible");
        for (class, need) in needs.iter().enumerate().filter(|(_, need)| need.vcs > 1) {
            check(&spec, &plan, &[class], !(spare && need.class == "local"));
        }
    }
}

/// In a lattice, with a host for each link of a detour, every link loses a VC: where classes follow the order of
/// the dimensions, links of one dimension alone close no cycle.
#[test]
fn every_vc_of_a_lattice_counts() {
    for routing in LATTICE_ROUTINGS {
        for lattice in ["{ widths = [3, 4], hosts = 3 }", "{ widths = [3, 3, 3], hosts = 3 }"] {
            let algorithm = value(routing);
            let plan = |fabric: &Fabric| routing::build(&algorithm, fabric);
            let (spec, needs) = tight(support::lattice(lattice), &plan, "'uniform'");
            check(&spec, &plan, &[], false);
            if needs[0].vcs > 1 {
                let all: Vec<usize> = (0..needs.len()).collect();
                check(&spec, &plan, &all, true);
            }
        }
    }
}

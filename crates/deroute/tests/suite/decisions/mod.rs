//! What papers say of single decisions, stated again from queues that the tests choose: results do not show it.
//!
//! The rules are computed from the wiring, the queues and what a packet did before. What is drawn (intermediate
//! routers) and what happens in a run (injections, grants) is the engine's.

mod allocator;
mod clos_ad;
mod dragonfly;
mod lattice;
mod recomputation;
mod trees;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use deroute::ids::{Cycle, PortId, RouterId, VcId};
use deroute::rng::{Owner, Stream};
use deroute::routing::{self, Fabric, Header, Hop, Plan, Queues, RouterView, Routing};
use deroute::spec::Spec;
use deroute::topology::{Peer, Topology};
use deroute::{RunOptions, Simulation};

/// Phits in the queue of every VC of every port: `[port][vc]`.
struct Chosen(Vec<Vec<u32>>);

impl Queues for Chosen {
    fn port(&self, port: PortId) -> u32 {
        self.0[port.index()].iter().sum()
    }

    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        self.0[port.index()][vc.index()]
    }
}

/// The head of a queue of a router, and the port of its destination there.
struct Head {
    router: RouterId,
    input: PortId,
    vc: VcId,
    class: u8,
    port: PortId,
}

impl Head {
    /// At its source, in the queue of the first host.
    fn injected(router: RouterId) -> Self {
        Self { router, input: PortId(0), vc: VcId(0), class: 0, port: PortId(0) }
    }
}

/// A network whose routing is asked.
struct Network {
    topology: Arc<dyn Topology>,
    agent: Box<dyn Routing>,
    rng: Stream,
    now: Cycle,
}

impl Network {
    /// The routing of a spec, built for the network that a run of it would have.
    fn new(spec: &Spec) -> Self {
        let fabric = RefCell::new(None);
        let planner = |offered: &Fabric| {
            *fabric.borrow_mut() = Some(offered.clone());
            routing::build(&spec.routing, offered)
        };
        Simulation::build_with(spec, &planner).unwrap_or_else(|error| panic!("{error}"));
        let fabric = fabric.take().expect("a fabric");
        let plan = routing::build(&spec.routing, &fabric).unwrap();
        let agent = (plan.agent)(RouterId(0), fabric.topology.routers());
        Self { topology: fabric.topology, agent, rng: Stream::new(1, Owner::Router(0)), now: 0 }
    }

    /// The next hop of a head, in the cycle `now`.
    fn decide(&mut self, head: &Head, header: &mut Header, queues: &Chosen) -> Hop {
        let &Head { router, input, vc, class, port } = head;
        let (now, rng) = (self.now, &mut self.rng);
        let mut view = RouterView { router, input, vc, port, class, now, size: 4, queues, rng };
        self.agent.route(&mut view, header)
    }

    /// Every link of a router to another one: its port, the other router and the port there.
    fn links(&self, router: RouterId) -> Vec<(PortId, RouterId, PortId)> {
        let ports = (0..self.topology.radix(router)).map(PortId);
        let link = |own: PortId| match self.topology.peer(router, own) {
            Peer::Router { router, port, .. } => Some((own, router, port)),
            _ => None,
        };
        ports.filter_map(link).collect()
    }
}

/// Runs a spec with a routing around its own.
fn run_around<F>(spec: &Spec, around: F)
where
    F: Fn(Box<dyn Routing>) -> Box<dyn Routing> + Send + Sync + 'static,
{
    let around = Arc::new(around);
    let planner = |fabric: &Fabric| {
        let Plan { agent, vcs } = routing::build(&spec.routing, fabric)?;
        let around = Arc::clone(&around);
        let agent = Box::new(move |first, count| around(agent(first, count)));
        Ok(Plan { agent, vcs })
    };
    let simulation = Simulation::build_with(spec, &planner).unwrap();
    let run = simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()));
    run.unwrap_or_else(|error| panic!("{error}"));
}

/// What a test chooses by.
fn dice() -> Stream {
    Stream::new(2, Owner::Network)
}

//! A routing that does deadlock: the watchdog and the audit of dependencies must say so.

use std::ops::ControlFlow;
use std::sync::Arc;

use deroute::ids::{PortId, RouterId, VcId};
use deroute::outcome::Outcome;
use deroute::routing::{Header, Hop, Plan, RouterView, Routing};
use deroute::spec::Spec;
use deroute::topology::{Peer, Topology};
use deroute::{RunError, RunOptions, Simulation};

use crate::support::{self, value};

/// Sends every packet backwards around the ring of its group's routers, on one VC: the textbook
/// deadlock (Dally and Seitz 1987).
struct Ring {
    topology: Arc<dyn Topology>,
    routers: u32,
}

impl Routing for Ring {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let (group, here) = (view.router.0 / self.routers, view.router.0 % self.routers);
        let next = RouterId(group * self.routers + (here + self.routers - 1) % self.routers);
        let ports = (0..self.topology.radix(view.router)).map(PortId);
        let leads_on = |port: &PortId| {
            let peer = self.topology.peer(view.router, *port);
            matches!(peer, Peer::Router { router, .. } if router == next)
        };
        let port = { ports }.find(leads_on).unwrap_or_default();
        Hop { port, vc: VcId(0), position: header.position + 1 }
    }
}

/// Every host sends to the next router, which is three hops away on the ring.
fn spec() -> Spec {
    let mut spec = support::dragonfly(2, 4, 1);
    support::wiring(&mut spec).groups = Some(2);
    spec.traffic.pattern = value("'adversarial_local'");
    spec.traffic.load = 1.0;
    spec.network.links.get_mut("local").unwrap().buffer = 8.into();
    spec.run.measure = 30_000.into();
    spec.checks.watchdog = Some(1_000.into());
    spec.checks.full = true;
    spec
}

fn run(spec: &Spec, threads: usize) -> Result<Outcome, RunError> {
    let plan = |fabric: &deroute::routing::Fabric| {
        let topology = Arc::clone(&fabric.topology);
        let agent = Box::new(move |_, _| -> Box<dyn Routing> {
            Box::new(Ring { topology: Arc::clone(&topology), routers: 4 })
        });
        Ok(Plan { agent, vcs: Vec::new() })
    };
    let simulation = Simulation::build_with(spec, &plan).unwrap();
    let options = RunOptions { threads, ..RunOptions::default() };
    simulation.run(&options, &mut |_| ControlFlow::Continue(()))
}

/// The channels (router, port, VC) that a message lists, as numbers.
pub(super) fn channels(message: &str) -> Vec<[u32; 3]> {
    let number = |text: &str, after: &str| -> u32 {
        let rest = text.split_once(after).expect(after).1;
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    message
        .match_indices("(router ")
        .map(|(at, _)| &message[at..])
        .map(|text| [number(text, "router "), number(text, "port "), number(text, "VC ")])
        .collect()
}

/// The cycle of waits is named: the four routers of a group, each behind the next.
#[test]
fn a_deadlock_is_an_error_that_names_its_cycle() {
    for threads in [1, 2] {
        let Err(RunError::Deadlock(message)) = run(&spec(), threads) else {
            panic!("a deadlock went unnoticed")
        };
        let cycle = channels(&message);
        assert_eq!(cycle.len(), 4, "{message}");
        let group = cycle[0][0] / 4;
        for (n, [router, _, vc]) in cycle.iter().enumerate() {
            let next = cycle[(n + 1) % 4][0];
            assert_eq!((router / 4, *vc), (group, 0), "{message}");
            assert_eq!(next, group * 4 + (router + 3) % 4, "{message}");
        }
    }
}

/// With virtual output queues, a channel is stuck when all of its queues are; the same cycle is named.
#[test]
fn a_deadlock_of_virtual_output_queues_names_its_cycle() {
    let mut spec = spec();
    spec.network.switch = value("{ virtual_output_queued = { iterations = 2 } }");
    let Err(RunError::Deadlock(message)) = run(&spec, 1) else {
        panic!("a deadlock went unnoticed")
    };
    let cycle = channels(&message);
    assert_eq!(cycle.len(), 4, "{message}");
    for (n, [router, ..]) in cycle.iter().enumerate() {
        assert_eq!(cycle[(n + 1) % 4][0], router / 4 * 4 + (router + 3) % 4, "{message}");
    }
}

/// The audit finds the cycle of dependencies in a run that was too lightly loaded to deadlock; it
/// finds none where packets go forward, one hop each.
#[test]
fn dependencies_betray_a_deadlock_that_did_not_happen() {
    let mut light = spec();
    light.traffic.load = 0.02;
    light.checks.dependencies = true;
    let Err(RunError::Deadlock(message)) = run(&light, 1) else {
        panic!("a cycle of dependencies went unnoticed")
    };
    assert!(message.contains("dependencies") && channels(&message).len() >= 4, "{message}");
    light.checks.dependencies = false;
    let outcome = run(&light, 1).unwrap();
    assert!(outcome.packets.delivered > 1_000);
    let mut forward = spec();
    forward.checks.dependencies = true;
    support::run(&forward);
}

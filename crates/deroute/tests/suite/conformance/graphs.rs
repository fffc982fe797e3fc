//! What every entry of the catalogue must do on a graph, and a ring that deadlocks.

use std::collections::BTreeSet;

use deroute::ids::{HostId, PortId, RouterId};
use deroute::spec::{Spec, Warmup};
use deroute::topology::{Peer, Topology};
use deroute::{RunError, RunOptions, Simulation};

use crate::support::catalogue::{GRAPH_ROUTINGS, GRAPHS, SIZES};
use crate::support::{self, value};

fn graph(text: &str) -> Spec {
    support::network(&format!("{{ graph = {text} }}"))
}

/// Every wire has two ends and every host one port.
pub fn wired(topology: &dyn Topology, name: &str) {
    let mut hosts = BTreeSet::new();
    for router in (0..topology.routers()).map(RouterId) {
        let mut links = false;
        for port in (0..topology.radix(router)).map(PortId) {
            match topology.peer(router, port) {
                Peer::Host(host) => {
                    assert!(!links, "{name}: hosts come first");
                    assert!(hosts.insert(host.0), "{host} has two ports");
                    assert_eq!(topology.router_of(host), router);
                    assert_eq!(topology.port_of(host), port);
                }
                Peer::Router { router: other, port: far, class } => {
                    links = true;
                    let back = Peer::Router { router, port, class };
                    assert_eq!(topology.peer(other, far), back, "{name}");
                    assert_eq!(topology.distance(router, other), 1, "{name}");
                }
                Peer::Unused => panic!("{name} has no unused port"),
            }
        }
    }
    assert_eq!(hosts.len(), topology.hosts() as usize);
}

/// Conservation, an acyclic dependency graph, a silent watchdog, and the same bytes however the run
/// is divided.
#[test]
fn every_entry_is_sound_and_deterministic() {
    for (g, text) in GRAPHS.into_iter().enumerate() {
        for (r, routing) in GRAPH_ROUTINGS.into_iter().enumerate() {
            let (mut spec, turn) = (graph(text), g + 3 * r);
            spec.routing = value(routing);
            support::switch(&mut spec, turn);
            spec.traffic.packet_size = value(SIZES[turn % SIZES.len()]);
            spec.traffic.load = [0.3, 0.6, 0.97][turn % 3];
            spec.run.warmup = Warmup::Fixed(500.into());
            spec.run.measure = 2_000.into();
            spec.checks.full = true;
            spec.checks.dependencies = true;
            if let Err(error) = Simulation::build(&spec) {
                assert!(g == 3 && error.path.starts_with("routing"), "{error}");
                continue;
            }
            super::sound(&spec, turn, 1);
        }
    }
}

/// Wires, and shortest paths of `distance` hops with a new VC for each.
#[test]
fn wiring_and_paths() {
    for text in GRAPHS {
        let simulation = Simulation::build(&graph(text)).unwrap();
        let topology = simulation.topology();
        wired(&*topology, text);
        for (from, to) in (0..topology.hosts()).flat_map(|a| [(a, 0), (0, a)]) {
            let path = simulation.trace(HostId(from), HostId(to), 1).unwrap();
            let ends = [from, to].map(|host| topology.router_of(HostId(host)));
            let hops = &path[..path.len() - 1];
            assert_eq!(hops.len() as u32, topology.distance(ends[0], ends[1]), "{text}");
            assert!(hops.iter().enumerate().all(|(n, (_, hop))| usize::from(hop.vc.0) == n));
        }
    }
}

/// Four routers in a ring, each of which sends to the one after the next.
fn ring(hop_vcs: &str, vcs: u8) -> Spec {
    let edges = "edges = [[0, 1], [1, 2], [2, 3], [3, 0]]";
    let mut spec = graph(&format!("{{ hosts = 1, {edges}{hop_vcs} }}"));
    let link = spec.network.links.get_mut("link").unwrap();
    (link.vcs, link.buffer) = (vcs.into(), 8.into());
    let flow = |from: u32| {
        let to = (from + 2) % 4;
        format!("{{ sources = {{ hosts = [{from}] }}, destinations = {{ any = [{to}] }} }}")
    };
    let flows: Vec<String> = (0..4).map(flow).collect();
    spec.traffic.hotspots = value(&format!("[{}]", flows.join(", ")));
    spec.traffic.load = 1.0;
    spec.run.measure = 30_000.into();
    spec.checks.watchdog = Some(1_000.into());
    spec.checks.dependencies = true;
    spec
}

/// The textbook deadlock: with one VC the four packets at the heads wait for each other; a second one
/// breaks the ring. One VC has to be asked for.
#[test]
fn a_ring_needs_a_second_vc() {
    let one = support::attempt(&ring(", hop_vcs = 1", 1), &RunOptions::default());
    let Err(RunError::Deadlock(message)) = one else { panic!("a ring without a deadlock") };
    assert_eq!(message.matches("(router ").count(), 4, "{message}");
    let outcome = support::run(&ring("", 2));
    assert!(outcome.load.accepted > 0.4, "{}", outcome.load.accepted);
    let refused = Simulation::build(&ring("", 1)).err().unwrap();
    assert_eq!(refused.path, "network.links.link.vcs");
    assert!(refused.to_string().contains("needs 2"), "{refused}");
}

//! Paths through an empty network: every pair of hosts, every routing.

use std::collections::BTreeSet;

use deroute::Simulation;
use deroute::ids::{HostId, RouterId};
use deroute::spec::{Spec, Topology};
use deroute::topology::Peer;

use crate::support::catalogue::{DRAGONFLIES, ROUTINGS};
use crate::support::{self, value};

/// Router-to-router hops of the longest path: l1 g1 l2, and twice that through an intermediate
/// router.
const DIAMETER: usize = 3;

fn network(dragonfly: &str, routing: &str) -> Simulation {
    let mut spec: Spec = support::dragonfly(1, 2, 1);
    spec.network.topology = Topology::Dragonfly(value(dragonfly));
    spec.routing = value(routing);
    Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"))
}

/// Every wire has two ends, every host one port, and every router a path of `distance` hops to
/// every other.
#[test]
fn wiring_is_consistent() {
    for dragonfly in DRAGONFLIES {
        let topology = network(dragonfly, ROUTINGS[0]).topology();
        let mut hosts = BTreeSet::new();
        for router in (0..topology.routers()).map(RouterId) {
            for port in (0..topology.radix(router)).map(deroute::ids::PortId) {
                match topology.peer(router, port) {
                    Peer::Host(host) => {
                        assert!(hosts.insert(host.0), "{host} has two ports");
                        assert_eq!(topology.router_of(host), router);
                        assert_eq!(topology.port_of(host), port);
                    }
                    Peer::Router { router: other, port: far, class } => {
                        let back = Peer::Router { router, port, class };
                        assert_eq!(topology.peer(other, far), back, "{dragonfly}");
                        let (here, there) = (topology.domain(router), topology.domain(other));
                        assert_eq!(here == there, class == 0, "{dragonfly}");
                    }
                    Peer::Unused => {}
                }
            }
        }
        assert_eq!(hosts.len(), topology.hosts() as usize);
        breadth_first(dragonfly, &*topology);
    }
}

/// Minimal paths are shortest ones, up to the two rules of a Dragonfly: at most one global hop, and
/// a single one of parallel links for a pair of routers.
fn breadth_first(dragonfly: &str, topology: &dyn deroute::topology::Topology) {
    let routers = topology.routers();
    let neighbours = |router: u32| {
        let ports = 0..topology.radix(RouterId(router));
        ports.filter_map(move |p| match topology.peer(RouterId(router), deroute::ids::PortId(p)) {
            Peer::Router { router, .. } => Some(router.0),
            _ => None,
        })
    };
    for from in 0..routers {
        let mut steps = vec![u32::MAX; routers as usize];
        steps[from as usize] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(router) = queue.pop_front() {
            for next in neighbours(router) {
                if steps[next as usize] == u32::MAX {
                    steps[next as usize] = steps[router as usize] + 1;
                    queue.push_back(next);
                }
            }
        }
        for to in 0..routers {
            let distance = topology.distance(RouterId(from), RouterId(to));
            let shortest = steps[to as usize];
            assert!(distance >= shortest && distance <= DIAMETER as u32, "{dragonfly}");
            let direct = shortest <= 1;
            assert!(!direct || distance == shortest, "{dragonfly}: {from} to {to}");
        }
    }
}

/// No routing goes in circles: every pair of hosts is connected by a path of at most twice the
/// diameter that visits no VC twice, with positions that only grow; minimal routing takes exactly
/// `distance` hops.
#[test]
fn every_pair_has_a_path() {
    for dragonfly in DRAGONFLIES {
        for (r, routing) in ROUTINGS.into_iter().enumerate() {
            let simulation = network(dragonfly, routing);
            let topology = simulation.topology();
            let bound = if r == 0 { DIAMETER } else { 2 * DIAMETER };
            for (from, to) in pairs(topology.hosts()) {
                let path = simulation.trace(from, to, r as u64);
                let path = path.unwrap_or_else(|| panic!("{routing}: {from} never reaches {to}"));
                let hops = path.len() - 1;
                assert!(hops <= bound, "{routing}: {hops} hops from {from} to {to}");
                let positions: Vec<u8> = path[..hops].iter().map(|(_, hop)| hop.position).collect();
                assert!(positions.is_sorted_by(|a, b| a < b), "{routing}: {positions:?}");
                if r == 0 {
                    let ends = (topology.router_of(from), topology.router_of(to));
                    assert_eq!(hops as u32, topology.distance(ends.0, ends.1), "{dragonfly}");
                }
            }
        }
    }
}

fn pairs(hosts: u32) -> impl Iterator<Item = (HostId, HostId)> {
    (0..hosts).flat_map(move |from| {
        (0..hosts).filter(move |to| *to != from).map(move |to| (HostId(from), HostId(to)))
    })
}

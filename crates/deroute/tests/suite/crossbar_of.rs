//! A crossbar that stands for a network: the same traffic without the network.

use deroute::Simulation;
use deroute::outcome::Outcome;
use deroute::spec::{Spec, Topology, Warmup};

use crate::support::catalogue::{LATTICE_PATTERNS, PATTERNS};
use crate::support::{self, value};

/// All that a spec sends in 400 cycles, and nothing after.
fn drained(mut spec: Spec, pattern: &str) -> Spec {
    spec.traffic.pattern = value(pattern);
    spec.traffic.then = value("[{ at = 400, load = 0.0 }]");
    spec.network.nic.injection_queue = None;
    spec.run.warmup = Warmup::Fixed(0.into());
    spec.run.measure = 3_000.into();
    spec
}

/// The same on one ideal switch.
fn ideal(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    spec.network.topology = Topology::CrossbarOf(Box::new(spec.network.topology));
    spec.network.links.clear();
    spec.network.switch = value("{ output_queued = {} }");
    spec
}

/// Phits that every host has received.
fn received(outcome: &Outcome) -> Vec<u64> {
    assert_eq!(outcome.packets.in_flight, 0);
    let cycles = outcome.measured_cycles as f64;
    outcome.arrays.accepted_by_host.iter().map(|load| (load * cycles).round() as u64).collect()
}

/// Every host receives what it receives over the network, whatever the pattern needs to know of it.
#[test]
fn a_crossbar_of_a_network_has_its_traffic() {
    let lattices =
        LATTICE_PATTERNS.map(|p| (support::lattice("{ widths = [4, 4], hosts = 2 }"), p));
    let dragonflies = PATTERNS.map(|pattern| (support::dragonfly(2, 4, 2), pattern));
    let mut different = 0;
    for (spec, pattern) in lattices.into_iter().chain(dragonflies) {
        if pattern == "'swap2'" {
            continue; // For three dimensions.
        }
        let spec = drained(spec, pattern);
        let (network, crossbar) = (support::run(&spec), support::run(&ideal(&spec)));
        assert_eq!(received(&network), received(&crossbar), "{pattern}");
        assert_eq!(crossbar.size.routers, 1);
        assert!(crossbar.latency.mean < network.latency.mean, "{pattern}");
        different += usize::from(network.packets.delivered > 0);
    }
    assert_eq!(different, PATTERNS.len() + LATTICE_PATTERNS.len() - 1);
}

/// What is wrong with the network is said where it stands, and more hosts than ports are refused.
#[test]
fn a_crossbar_of_an_impossible_network_is_refused() {
    let refuse = |topology: &str, path: &str| {
        let mut spec = ideal(&support::dragonfly(2, 4, 2));
        spec.network.topology = value(topology);
        let error = Simulation::build(&spec).err().unwrap_or_else(|| panic!("{topology}"));
        assert_eq!(error.path, path, "{error}");
    };
    refuse(
        "{ crossbar_of = { dragonfly = { p = 2, a = 4, h = 2, groups = 99 } } }",
        "network.topology.crossbar_of.dragonfly.groups",
    );
    refuse(
        "{ crossbar_of = { crossbar_of = { crossbar = { hosts = 0 } } } }",
        "network.topology.crossbar_of.crossbar_of.crossbar.hosts",
    );
    refuse(
        "{ crossbar_of = { hyperx = { widths = [32, 32], hosts = 64 } } }",
        "network.topology.crossbar_of",
    );
}

//! What every entry of the catalogue must do on a HyperX.

use deroute::Simulation;
use deroute::ids::{HostId, PortId, RouterId};
use deroute::probe::PathKind;
use deroute::spec::{Spec, Warmup};
use deroute::topology::Peer;

use crate::support::catalogue::{INJECTIONS, LATTICE_PATTERNS, LATTICE_ROUTINGS, LATTICES, SIZES};
use crate::support::{self, value};

fn dressed(lattice: &str, routing: &str, pattern: &str, turn: usize) -> Spec {
    let mut spec = support::lattice(lattice);
    spec.routing = value(routing);
    spec.traffic.pattern = value(pattern);
    support::switch(&mut spec, turn);
    spec.traffic.packet_size = value(SIZES[turn % SIZES.len()]);
    spec.traffic.injection = value(INJECTIONS[turn % INJECTIONS.len()]);
    spec.traffic.load = [0.05, 0.3, 0.6, 0.97][turn % 4];
    spec.run.seed = turn as u64;
    spec.run.warmup = Warmup::Fixed(300.into());
    spec.run.measure = 1_000.into();
    spec.checks.full = true;
    spec.checks.dependencies = true;
    spec.checks.watchdog = Some(400.into());
    support::vary(&mut spec, turn);
    spec
}

/// More orders of four dimensions than these links have VCs.
fn refused(lattice: &str, routing: &str) -> bool {
    lattice.contains("2, 2, 2, 2") && routing.contains("'all'")
}

/// Conservation, an acyclic dependency graph, a silent watchdog, and the same bytes however the run
/// is divided: every lattice with every routing and every pattern that it has.
#[test]
fn every_entry_is_sound_and_deterministic() {
    let mut runs = 0;
    for (l, lattice) in LATTICES.into_iter().enumerate() {
        for (r, routing) in LATTICE_ROUTINGS.into_iter().enumerate() {
            for (p, pattern) in LATTICE_PATTERNS.into_iter().enumerate() {
                if refused(lattice, routing) {
                    continue;
                }
                let spec = dressed(lattice, routing, pattern, l + 3 * r + 5 * p);
                match Simulation::build(&spec) {
                    Ok(_) => runs += 1,
                    Err(error) => {
                        assert!(error.path.starts_with("traffic.pattern"), "{error}");
                        continue;
                    }
                }
                super::sound(&spec, runs, 1);
            }
        }
    }
    assert!(runs > 1_200, "{runs}");
}

/// Every wire has two ends, every host one port, and distances are the dimensions that differ.
#[test]
fn wiring_is_consistent() {
    for lattice in LATTICES {
        let topology = Simulation::build(&support::lattice(lattice)).unwrap().topology();
        super::graphs::wired(&*topology, lattice);
        for router in (0..topology.routers()).map(RouterId) {
            for port in (0..topology.radix(router)).map(PortId) {
                if let Peer::Router { router: other, class, .. } = topology.peer(router, port) {
                    let (here, there) = (topology.domain(router), topology.domain(other));
                    assert_eq!(here == there, class == 0, "{lattice}");
                }
            }
        }
    }
}

/// Paths through the empty network arrive: minimal ones after the dimensions that differ, those of
/// the incremental routings as well, because nothing is in the way.
#[test]
fn paths_of_an_empty_network() {
    for lattice in LATTICES {
        for routing in LATTICE_ROUTINGS.into_iter().filter(|routing| !refused(lattice, routing)) {
            let mut spec = support::lattice(lattice);
            spec.routing = value(routing);
            let simulation = Simulation::build(&spec).unwrap();
            let topology = simulation.topology();
            const DIRECT: [&str; 7] =
                ["minimal", "dimwar", "omniwar", "o1turn", "min_ad", "clos_ad", "dal"];
            let direct = DIRECT.iter().any(|name| routing.contains(name));
            for (from, to) in (0..topology.hosts()).flat_map(|a| [(a, 0), (0, a)]) {
                let path = simulation.trace(HostId(from), HostId(to), 1);
                let path = path.unwrap_or_else(|| panic!("{routing} {from} {to}"));
                let (a, b) = (topology.router_of(HostId(from)), topology.router_of(HostId(to)));
                let distance = topology.distance(a, b) as usize;
                let most = if direct { distance } else { 2 * topology.classes().len() };
                assert!((distance..=most).contains(&(path.len() - 1)), "{routing} {from} {to}");
            }
        }
    }
}

/// What the paper shows, on a lattice of 4 x 4 x 4 with four hosts a router. A complement along one
/// dimension leaves dimension order a quarter of the load, and DimWAR nearly half. Where all routers
/// of a line send to one other line, only OmniWAR finds ways around.
#[test]
fn complements_need_deroutes() {
    let accepted = |routing: &str, pattern: &str| {
        let mut spec = support::lattice("{ widths = [4, 4, 4], hosts = 4 }");
        spec.routing = value(routing);
        spec.traffic.pattern = value(pattern);
        spec.traffic.load = 1.0;
        spec.network.switch =
            value("{ combined_queued = { speedup = 2, pipeline = 3, output_buffer = 32 } }");
        for link in spec.network.links.values_mut() {
            link.buffer = 40.into();
        }
        spec.run.warmup = Warmup::Fixed(2_000.into());
        spec.run.measure = 4_000.into();
        support::run(&spec).load.accepted
    };
    let [dor, dimwar, omniwar] = ["{ minimal = {} }", "{ dimwar = {} }", "{ omniwar = {} }"];
    let complement = "{ complement = { dimension = 2 } }";
    assert!((0.24..=0.251).contains(&accepted(dor, complement)));
    assert!((0.42..=0.501).contains(&accepted(dimwar, complement)));
    let reverse = "'dimension_complement_reverse'";
    assert!(accepted(dor, reverse) <= 1.0 / 16.0 + 0.001);
    assert!(accepted(omniwar, reverse) > 2.0 * accepted(dimwar, reverse));
}

/// With atomic allocation a VC carries one packet in a round trip of its credits, here 100 cycles: 8% of
/// the link for packets of one phit, and 68% for packets of 1 to 16 (McDonald et al., SC 2019, 4.2).
#[test]
fn atomic_allocation_wastes_links() {
    for (size, dal, share) in [
        ("1", "{ dal = {} }", 0.08),
        ("{ min = 1, max = 16 }", "{ dal = {} }", 0.68),
        ("{ min = 1, max = 16 }", "{ dal = { atomic = false } }", 0.99),
    ] {
        let mut spec = support::lattice("{ widths = [2], hosts = 8 }");
        let link = spec.network.links.get_mut("dim1").unwrap();
        (link.latency, link.vcs, link.buffer) = (50.into(), 8.into(), 120.into());
        spec.network.switch = value("{ combined_queued = { speedup = 8, output_buffer = 32 } }");
        // A full queue would let small packets in rather than large ones.
        spec.network.nic.injection_queue = None;
        spec.routing = value(dal);
        spec.traffic.pattern = value("{ complement = { dimension = 1 } }");
        spec.traffic.packet_size = value(size);
        spec.traffic.load = 1.0;
        spec.run.warmup = Warmup::Fixed(2_000.into());
        spec.run.measure = 10_000.into();
        let used = support::run(&spec).links[0].mean;
        assert!((used / share - 1.0).abs() < 0.02, "{dal}, {size}: {used}");
    }
}

/// MIN-AD never leaves the shortest paths, and neither does Clos-AD until a queue grows.
#[test]
fn minimal_adaptive_paths_are_minimal() {
    let mut spec = support::lattice("{ widths = [4, 4, 4], hosts = 2 }");
    spec.traffic.load = 0.9;
    spec.routing = value("{ minimal = {} }");
    let dor = support::run(&spec);
    spec.routing = value("{ min_ad = { redecide = true } }");
    let adaptive = support::run(&spec);
    assert!(adaptive.paths.iter().all(|path| path.packets == 0 || path.share == 1.0));
    assert!((adaptive.hops_mean - dor.hops_mean).abs() < 0.05, "{}", adaptive.hops_mean);
    assert!(adaptive.latency.mean < dor.latency.mean);
}

/// What merely travels is no reason to leave a shortest path: under a light uniform load a queue is
/// as long as its phits are late, and an idle hop takes the time of its switch and link.
#[test]
fn light_loads_stay_minimal() {
    for routing in ["dimwar", "omniwar", "clos_ad"] {
        let share = |sensing: &str, offset: u32| {
            let mut spec = support::lattice("{ widths = [4, 4, 4], hosts = 4 }");
            spec.routing = value(&format!("{{ {routing} = {{ offset = {offset} }} }}"));
            spec.network.sensing = value(sensing);
            spec.traffic.load = 0.2;
            let paths = support::run(&spec).paths;
            paths.iter().find(|path| path.kind == PathKind::Minimal).unwrap().share
        };
        let (both, waiting) = (share("'both'", 1), share("'waiting'", 1));
        assert!(waiting > both + 0.03, "{routing}: {waiting} and {both}");
        let patient = share("'waiting'", 20);
        assert!(patient > 0.98, "{routing}: {patient}");
    }
}

/// DCR as a permutation goes over as many dimensions as there are, but from the routers that are their own
/// destination, which send nothing; S2 as a shift goes over one, from all hosts.
#[test]
fn permutations_of_a_lattice() {
    for (pattern, hops, silent) in
        [("'dimension_complement_reverse_fixed'", 2.0, 4), ("'swap2_shift'", 1.0, 0)]
    {
        let mut spec = support::lattice("{ widths = [4, 4], hosts = 1 }");
        spec.traffic.pattern = value(pattern);
        spec.traffic.load = 0.1;
        let outcome = support::run(&spec);
        assert_eq!(outcome.hops_mean, hops, "{pattern}");
        let quiet = outcome.arrays.injected_by_host.iter().filter(|load| **load == 0.0).count();
        assert_eq!(quiet, silent, "{pattern}");
        assert!((outcome.load.offered - 0.1 * (16 - silent) as f64 / 16.0).abs() < 1e-9);
    }
}

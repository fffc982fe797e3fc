//! The engine against the phit-by-phit model of `reference/`: the whole result must be the same,
//! to the last bit.
//!
//! Fixed grids pair every routing with every pattern, and every switch with every wiring; random
//! specs combine all of it. Overload with full injection queues is part of both.

mod credits;
mod ethernet;
mod guards;
mod random;

use deroute::RunOptions;
use deroute::outcome::Outcome;
use deroute::spec::{DragonflySpec, Quantity, Spec, Topology};

use crate::conformance::patterns::patterned;
use crate::reference::Model;
use crate::support::catalogue::{
    DRAGONFLIES, GRAPH_ROUTINGS, GRAPHS, HOST_PATTERNS, HOTSPOTS, INJECTIONS, LATTICE_PATTERNS,
    LATTICE_ROUTINGS, LATTICES, PATTERNS, PLAIN_PATTERNS, QUEUINGS, ROUTINGS, SIXTEEN, SIZES,
    SWITCHES, TREE_ROUTINGS, TREES, WIDE_QUEUINGS,
};
use crate::support::{self, value};

/// The engine, in several partitions, gives what the model gives: the result.
fn compare(spec: &Spec) -> Result<Outcome, String> {
    let mut spec = spec.clone();
    spec.probes.links = true;
    let options = RunOptions { partitions: Some(2), ..RunOptions::default() };
    let engine = support::attempt(&spec, &options).map_err(|error| error.to_string());
    let checked = engine.and_then(|outcome| Model::new(&spec).check(&outcome).map(|()| outcome));
    checked.map_err(|difference| format!("{difference}\n\n{}", support::show(&spec)))
}

pub fn agree(spec: &Spec) -> Outcome {
    compare(spec).unwrap_or_else(|difference| panic!("{difference}"))
}

/// Compares what can be built; says how many that were.
fn agree_if_possible(spec: &Spec) -> usize {
    let possible = deroute::Simulation::build(spec).is_ok();
    if possible {
        agree(spec);
    }
    possible.into()
}

fn wired(dragonfly: &str) -> Spec {
    let mut spec = support::dragonfly(1, 2, 1);
    spec.network.topology = Topology::Dragonfly(value::<DragonflySpec>(dragonfly));
    spec.run.warmup = deroute::spec::Warmup::Fixed(150.into());
    spec.run.measure = 450.into();
    spec.probes.series = Some(40.into());
    spec.probes.series_before = Some(100.into());
    spec
}

/// Every routing under every pattern, beyond saturation.
#[test]
fn routings_and_patterns() {
    for (r, routing) in ROUTINGS.into_iter().enumerate() {
        for (p, pattern) in PATTERNS.into_iter().enumerate() {
            let mut spec = wired(DRAGONFLIES[if (r + p) % 4 == 0 { 7 } else { (r + 3 * p) % 7 }]);
            spec.routing = value(routing);
            spec.traffic.pattern = value(pattern);
            spec.traffic.load = [0.2, 0.5, 1.0][(r + p) % 3];
            support::switch(&mut spec, 5 * r + p);
            spec.run.seed = (r * 100 + p) as u64;
            agree(&spec);
        }
    }
}

/// Every routing of a lattice under every pattern that it has.
#[test]
fn lattices() {
    let mut agreed = 0;
    for (r, routing) in LATTICE_ROUTINGS.into_iter().enumerate() {
        for (p, pattern) in LATTICE_PATTERNS.into_iter().enumerate() {
            let mut spec = support::lattice(LATTICES[(r + 2 * p) % LATTICES.len()]);
            spec.routing = value(routing);
            spec.traffic.pattern = value(pattern);
            spec.traffic.load = [0.3, 0.6, 1.0][(r + p) % 3];
            support::switch(&mut spec, 5 * r + p);
            spec.run.warmup = deroute::spec::Warmup::Fixed(100.into());
            spec.run.measure = 300.into();
            spec.run.seed = (r * 100 + p) as u64;
            spec.traffic.packet_size = value(SIZES[(r + p) % SIZES.len()]);
            support::vary(&mut spec, r + 3 * p);
            if deroute::Simulation::build(&spec).is_ok() {
                agree(&spec);
                agreed += 1;
            }
        }
    }
    assert!(agreed > 150, "{agreed}");
}

/// Every routing of a fat tree in every tree, and of a graph in every graph, with queuing schemes and hot
/// spots.
#[test]
fn trees_and_graphs() {
    let graphs = GRAPHS.map(|graph| format!("{{ graph = {graph} }}"));
    let trees = TREES.iter().flat_map(|tree| TREE_ROUTINGS.map(|routing| (*tree, routing)));
    let graphs = graphs.iter().flat_map(|graph| GRAPH_ROUTINGS.map(|r| (graph.as_str(), r)));
    let mut agreed = 0;
    for (n, (topology, routing)) in trees.chain(graphs).enumerate() {
        let mut spec = support::network(topology);
        spec.routing = value(routing);
        spec.network.queuing = QUEUINGS[n % QUEUINGS.len()].map(value);
        support::switch(&mut spec, 5 * n + 1);
        spec.traffic.hotspots = value(HOTSPOTS[n % 5]);
        spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
        spec.traffic.injection = value(INJECTIONS[n / 3 % 3]);
        spec.traffic.load = [0.3, 0.6, 1.0][n % 3];
        spec.run.warmup = deroute::spec::Warmup::Fixed(100.into());
        spec.run.measure = 300.into();
        spec.run.seed = n as u64;
        agreed += agree_if_possible(&spec);
    }
    assert!(agreed > 100, "{agreed}");
}

/// Every pattern of hosts in every kind of network, with silent hosts beside hot ones.
#[test]
fn patterns_of_hosts() {
    let mut agreed = 0;
    for (t, topology) in SIXTEEN.into_iter().enumerate() {
        for (p, pattern) in HOST_PATTERNS.into_iter().enumerate() {
            let Some(mut spec) = patterned(topology, pattern, 5 * t + p) else { continue };
            spec.traffic.hotspots = value(HOTSPOTS[[0, 1, 3][p % 3]]);
            agree(&spec);
            agreed += 1;
        }
    }
    assert_eq!(agreed, 6 * 15 + 2);
}

/// Queuing schemes under every routing that has the VCs for them, on every switch: injection queues of
/// several classes, of which some are full, with and without programs.
#[test]
fn queuing_schemes() {
    let dragonflies = ROUTINGS.into_iter().map(|routing| (wired(DRAGONFLIES[0]), routing));
    let lattices = LATTICE_ROUTINGS.into_iter().map(|r| (support::lattice(LATTICES[2]), r));
    let trees = TREE_ROUTINGS.into_iter().map(|r| (support::network(TREES[0]), r));
    let mut agreed = 0;
    for (n, (mut spec, routing)) in dragonflies.chain(lattices).chain(trees).enumerate() {
        spec.routing = value(routing);
        for link in spec.network.links.values_mut() {
            link.vcs = 60.into();
        }
        spec.network.queuing = Some(value(WIDE_QUEUINGS[n % WIDE_QUEUINGS.len()]));
        support::switch(&mut spec, 5 * n + 2);
        spec.network.nic.injection_queue = [Some(Quantity::from(33)), None][n / 3 % 2].clone();
        spec.network.nic.latency = [0, 5, 1][n % 3].into();
        support::vary(&mut spec, n);
        spec.run.seed = n as u64;
        if n % 4 == 1 {
            (spec.traffic, spec.run) = Default::default();
            (spec.probes.series, spec.probes.series_before) = (None, None);
            spec.workload = Some(value(WORKLOADS[n / 4 % WORKLOADS.len()]));
        } else {
            spec.traffic.hotspots = match spec.network.topology {
                Topology::Dragonfly(_) => Vec::new(),
                _ => value(HOTSPOTS[n % 4]),
            };
            spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
            spec.traffic.load = [0.4, 0.7, 1.0][n % 3];
            spec.run.warmup = deroute::spec::Warmup::Fixed(100.into());
            spec.run.measure = 300.into();
        }
        agreed += agree_if_possible(&spec);
    }
    assert!(agreed > 70, "{agreed}");
}

/// Every switch in every wiring, with mixed packet sizes and buffers of one packet.
#[test]
fn switches_and_wirings() {
    for s in 0..SWITCHES.len() {
        for (d, dragonfly) in DRAGONFLIES.into_iter().enumerate() {
            let mut spec = wired(dragonfly);
            spec.network.nic.latency = [0, 5, 1][(s + d) % 3].into();
            for (name, buffer) in [("local", [16, 24, 64]), ("global", [16, 37, 200])] {
                let link = spec.network.links.get_mut(name).unwrap();
                link.buffer = buffer[(s + 2 * d) % 3].into();
            }
            spec.traffic.packet_size = value(SIZES[(s + d) % SIZES.len()]);
            spec.traffic.load = [1.0, 0.4, 0.8][d % 3];
            spec.routing = value(ROUTINGS[(s + 3 * d) % ROUTINGS.len()]);
            support::switch(&mut spec, s);
            spec.run.seed = (s * 100 + d) as u64;
            agree(&spec);
        }
    }
}

/// A single switch of every kind under every load and size of packets.
#[test]
fn crossbars() {
    for (s, switch) in SWITCHES.into_iter().enumerate() {
        for (n, size) in SIZES.into_iter().enumerate() {
            let mut spec = support::crossbar([2, 3, 8, 5, 1 + 3, 13][(s + n) % 6]);
            spec.network.switch = value(switch);
            spec.traffic.packet_size = value(size);
            spec.traffic.pattern = value(PLAIN_PATTERNS[(s + n) % 3]);
            spec.traffic.injection = value(INJECTIONS[(s / 3 + n) % 3]);
            spec.traffic.load = [0.3, 0.7, 0.97][(s + 2 * n) % 3];
            spec.network.nic.latency = [0, 5][n % 2].into();
            if s % 2 == 0 {
                spec.network.nic.injection_queue = None;
            }
            spec.network.queuing = [None, Some("{ dbbm = {} }")][(s + n) % 2].map(value);
            agree(&spec);
        }
    }
}

/// Virtual output queues in every network, with several VCs, buffers of little more than a packet,
/// pipelines longer and shorter than a packet, and 1 to 5 iterations; the last switches have more ports
/// than a word has bits.
#[test]
fn virtual_output_queues() {
    let networks = |topology: &str, routings: &[&str]| {
        let spec = |routing: &&str| {
            let mut spec = support::network(topology);
            spec.routing = value(routing);
            spec
        };
        routings.iter().map(spec).collect::<Vec<_>>()
    };
    let mut specs = Vec::new();
    for (n, tree) in TREES.into_iter().enumerate() {
        specs.extend(networks(tree, &TREE_ROUTINGS[n % 3..]));
    }
    for (n, lattice) in LATTICES.into_iter().enumerate() {
        specs.extend(networks(&format!("{{ hyperx = {lattice} }}"), &LATTICE_ROUTINGS[3 * n..]));
    }
    for (n, fly) in DRAGONFLIES.into_iter().enumerate() {
        specs.extend(networks(&format!("{{ dragonfly = {fly} }}"), &ROUTINGS[2 * n..]));
    }
    for hosts in [2, 3, 5, 8, 16, 64, 65, 130] {
        specs.extend((0..4).map(|_| support::crossbar(hosts)));
    }
    let mut agreed = 0;
    for (n, spec) in specs.iter_mut().enumerate() {
        let (pipeline, iterations) = ([0, 3, 90, 1, 17][n % 5], 1 + n / 2 % 5);
        let switch = format!("{{ pipeline = {pipeline}, iterations = {iterations} }}");
        spec.network.switch = value(&format!("{{ virtual_output_queued = {switch} }}"));
        for (k, link) in spec.network.links.values_mut().enumerate() {
            link.buffer = [16, 24, 64, 17][(n / 3 + k) % 4].into();
        }
        spec.network.nic.latency = [0, 5, 1][n % 3].into();
        spec.network.nic.injection_queue = [None, Some(Quantity::from(33))][n / 2 % 2].clone();
        spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
        spec.traffic.injection = value(INJECTIONS[n / 3 % INJECTIONS.len()]);
        spec.traffic.load = [0.4, 0.97, 0.7][n / 4 % 3];
        spec.run.warmup = deroute::spec::Warmup::Fixed(50.into());
        spec.run.measure = 250.into();
        spec.run.seed = n as u64;
        support::vary(spec, n / 5);
        if deroute::Simulation::build(spec).is_ok() {
            agree(spec);
            agreed += 1;
        }
    }
    assert!(agreed > 300, "{agreed} of {}", specs.len());
}

/// Load and pattern change in the middle of the measurement.
#[test]
fn transients() {
    for (n, routing) in ROUTINGS.into_iter().enumerate() {
        let mut spec = wired(DRAGONFLIES[n % 7]);
        spec.routing = value(routing);
        spec.traffic.injection = value(INJECTIONS[n % 3]);
        spec.traffic.load = 0.2;
        spec.traffic.then = value(
            "[{ at = 50, load = 0.9, pattern = { adversarial = { offset = 1 } } }, \
             { at = 120, load = 0.0 }, { at = 300, load = 0.6, pattern = 'adversarial_local' }]",
        );
        agree(&spec);
    }
}

/// Programs with every step, two jobs at once, messages of less than a packet and of many.
pub const WORKLOADS: [&str; 5] = [
    "{ packet_size = 7, jobs = [{ ranks = 8, placement = { random = {} }, iterations = 2, steps = [
       { stencil = { shape = [2, 2, 2], messages = { equal = 90 } } },
       { dissemination = { size = 2 } }] }] }",
    "{ packet_size = 16, jobs = [
       { ranks = 5, steps = [{ recursive_doubling = { size = 20 } }, { ring = { size = 99 } }] },
       { ranks = 4, start = 77, placement = { random = { seed = 3 } }, iterations = 3, steps = [
         { compute = 30 }, { stencil = { shape = [4], periodic = false,
           messages = { sizes = { face = 41, edge = 1, corner = 1 } } } }] }] }",
    "{ packet_size = 1, jobs = [{ ranks = 7, placement = { random = {} }, iterations = 2,
       steps = [{ bruck = { size = 5 } }, { reduce = { size = 3, root = 2 } }] }] }",
    "{ packet_size = 10, jobs = [{ ranks = 9, steps = [{ broadcast = { size = 64, root = 8 } },
       { bruck = { size = 30 } }] }] }",
    "{ packet_size = 4, jobs = [{ ranks = 3, placement = { random = {} }, iterations = 5, steps = [
       { exchange = { messages = [[0, 1, 50], [2, 1, 50], [1, 0, 1], [1, 2, 30]] } }] }] }",
];

/// Messages under every routing, on every switch.
#[test]
fn workloads() {
    let (mut agreed, mut n) = (0, 0);
    for (w, workload) in WORKLOADS.into_iter().enumerate() {
        for s in 0..SWITCHES.len() {
            n += 1;
            let lattice = n % 3 == 0;
            let mut spec = if lattice {
                let mut spec = support::lattice(LATTICES[n % LATTICES.len()]);
                spec.routing = value(LATTICE_ROUTINGS[n % LATTICE_ROUTINGS.len()]);
                spec
            } else {
                let mut spec = wired(DRAGONFLIES[(n + w) % DRAGONFLIES.len()]);
                spec.routing = value(ROUTINGS[(5 * s + w) % ROUTINGS.len()]);
                spec
            };
            support::switch(&mut spec, s);
            spec.network.nic.latency = [0, 5, 1][n % 3].into();
            spec.network.nic.injection_queue = [None, Some(Quantity::from(33))][n / 2 % 2].clone();
            (spec.traffic, spec.run) = Default::default();
            (spec.probes.series, spec.probes.series_before) = (None, None);
            spec.run.seed = n as u64;
            spec.workload = Some(value(workload));
            if deroute::Simulation::build(&spec).is_ok() {
                agree(&spec);
                agreed += 1;
            }
        }
    }
    assert!(agreed > 50, "{agreed}");
}

/// Much less memory than traffic: VCs share what there is beyond a packet each.
#[test]
fn shared_memory() {
    let mut apart = 0;
    for (n, routing) in ROUTINGS.into_iter().enumerate() {
        let mut spec = wired(DRAGONFLIES[n % 7]);
        spec.routing = value(routing);
        spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
        spec.traffic.load = 0.9;
        for link in spec.network.links.values_mut() {
            link.buffer = 16.into();
        }
        support::switch(&mut spec, n);
        let alone = support::run(&spec);
        support::share(&mut spec, 7 + n as u32);
        agree(&spec);
        apart += u32::from(support::run(&spec) != alone);
    }
    assert!(apart > 20, "{apart}");
}

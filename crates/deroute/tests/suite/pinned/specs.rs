//! The specs whose outcomes are pinned: every entry of the catalogue in some network, a few hundred
//! cycles each, beyond saturation where that tells most.
//!
//! Partners are picked by literal moduli and not by the lengths of the lists: an entry that is appended
//! to a list of the catalogue adds pins and changes none.

use deroute::Simulation;
use deroute::spec::{Run, Spec, Traffic, Warmup};

use crate::support::catalogue::{
    DRAGONFLIES, GRAPH_ROUTINGS, GRAPHS, HOTSPOTS, INJECTIONS, LATTICE_PATTERNS, LATTICE_ROUTINGS,
    LATTICES, PATTERNS, PLAIN_PATTERNS, QUEUINGS, ROUTINGS, SIZES, SWITCHES, TREE_ROUTINGS, TREES,
};
use crate::support::{self, value};
use crate::{equality, workload};

/// A spec and what it is.
pub struct Pin {
    pub name: String,
    pub spec: Spec,
}

/// All of them.
pub fn all() -> Vec<Pin> {
    let families = [
        dragonflies(),
        lattices(),
        trees(),
        graphs(),
        switches(),
        queuing_schemes(),
        super::heads::virtual_output_queues(),
        super::heads::registers(),
        shared_memory(),
        sensing(),
        workloads(),
        probes(),
        transients(),
        warmups(),
        super::hosts::patterns_of_hosts(),
        super::hosts::injection_queues(),
        super::round_trips::round_trips(),
    ];
    families.into_iter().flatten().collect()
}

/// A name from pieces of TOML.
pub(super) fn pin(family: &str, parts: &[&str], spec: Spec) -> Pin {
    let brief = |part: &&str| {
        let text = part.replace(" = {", ":").replace(['{', '}', '\''], "");
        text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(':').to_owned()
    };
    let parts: Vec<String> = parts.iter().map(brief).collect();
    Pin { name: format!("{family} | {}", parts.join(" | ")), spec }
}

/// Sizes, loads, queues and checks that differ from one number to the next.
pub(super) fn dress(mut spec: Spec, n: usize) -> Spec {
    spec.traffic.packet_size = value(SIZES[n % 6]);
    spec.traffic.injection = value(INJECTIONS[n / 2 % 4]);
    spec.traffic.load = [0.3, 0.6, 0.97][n % 3];
    spec.network.nic.latency = [0, 5, 1][n / 3 % 3].into();
    if n % 4 == 3 {
        spec.network.nic.injection_queue = None;
    }
    spec.run.warmup = Warmup::Fixed(100.into());
    spec.run.measure = 300.into();
    spec.run.seed = n as u64;
    spec.probes.links = n.is_multiple_of(2);
    if n.is_multiple_of(3) {
        spec.probes.series = Some(25.into());
        spec.probes.series_before = Some(50.into());
    }
    spec.checks.full = n % 8 == 1;
    spec.checks.dependencies = n.is_multiple_of(5);
    spec
}

/// A switch of the first 21 of the catalogue that the routing of the spec bears.
pub(super) fn switched(mut spec: Spec, n: usize) -> Spec {
    spec.network.switch = value(SWITCHES[n % 21]);
    if support::routes_too_early(&spec) { switched(spec, n + 1) } else { spec }
}

pub(super) fn dragonfly(n: usize) -> Spec {
    support::network(&format!("{{ dragonfly = {} }}", DRAGONFLIES[n % 10]))
}

fn dragonflies() -> Vec<Pin> {
    let mut pins = Vec::new();
    for (r, routing) in ROUTINGS.into_iter().enumerate() {
        for turn in 0..2 {
            let n = 2 * r + turn;
            let (fly, pattern) = (if turn == 0 { 7 } else { 3 * r }, (r + 5 * turn) % 8);
            let mut spec = dragonfly(fly);
            spec.routing = value(routing);
            spec.traffic.pattern = value(PATTERNS[pattern]);
            let spec = dress(switched(spec, 5 * r + 8 * turn), n);
            pins.push(pin("dragonfly", &[DRAGONFLIES[fly % 10], routing, PATTERNS[pattern]], spec));
        }
    }
    for (d, fly) in DRAGONFLIES.into_iter().enumerate() {
        let mut spec = support::network(&format!("{{ dragonfly = {fly} }}"));
        spec.routing = value(ROUTINGS[(7 + d) % 38]);
        spec.traffic.pattern = value(PATTERNS[1]);
        let spec = dress(switched(spec, 5 + d), d);
        pins.push(pin("wiring", &[fly, ROUTINGS[(7 + d) % 38]], spec));
    }
    for (p, pattern) in PATTERNS.into_iter().enumerate() {
        let mut spec = dragonfly(8);
        spec.traffic.pattern = value(pattern);
        pins.push(pin("pattern", &[DRAGONFLIES[8], pattern], dress(switched(spec, p), p + 1)));
    }
    pins
}

fn lattices() -> Vec<Pin> {
    let mut pins = Vec::new();
    for (r, routing) in LATTICE_ROUTINGS.into_iter().enumerate() {
        let mut spec = support::lattice(LATTICES[r % 7]);
        spec.routing = value(routing);
        if Simulation::build(&spec).is_err() {
            // A class for every order of four dimensions.
            spec.network.links.values_mut().for_each(|link| link.vcs = 24.into());
        }
        let spec = dress(switched(spec, 4 * r + 1), r);
        pins.push(pin("lattice", &[LATTICES[r % 7], routing], spec));
    }
    // Decisions in transit need a second dimension.
    for (r, routing) in LATTICE_ROUTINGS.into_iter().enumerate().skip(35) {
        let lattice = LATTICES[r % 7 + 5];
        let mut spec = support::lattice(lattice);
        spec.routing = value(routing);
        pins.push(pin("lattice", &[lattice, routing], dress(switched(spec, r), r)));
    }
    for (l, lattice) in LATTICES.into_iter().enumerate() {
        for (p, pattern) in LATTICE_PATTERNS.into_iter().enumerate().skip(l % 2).step_by(2) {
            let mut spec = support::lattice(lattice);
            spec.routing = value(LATTICE_ROUTINGS[(5 * l + 3 * p) % 33]);
            spec.traffic.pattern = value(pattern);
            support::vary(&mut spec, l + 4 * p);
            // Not every lattice has every pattern.
            if Simulation::build(&spec).is_ok() {
                let spec = dress(switched(spec, 7 * l + p), l + p);
                pins.push(pin("lattice pattern", &[lattice, pattern], spec));
            }
        }
    }
    pins
}

fn trees() -> Vec<Pin> {
    let mut pins = Vec::new();
    for (r, routing) in TREE_ROUTINGS.into_iter().enumerate() {
        for turn in 0..2 {
            let (n, tree) = (2 * r + turn, TREES[(r + 4 * turn) % 9]);
            let mut spec = support::network(tree);
            spec.routing = value(routing);
            spec.network.queuing = QUEUINGS[n % 5].map(value);
            spec.traffic.hotspots = value(HOTSPOTS[(n / 2) % 4]);
            if Simulation::build(&spec).is_ok() {
                let parts = [tree, routing, QUEUINGS[n % 5].unwrap_or("no queuing scheme")];
                pins.push(pin("tree", &parts, dress(switched(spec, 5 * n + 1), n)));
            }
        }
    }
    for (h, hotspots) in HOTSPOTS.into_iter().enumerate() {
        let mut spec = support::network(TREES[0]);
        spec.traffic.hotspots = value(hotspots);
        let name = format!("hot spots {h}");
        pins.push(pin(&name, &[TREES[0]], dress(switched(spec, h), h)));
    }
    pins
}

fn graphs() -> Vec<Pin> {
    let mut pins = Vec::new();
    for (g, graph) in GRAPHS.into_iter().enumerate() {
        for (r, routing) in GRAPH_ROUTINGS.into_iter().enumerate() {
            let mut spec = support::network(&format!("{{ graph = {graph} }}"));
            spec.routing = value(routing);
            support::vary(&mut spec, g + r);
            if Simulation::build(&spec).is_ok() {
                let spec = dress(switched(spec, 5 * g + 3 * r), g + r);
                pins.push(pin("graph", &[&format!("number {g}"), routing], spec));
            }
        }
    }
    pins
}

fn switches() -> Vec<Pin> {
    let mut pins = Vec::new();
    for (s, switch) in SWITCHES.into_iter().enumerate() {
        let mut spec = support::crossbar([2, 3, 8, 5, 64, 13, 65][s % 7]);
        spec.network.switch = value(switch);
        spec.traffic.pattern = value(PLAIN_PATTERNS[s % 3]);
        pins.push(pin("crossbar", &[switch, PLAIN_PATTERNS[s % 3]], dress(spec, s)));
        let mut spec = dragonfly(s + 3);
        spec.network.switch = value(switch);
        spec.routing = value(["{ minimal = {} }", "{ valiant = {} }", "{ ugal = {} }"][s % 3]);
        for link in spec.network.links.values_mut() {
            link.buffer = [16, 24, 64][s % 3].into();
        }
        pins.push(pin("switch", &[DRAGONFLIES[(s + 3) % 10], switch], dress(spec, s + 1)));
    }
    pins
}

/// Schemes with several classes, of which some are full, where routings need many VCs.
fn queuing_schemes() -> Vec<Pin> {
    let schemes = ["{ dbbm = { queues = 2 } }", "{ flow2sl = {} }", "{ voqnet = {} }"];
    let mut pins = Vec::new();
    for n in 0..24 {
        let (mut spec, topology, routing) = match n % 3 {
            0 => (dragonfly(0), DRAGONFLIES[0], ROUTINGS[5 * n % 38]),
            1 => (support::lattice(LATTICES[2]), LATTICES[2], LATTICE_ROUTINGS[4 * n % 33]),
            _ => (support::network(TREES[0]), TREES[0], TREE_ROUTINGS[7 * n % 18]),
        };
        let scheme = schemes[n / 3 % 3];
        spec.routing = value(routing);
        spec.network.links.values_mut().for_each(|link| link.vcs = 60.into());
        spec.network.queuing = Some(value(scheme));
        support::vary(&mut spec, n);
        if Simulation::build(&spec).is_ok() {
            let spec = dress(switched(spec, 5 * n + 2), n);
            pins.push(pin(&format!("queuing {n}"), &[scheme, topology, routing], spec));
        }
    }
    pins
}

fn shared_memory() -> Vec<Pin> {
    let shared = |n: usize| {
        let mut spec = dragonfly(n + 4);
        spec.routing = value(ROUTINGS[3 * n % 38]);
        spec.network.links.values_mut().for_each(|link| link.buffer = 16.into());
        support::share(&mut spec, 7 + 5 * n as u32);
        let spec = dress(switched(spec, 2 * n), n);
        pin("shared memory", &[DRAGONFLIES[(n + 4) % 10], ROUTINGS[3 * n % 38]], spec)
    };
    (0..12).map(shared).collect()
}

/// Every way to measure queues with both uses of spare VCs.
fn sensing() -> Vec<Pin> {
    let mut pins = Vec::new();
    for n in 0..20 {
        let ways = if n < 16 { ["both", "waiting", "output", "downstream"][n % 4] } else { "sent" };
        let spare = ["unused", "emptiest"][n / 4 % 2];
        let lattice = (8..18).contains(&n);
        let (mut spec, routing) = if lattice {
            (support::lattice(LATTICES[3]), LATTICE_ROUTINGS[[6, 8][n % 2]])
        } else {
            (dragonfly(7), ROUTINGS[[7, 25][n % 2]])
        };
        spec.routing = value(routing);
        spec.network.sensing = value(&format!("'{ways}'"));
        spec.network.spare_vcs = value(&format!("'{spare}'"));
        let spec = dress(switched(spec, 3 * n), n);
        pins.push(pin("sensing", &[ways, spare, routing], spec));
    }
    pins
}

/// Programs of two tests, alone and beside other traffic.
fn workloads() -> Vec<Pin> {
    let all = equality::WORKLOADS.into_iter().chain(workload::WORKLOADS);
    let mut pins = Vec::new();
    for (w, workload) in all.enumerate() {
        for turn in 0..2 {
            let n = 2 * w + turn;
            // 72 hosts, as many as the largest of these programs has ranks.
            let mut spec = support::dragonfly(2, 4, 2);
            spec.routing = value(["{ minimal = {} }", ROUTINGS[(4 * n + 1) % 38]][turn]);
            let mut spec = dress(switched(spec, 3 * n), n);
            (spec.probes.series, spec.probes.series_before) = (None, None);
            spec.traffic = Traffic::default();
            spec.run = Run { seed: n as u64, ..Run::default() };
            spec.workload = Some(value(workload));
            if turn == 1 && !workload.contains("ranks = 72") {
                spec.traffic = value("{ load = 0.2, packet_size = 4, pattern = 'uniform' }");
            }
            if Simulation::build(&spec).is_ok() {
                let name = format!("workload {w}, {}", ["alone", "disturbed"][turn]);
                pins.push(pin(&name, &[ROUTINGS[(4 * n + 1) % 38]], spec));
            }
        }
    }
    pins
}

/// Agents of every routing that has a state, and congestion trees.
fn probes() -> Vec<Pin> {
    let mut pins = Vec::new();
    for (r, routing) in ROUTINGS.into_iter().enumerate() {
        let mut spec = dragonfly(7);
        spec.routing = value(routing);
        spec.traffic.pattern = value(PATTERNS[1]);
        let mut spec = dress(spec, r);
        spec.probes.agents = Some(value("{ every = 37, domain = 1 }"));
        if Simulation::build(&spec).is_ok() {
            pins.push(pin("agents", &[routing], spec));
        }
    }
    let routings = ["minimal", "ugal", "piggyback", "tpr", "lian"];
    for (n, routing) in routings.into_iter().enumerate() {
        let mut spec = support::dragonfly(2, 4, 2);
        spec.routing = value(&format!("{{ {routing} = {{}} }}"));
        let mut spec = dress(switched(spec, 4 * n), 3 * n + 2);
        spec.probes.congestion = value("{ every = 60, members = true }");
        pins.push(pin("congestion", &[routing], spec));
    }
    for (n, tree) in TREES.into_iter().enumerate() {
        let mut spec = support::network(tree);
        spec.traffic.hotspots = value(HOTSPOTS[0]);
        let mut spec = dress(switched(spec, 2 * n), 3 * n + 2);
        spec.probes.congestion = value("{ every = 50 }");
        pins.push(pin("congestion", &[tree], spec));
    }
    pins
}

/// Load and pattern change in the middle of the measurement.
fn transients() -> Vec<Pin> {
    let transient = |n: usize| {
        let mut spec = dragonfly(n % 7);
        spec.routing = value(ROUTINGS[(9 * n + 7) % 38]);
        let mut spec = dress(switched(spec, n), n);
        spec.traffic.load = 0.2;
        spec.traffic.then = value(
            "[{ at = 50, load = 0.9, pattern = { adversarial = { offset = 1 } } }, \
             { at = 120, load = 0.0 }, { at = 200, load = 0.6, pattern = 'adversarial_local' }]",
        );
        pin("transient", &[DRAGONFLIES[n % 7], ROUTINGS[(9 * n + 7) % 38]], spec)
    };
    (0..8).map(transient).collect()
}

/// Automatic warm-up by both rules, reached and not.
fn warmups() -> Vec<Pin> {
    let rules = [
        "{ interval = 20, limit = 3000 }",
        "{ rule = 'stops-growing', interval = 50, limit = 3000 }",
        "{ rule = 'stops-growing', window = 5, interval = 30, limit = 600 }",
    ];
    let mut pins = Vec::new();
    for (n, rule) in rules.into_iter().enumerate() {
        for load in [0.2, 0.9] {
            let mut spec = dress(support::dragonfly(2, 4, 2), n);
            spec.traffic.load = load;
            spec.traffic.packet_size = value("4");
            (spec.probes.series, spec.probes.series_before) = (None, None);
            spec.run.warmup = value(rule);
            pins.push(pin("warm-up", &[rule, &format!("load = {load}")], spec));
        }
    }
    pins
}

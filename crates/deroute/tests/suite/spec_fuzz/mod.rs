//! Hostile specs: parser and `Simulation::build` answer with a result or an error with a path, but
//! never panic. Arithmetic overflow panics in this profile, so it is found as well.

mod hostile;
mod numbers;

use deroute::Simulation;
use deroute::ids::RouterId;
use deroute::spec::{Quantity, Spec, Topology, Warmup};
use hostile::{Blow, FLOATS, NUMBERS, TEXTS, blows, keys, strike};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseError;
use toml::{Table, Value};

use crate::support::catalogue::{
    GRAPH_ROUTINGS, GRAPHS, HOST_PATTERNS, HOTSPOTS, INJECTIONS, PATTERNS, QUEUINGS, ROUTINGS,
    SIXTEEN, SIZES, SWITCHES, TREE_ROUTINGS, TREES,
};
use crate::support::{self, value};

/// Networks and footprints beyond these are built, but not run.
const SMALL: (u32, u64) = (100, 1 << 24);
/// Networks with more ports are built, but their memory is not looked at.
const MANY: u64 = 1 << 20;

/// Builds a spec, and runs it if that is cheap.
fn endure(spec: &Spec) -> Result<(), TestCaseError> {
    if hosts(spec).is_some_and(|hosts| (100_000..1 << 25).contains(&hosts)) {
        return Ok(()); // Possible, but slow: `geometries` has a few of these.
    }
    match Simulation::build(spec) {
        Err(error) => {
            prop_assert!(!error.path.is_empty(), "no path: {error}");
            prop_assert!(error.path.chars().all(|c| !c.is_whitespace()), "{error}");
            prop_assert!(!error.message.is_empty(), "no message at {}", error.path);
        }
        Ok(simulation) => {
            let topology = simulation.topology();
            if u64::from(topology.routers()) * u64::from(topology.radix(RouterId(0))) > MANY {
                return Ok(()); // Possible, but slow, too.
            }
            let footprint = simulation.footprint();
            prop_assert!(footprint.fixed_bytes <= footprint.worst_bytes);
            let (hosts, bytes) = (topology.hosts(), footprint.fixed_bytes);
            if hosts <= SMALL.0 && bytes <= SMALL.1 && length(spec) <= 2_000 {
                support::run(spec);
            }
        }
    }
    Ok(())
}

/// Hosts that the spec asks for.
fn hosts(spec: &Spec) -> Option<u128> {
    match &spec.network.topology {
        Topology::Crossbar(crossbar) => Some(crossbar.hosts.into()),
        Topology::Hyperx(lattice) => {
            let widths = lattice.widths.iter().map(|&width| u128::from(width));
            widths.take(16).try_fold(u128::from(lattice.hosts), u128::checked_mul)
        }
        Topology::Dragonfly(fly) => {
            let [p, a, h] = [fly.p, fly.a, fly.h].map(u128::from);
            let most = (a * h).checked_div(fly.trunk.into())? + 1;
            Some(p * a * fly.groups.map_or(most, u128::from))
        }
        other => nodes(other),
    }
}

/// Hosts of a tree or graph, or its switches if those are more.
fn nodes(topology: &Topology) -> Option<u128> {
    let power = |base: u32, exponent: u32| u128::from(base).checked_pow(exponent);
    let product = |list: &[u32]| {
        list.iter().take(16).try_fold(1, |product: u128, &n| product.checked_mul(n.into()))
    };
    match topology {
        Topology::FatTree(tree) => {
            product(&tree.children)?.checked_mul(product(&tree.parents)?.max(1))
        }
        Topology::Rlft(tree) => power(tree.ports / 2, tree.stages)?.checked_mul(4),
        Topology::KaryTree(tree) => power(tree.k, tree.levels)?.checked_mul(tree.levels.into()),
        Topology::FoldedClos(tree) => power(tree.ports / 2, tree.levels)?.checked_mul(4),
        Topology::Graph(graph) => {
            let last = graph.edges.iter().flatten().max().copied().unwrap_or(0);
            // Tables for all pairs of routers.
            Some(if last > 1_000 && last < 10_000 { 1 << 24 } else { u128::from(last) })
        }
        _ => None,
    }
}

/// Cycles that a run would take; many if that is not plain.
fn length(spec: &Spec) -> u64 {
    if let Some(workload) = &spec.workload {
        let Quantity::Number(limit) = workload.limit else { return u64::MAX };
        let short = workload.jobs.iter().all(|job| job.iterations < 1_000);
        return if short { limit } else { u64::MAX };
    }
    match (&spec.run.warmup, &spec.run.measure) {
        (Warmup::Fixed(Quantity::Number(warmup)), Quantity::Number(measure)) => {
            warmup.saturating_add(*measure)
        }
        _ => u64::MAX,
    }
}

/// Programs with every key.
const WORKLOAD: &str = "{ packet_size = 4, limit = 900, jobs = [
    { name = 'a', ranks = 4, placement = { random = { seed = 3 } }, start = 5, iterations = 2,
      node = { ranks = 2, bandwidth = '300%', latency = 7 }, critical_path = true,
      steps = [{ compute = '3 ns' }, { ring = { size = 9 } }, { bruck = { size = 2 } },
      { stencil = { shape = [2, 2], periodic = false, messages =
        { weighted = { total = 20, face = 3, edge = 2, corner = 1 } } } },
      { broadcast = { root = 1, size = 3 } }, { reduce = { root = 3, size = '30 B' } }] },
    { ranks = 2, placement = { blocked = { block = [1] } }, steps = [
      { stencil = { shape = [2], messages = { equal = 9 } } },
      { exchange = { messages = [[0, 1, 9], [1, 0, '60 B']] } }, { dissemination = { size = 1 } },
      { recursive_doubling = { size = 1 } }] }] }";

/// The specs that are broken.
fn seeds() -> impl Strategy<Value = Spec> {
    let parts = (
        select(&ROUTINGS[..]),
        select(&PATTERNS[..]),
        select(&SWITCHES[..]),
        select(&SIZES[..]),
        select(&INJECTIONS[..]),
        any::<bool>(),
    );
    parts.prop_map(|(routing, pattern, switch, size, injection, eventful)| {
        let mut spec = support::dragonfly(1, 2, 1);
        spec.routing = value(routing);
        spec.network.switch = value(switch);
        spec.traffic.pattern = value(pattern);
        spec.traffic.packet_size = value(size);
        spec.traffic.injection = value(injection);
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(100.into()), 200.into());
        if eventful && size.len() > 2 {
            // Few enough ranks for the smallest Dragonfly, with every step.
            spec.workload = Some(value(WORKLOAD));
            spec.run = deroute::spec::Run::default();
        } else if eventful {
            spec.traffic.then = value("[{ at = 50, load = 0.1, pattern = 'uniform' }]");
            spec.probes = value(
                "{ series = 10, series_before = '50 ns', links = true, agents = { every = 10 } }",
            );
            spec.checks = value("{ full = true, dependencies = true, watchdog = 100 }");
        }
        spec
    })
}

/// Valid TOML with wrong keys, types and values.
#[test]
fn broken_tables() {
    let outcome = support::runner(6_000).run(&(seeds(), blows()), |(spec, blows)| {
        let mut table = Table::try_from(&spec).expect("a spec is a table");
        for (index, blow) in blows {
            let mut found = Vec::new();
            keys(&table, &[], &mut found);
            if !found.is_empty() {
                let path: &Vec<String> = index.get(&found);
                strike(&mut table, path, blow);
            }
        }
        let text = table.to_string();
        match toml::from_str::<Spec>(&text) {
            Ok(spec) => endure(&spec),
            Err(error) => {
                prop_assert!(!error.message().is_empty());
                Ok(())
            }
        }
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Every key of every kind of spec, replaced by every hostile value, one at a time. Of all specs but the first only
/// the keys that differ: `broken_tables` draws from all.
#[test]
fn every_key_takes_every_value() {
    for n in 0..ROUTINGS.len() {
        let mut spec = support::dragonfly(1, 2, 1);
        spec.routing = value(ROUTINGS[n]);
        spec.network.switch = value(SWITCHES[n % SWITCHES.len()]);
        spec.traffic.pattern = value(PATTERNS[n % PATTERNS.len()]);
        spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
        spec.traffic.injection = value(INJECTIONS[n % INJECTIONS.len()]);
        spec.traffic.then = value("[{ at = 50, load = 0.1, pattern = 'uniform' }]");
        spec.probes = value("{ series = 10, series_before = 20, links = true }");
        spec.checks = value("{ full = true, dependencies = true, watchdog = 100 }");
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(30.into()), 70.into());
        let differing = ["routing", "switch", "pattern", "packet_size", "injection"];
        every_value_at_every_key(&spec, if n == 0 { &[] } else { &differing });
    }
    let mut spec = support::dragonfly(1, 2, 1);
    (spec.workload, spec.run) = (Some(value(WORKLOAD)), deroute::spec::Run::default());
    every_value_at_every_key(&spec, &[]);
}

/// At every key, or below the keys of these names.
fn every_value_at_every_key(spec: &Spec, below: &[&str]) {
    let numbers = NUMBERS.into_iter().map(Value::Integer);
    let floats = FLOATS.into_iter().map(Value::Float);
    let values: Vec<Value> =
        numbers.chain(floats).chain(TEXTS.into_iter().map(Value::from)).collect();
    let table = Table::try_from(spec).expect("a spec is a table");
    let mut found = Vec::new();
    keys(&table, &[], &mut found);
    assert!(found.len() > 30, "{} keys", found.len());
    found.retain(|path| below.is_empty() || path.iter().any(|key| below.contains(&key.as_str())));
    for (path, value) in found.iter().flat_map(|path| values.iter().map(move |v| (path, v))) {
        let mut table = table.clone();
        strike(&mut table, path, Blow::Replace(value.clone()));
        if let Ok(spec) = table.clone().try_into() {
            endure(&spec).unwrap_or_else(|error| panic!("{error}\n{table}"));
        }
    }
}

/// The same for trees and graphs, queuing schemes and hot spots.
#[test]
fn every_key_of_trees_and_graphs() {
    let graphs = GRAPHS.map(|graph| format!("{{ graph = {graph} }}"));
    let topologies = TREES.into_iter().chain(graphs.iter().map(String::as_str));
    for (n, topology) in topologies.enumerate() {
        let mut spec = support::network(topology);
        let tree = n < TREES.len();
        spec.routing = value(if tree { TREE_ROUTINGS[14 - n] } else { GRAPH_ROUTINGS[n % 5] });
        spec.network.queuing = QUEUINGS[n % QUEUINGS.len()].map(value);
        spec.traffic.hotspots = value(HOTSPOTS[n % HOTSPOTS.len()]);
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(30.into()), 70.into());
        every_value_at_every_key(&spec, &["topology", "routing", "queuing", "hotspots"]);
    }
}

/// The same for patterns of hosts.
#[test]
fn every_key_of_patterns() {
    for (n, pattern) in HOST_PATTERNS.into_iter().enumerate() {
        let mut spec = support::network(SIXTEEN[3 - n % 2]);
        spec.traffic.pattern = value(pattern);
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(30.into()), 70.into());
        every_value_at_every_key(&spec, &["pattern", "topology"]);
    }
}

/// Text that is no longer TOML.
#[test]
fn broken_text() {
    let edits = proptest::collection::vec((any::<Index>(), "[\\PC\n]{0,3}", 0..3usize), 1..6);
    let outcome = support::runner(2_000).run(&(seeds(), edits), |(spec, edits)| {
        let mut text: Vec<char> = support::show(&spec).chars().collect();
        for (index, insert, remove) in edits {
            let at = index.index(text.len());
            let end = (at + remove).min(text.len());
            text.splice(at..end, insert.chars());
        }
        match toml::from_str::<Spec>(&text.into_iter().collect::<String>()) {
            Ok(spec) => endure(&spec),
            Err(error) => {
                prop_assert!(!error.message().is_empty());
                Ok(())
            }
        }
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Nesting without end is refused, not followed until the stack is full.
#[test]
fn deep_nesting() {
    let text = support::show(&support::dragonfly(1, 2, 1));
    for (open, close) in [("[", "]"), ("{ mix = [{ weight = 1, pattern = ", "}] }")] {
        let deep = format!("{}'uniform'{}", open.repeat(20_000), close.repeat(20_000));
        let text = text.replace("pattern = \"uniform\"", &format!("pattern = {deep}"));
        assert!(text.len() > 40_000);
        assert!(toml::from_str::<Spec>(&text).is_err());
    }
}

//! What every pattern of hosts must do, in every kind of network: silent hosts send nothing, all others what
//! the load says.

use deroute::Simulation;
use deroute::outcome::State;
use deroute::spec::{Spec, Warmup};

use crate::support::catalogue::{HOST_PATTERNS, INJECTIONS, SIXTEEN, SIZES};
use crate::support::{self, value};

/// A pattern in a network, if it has it.
pub fn patterned(topology: &str, pattern: &str, turn: usize) -> Option<Spec> {
    let mut spec = support::network(topology);
    spec.traffic.pattern = value(pattern);
    spec.traffic.packet_size = value(SIZES[turn % SIZES.len()]);
    spec.traffic.injection = value(INJECTIONS[turn % INJECTIONS.len()]);
    spec.traffic.load = [0.3, 0.6, 0.97][turn % 3];
    support::switch(&mut spec, turn);
    spec.run.seed = turn as u64;
    spec.run.warmup = Warmup::Fixed(100.into());
    spec.run.measure = 400.into();
    match Simulation::build(&spec) {
        Ok(_) => Some(spec),
        Err(error) => {
            let lattice = error.path.ends_with(".ring") && !topology.contains("hyperx");
            assert!(lattice, "{error}");
            None
        }
    }
}

/// Conservation, an acyclic dependency graph, and the same bytes however the run is divided.
#[test]
fn every_entry_is_sound_and_deterministic() {
    let mut runs = 0;
    for (t, topology) in SIXTEEN.into_iter().enumerate() {
        for (p, pattern) in HOST_PATTERNS.into_iter().enumerate() {
            let Some(mut spec) = patterned(topology, pattern, t + 4 * p) else { continue };
            spec.run.measure = 2_000.into();
            spec.checks.full = true;
            spec.checks.dependencies = true;
            super::sound(&spec, runs, 1);
            runs += 1;
        }
    }
    assert_eq!(runs, 6 * 15 + 2);
}

/// On a switch that never blocks, hosts that send accept what they offer, and the silent half nothing;
/// fairness is that of those that send.
#[test]
fn silent_hosts() {
    let mix =
        "{ mix = [{ weight = 1, pattern = 'butterfly' }, { weight = 3, pattern = 'uniform' }] }";
    let later = |pattern: &str, at: u32| format!("[{{ at = {at}, pattern = {pattern} }}]");
    for (pattern, then, senders, silent) in [
        ("'butterfly'", "[]".to_owned(), 0.5, 8),
        ("'butterfly'", later("'uniform'", 5_000), 0.75, 0),
        ("'uniform'", later("'butterfly'", 0), 0.5, 0),
        (mix, "[]".to_owned(), 1.0, 0),
    ] {
        let mut spec = support::crossbar(16);
        spec.network.switch = value("{ output_queued = {} }");
        spec.traffic.pattern = value(pattern);
        spec.traffic.then = value(&then);
        spec.traffic.load = 0.8;
        spec.run.measure = 10_000.into();
        let outcome = support::run(&spec);
        let (offered, place) = (0.8 * senders, format!("{pattern}, {then}"));
        assert!((outcome.load.offered - offered).abs() < 1e-9, "{place}");
        assert!((outcome.load.accepted / offered - 1.0).abs() < 0.03, "{place}");
        let injected = &outcome.arrays.injected_by_host;
        let quiet = injected.iter().filter(|load| **load < 0.01).count();
        assert_eq!(quiet, if senders == 0.5 { 8 } else { 0 }, "{place}");
        // Who sends for half of the time has half of the load: (1 + 1/2)^2 / (2 (1 + 1/4)).
        let fair = if senders == 0.75 { 0.9 } else { 1.0 };
        let fair = if quiet > silent { 0.5 } else { fair };
        assert!(
            (outcome.fairness.jain_hosts - fair).abs() < 0.01,
            "{place}: {:?}",
            outcome.fairness
        );
        assert_ne!(outcome.verdict.state, State::Saturated, "{place}");
    }
}

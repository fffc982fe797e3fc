//! What every entry of the catalogue must do: lose nothing, never overflow, give the same bytes for
//! any number of partitions and threads, deliver at zero load after exactly the time that the
//! formula says, never depend on itself, and never go in circles.

mod controls;
mod deadlock;
mod entries;
mod graphs;
mod ladders;
mod lattice;
mod paths;
pub mod patterns;
mod trees;
mod vcs;
mod zero_load;

use deroute::outcome::{Outcome, State};
use deroute::spec::{Sensing, Spec, Topology, Warmup};
use deroute::{Progress, RunOptions, Simulation};

use crate::support::catalogue::{
    DRAGONFLIES, FLOW_CONTROLS, INJECTIONS, PATTERNS, PLAIN_PATTERNS, ROUTINGS, SIZES, SWITCHES,
};
use crate::support::{self, value};

/// Every routing with every pattern, every switch with every wiring, and every switch alone, under
/// loads from light to excessive; everything else rotates.
fn catalogue() -> Vec<Spec> {
    let mut specs = Vec::new();
    for (r, routing) in ROUTINGS.into_iter().enumerate() {
        for (p, pattern) in PATTERNS.into_iter().enumerate() {
            let (dragonfly, switch) = (DRAGONFLIES[(2 * r + p) % 10], r + 3 * p);
            specs.push(network(dragonfly, switch, routing, pattern, r + p));
        }
    }
    for (s, switch) in SWITCHES.into_iter().enumerate() {
        for (d, dragonfly) in DRAGONFLIES.into_iter().enumerate() {
            let (routing, pattern) =
                (ROUTINGS[(s + 5 * d) % ROUTINGS.len()], PATTERNS[(s + d) % 8]);
            specs.push(network(dragonfly, s, routing, pattern, s + 2 * d));
        }
        let mut spec = support::crossbar(2 + 3 * s as u32);
        spec.network.switch = value(switch);
        spec.traffic.pattern = value(PLAIN_PATTERNS[s % PLAIN_PATTERNS.len()]);
        specs.push(dress(spec, s));
    }
    for (s, switch) in REGISTERS.into_iter().enumerate() {
        for (d, dragonfly) in DRAGONFLIES.into_iter().enumerate() {
            let mut spec = network(dragonfly, 0, ONCE[(s + d) % 4], PATTERNS[(s + d) % 8], s + d);
            spec.network.switch = value(switch);
            spec.network.sensing = [Sensing::Both, Sensing::Sent][d % 2];
            specs.push(spec);
        }
    }
    specs
}

/// Switches with registers before the crossbar, and routings that decide once, as heads there are on their way.
const REGISTERS: [&str; 3] = [
    "{ input_queued = { routed = 'arrival', registers = true } }",
    "{ input_queued = { pipeline = 2, routed = 'arrival', registers = true, \
       allocator = { arbiter = 'age', iterations = 3 } } }",
    "{ virtual_output_queued = { pipeline = 3, iterations = 2, registers = true } }",
];
const ONCE: [&str; 4] =
    ["{ minimal = {} }", "{ valiant = {} }", "{ ugal = {} }", "{ piggyback = {} }"];

fn network(dragonfly: &str, switch: usize, routing: &str, pattern: &str, turn: usize) -> Spec {
    let mut spec = support::dragonfly(1, 2, 1);
    spec.network.topology = Topology::Dragonfly(value(dragonfly));
    spec.routing = value(routing);
    spec.traffic.pattern = value(pattern);
    support::switch(&mut spec, switch);
    dress(spec, turn)
}

fn dress(mut spec: Spec, turn: usize) -> Spec {
    spec.traffic.packet_size = value(SIZES[turn % SIZES.len()]);
    spec.traffic.injection = value(INJECTIONS[turn % INJECTIONS.len()]);
    spec.traffic.load = [0.05, 0.3, 0.6, 0.97][turn % 4];
    spec.network.nic.latency = [0, 5][turn % 2].into();
    spec.network.flow_control = value(FLOW_CONTROLS[turn % 5 / 4]);
    spec.run.seed = turn as u64;
    spec.run.warmup = Warmup::Fixed(1_000.into());
    spec.run.measure = 1_500.into();
    spec.probes.links = true;
    spec.probes.series = Some(100.into());
    spec.probes.queues = Some(value("{ every = 150, ports = 'all' }"));
    spec.checks.full = true;
    spec.checks.dependencies = true;
    spec.checks.watchdog = Some(400.into());
    let mut probed = spec.clone();
    probed.probes.agents = Some(value("{ every = 37, domain = 1 }"));
    // Algorithms without a state, and networks of one domain, refuse the probe.
    if Simulation::build(&probed).is_ok() { probed } else { spec }
}

fn run(spec: &Spec, threads: usize, partitions: Option<usize>) -> Outcome {
    support::attempt(spec, &RunOptions { threads, partitions, ..RunOptions::default() })
        .unwrap_or_else(|error| panic!("{error}\n{}", support::show(spec)))
}

/// Threads and partitions, of which entries get some in turn.
const DIVISIONS: [(usize, Option<usize>); 4] =
    [(1, None), (3, Some(3)), (1, Some(usize::MAX)), (2, None)];

/// Packets arrive, none is lost, and so many other divisions give the same bytes, with and without a record of
/// dependencies: without one, many runs have a hot path of their own.
fn sound(spec: &Spec, turn: usize, divisions: usize) {
    let outcome = run(spec, 1, Some(1));
    let packets = outcome.packets;
    assert_eq!(packets.generated, packets.delivered + packets.in_flight);
    assert!(packets.injected <= packets.generated && packets.delivered <= packets.injected);
    assert!(packets.delivered > 0, "nothing arrived\n{}", support::show(spec));
    let mut bare = spec.clone();
    bare.checks.dependencies = false;
    let chosen = DIVISIONS.into_iter().cycle().skip(turn % DIVISIONS.len()).take(divisions);
    for (n, (threads, partitions)) in chosen.enumerate() {
        let spec = if n % 2 == 0 { &bare } else { spec };
        let again = run(spec, threads, partitions);
        let place = format!("{threads} threads, {partitions:?} partitions");
        assert!(outcome == again, "{place} change the result\n{}", support::show(spec));
    }
}

/// Conservation and losslessness (recounted by the engine every thousand cycles), an acyclic
/// dependency graph, a silent watchdog, and the same bytes however the run is divided.
#[test]
fn every_entry_is_sound_and_deterministic() {
    for (turn, spec) in catalogue().iter().enumerate() {
        sound(spec, turn, 2);
    }
}

/// ACOR's level is recorded in time: it rises where packets are blocked, and falls again.
#[test]
fn levels_in_time() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ valiant = { phase_a = { acor = { interval = 100 } } } }");
    spec.traffic.pattern = value("{ adversarial = { offset = 2 } }");
    spec.traffic.load = 0.6;
    spec.traffic.then = vec![value("{ at = 4_000, load = 0.01 }")];
    spec.run.warmup = Warmup::Fixed(0.into());
    spec.run.measure = 8_000.into();
    spec.probes.agents = Some(value("{ every = 50 }"));
    let agents = support::run(&spec).agents.unwrap();
    assert_eq!((agents.start, agents.width), (0, 50));
    assert_eq!(agents.names, ["level", "blocked"]);
    assert_eq!(agents.routers, [0, 1, 2, 3]);
    assert_eq!((agents.values.len(), agents.mean.len()), (160 * 4 * 2, 160 * 2));
    let level: Vec<f64> = agents.mean.iter().step_by(2).copied().collect();
    assert_eq!((level[0], level[159]), (1.0, 1.0));
    assert!(level[40..80].iter().all(|level| *level > 1.5), "{level:?}");
    assert!(agents.values.iter().step_by(2).all(|level| [1.0, 2.0, 3.0].contains(level)));
}

/// A seed changes the result; the same seed, or a new simulation of the same spec, does not.
#[test]
fn only_the_seed_changes_the_result() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ piggyback = { flag_threshold = 4 } }");
    let simulation = Simulation::build(&spec).unwrap();
    let mut go = |_: Progress<'_>| std::ops::ControlFlow::Continue(());
    let first = simulation.run(&RunOptions::default(), &mut go).unwrap();
    assert!(first == simulation.run(&RunOptions::default(), &mut go).unwrap());
    assert!(first == support::run(&spec));
    spec.run.seed += 1;
    assert!(first != support::run(&spec));
}

/// An automatic warm-up only chooses when to begin: the same beginning, asked for, gives the same
/// result.
#[test]
fn automatic_warmup_is_a_fixed_one_found() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic.load = 0.2;
    spec.run.warmup = value("{ interval = 100, limit = 20000 }");
    spec.run.measure = 20_000.into();
    let found = support::run(&spec);
    assert_eq!(found.verdict.state, State::Steady, "{:?}", found.verdict.reasons);
    assert!((500..20_000).contains(&found.measured_from), "{}", found.measured_from);
    spec.run.warmup = Warmup::Fixed(found.measured_from.into());
    assert!(support::run(&spec) == found);
}

/// The rule of McDonald et al.: a network is warm when its latency stops growing, saturated if it never
/// does.
#[test]
fn warm_up_until_latency_stops_growing() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.network.nic.injection_queue = None;
    spec.run.warmup = value("{ rule = 'stops-growing', interval = 200, limit = 20000 }");
    spec.run.measure = 20_000.into();
    spec.traffic.load = 0.2;
    let warm = support::run(&spec);
    assert_eq!(warm.verdict.state, State::Steady, "{:?}", warm.verdict.reasons);
    assert!((3_000..20_000).contains(&warm.measured_from), "{}", warm.measured_from);
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    let hot = support::run(&spec);
    assert_eq!(hot.verdict.state, State::Saturated);
    assert!(hot.measured_from >= 20_000, "{}", hot.measured_from);
}

/// A run can be stopped, and learns how far it is.
#[test]
fn a_run_can_be_interrupted() {
    let spec = support::dragonfly(1, 2, 1);
    let simulation = Simulation::build(&spec).unwrap();
    let mut seen = Vec::new();
    let result = simulation.run(&RunOptions::default(), &mut |progress| {
        seen.push((progress.cycle, progress.of));
        match seen.len() {
            2 => std::ops::ControlFlow::Break(()),
            _ => std::ops::ControlFlow::Continue(()),
        }
    });
    assert_eq!(result, Err(deroute::RunError::Interrupted));
    assert_eq!(seen.iter().map(|(_, of)| *of).collect::<Vec<_>>(), [2_000, 2_000]);
    assert!(seen[0].0 < seen[1].0 && seen[1].0 <= 2_000);
}

/// The verdict says when a network is saturated, and when the numbers are too few.
#[test]
fn verdicts() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.run.measure = 10_000.into();
    assert_eq!(support::run(&spec).verdict.state, State::Steady);
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    assert_eq!(support::run(&spec).verdict.state, State::Saturated);
    spec.traffic.load = 0.001;
    let few = support::run(&spec).verdict;
    assert_eq!(few.state, State::NotConverged);
    assert!(few.reasons[0].contains("packets were measured"), "{:?}", few.reasons);
}

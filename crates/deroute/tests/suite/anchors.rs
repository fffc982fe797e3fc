//! Numbers that are known from elsewhere: queueing theory, and the bounds of a Dragonfly.

use deroute::outcome::{Outcome, State};
use deroute::spec::{Spec, Warmup};

use crate::support::{self, value};

/// Mean and standard error over seeds.
fn over_seeds(spec: &Spec, seeds: u64, measure: fn(&Outcome) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (1..=seeds)
        .map(|seed| {
            let mut spec = spec.clone();
            spec.run.seed = seed;
            measure(&support::run(&spec))
        })
        .collect();
    let n = seeds as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// `n` saturated inputs, each a single first-in first-out queue of unit packets, and `n` outputs
/// drawn uniformly: the switch of Karol, Hluchyj and Morgan. The engine's uniform traffic spares
/// the source, so the inputs are the hosts of a router and the outputs are its links: groups of one
/// router, fully connected, with traffic to all other groups. Buffers behind the links never fill.
fn head_of_line(n: u32, allocator: &str) -> Spec {
    let mut spec = support::dragonfly(n, 1, n);
    spec.network.switch = value(&format!("{{ input_queued = {{ allocator = {allocator} }} }}"));
    spec.network.nic.injection_queue = Some(4.into());
    for link in spec.network.links.values_mut() {
        link.buffer = (1 << 20).into();
    }
    spec.traffic.packet_size = value("1");
    spec.traffic.load = 1.0;
    spec.traffic.pattern = value(&format!("{{ adversarial_consecutive = {{ groups = {n} }} }}"));
    spec.run.warmup = Warmup::Fixed(500.into());
    spec.run.measure = (60_000 / u64::from(n * n)).max(1_000).into();
    spec
}

fn injected(outcome: &Outcome) -> f64 {
    outcome.load.injected
}

/// Karol, Hluchyj and Morgan 1987, Table I: saturation throughput of an input-queued switch. Their
/// outputs choose at random among the inputs; the number of heads per output, and so the
/// throughput, does not depend on who wins, because the next destination is drawn anew. So any
/// arbiter must give the same values.
#[test]
fn head_of_line_blocking() {
    let table = [(2, 0.7500), (3, 0.6825), (4, 0.6553), (5, 0.6399), (8, 0.6184)];
    for (n, published) in table {
        for (allocator, seeds) in [("{}", 12), ("{ arbiter = 'age' }", 6)] {
            let (mean, error) = over_seeds(&head_of_line(n, allocator), seeds, injected);
            let tolerance = 4.0 * error + 0.00005;
            assert!(tolerance < 0.01, "N = {n}: only known to {tolerance}");
            assert!(
                (mean - published).abs() <= tolerance,
                "N = {n}, {allocator}: {mean} is not {published} +- {tolerance}"
            );
        }
    }
}

/// The limit for large switches, 2 - sqrt(2) = 0.586. What is left at N ports falls with 1/N, so
/// two sizes cancel it.
#[test]
fn head_of_line_blocking_of_large_switches() {
    let (half, half_error) = over_seeds(&head_of_line(16, "{}"), 8, injected);
    let (full, full_error) = over_seeds(&head_of_line(32, "{}"), 4, injected);
    let (limit, error) = (2.0 * full - half, (2.0 * full_error).hypot(half_error));
    let published = 2.0 - 2f64.sqrt();
    assert!(4.0 * error < 0.004, "only known to {error}");
    assert!((limit - published).abs() <= 4.0 * error + 0.001, "{limit} +- {error}");
    assert!(half > full && full > published, "{half}, {full}");
    // A single switch under uniform traffic, as users will ask for it.
    let mut spec = support::crossbar(64);
    spec.network.switch = value("{ input_queued = {} }");
    spec.network.nic.injection_queue = None;
    spec.traffic.packet_size = value("1");
    spec.traffic.load = 1.0;
    let outcome = support::run(&spec);
    assert!((outcome.load.accepted - 0.586).abs() < 0.01, "{}", outcome.load.accepted);
    assert_eq!(outcome.verdict.state, State::Saturated);
}

fn output_queued(hosts: u32, load: f64, cycles: u64) -> Spec {
    let mut spec = support::crossbar(hosts);
    spec.network.switch = value("{ output_queued = {} }");
    spec.network.nic.injection_queue = None;
    spec.traffic.packet_size = value("1");
    spec.traffic.load = load;
    spec.run.warmup = Warmup::Fixed(5_000.into());
    spec.run.measure = cycles.into();
    spec
}

/// An output-queued switch carries everything.
#[test]
fn output_queuing_has_full_throughput() {
    let outcome = support::run(&output_queued(16, 0.98, 60_000));
    let load = outcome.load;
    assert_ne!(outcome.verdict.state, State::Saturated, "{:?}", outcome.verdict.reasons);
    assert!((load.accepted - load.attempted).abs() < 0.002, "{load:?}");
    // At full load the queues grow without bound, but no faster than a random walk.
    let load = support::run(&output_queued(16, 1.0, 60_000)).load;
    assert!(load.accepted > 0.99, "{load:?}");
}

/// Waiting time in an output queue: `(n - 1) / n * p / (2 (1 - p))` for `n` inputs (Karol et al.,
/// equation 3). A host does not send to itself, so `n` is one less than the hosts. For large `n` it
/// is that of M/D/1. Within twice the confidence interval that the result states.
#[test]
fn output_queue_waits_as_long_as_theory_says() {
    for (hosts, load, cycles) in [
        (3, 0.5, 200_000),
        (3, 0.9, 800_000),
        (5, 0.7, 200_000),
        (9, 0.8, 200_000),
        (17, 0.3, 60_000),
        (129, 0.6, 20_000),
        (257, 0.8, 20_000),
    ] {
        let inputs = f64::from(hosts - 1);
        let latency = support::run(&output_queued(hosts, load, cycles)).latency;
        let (waited, tolerance) = (latency.mean - 1.0, 2.0 * latency.ci95);
        let markov = load / (2.0 * (1.0 - load));
        let theory = (inputs - 1.0) / inputs * markov;
        assert!(tolerance < 0.06 * theory, "{hosts} hosts, {load}: {tolerance} of {theory}");
        assert!(
            (waited - theory).abs() <= tolerance,
            "{hosts} hosts, load {load}: waited {waited}, theory {theory} +- {tolerance}"
        );
        if hosts > 200 {
            assert!((waited - markov).abs() <= tolerance + 0.005 * markov, "{waited}, {markov}");
        }
    }
}

/// The `n` x `n` switch of McKeown 1999: cells of one phit, any number of them waiting, destinations drawn
/// from all outputs. The engine's uniform traffic spares the source, so one half of the hosts of a
/// crossbar sends to the other: two switches, of which neither takes part in the other's matching.
/// A share `own` of the cells goes to one output, another one for every input.
fn cell_switch(n: u32, switch: &str, load: f64, own: f64) -> Spec {
    let mut spec = output_queued(2 * n, load, 60_000);
    spec.network.switch = value(switch);
    let halves = [0..n, n..2 * n].map(|half| format!("{:?}", half.collect::<Vec<_>>()));
    for [from, to] in [[0, 1], [1, 0]].map(|ends| ends.map(|half| &halves[half])) {
        let spot = format!("sources = {{ hosts = {from} }}, destinations = ");
        if own > 0.0 {
            let own = format!("{{ {spot} {{ each = {to} }}, share = {own:?} }}");
            spec.traffic.hotspots.push(value(&own));
        }
        spec.traffic.hotspots.push(value(&format!("{{ {spot} {{ any = {to} }} }}")));
    }
    spec.run.warmup = Warmup::Fixed(20_000.into());
    spec
}

fn islip(iterations: u32) -> String {
    format!("{{ virtual_output_queued = {{ iterations = {iterations} }} }}")
}

/// iSLIP carries all uniform traffic, with one iteration already (McKeown 1999), where
/// first-in first-out queues reach 0.60 with 16 ports; and all bursty traffic. At full load the
/// queues still grow, as a random walk does, so that large switches take longer to come near 1.
#[test]
fn islip_has_full_throughput() {
    for n in [4, 16, 32] {
        let mut spec = cell_switch(n, &islip(1), 1.0, 0.0);
        let cycles = (240 * u64::from(n * n)).max(60_000);
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(cycles.into()), cycles.into());
        let load = support::run(&spec).load;
        assert!(load.accepted > 0.99, "N = {n}: {load:?}");
    }
    let fifo = support::run(&cell_switch(16, "{ input_queued = {} }", 1.0, 0.0)).load.accepted;
    assert!((fifo - 0.6).abs() < 0.01, "{fifo}");
    let bernoulli = cell_switch(16, &islip(1), 0.95, 0.0);
    // The cells of a burst go to one output.
    let mut bursty = head_of_line(4, "{}");
    bursty.network.switch = value(&islip(1));
    bursty.network.nic.injection_queue = None;
    bursty.traffic.injection = value("{ on_off = { burst = 16.0 } }");
    bursty.traffic.load = 0.95;
    bursty.run.warmup = Warmup::Fixed(60_000.into());
    bursty.run.measure = 200_000.into();
    for spec in [bernoulli, bursty] {
        let outcome = support::run(&spec);
        let load = outcome.load;
        assert_ne!(outcome.verdict.state, State::Saturated, "{:?}", outcome.verdict.reasons);
        assert!((load.injected - load.attempted).abs() < 0.002, "{load:?}");
    }
}

/// With 16 ports more iterations shorten the wait, and beyond log2(16) = 4 they hardly do (McKeown 1999).
/// What is said to differ does so by 4 standard errors over 6 seeds; the wait with 4
/// iterations is known to 1%, and within 2% of that with as many iterations as there are ports.
#[test]
fn iterations_of_islip() {
    for (load, gain) in [(0.8, 5.0), (0.9, 5.0)] {
        let latency = [1, 2, 3, 4, 16].map(|iterations| {
            let mut spec = cell_switch(16, &islip(iterations), load, 0.0);
            (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(8_000.into()), 20_000.into());
            over_seeds(&spec, 6, |outcome| outcome.latency.mean)
        });
        for pair in latency[..3].windows(2) {
            let (difference, error) = (pair[0].0 - pair[1].0, pair[0].1.hypot(pair[1].1));
            assert!(difference > 4.0 * error, "load {load}: {latency:?}");
        }
        let (third, (fourth, error), all) = (latency[2].0, latency[3], latency[4].0);
        assert!(third >= fourth && latency[0].0 > gain * fourth, "load {load}: {latency:?}");
        assert!(error < 0.01 * fourth, "load {load}: only known to {error}");
        assert!((fourth - all).abs() < 0.02 * fourth, "load {load}: {latency:?}");
    }
}

/// Unbalanced traffic, half to an output of its own and half to all: iSLIP loses a third of it with one
/// iteration and a fifth with four, though no input or output is overloaded (our own measurement). Output
/// queues lose nothing.
#[test]
fn islip_under_unbalanced_traffic() {
    let accepted = |switch: &str| support::run(&cell_switch(16, switch, 1.0, 0.5)).load.accepted;
    let (one, four) = (accepted(&islip(1)), accepted(&islip(4)));
    assert!((0.64..0.70).contains(&one), "{one}");
    assert!((0.78..0.83).contains(&four), "{four}");
    assert!(accepted("{ output_queued = {} }") > 0.99);
}

/// Where `n` hosts send to all others but not to themselves, the pointers of saturated outputs still move
/// in step around all inputs: in one of `n` cycles each points to its own host, which asks for nothing. One
/// iteration loses that cycle, and the throughput is `1 - 1/n` exactly.
#[test]
fn islip_without_traffic_to_oneself() {
    for n in [4, 8, 16] {
        let mut spec = output_queued(n, 1.0, 20_000);
        spec.network.switch = value(&islip(1));
        spec.run.warmup = Warmup::Fixed(20_000.into());
        let (accepted, bound) = (support::run(&spec).load.accepted, 1.0 - 1.0 / f64::from(n));
        assert!((accepted - bound).abs() < 0.0005, "N = {n}: {accepted} is not {bound}");
    }
}

/// A balanced Dragonfly (p = h, a = 2h) with ample buffers, overloaded.
fn balanced(h: u32, routing: &str, pattern: &str) -> Spec {
    let mut spec = support::dragonfly(h, 2 * h, h);
    spec.network.switch = value(
        "{ combined_queued = { pipeline = 5, output_buffer = 300, \
           allocator = { transit_priority = true } } }",
    );
    for (name, latency, buffer) in [("local", 5, 100), ("global", 20, 200)] {
        let link = spec.network.links.get_mut(name).unwrap();
        (link.latency, link.buffer) = (latency.into(), buffer.into());
    }
    spec.network.nic.injection_queue = Some(100.into());
    spec.routing = value(routing);
    spec.traffic.pattern = value(pattern);
    spec.traffic.packet_size = value("10");
    spec.traffic.load = 1.0;
    spec.run.warmup = Warmup::Fixed(4_000.into());
    spec.run.measure = 4_000.into();
    spec
}

/// One link carries all minimal paths: 1/(2h^2) under ADV+1 and 1/h under ADVL; `h` links do under
/// ADVC: 1/(2h).
#[test]
fn adversarial_bounds_of_minimal_routing() {
    for h in [2, 4] {
        let f = f64::from(h);
        for (pattern, bound, loss) in [
            ("{ adversarial = { offset = 1 } }", 1.0 / (2.0 * f * f), 0.002),
            ("{ adversarial = { offset = -3 } }", 1.0 / (2.0 * f * f), 0.002),
            ("'adversarial_local'", 1.0 / f, 0.002),
            ("{ adversarial_consecutive = {} }", 1.0 / (2.0 * f), 0.05),
        ] {
            let load = support::run(&balanced(h, "{ minimal = {} }", pattern)).load.accepted;
            let range = bound * (1.0 - loss)..=bound * 1.002;
            assert!(range.contains(&load), "h = {h}, {pattern}: {load} of {bound}");
        }
    }
}

/// Valiant's paths take two global links, one if the intermediate group is that of the destination
/// (or of the source, if it may be drawn): no pattern can exceed the inverse of the mean, and ADV+1
/// comes near it.
#[test]
fn bounds_of_valiant_routing() {
    for (h, groups) in [(2, 9.0), (4, 33.0)] {
        for (routing, hops) in [
            ("{ valiant = { own_group = false } }", 2.0 - 1.0 / (groups - 1.0)),
            ("{ valiant = {} }", 2.0 - 2.0 / groups),
        ] {
            let outcome = support::run(&balanced(h, routing, "{ adversarial = { offset = 1 } }"));
            let load = outcome.load.accepted;
            let range = 0.80 / hops..=1.0 / hops;
            assert!(range.contains(&load), "h = {h}, {routing}: {load} of {}", 1.0 / hops);
        }
    }
}

/// Without the hop after the intermediate router, ADV+h piles up on single local links of the
/// intermediate groups: 2/(2h + 1) (thesis 2.3.2).
#[test]
fn valiant_without_a_second_local_hop() {
    let h = 4;
    let pattern = format!("{{ adversarial = {{ offset = {h} }} }}");
    let accepted = |policy: &str| {
        let routing = format!("{{ valiant = {{ phase_a = '{policy}' }} }}");
        support::run(&balanced(h, &routing, &pattern)).load.accepted
    };
    let bound = 2.0 / (2.0 * f64::from(h) + 1.0);
    let (short, long) = (accepted("-g-"), accepted("-gl"));
    assert!((0.85 * bound..=1.05 * bound).contains(&short), "{short} of {bound}");
    assert!(long > 1.5 * bound, "{long}");
}

//! What a result says of itself: steady or not, and how well its means are known.

use deroute::outcome::{Outcome, State};
use deroute::spec::{Run, Spec, Warmup};
use deroute::{RunOptions, Simulation};

use crate::support::{self, value};

/// Routers of McDonald et al. (`experiments/hyperx.toml`) in a lattice of 4 x 4 x 4, with 8 hosts each:
/// OmniWAR under DCR.
fn hyperx(load: f64) -> Spec {
    let mut spec = support::parse(
        r#"
        [units]
        cycle = "1 ns"
        phit = "12.5 B"
        [network]
        sensing = "waiting"
        spare_vcs = "emptiest"
        [network.topology.hyperx]
        widths = [4, 4, 4]
        hosts = 8
        [network.links]
        dim1 = { latency = 50, vcs = 8, buffer = 180 }
        dim2 = { latency = 50, vcs = 8, buffer = 180 }
        dim3 = { latency = 50, vcs = 8, buffer = 180 }
        [network.switch.combined_queued]
        pipeline = 50
        speedup = 4
        output_buffer = 256
        allocator = { arbiter = "age" }
        [routing.omniwar]
        offset = 16
        [traffic]
        load = 0.0
        packet_size = { min = 1, max = 16 }
        pattern = "dimension_complement_reverse"
        "#,
    );
    spec.traffic.load = load;
    spec
}

/// The Dragonfly of `experiments/demo.toml`, of 72 hosts.
fn dragonfly(routing: &str, pattern: &str, load: f64) -> Spec {
    let mut spec = support::parse(
        r#"
        [units]
        cycle = "1 ns"
        phit = "25 B"
        [network.topology.dragonfly]
        p = 2
        a = 4
        h = 2
        [network.links]
        local = { latency = "3 m", vcs = 4, buffer = "18 KB" }
        global = { latency = "30 m", vcs = 2, buffer = "45 KB" }
        [network.nic]
        injection_queue = "126 KB"
        [network.switch.combined_queued]
        pipeline = "90 ns"
        speedup = 2
        output_buffer = "15.75 KB"
        [routing.minimal]
        [traffic]
        load = 0.0
        packet_size = "250 B"
        pattern = "uniform"
        "#,
    );
    spec.routing = value(routing);
    spec.traffic.pattern = value(pattern);
    spec.traffic.load = load;
    spec
}

fn run(spec: &mut Spec, warmup: u64, measure: u64, seed: u64) -> Outcome {
    spec.run.warmup = Warmup::Fixed(warmup.into());
    spec.run.measure = measure.into();
    spec.run.seed = seed;
    support::run(spec)
}

/// Queues that grow are no steady state, even if more than 98% of what is sent is accepted.
#[test]
fn a_collapsing_network_is_not_steady() {
    for seed in 1..=3 {
        let slow = run(&mut hyperx(0.245), 3_000, 4_000, seed);
        assert!(slow.load.accepted > 0.98 * slow.load.attempted, "{:?}", slow.load);
        assert_ne!(slow.verdict.state, State::Steady, "{:?}", slow.trend);
        let quick = run(&mut hyperx(0.27), 3_000, 4_000, seed);
        assert_eq!(quick.verdict.state, State::Saturated, "{:?}", quick.trend);
        let [share, growth] = &quick.verdict.reasons[..] else { panic!("{:?}", quick.verdict) };
        assert!(share.starts_with("the network accepts 9"), "{share}");
        assert!(growth.contains("grow in number, by +"), "{growth}");
        let trend = quick.trend.unwrap();
        assert!(trend.in_flight > 5.0 * trend.in_flight_ci95, "{trend:?}");
        let steady = run(&mut hyperx(0.2), 3_000, 4_000, seed);
        assert_eq!(steady.verdict.state, State::Steady, "{:?}", steady.verdict.reasons);
    }
}

/// A seed whose queues happen to fill in a short run does not show where the network saturates: it accepts
/// 97.1%, and all of it in a run of ten times the length.
#[test]
fn an_unlucky_short_run_is_not_saturated() {
    let mut spec = dragonfly("{ ugal = {} }", "{ adversarial = { offset = 1 } }", 0.25);
    let short = run(&mut spec, 5_000, 5_000, 2);
    assert!(short.load.accepted < 0.98 * short.load.attempted, "{:?}", short.load);
    assert_eq!(short.verdict.state, State::NotConverged);
    let reasons = short.verdict.reasons.join("; ");
    assert!(reasons.contains("its queues may only be filling"), "{reasons}");
    assert!(reasons.contains("correlation times of the latency long"), "{reasons}");
    let long = run(&mut spec, 50_000, 50_000, 2);
    assert_eq!(long.verdict.state, State::Steady, "{:?}", long.verdict.reasons);
    assert!(long.latency.correlation_times > 10.0, "{:?}", long.latency);
}

/// What an empty network lacks until it is filled is no saturation, and no steady state.
#[test]
fn a_network_that_fills_is_not_saturated() {
    for seed in 1..=5 {
        let spec = &mut dragonfly("{ minimal = {} }", "'uniform'", 0.5);
        let filling = run(spec, 0, 4_000, seed);
        assert!(filling.load.accepted < 0.98 * filling.load.attempted, "{:?}", filling.load);
        assert_eq!(filling.verdict.state, State::NotConverged, "{:?}", filling.trend);
        let filled = run(spec, 4_000, 4_000, seed);
        assert_eq!(filled.verdict.state, State::Steady, "{:?}", filled.verdict.reasons);
    }
}

/// Share of seeds whose interval covers the mean over all of them, and of those that are steady.
fn covered(spec: &mut Spec, cycles: u64, seeds: u64) -> (f64, f64) {
    let found: Vec<Outcome> =
        (1..=seeds).map(|seed| run(spec, 10_000, cycles, 1_000 + seed)).collect();
    let mean = found.iter().map(|outcome| outcome.latency.mean).sum::<f64>() / seeds as f64;
    let covers = |o: &&Outcome| (o.latency.mean - mean).abs() <= o.latency.ci95;
    let steady = |o: &&Outcome| o.verdict.state == State::Steady;
    let share = |count: usize| count as f64 / seeds as f64;
    (share(found.iter().filter(covers).count()), share(found.iter().filter(steady).count()))
}

/// Intervals of 95%, of the means of runs that differ in their seed. 20 batches covered 60 to 78% of the
/// last three. `tools/coverage.py` measures more.
#[test]
fn intervals_cover() {
    let adversarial = "{ adversarial = { offset = 1 } }";
    let bursts = value("{ on_off = { burst = 10.0, peak = 1.0 } }");
    let mut bursty = dragonfly("{ minimal = {} }", "'uniform'", 0.4);
    bursty.traffic.injection = bursts;
    // The fewest that are steady: a mean latency under bursts is seldom known to 5% after 12,000 cycles.
    for (mut spec, cycles, fewest, name) in [
        (dragonfly("{ minimal = {} }", "'uniform'", 0.3), 6_000, 1.0, "MIN UN 0.3"),
        (dragonfly("{ minimal = {} }", "'uniform'", 0.8), 6_000, 0.95, "MIN UN 0.8"),
        (dragonfly("{ ugal = {} }", adversarial, 0.25), 12_000, 0.8, "UGAL ADV+1 0.25"),
        (bursty, 12_000, 0.5, "MIN UN 0.4, bursts"),
    ] {
        let (coverage, steady) = covered(&mut spec, cycles, 60);
        assert!(coverage >= 0.9, "{name}: {coverage}");
        assert!(steady >= fewest, "{name}: {steady}");
    }
}

/// Bursts fill and empty queues. That is no trend.
#[test]
fn bursts_are_no_false_alarm() {
    for (load, cycles) in [(0.2, 12_000), (0.4, 24_000)] {
        let mut spec = dragonfly("{ minimal = {} }", "'uniform'", load);
        spec.traffic.injection = value("{ on_off = { burst = 20.0, peak = 1.0 } }");
        for seed in 1..=20 {
            let outcome = run(&mut spec, 6_000, cycles, seed);
            assert_ne!(outcome.verdict.state, State::Saturated, "{:?}", outcome.verdict.reasons);
            let reasons = outcome.verdict.reasons.join("; ");
            assert!(!reasons.contains("change"), "{load}, seed {seed}: {reasons}");
        }
    }
}

/// Until the mean latency is known to 1%, in at most so many cycles.
fn precise(spec: &mut Spec, most: u64, seed: u64) -> Outcome {
    spec.run.precision = Some(value("{ latency = '1%' }"));
    spec.run.warmup = Run::default().warmup;
    (spec.run.measure, spec.run.seed) = (most.into(), seed);
    let outcome = support::run(spec);
    spec.run.precision = None;
    outcome
}

/// Runs that end when enough is known are short, without bias, as exact as was asked, and their intervals cover. `tools/stopping.py` measures
/// more.
#[test]
fn runs_stop_when_enough_is_known() {
    for (load, longest) in [(0.3, 16_000.0), (0.6, 25_000.0)] {
        let mut spec = dragonfly("{ minimal = {} }", "'uniform'", load);
        let found: Vec<Outcome> =
            (1..=40).map(|seed| precise(&mut spec, 200_000, 300 + seed)).collect();
        let truth = run(&mut spec, 10_000, 200_000, 1).latency;
        assert!(truth.ci95 < 0.004 * truth.mean, "{truth:?}");
        let errors: Vec<f64> = found.iter().map(|o| o.latency.mean / truth.mean - 1.0).collect();
        let bias = errors.iter().sum::<f64>() / 40.0;
        assert!(bias.abs() < 0.005, "{load}: {bias}");
        let within = errors.iter().filter(|error| error.abs() < 0.01).count();
        assert!(within >= 36, "{load}: {errors:?}");
        let covers =
            |o: &&Outcome| (o.latency.mean - truth.mean).abs() <= o.latency.ci95.hypot(truth.ci95);
        let covered = found.iter().filter(covers).count();
        assert!(covered >= 36, "{load}: {covered} of 40 intervals");
        let cycles = found.iter().map(|o| o.work.cycles as f64).sum::<f64>() / 40.0;
        assert!(cycles < longest, "{load}: {cycles}");
        for outcome in &found {
            assert_eq!(outcome.verdict.state, State::Steady, "{:?}", outcome.verdict);
            assert!(outcome.stopping.unwrap().reached);
            assert_eq!(outcome.measured_from + outcome.measured_cycles, outcome.work.cycles);
            assert!(outcome.measured_cycles >= 10_000 && outcome.measured_from >= 5_000);
            assert!(outcome.latency.ci95 < 0.0115 * outcome.latency.mean, "{:?}", outcome.latency);
        }
    }
}

/// A network that fills up has no mean to be known: it is measured to the end, and what came before a trend is dropped.
#[test]
fn runs_do_not_stop_while_a_network_fills() {
    for (spec, name) in [
        (&mut hyperx(0.27), "collapsing"),
        (&mut dragonfly("{ minimal = {} }", "{ adversarial = { offset = 1 } }", 0.3), "refused"),
    ] {
        let outcome = precise(spec, 40_000, 1);
        let stopping = outcome.stopping.unwrap();
        assert!(!stopping.reached && stopping.looks > 2, "{name}: {stopping:?}");
        assert_eq!(outcome.work.cycles, 45_000, "{name}");
        assert_eq!(outcome.verdict.state, State::Saturated, "{name}: {:?}", outcome.verdict);
    }
    let outcome = precise(&mut hyperx(0.245), 40_000, 1);
    assert!(!outcome.stopping.unwrap().reached, "{:?}", outcome.stopping);
    assert_ne!(outcome.verdict.state, State::Steady);
}

/// Two hosts send all they can to a third, which pauses them and marks what it is sent: what waits grows for ever.
fn incast() -> Spec {
    support::parse(
        "[network]\ntopology = { crossbar = { hosts = 3 } }\n\
         nic = { latency = 5, link = { buffer = 2000 }, resequencing = {} }\n\
         flow_control = { pfc = { response = 0, frame = 1 } }\n\
         congestion_point = { ecn = { kmin = 50, kmax = 150, pmax = 0.5 } }\n\
         switch = { output_queued = { output_buffer = 200 } }\n\
         [routing.minimal]\n\
         [traffic]\nload = 1.0\npacket_size = 10\npattern = \"uniform\"\n\
         hotspots = [{ destinations = { any = [2] }, sources = { hosts = [0, 1] } }]\n",
    )
}

/// Whatever was dropped is in no count: what is left is as if the run had begun to measure there.
#[test]
fn what_is_dropped_is_forgotten() {
    for mut spec in [hyperx(0.27), incast()] {
        let found = precise(&mut spec, 20_000, 1);
        assert!(found.stopping.unwrap().restarts > 0, "{:?}", found.stopping);
        let whole = run(&mut spec, found.measured_from, found.measured_cycles, 1);
        // Packets in the network are counted at other times.
        let (stopping, verdict, trend) = (found.stopping, found.verdict.clone(), found.trend);
        assert_eq!(found, Outcome { stopping, verdict, trend, ..whole });
    }
}

/// No more is measured than may be, at least as much as was dropped where there is time, and the end is looked at, too.
#[test]
fn lengths_are_those_that_were_asked_for() {
    // What is dropped, the longest measurement, and what is measured at 20%.
    for (warmup, most, measured) in [
        (30_000, 10_000, 10_000..=10_000),
        (20_000, 20_000, 20_000..=20_000),
        (5_000, 4_000, 4_000..=4_000),
        (20_000, 30_000, 20_000..=24_000),
        (5_000, 40_000, 10_000..=12_000),
    ] {
        let mut spec = dragonfly("{ minimal = {} }", "'uniform'", 0.3);
        spec.run.precision = Some(value(&format!("{{ latency = '20%', warmup = {warmup} }}")));
        (spec.run.warmup, spec.run.measure) = (Run::default().warmup, most.into());
        let outcome = support::run(&spec);
        let stopping = outcome.stopping.unwrap();
        assert!(stopping.reached && stopping.looks > 0, "{warmup}, {most}: {stopping:?}");
        assert_eq!(outcome.measured_from, warmup, "{most}");
        assert!(measured.contains(&outcome.measured_cycles), "{}", outcome.measured_cycles);
    }
}

/// A precision that is out of reach is told.
#[test]
fn what_is_not_known_is_told() {
    let mut spec = dragonfly("{ minimal = {} }", "'uniform'", 0.8);
    let outcome = precise(&mut spec, 7_000, 1);
    assert_eq!(outcome.verdict.state, State::NotConverged);
    let reasons = outcome.verdict.reasons.join("; ");
    assert!(reasons.contains("known as asked: the mean latency to"), "{reasons}");
    assert!(reasons.contains("(1% was asked)"), "{reasons}");
}

/// Where a run ends does not depend on how it is divided, nor on breaks.
#[test]
fn partitions_do_not_change_where_a_run_ends() {
    let mut spec = dragonfly("{ ugal = {} }", "{ adversarial = { offset = 1 } }", 0.2);
    spec.run.precision = Some(value("{ latency = '2%', accepted = '2%' }"));
    spec.run.measure = 60_000.into();
    let simulation = Simulation::build(&spec).unwrap();
    let of = |partitions| {
        let options =
            RunOptions { partitions: Some(partitions), threads: 2, ..RunOptions::default() };
        support::interrupted(&simulation, &options, (partitions as u64, 40)).unwrap()
    };
    let one = of(1);
    assert!(one.stopping.unwrap().reached, "{:?}", one.stopping);
    assert_eq!(one, of(3));
    assert_eq!(one, of(9));
}

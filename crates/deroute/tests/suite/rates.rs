//! Rates in time: the recovery of rate limiters in closed form.

use deroute::RunOptions;
use deroute::outcome::{Outcome, RateSeries};
use deroute::spec::Spec;

use crate::qcn;
use crate::support::{self, value};

fn rates(outcome: &Outcome) -> &RateSeries {
    outcome.rates.as_ref().expect("rates were asked for")
}

/// The samples of a flow.
fn course(series: &RateSeries, flow: usize) -> Vec<f64> {
    series.rates.iter().skip(flow).step_by(series.flows.len()).copied().collect()
}

/// The cycle of each sample at which a rate is another one than before, and the rate.
fn steps(series: &RateSeries, flow: usize) -> Vec<(f64, f64)> {
    let course = course(series, flow);
    let changed = |n: &usize| course[*n] != course[*n - 1];
    let at = |n| ((series.start + (n as u64 * series.width) as i64) as f64, course[n]);
    (1..course.len()).filter(changed).map(at).collect()
}

/// One flow at 10 Gb/s, 40 ns a phit of 50 B, that is cut by the thousandth packet, and by no other of the run: what
/// holds a packet is longer than the set point by as much as there is.
fn one_cut(reaction: &str) -> Spec {
    let congestion =
        "{ q_eq = 12, w = 0.0, sample = { packets = 1000 }, law = 'constant', jitter = 0.0 }";
    let streams = format!("[{}]", qcn::to("greedy", "[0]", 1.0, 1));
    let times = "warmup = 29_000\nmeasure = 29_000";
    let mut spec = qcn::switch(2, congestion, reaction, &streams, times);
    spec.probes.rates = Some(value("{ every = 5, flows = { pairs = [[0, 1]] } }"));
    spec
}

/// After a cut by d = 63/128 the rate is 1 - d/2^k after k cycles of fast recovery, each of which takes as long as its
/// data at that rate; then the target climbs by R_AI a cycle of half the data: 1 - R becomes half of what it is less the
/// steps so far. At 10 Gb/s: 5.078, 7.539, 8.770, 9.385, 9.692 and 9.846 Gb/s.
#[test]
fn a_rate_recovers_as_its_closed_form_says() {
    let outcome = support::run(&one_cut("{ timer = '1 s', jitter = 0.0 }"));
    let found = steps(rates(&outcome), 0);
    assert_eq!(outcome.reaction_point.as_ref().map(|used| used.cuts), Some(1));
    let (cut, step) = (63.0 / 128.0, 5e6 / 10e9);
    let mut missing: Vec<f64> = (0..=5).map(|k| cut / f64::powi(2.0, k)).collect();
    for active in 1.. {
        let next = (missing[missing.len() - 1] - f64::from(active) * step) / 2.0;
        missing.push(next.max(0.0));
        if next <= 0.0 {
            break;
        }
    }
    assert_eq!(found.len(), missing.len(), "{found:?}");
    for (k, (pair, missing)) in found.windows(2).zip(&missing).enumerate() {
        let [(at, rate), (next, _)] = pair else { unreachable!() };
        assert!((rate - (1.0 - missing)).abs() < 1e-12, "{k}: {rate}");
        // A cycle ends with the packet of 30 phits that exceeds its 150 KB, from the fifth on its 75 KB; after the cut one
        // leaves at once.
        let packets = [100.0, 101.0, 101.0, 101.0, 101.0].get(k).copied().unwrap_or(51.0);
        let packet = 30.0 / rate;
        // A sample is taken every 5 cycles.
        let late = (next - at - packets * packet).abs();
        assert!(late < 7.0, "{k}: {late} cycles");
    }
    let last = found.last().map(|(_, rate)| *rate);
    assert_eq!(last, Some(1.0), "the limiter goes");
}

/// By the timer alone the rates are the same, a cycle each 0.1 ms, and from the fifth on half of it.
#[test]
fn a_rate_recovers_in_time() {
    let reaction = "{ timer = '100 us', byte_counter = '1 GB', jitter = 0.0 }";
    let outcome = support::run(&one_cut(reaction));
    let found = steps(rates(&outcome), 0);
    for (k, (at, rate)) in found.iter().take(6).enumerate() {
        let exact = 1.0 - 63.0 / 128.0 / f64::powi(2.0, k as i32);
        assert!((rate - exact).abs() < 1e-12, "{k}: {rate}");
        assert_eq!(at - found[0].0, 2_500.0 * k as f64, "{k}");
    }
    assert_eq!(found[6].0 - found[5].0, 1_250.0);
}

/// Two hosts send to one until one of them stops; what the other does after its last cut shows the three phases of its
/// limiter. Every step is half of the way to the target, which follows from the rates before and after it: it stays as
/// long as neither count is beyond five, rises by R_AI while one of them is, and by R_HAI times the lesser count where both
/// are.
#[test]
fn the_target_climbs_in_three_phases() {
    let streams = "[]";
    let times = "warmup = 100_000\nmeasure = 800_000";
    let reaction = "{ timer = '1 ms', byte_counter = '150 KB', active_increase = '10 Mb/s',
                      hyper_increase = '40 Mb/s', jitter = 0.0 }";
    let mut spec = qcn::switch(3, "{ q_eq = '20 KB' }", reaction, streams, times);
    spec.traffic = value(
        "{ load = 1.0, packet_size = 30, pattern = { pairs = { list = [[0, 2], [1, 2]] } },
           then = [{ at = 100_000, pattern = { pairs = { list = [[0, 2]] } } }] }",
    );
    spec.probes.rates = Some(value("{ every = 5, flows = { pairs = [[0, 2]] } }"));
    let outcome = support::run(&spec);
    let found = steps(rates(&outcome), 0);
    let last_cut = found.windows(2).rposition(|pair| pair[1].1 < pair[0].1).expect("cuts") + 1;
    let climb = &found[last_cut..];
    let targets: Vec<f64> = climb.windows(2).map(|pair| 2.0 * pair[1].1 - pair[0].1).collect();
    let (active, hyper) = (10e6 / 10e9, 40e6 / 10e9);
    let (mut bytes, mut times, mut target) = (0, 0, targets[0]);
    let mut phases = [0; 3];
    for (pair, reached) in climb.windows(2).zip(&targets) {
        let [_, (at, rate)] = pair else { unreachable!() };
        if *rate >= 1.0 {
            break;
        }
        // 1 ms is 25,000 cycles; half of it from the fifth on.
        let due =
            climb[0].0 + 25_000.0 * (f64::from(times + 1) - 0.5 * f64::from((times - 4).max(0)));
        if (at - due).abs() <= 5.0 {
            times += 1
        } else {
            bytes += 1
        }
        let (fewer, more) = (bytes.min(times), bytes.max(times));
        let (phase, step) = match () {
            () if fewer > 5 => (2, hyper * f64::from(fewer - 5)),
            () if more > 5 => (1, active),
            () => (0, 0.0),
        };
        target += step;
        phases[phase] += 1;
        assert!((reached - target).abs() < 1e-9, "{bytes} {times}: {reached} for {target}");
    }
    assert!(phases.iter().all(|steps| *steps > 0), "{phases:?} of {climb:?}");
}

/// The slowest of the flows of a host is that of the host, and where all that it sends has one limiter, every flow is;
/// the same for any division.
#[test]
fn records_of_hosts_and_pairs_agree() {
    for flow in ["destination", "source"] {
        let streams = format!(
            "[{}, {}, {}]",
            qcn::to("hot", "[0, 1]", 0.5, 3),
            qcn::to("greedy", "[2]", 1.0, 3),
            qcn::to("cold", "[0]", 0.5, 4)
        );
        let times = "warmup = 50_000\nmeasure = 100_000";
        let reaction = format!("{{ flow = '{flow}' }}");
        let mut spec = qcn::switch(5, "{ q_eq = '20 KB' }", &reaction, &streams, times);
        let with = |spec: &mut Spec, flows: &str| {
            spec.probes.rates = Some(value(&format!("{{ every = 250, flows = {flows} }}")));
            let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
            let outcome = support::run(spec);
            assert!(outcome == support::attempt(spec, &options).unwrap(), "{flow}: divided");
            rates(&outcome).clone()
        };
        let hosts = with(&mut spec, "{ hosts = [0, 2] }");
        let pairs = with(&mut spec, "{ pairs = [[0, 3], [0, 4], [2, 3]] }");
        assert_eq!((hosts.start, hosts.width, hosts.rates.len()), (0, 250, 2 * 400));
        let (hot, cold) = (course(&pairs, 0), course(&pairs, 1));
        let slowest: Vec<f64> = hot.iter().zip(&cold).map(|(a, b)| a.min(*b)).collect();
        assert_eq!(course(&hosts, 0), slowest);
        assert_eq!(course(&hosts, 1), course(&pairs, 2));
        assert!(hot.iter().any(|rate| *rate < 0.6), "{flow}");
        match flow {
            "source" => assert_eq!(hot, cold),
            _ => assert!(cold.iter().all(|rate| *rate == 1.0), "{flow}"),
        }
    }
}

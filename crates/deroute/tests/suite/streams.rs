//! Streams: what they send, how they are measured, and what they leave alone.

use deroute::RunOptions;
use deroute::outcome::{Outcome, StreamOutcome};
use deroute::spec::{Forwarding, Injection, Run, Spec, Warmup};

use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES, ROUTINGS, SWITCHES};
use crate::support::{self, attempt, run, value};

/// The stream of a name.
pub fn stream<'a>(outcome: &'a Outcome, name: &str) -> &'a StreamOutcome {
    let found = outcome.streams.iter().find(|stream| stream.name == name);
    found.unwrap_or_else(|| panic!("no stream {name:?}"))
}

/// Nothing but streams, on 72 hosts.
fn only(streams: &str) -> Spec {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic.load = 0.0;
    spec.traffic.streams = value(streams);
    spec.checks.full = true;
    spec
}

/// Four hosts at 45%, one victim at 95%, the rest silent: two entries.
#[test]
fn hosts_send_what_their_streams_say() {
    let mut spec = only(
        "[{ name = 'culprits', hosts = { from = 4, to = 7 }, load = 0.45, pattern = 'uniform' },
          { name = 'victim', hosts = [70], load = 0.95, destinations = { any = [0] } }]",
    );
    spec.run.measure = 40_000.into();
    let outcome = run(&spec);
    let (culprits, victim) = (stream(&outcome, "culprits"), stream(&outcome, "victim"));
    assert_eq!((culprits.hosts, victim.hosts), (4, 1));
    for (stream, load) in [(culprits, 0.45), (victim, 0.95)] {
        assert!((stream.load.offered - load).abs() < 1e-12);
        for found in [stream.load.attempted, stream.load.accepted] {
            assert!((found / load - 1.0).abs() < 0.03, "{}: {found}", stream.name);
        }
        assert_eq!(stream.link_share, stream.load);
        assert!(stream.slowdown.mean >= 1.0 && stream.latency.ci95 > 0.0);
    }
    assert!((outcome.load.offered - (4.0 * 0.45 + 0.95) / 72.0).abs() < 1e-12);
    let senders = outcome.arrays.injected_by_host.iter().filter(|load| **load > 0.0);
    assert_eq!(senders.count(), 5);
    let sum = |part: fn(&StreamOutcome) -> u64| outcome.streams.iter().map(part).sum::<u64>();
    assert_eq!(sum(|stream| stream.packets.generated), outcome.packets.generated);
    assert_eq!(sum(|stream| stream.packets.delivered), outcome.packets.delivered);
    assert_eq!(sum(|stream| stream.packets.measured), outcome.packets.measured);
    let latency: f64 =
        outcome.streams.iter().map(|s| s.latency.mean * s.packets.measured as f64).sum();
    let all = outcome.latency.mean * outcome.packets.measured as f64;
    assert!((latency / all - 1.0).abs() < 1e-12);
}

/// A stream that is silent changes nothing else, to the bit: whatever switch, injection and routing.
#[test]
fn other_traffic_does_not_notice() {
    let injections = ["'bernoulli'", "'paced'", "{ on_off = { burst = 4.0 } }"];
    for (turn, routing) in ROUTINGS.iter().enumerate().step_by(3) {
        let mut spec = support::dragonfly(2, 4, 2);
        spec.routing = value(routing);
        support::switch(&mut spec, turn);
        spec.traffic.load = 0.6;
        spec.traffic.packet_size = value("{ min = 1, max = 16 }");
        spec.traffic.injection = value::<Injection>(injections[turn % 3]);
        let alone = run(&spec);
        spec.traffic.streams =
            value("[{ name = 'silent', hosts = 'all', load = 0.0, pattern = 'uniform' }]");
        let mut beside = run(&spec);
        assert_eq!(beside.streams.len(), 1);
        assert_eq!(beside.streams[0].packets.generated, 0);
        beside.streams.clear();
        assert!(beside == alone, "{routing}: a silent stream matters");
    }
}

/// Each stream has random numbers of its own: another one beside it does not change what it sends.
#[test]
fn streams_draw_for_themselves() {
    let one = "{ name = 'one', hosts = 'all', load = 0.2, pattern = 'uniform' }";
    let other = "{ name = 'other', hosts = [1, 2, 3], load = 0.5, pattern = 'bit_complement' }";
    let outcome = run(&only(&format!("[{one}]")));
    let both = run(&only(&format!("[{one}, {other}]")));
    let attempted = |outcome: &Outcome| stream(outcome, "one").load.attempted;
    assert_eq!(attempted(&outcome), attempted(&both));
    assert!(stream(&both, "other").packets.generated > 0);
}

/// Every kind of engine: packets are conserved, and neither threads nor partitions matter.
#[test]
fn the_division_does_not_matter() {
    let switches = SWITCHES.into_iter().step_by(5).chain(HOLDING_SWITCHES);
    for (turn, switch) in switches.enumerate() {
        let mut spec = only(
            "[{ name = 'a', hosts = 'all', load = 0.3, pattern = 'uniform', class = 1 },
              { name = 'b', hosts = { even = { share = 0.5 } }, load = 0.4, packet_size = 1,
                destinations = { each = [3, 60] }, start = 100, stop = 600 },
              { name = 'c', hosts = { from = 10, to = 40 }, load = 0.2, injection = 'paced',
                pattern = { adversarial = { offset = 1 } }, packet_size = { min = 1, max = 16 } }]",
        );
        spec.network.switch = value(switch);
        spec.network.classes = Some(value("{ count = 2 }"));
        spec.traffic.load = 0.1;
        for link in spec.network.links.values_mut() {
            (link.vcs, link.buffer) = (4.into(), 600.into());
        }
        if turn % 2 == 1 {
            spec.network.flow_control = value(PAUSES[turn % PAUSES.len()]);
            spec.network.nic.latency = 5.into();
            spec.network.nic.link = (turn % 3 == 0).then(|| value("{ buffer = 200 }"));
        }
        spec.probes.series = Some(100.into());
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(300.into()), 900.into());
        if support::routes_too_early(&spec) {
            continue;
        }
        let one = attempt(&spec, &RunOptions::default());
        let one = one.unwrap_or_else(|error| panic!("{switch}: {error}"));
        let options = RunOptions { threads: 2, partitions: Some(9), ..RunOptions::default() };
        assert!(one == attempt(&spec, &options).unwrap(), "{switch}: the division matters");
        assert!(one.streams.iter().all(|stream| stream.packets.delivered > 0));
        let series = |stream: &StreamOutcome| stream.series.clone().expect("a series").packets;
        let binned: u64 = one.streams.iter().flat_map(series).sum();
        let measured: u64 = one.streams.iter().map(|stream| stream.packets.measured).sum();
        assert_eq!(binned, measured);
    }
}

/// A packet that never waits has a slowdown of 1, with any switch, rates, links of hosts and forwarding.
#[test]
fn nothing_is_slower_than_alone() {
    let switches = SWITCHES.into_iter().chain(HOLDING_SWITCHES);
    for (turn, switch) in switches.enumerate() {
        let mut spec = only(
            "[{ name = 'rare', hosts = [0], load = 0.01, injection = 'paced',
                pattern = 'uniform', packet_size = { min = 1, max = 16 } }]",
        );
        spec.network.switch = value(switch);
        spec.network.nic.latency = (turn as u64 % 4).into();
        spec.run.measure = 40_000.into();
        if turn % 3 > 0 {
            let rates = [("local", "1/3"), ("global", "1/2")];
            let (name, rate) = rates[turn % 2];
            let link = spec.network.links.get_mut(name).expect("a link class");
            link.rate = Some(rate.into());
            if turn % 4 > 1 && !switch.contains("virtual") {
                spec.network.forwarding = Forwarding::StoreAndForward;
            }
        }
        if turn % 5 > 2 {
            spec.network.flow_control = value("{ lossy = {} }");
            spec.network.nic.latency = 3.into();
            spec.network.nic.link = Some(value("{ buffer = 200, rate = '1/2' }"));
        }
        spec.routing = value(["{ minimal = {} }", "{ valiant = {} }"][turn / 2 % 2]);
        if support::routes_too_early(&spec) {
            continue;
        }
        let rare = &run(&spec).streams[0];
        assert!(rare.packets.measured > 10, "{switch}");
        let found = (rare.slowdown.mean, rare.slowdown.max);
        assert_eq!(found, (1.0, 1.0), "{}", support::show(&spec));
        assert!(rare.slowdown.percentiles.iter().all(|percentile| percentile.ratio == 1.0));
        assert_eq!(rare.out_of_order, 0);
    }
}

/// A load is a share of the host's own link, whatever its rate.
#[test]
fn loads_are_shares_of_the_own_link() {
    let mut spec = only("[{ name = 'a', hosts = [5], load = 0.9, pattern = 'uniform' }]");
    spec.traffic.load = 0.3;
    spec.network.flow_control = value("{ lossy = {} }");
    spec.network.nic.latency = 3.into();
    spec.network.nic.link = Some(value("{ buffer = 200, rate = '1/3' }"));
    spec.traffic.streams[0].hosts = value("[5]");
    spec.traffic.streams[0].load = 0.6;
    spec.run.measure = 60_000.into();
    let outcome = run(&spec);
    let found = stream(&outcome, "a");
    assert!((found.link_share.offered - 0.6).abs() < 1e-12);
    assert!((found.load.offered - 0.2).abs() < 1e-12);
    assert!((found.link_share.accepted / 0.6 - 1.0).abs() < 0.04, "{found:?}");
    let all = (0.3 + 0.6 / 72.0) / 3.0;
    assert!((outcome.load.offered - all).abs() < 1e-12);
    assert!((outcome.load.attempted / all - 1.0).abs() < 0.02, "{:?}", outcome.load);
}

/// Streams begin and end when they are told to, counted from the beginning of the measurement.
#[test]
fn streams_start_and_stop() {
    let mut spec = only(
        "[{ name = 'whole', hosts = [1], load = 0.5, destinations = { any = [9] } },
          { name = 'late', hosts = [1], load = 0.5, destinations = { any = [20] }, start = 1000 },
          { name = 'middle', hosts = [2], load = 1.0, destinations = { any = [30] },
            start = 500, stop = 1500, packet_size = 1, injection = 'paced' }]",
    );
    (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(400.into()), 2_000.into());
    spec.probes.series = Some(100.into());
    let outcome = run(&spec);
    let middle = stream(&outcome, "middle");
    let middle = middle.load;
    assert!((middle.offered - 0.5).abs() < 1e-12 && (middle.attempted - 0.5).abs() < 0.001);
    assert!((stream(&outcome, "whole").load.offered - 0.5).abs() < 1e-12);
    let late = stream(&outcome, "late");
    assert!((late.load.offered - 0.25).abs() < 1e-12);
    let first = late.series.as_ref().and_then(|all| all.packets.iter().position(|n| *n > 0));
    assert!((10..12).contains(&first.expect("packets")), "{first:?}");
    assert!(outcome.verdict.reasons.iter().any(|reason| reason.contains("changes")));
}

/// Packets of one host whose processes fall on the same cycles enter one by one, none is forgotten, and what they
/// wait counts as latency.
#[test]
fn several_streams_share_a_host() {
    let streams = (0..4).map(|i| {
        format!(
            "{{ name = 's{i}', hosts = [0], load = 0.25, packet_size = 1,
                destinations = {{ any = [{}] }} }}",
            i + 1
        )
    });
    let mut spec = only(&format!("[{}]", streams.collect::<Vec<_>>().join(", ")));
    spec.network.nic.injection_queue = None;
    (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(0.into()), 20_000.into());
    let outcome = run(&spec);
    let total: f64 = outcome.streams.iter().map(|stream| stream.load.attempted).sum();
    // All cycles are wanted at the mean, so that a queue of waiting processes builds up.
    assert!((0.97..=1.0).contains(&total), "{total}");
    for stream in &outcome.streams {
        assert!((stream.load.attempted / 0.25 - 1.0).abs() < 0.05, "{stream:?}");
        assert!(stream.slowdown.max > 1.0);
    }
    assert_eq!(outcome.packets.refused, 0);
}

/// On one path packets stay in order; sent over several of different length, some overtake others.
#[test]
fn order_is_what_paths_make_it() {
    let spec = |routing: &str| {
        let mut spec = only(
            "[{ name = 'a', hosts = [0], load = 0.9, destinations = { any = [71] } },
              { name = 'b', hosts = [1], load = 0.9, pattern = 'uniform' }]",
        );
        spec.routing = value(routing);
        spec
    };
    let minimal = run(&spec("{ minimal = {} }"));
    assert!(minimal.streams.iter().all(|stream| stream.out_of_order == 0));
    let valiant = run(&spec("{ valiant = {} }"));
    let a = stream(&valiant, "a");
    assert!(a.out_of_order_share > 0.1, "{}", a.out_of_order_share);
    assert_eq!(a.out_of_order_share, a.out_of_order as f64 / a.packets.measured as f64);
}

/// Streams beside a program: they are of the hosts without a rank.
#[test]
fn streams_run_beside_programs() {
    let mut spec = only("[{ name = 'rest', hosts = 'all', load = 0.3, pattern = 'uniform' }]");
    spec.workload = Some(value(
        "{ packet_size = 4, jobs = [{ ranks = 30, steps = [{ dissemination = { size = 200 } }] }] }",
    ));
    spec.run = Run::default();
    let outcome = run(&spec);
    assert_eq!(stream(&outcome, "rest").hosts, 42);
    assert!(stream(&outcome, "rest").packets.delivered > 100);
    assert!(outcome.workload.expect("a workload").jobs[0].finished);
}

//! What waits for the link of its host: it counts when it leaves, wherever the measurement begins and ends.

use deroute::outcome::{Outcome, State};

use crate::support;

/// Four hosts behind a switch send half of what they can to the last of eight, and one to another.
fn star(switch: &str, load: f64, run: &str) -> Outcome {
    support::run(&support::parse(&format!(
        "[network]\ntopology = {{ crossbar = {{ hosts = 8 }} }}\nswitch = {switch}\nnic = {{ latency = 5 }}\n\
         [routing.minimal]\n\
         [traffic]\nload = {load}\npacket_size = 8\n\
         pattern = {{ pairs = {{ list = [[0, 7], [1, 7], [2, 7], [3, 7], [4, 6]] }} }}\n\
         [run]\n{run}\n"
    )))
}

/// The link to it is full, and one in five hosts gets what is sent, however long the queue is.
#[test]
fn a_full_link_is_full_in_every_measurement() {
    for switch in [
        "{ output_queued = { pipeline = 3 } }",
        "{ output_queued = { pipeline = 3, output_buffer = 5000 } }",
        "{ combined_queued = { pipeline = 3, output_buffer = 2000, speedup = 8 } }",
    ] {
        for run in [
            "warmup = 20000\nmeasure = 20000",
            "warmup = { interval = 200, limit = 20000 }\nmeasure = 20000",
            "measure = 40000\nprecision = { accepted = '1%', warmup = 1000 }",
        ] {
            let outcome = star(switch, 0.5, run);
            let of = |host: usize| outcome.arrays.accepted_by_host[host];
            assert!((of(7) - 1.0).abs() < 1e-3, "{switch} {run}: {}", of(7));
            assert!((of(6) - 0.5).abs() < 0.03, "{switch} {run}: {}", of(6));
            assert_eq!(outcome.verdict.state, State::Saturated, "{switch} {run}");
        }
    }
}

/// Where nothing ever waits, every latency is the same, and known.
#[test]
fn a_constant_latency_is_known() {
    for run in [
        "warmup = 1000\nmeasure = 20000",
        "measure = 200000\nprecision = { latency = '1%', accepted = '1%', warmup = 1000 }",
    ] {
        let outcome = support::run(&support::parse(&format!(
            "[network]\ntopology = {{ crossbar = {{ hosts = 4 }} }}\nswitch = {{ output_queued = {{}} }}\n\
             [routing.minimal]\n\
             [traffic]\nload = 0.5\npacket_size = 1\npattern = {{ pairs = {{ list = [[0, 1], [2, 3]] }} }}\n\
             [run]\n{run}\n"
        )));
        assert_eq!(outcome.verdict.state, State::Steady, "{:?}", outcome.verdict.reasons);
        let latency = &outcome.latency;
        assert_eq!((latency.min, latency.max, latency.ci95), (latency.max, latency.min, 0.0));
        assert!(latency.correlation_times > 50.0, "{latency:?}");
        assert!(outcome.stopping.is_none_or(|stopping| stopping.reached), "{:?}", outcome.stopping);
    }
}

/// A program beside the traffic ends while packets wait for a host; only what has left counts, and only those hosts offer
/// anything that no rank runs on.
#[test]
fn traffic_beside_a_program_ends_with_it() {
    let outcome = support::run(&support::parse(
        "[network]\ntopology = { crossbar = { hosts = 8 } }\nswitch = { output_queued = { pipeline = 3 } }\nnic = { latency = 5 }\n\
         [routing.minimal]\n\
         [traffic]\nload = 0.8\npacket_size = 8\n\
         pattern = { pairs = { list = [[0, 7], [1, 7], [2, 7], [4, 7]] } }\n\
         [workload]\npacket_size = 8\n\
         jobs = [{ ranks = 2, placement = { hosts = [4, 5] }, iterations = 10, steps = [{ ring = { size = 8000 } }] }]\n",
    ));
    assert_eq!(outcome.verdict.state, State::Completed);
    let accepted = outcome.arrays.accepted_by_host[7];
    assert!((0.99..=1.0).contains(&accepted), "{accepted}");
    assert!(outcome.links.iter().all(|class| class.max <= 1.0), "{:?}", outcome.links);
    assert_eq!(outcome.load.offered, 0.8 * 3.0 / 8.0);
}

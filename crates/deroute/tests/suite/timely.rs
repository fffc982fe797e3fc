//! TIMELY: rates by round-trip times.

use deroute::RunOptions;
use deroute::spec::Spec;

use crate::support::catalogue::PAUSES;
use crate::support::incast::{Incast, loaded};
use crate::support::{self, value};

/// 10 Gb/s in phits of 50 B, 40 ns each, and packets of 1 KB: hosts 1 us from their switch, of which some send to one.
fn incast(senders: u32, timely: &str, measure: &str) -> Spec {
    let nic = format!(
        "notification_point = {{ acknowledgement = {{}} }}\nreaction_point = {{ timely = {timely} }}"
    );
    let (cycle, latency, warmup) = ("40 ns", "1 us", "60 ms");
    Incast { senders, cycle, latency, nic: &nic, warmup, measure, ..Incast::default() }.spec()
}

/// A queue grows until round-trip times exceed the lower threshold, 50 us, and the gradient takes over: it holds what the
/// link carries in that time, and no more than a few segments beyond; the link is mostly busy.
#[test]
fn queues_end_at_the_lower_threshold() {
    for flows in [2_u32, 4, 8] {
        let mut spec = incast(flows, "{}", "60 ms");
        let port = format!("{{ every = 100, ports = {{ hosts = [{flows}] }} }}");
        spec.probes.queues = Some(value(&port));
        let outcome = support::run(&spec);
        let accepted = outcome.arrays.accepted_by_host[flows as usize];
        assert!(accepted > 0.85, "{flows}: {accepted}");
        let queues = outcome.queues.as_ref().expect("queues were asked for");
        let most = f64::from(queues.phits.iter().copied().max().unwrap_or(0)) * 0.05;
        // Of 50 us, 4.9 are the way there and back and the packet.
        let threshold = 1.25 * (50.0 - 4.9);
        assert!((threshold..threshold + 24.0).contains(&most), "{flows}: {most} KB");
        let used = outcome.reaction_point.as_ref().expect("reaction points");
        assert!(used.cuts > 20 && used.windows.is_none(), "{used:?}");
        assert_eq!(outcome.packets.lost, 0);
    }
}

/// Every rise of a rate is a step, or five, and comes with the last packet of a segment: 16 packets after the one before.
#[test]
fn rates_rise_in_steps() {
    let mut spec = incast(2, "{}", "20 ms");
    spec.probes.rates = Some(value("{ every = 10, flows = { pairs = [[0, 2]] } }"));
    let outcome = support::run(&spec);
    let record = outcome.rates.as_ref().expect("rates were asked for");
    let rates = &record.rates;
    assert!(record.windows.is_empty());
    let changed: Vec<usize> = (1..rates.len()).filter(|n| rates[*n] != rates[*n - 1]).collect();
    assert!(changed.len() > 200, "{}", changed.len());
    let mut rises = 0;
    for pair in changed.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        let (last, next) = (rates[before], rates[now]);
        if next > last && next < 1.0 {
            rises += 1;
            let steps = (next - last) / 1e-3;
            assert!((steps - 1.0).abs() < 1e-6 || (steps - 5.0).abs() < 1e-6, "{steps} steps");
            // Packets that are acknowledged left at rates of a round trip ago.
            let cycles = 10.0 * (now - before) as f64;
            let segment = 320.0 / last;
            assert!((cycles / segment - 1.0).abs() < 0.25, "{cycles} cycles for {segment}");
        }
    }
    assert!(rises > 100, "{rises}");
}

/// Loaded networks give the same for any division.
#[test]
fn rates_by_round_trips_divide() {
    let networks = [
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ valiant = {} }", PAUSES[0]),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = {} }", PAUSES[0]),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }", "{ credits = {} }"),
    ];
    for (n, (topology, routing, control)) in networks.into_iter().enumerate() {
        let spec = loaded(
            (topology, routing),
            n,
            control,
            "{ latency = 5, injection_queue = 200,
               link = { buffer = 400, flow_control = { pfc = { response = 0 } } },
               notification_point = { acknowledgement = { notifications = { size = 2 } } },
               reaction_point = { timely = { segment = 20, low = 60, high = 300, least_time = 40,
                 increase = '1/100' } } }",
        );
        let one = support::run(&spec);
        let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
        assert!(one == support::attempt(&spec, &options).unwrap(), "{topology}: divided");
        let used = one.reaction_point.as_ref().expect("reaction points");
        assert!(used.cuts > 20 && used.rate_min < 0.9, "{topology}: {used:?}");
        assert_eq!(one.packets.lost, 0);
    }
}

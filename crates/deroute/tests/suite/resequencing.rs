//! Hosts that put packets in order: what waits, how long and where, against arrivals out of order.

use deroute::RunOptions;
use deroute::outcome::Outcome;
use deroute::spec::{Spec, Warmup};

use crate::support::{self, attempt, run, value};

/// One host sends to another, over paths of different length, for half of the run.
fn one_course(load: f64) -> Spec {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ valiant = {} }");
    spec.traffic.load = 0.0;
    spec.traffic.streams = value(&format!(
        "[{{ name = 'a', hosts = [0], load = {load}, destinations = {{ any = [71] }}, stop = 3000,
            packet_size = {{ min = 1, max = 8 }} }}]"
    ));
    (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(0.into()), 6_000.into());
    spec.probes.series = Some(1.into());
    spec.checks.full = true;
    spec
}

/// When each packet was generated, when it arrived, and its phits: at most one is generated in a cycle.
fn packets(outcome: &Outcome) -> Vec<(u64, u64, u64)> {
    let columns = &outcome.series.as_ref().expect("a series").by_generation;
    let of = |(cycle, phits): (usize, &u64)| {
        let arrival = cycle as u64 + columns.latency_sum[cycle];
        (columns.packets[cycle] == 1).then_some((cycle as u64, arrival, *phits))
    };
    columns.phits.iter().enumerate().filter_map(of).collect()
}

/// A packet goes on when it and all before it have arrived, and nothing else changes: latencies, and what waits for
/// how long, follow from the arrivals of the same run without order.
#[test]
fn packets_go_on_when_those_before_have_arrived() {
    for load in [0.2, 0.7, 0.95] {
        let spec = one_course(load);
        let free = run(&spec);
        let mut ordered = spec;
        ordered.network.nic.resequencing = Some(value("{}"));
        let ordered = run(&ordered);
        assert_eq!((ordered.packets, ordered.work), (free.packets, free.work));
        let arrivals = packets(&free);
        assert!(arrivals.len() > 100);
        let after = |index: usize| arrivals[index + 1..].iter().map(|packet| packet.1).min();
        let overtaken = |index: &usize| after(*index).is_some_and(|next| next < arrivals[*index].1);
        let late = (0..arrivals.len()).filter(overtaken).count() as u64;
        let (mut last, mut held, mut waited, mut phit_cycles) = (0, 0, 0, 0);
        let mut expected = Vec::new();
        let mut changes = Vec::new();
        for &(generated, arrival, phits) in &arrivals {
            last = last.max(arrival);
            expected.push((generated, last, phits));
            if last > arrival {
                (held, waited) = (held + 1, waited + last - arrival);
                phit_cycles += phits * (last - arrival);
                changes.extend([(arrival, phits as i64), (last, -(phits as i64))]);
            }
        }
        assert_eq!(packets(&ordered), expected);
        let used = ordered.resequencing.expect("hosts put packets in order");
        assert!(held > 0, "nothing to put in order at {load}");
        assert_eq!((used.held, used.dropped), (held, 0));
        assert_eq!(used.wait_mean, waited as f64 / held as f64);
        assert_eq!(used.buffer_mean, phit_cycles as f64 / (72.0 * 6_000.0));
        changes.sort_unstable();
        let mut phits = 0;
        let most = changes.iter().map(|(_, change)| {
            phits += change;
            phits
        });
        assert_eq!(i64::from(used.buffer_max), most.max().expect("changes"));
        assert_eq!((used.out_of_order, free.streams[0].out_of_order), (late, late));
    }
}

/// All traffic, streams or not: the division does not matter, and the network does not notice.
#[test]
fn only_the_receivers_notice() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ valiant = {} }");
    spec.traffic.load = 0.4;
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    spec.traffic.streams = value(
        "[{ name = 'a', hosts = { even = { share = 0.5 } }, load = 0.3, pattern = { shift = {} } }]",
    );
    spec.run.measure = 900.into();
    let free = run(&spec);
    spec.network.nic.resequencing = Some(value("{}"));
    let one = run(&spec);
    let options = RunOptions { threads: 2, partitions: Some(9), ..RunOptions::default() };
    assert!(one == attempt(&spec, &options).unwrap(), "the division matters");
    assert_eq!(
        (one.work, one.links.clone(), one.paths.clone()),
        (free.work, free.links, free.paths)
    );
    assert!(one.latency.mean > free.latency.mean && one.resequencing.expect("order").held > 0);
    // Other traffic has no numbers of its own for each destination where nobody asks.
    let of_all = one.resequencing.expect("order").out_of_order;
    assert!(of_all > one.streams[0].out_of_order && one.streams[0].out_of_order > 0);
    assert!(free.resequencing.is_none());
}

/// A packet that finds no room to wait is dropped, and nobody waits for it any more.
#[test]
fn a_full_buffer_drops() {
    let mut spec = one_course(0.95);
    spec.network.nic.resequencing = Some(value("{ buffer = 12 }"));
    let outcome = run(&spec);
    let (used, stream) = (outcome.resequencing.expect("order"), &outcome.streams[0]);
    assert!(used.dropped > 0 && used.buffer_max <= 12 && used.buffer_max > 8, "{used:?}");
    assert_eq!(stream.packets.lost, used.dropped);
    assert_eq!(stream.packets.generated, stream.packets.delivered + used.dropped);
    assert_eq!(outcome.packets.in_flight, 0);
}

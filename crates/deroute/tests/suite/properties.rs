//! Traffic: who sends to whom, how much, and when.

use std::collections::BTreeMap;
use std::ops::Range;

use deroute::ids::HostId;
use deroute::spec::{DragonflySpec, Scale, Topology as Wiring, Traffic};
use deroute::topology::{self, Topology};
use deroute::traffic::{Setting, Workload};

use crate::support::catalogue::{INJECTIONS, SIZES};
use crate::support::{self, value};

/// 2 hosts a router, 4 routers a group, 9 groups: 72 hosts.
const HOSTS_OF_ROUTER: u32 = 2;
const HOSTS_OF_GROUP: u32 = 8;
const GROUPS: u32 = 9;

fn dragonfly() -> std::sync::Arc<dyn Topology> {
    let wiring = DragonflySpec {
        p: HOSTS_OF_ROUTER,
        a: HOSTS_OF_GROUP / HOSTS_OF_ROUTER,
        h: 2,
        groups: Some(GROUPS),
        arrangement: value("'palmtree'"),
        mirror: false,
        trunk: 1,
    };
    topology::build(&Wiring::Dragonfly(wiring)).unwrap()
}

pub fn traffic(pattern: &str) -> Traffic {
    let mut traffic = support::dragonfly(2, 4, 2).traffic;
    traffic.pattern = value(pattern);
    traffic
}

pub fn workload(traffic: &Traffic, topology: &dyn Topology, measure_from: u32) -> Workload {
    let scale = Scale::new("1 ns", "25 B").unwrap();
    let setting = Setting { topology, seed: 11 };
    Workload::build(traffic, &scale, &setting, Some(measure_from)).unwrap()
}

/// One generated packet.
pub struct Sent {
    pub at: u32,
    pub to: u32,
    size: u16,
}

/// What a host generates before `end`.
pub fn sent(workload: &Workload, host: u32, end: u32) -> Vec<Sent> {
    let (mut source, mut next) = workload.source(HostId(host), 11);
    let mut packets = Vec::new();
    while next < end {
        let demand = workload.demand(HostId(host), &mut source, next);
        packets.push(Sent { at: next, to: demand.destination.0, size: demand.size });
        let after = workload.next(HostId(host), &mut source, Some(next));
        assert!(after > next, "two packets in one cycle");
        next = after;
    }
    packets
}

/// Is a count per class compatible with equal probabilities? The normal approximation of the
/// chi-square law, at four standard deviations.
fn uniform(counts: &BTreeMap<u32, u32>, classes: u32) -> bool {
    let total: u32 = counts.values().sum();
    let expected = f64::from(total) / f64::from(classes);
    let missing = f64::from(classes) - counts.len() as f64;
    let chi: f64 = counts.values().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    let freedom = f64::from(classes - 1);
    expected >= 5.0 && chi + missing * expected < freedom + 4.0 * (2.0 * freedom).sqrt() + 8.0
}

fn group(group: i64) -> Range<u32> {
    let group = group.rem_euclid(i64::from(GROUPS)) as u32;
    group * HOSTS_OF_GROUP..(group + 1) * HOSTS_OF_GROUP
}

/// The hosts that `from` may send to under a pattern.
fn allowed(pattern: &str, from: u32) -> Vec<u32> {
    let home = i64::from(from / HOSTS_OF_GROUP);
    let groups = |offsets: Range<i64>| offsets.flat_map(|i| group(home + i)).collect();
    match pattern {
        "'uniform'" => (0..72).filter(|to| *to != from).collect(),
        "{ adversarial = { offset = 1 } }" => groups(1..2),
        "{ adversarial = { offset = -2 } }" => groups(-2..-1),
        "{ adversarial = { offset = 7 } }" => groups(7..8),
        "{ adversarial_consecutive = {} }" => groups(1..3),
        "{ adversarial_consecutive = { groups = 8 } }" => groups(1..9),
        "'adversarial_local'" => {
            let (router, first) = (from / HOSTS_OF_ROUTER, group(home).start);
            let next =
                first + (router * HOSTS_OF_ROUTER - first + HOSTS_OF_ROUTER) % HOSTS_OF_GROUP;
            (next..next + HOSTS_OF_ROUTER).collect()
        }
        _ => unreachable!(),
    }
}

/// Every draw is in the set of the pattern, and every member is drawn equally often.
#[test]
fn draws_are_uniform_on_the_right_set() {
    let topology = dragonfly();
    for pattern in [
        "'uniform'",
        "{ adversarial = { offset = 1 } }",
        "{ adversarial = { offset = -2 } }",
        "{ adversarial = { offset = 7 } }",
        "{ adversarial_consecutive = {} }",
        "{ adversarial_consecutive = { groups = 8 } }",
        "'adversarial_local'",
    ] {
        let workload = workload(&traffic(pattern), &*topology, 0);
        for from in [0, 1, 7, 30, 71] {
            let set = allowed(pattern, from);
            let mut counts = BTreeMap::new();
            for packet in sent(&workload, from, 40_000) {
                assert!(set.contains(&packet.to), "{pattern}: {from} sends to {}", packet.to);
                *counts.entry(packet.to).or_default() += 1;
            }
            assert!(uniform(&counts, set.len() as u32), "{pattern}, {from}: {counts:?}");
        }
    }
}

/// The parts of a mix are drawn by weight, each on its own set.
#[test]
fn mixes_follow_their_weights() {
    let topology = dragonfly();
    let pattern = "{ mix = [{ weight = 3, pattern = { adversarial = { offset = 1 } } }, \
                   { weight = 1, pattern = { adversarial = { offset = 4 } } }] }";
    let workload = workload(&traffic(pattern), &*topology, 0);
    for from in [0, 35, 71] {
        let home = i64::from(from / HOSTS_OF_GROUP);
        let packets = sent(&workload, from, 40_000);
        let near = packets.iter().filter(|packet| group(home + 1).contains(&packet.to)).count();
        let far = packets.iter().filter(|packet| group(home + 4).contains(&packet.to)).count();
        assert_eq!(near + far, packets.len());
        let n = packets.len() as f64;
        let error = (near as f64 / n - 0.75).abs();
        assert!(error < 4.0 * (0.75 * 0.25 / n).sqrt(), "{near} of {n}");
    }
}

/// A permutation has no fixed point, hits every host once, never changes, and follows its own seed.
#[test]
fn permutations_are_derangements() {
    let topology = dragonfly();
    let image = |pattern: &str| -> Vec<u32> {
        let workload = workload(&traffic(pattern), &*topology, 0);
        (0..72)
            .map(|from| {
                let packets = sent(&workload, from, 2_000);
                let to = packets[0].to;
                assert!(packets.len() > 50 && packets.iter().all(|packet| packet.to == to));
                to
            })
            .collect()
    };
    let mut moved = BTreeMap::new();
    for seed in 0..200 {
        let image = image(&format!("{{ permutation = {{ seed = {seed} }} }}"));
        assert!(image.iter().enumerate().all(|(from, to)| from as u32 != *to));
        let mut sorted = image.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..72).collect::<Vec<_>>());
        for (from, to) in (0..).zip(&image) {
            *moved.entry((to + 72 - from) % 72).or_default() += 1;
        }
    }
    // Every distance is equally likely.
    assert!(uniform(&moved, 71), "{moved:?}");
    assert_eq!(image("{ permutation = {} }"), image("{ permutation = { seed = 11 } }"));
    assert_ne!(image("{ permutation = {} }"), image("{ permutation = { seed = 12 } }"));
}

/// Each of the nine permutations of four hosts without a fixed point is equally likely.
#[test]
fn derangements_are_uniform() {
    let switch: Wiring = value("{ crossbar = { hosts = 4 } }");
    let topology = topology::build(&switch).unwrap();
    let mut counts = BTreeMap::new();
    for seed in 0..3_000 {
        let traffic = traffic(&format!("{{ permutation = {{ seed = {seed} }} }}"));
        let workload = workload(&traffic, &*topology, 0);
        let name = (0..4).fold(0, |name, host| name * 4 + sent(&workload, host, 500)[0].to);
        *counts.entry(name).or_default() += 1;
    }
    assert!(uniform(&counts, 9), "{counts:?}");
}

/// The mean load is the one asked for, whatever the process and the sizes; the tolerance is four
/// standard errors, estimated from the hosts.
#[test]
fn offered_load_is_exact_in_the_mean() {
    let topology = dragonfly();
    for injection in INJECTIONS {
        for size in SIZES {
            for load in [0.02, 0.3, 0.9] {
                let mut traffic = traffic("'uniform'");
                (traffic.injection, traffic.packet_size) = (value(injection), value(size));
                traffic.load = load;
                let workload = workload(&traffic, &*topology, 0);
                // Every host begins with a silence: leave its echo out.
                let cycles = (60_000.0 / load) as u32;
                let (from, end) = (cycles / 4, cycles / 4 + cycles);
                let phits = |host| -> u32 {
                    let packets = sent(&workload, host, end);
                    packets.iter().filter(|p| p.at >= from).map(|p| u32::from(p.size)).sum()
                };
                let loads: Vec<f64> =
                    (0..72).map(|host| f64::from(phits(host)) / f64::from(cycles)).collect();
                let mean = loads.iter().sum::<f64>() / 72.0;
                let variance = loads.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 71.0;
                let error = (variance / 72.0).sqrt();
                let place = format!("{injection}, {size}, {load}: {mean} +- {error}");
                assert!(error < 0.02 * load, "{place}");
                assert!((mean - load).abs() < 4.0 * error + 1e-9, "{place}");
                assert_eq!(workload.offered(5, 500), load);
            }
        }
    }
}

/// Sizes are drawn with the probabilities asked for.
#[test]
fn packet_sizes_follow_their_law() {
    let topology = dragonfly();
    let mut traffic = traffic("'uniform'");
    traffic.load = 0.9;
    traffic.packet_size = value("{ min = 3, max = 9 }");
    let mut counts = BTreeMap::new();
    for packet in sent(&workload(&traffic, &*topology, 0), 4, 40_000) {
        assert!((3..=9).contains(&packet.size));
        *counts.entry(u32::from(packet.size)).or_default() += 1;
    }
    assert!(uniform(&counts, 7), "{counts:?}");
    traffic.packet_size = value("[{ size = 2, weight = 1 }, { size = 5, weight = 3 }]");
    let packets = sent(&workload(&traffic, &*topology, 0), 4, 40_000);
    let large = packets.iter().filter(|packet| packet.size == 5).count() as f64;
    assert!(packets.iter().all(|packet| packet.size == 2 || packet.size == 5));
    let n = packets.len() as f64;
    assert!((large / n - 0.75).abs() < 4.0 * (0.1875 / n).sqrt(), "{large} of {n}");
}

/// In bursts, packets go to one destination at the peak load; silences make up for it.
#[test]
fn bursts_keep_their_destination() {
    let topology = dragonfly();
    let mut traffic = traffic("'uniform'");
    traffic.load = 0.25;
    traffic.packet_size = value("1");
    traffic.injection = value("{ on_off = { burst = 8.0, peak = 1.0 } }");
    let packets = sent(&workload(&traffic, &*topology, 0), 9, 200_000);
    // At peak 1, a burst is a run of consecutive cycles; a new burst that begins at once is told by
    // its destination, but for one draw in 71.
    let breaks = packets.windows(2).filter(|w| w[1].at > w[0].at + 1 || w[1].to != w[0].to);
    let bursts = breaks.count() as f64 + 1.0;
    let changed = packets.windows(2).filter(|w| w[1].at == w[0].at + 1 && w[1].to != w[0].to);
    let mean = packets.len() as f64 / bursts;
    assert!((mean - 8.0).abs() < 4.0 * 8.0 / bursts.sqrt() + 0.05, "{mean} packets a burst");
    // Silences last 24 cycles in the mean, of which one in 25 draws is none.
    let share = changed.count() as f64 / bursts;
    assert!(share < 0.06, "{share} of the bursts follow without a silence");
}

/// A change of load and pattern takes effect in its cycle, not before and not later.
#[test]
fn changes_take_effect_on_time() {
    let topology = dragonfly();
    let mut traffic = traffic("{ adversarial = { offset = 1 } }");
    (traffic.load, traffic.packet_size) = (1.0, value("1"));
    traffic.then = value(
        "[{ at = 40, pattern = { adversarial = { offset = 3 } } }, { at = 100, load = 0.0 }, \
         { at = 250, load = 1.0 }]",
    );
    let workload = workload(&traffic, &*topology, 1_000);
    for from in [0, 20, 71] {
        let home = i64::from(from / HOSTS_OF_GROUP);
        let packets = sent(&workload, from, 2_000);
        let cycles: Vec<u32> = packets.iter().map(|packet| packet.at).collect();
        // At load 1, a packet in every cycle.
        assert_eq!(cycles, (0..1_100).chain(1_250..2_000).collect::<Vec<_>>());
        for packet in packets {
            let offset = if packet.at < 1_040 { 1 } else { 3 };
            assert!(group(home + offset).contains(&packet.to), "cycle {}", packet.at);
        }
    }
    assert_eq!(workload.offered(1_000, 1_200), 0.5);
    assert!(workload.changes(1_000, 1_200) && !workload.changes(1_250, 2_000));
    assert!(!workload.changes(0, 1_040));
}

/// Paced packets follow each other after the time that their phits take at the load, to the cycle;
/// hosts do not begin together.
#[test]
fn paced_packets_keep_their_distance() {
    let topology = dragonfly();
    for size in SIZES {
        for load in [0.07, 0.3, 1.0] {
            let mut traffic = traffic("'uniform'");
            traffic.packet_size = value(size);
            traffic.injection = value("'paced'");
            traffic.load = load;
            let workload = workload(&traffic, &*topology, 0);
            let packets = sent(&workload, 3, 20_000);
            let mut exact = f64::from(packets[0].at);
            for pair in packets.windows(2) {
                exact += f64::from(pair[0].size) / load;
                let late = exact - f64::from(pair[1].at);
                assert!(late.abs() < 1.001, "{size} at {load}: {late}");
            }
            let firsts: Vec<u32> =
                (0..72).map(|host| sent(&workload, host, 20_000)[0].at).collect();
            let spread = firsts.iter().max().unwrap() - firsts.iter().min().unwrap();
            let interval = f64::from(workload.packet_sizes().1) / load;
            assert!(f64::from(spread) >= 0.5 * (interval - 1.0), "{size} at {load}: {firsts:?}");
        }
    }
}

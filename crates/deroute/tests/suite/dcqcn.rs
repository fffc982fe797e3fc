//! DCQCN: marks, notification points, reaction points.

use deroute::RunOptions;
use deroute::outcome::Outcome;
use deroute::spec::{Spec, Warmup};

use crate::support::catalogue::PAUSES;
use crate::support::incast::{Incast, loaded};
use crate::support::{self, value};

/// 40 Gb/s in phits of 50 B, 10 ns each, and packets of 1 KB, as in the paper: hosts 500 ns from their switch, of which
/// some send to one.
fn incast(senders: u32, ecn: &str, measure: &str) -> Spec {
    let network = format!("congestion_point = {{ ecn = {ecn} }}");
    let nic = "notification_point = { cnp = {} }\nreaction_point = { dcqcn = {} }";
    let warmup = "50 ms";
    Incast { senders, network: &network, nic, warmup, measure, ..Incast::default() }.spec()
}

/// KB that wait on the way: what passes in the time that packets spend beyond 2 x 50 cycles of way and 20 of their own.
fn queue(outcome: &Outcome) -> f64 {
    0.05 * (outcome.latency.network_mean - 120.0)
}

/// The queue is that of the fixed point (Zhu et al., CoNEXT 2016): with so many flows p = (R_AI N^2 / (tau C^2) (1/B +
/// N/(T C))^2)^(1/3) of the packets are marked, and Kmin + (Kmax - Kmin) p / Pmax wait, which is 23.0, 50.2 and 118.7 KB.
/// Packets come in lumps, and have 22.5, 53.7 and 115.0 KB; the equations of the fluid solved without approximation have
/// 20.2, 41.8 and 93.8. The link is busy, and flows have equal shares.
#[test]
fn the_queue_is_that_of_the_fixed_point() {
    for flows in [2_u32, 4, 8] {
        let outcome = support::run(&incast(flows, "{ kmin = '5 KB', kmax = '200 KB' }", "60 ms"));
        let n = f64::from(flows);
        // In packets of 1 KB, and seconds.
        let (capacity, step, byte_counter, time) = (5e6, 5e3, 1e4, 55e-6);
        let p = (step * n * n / (time * capacity * capacity)
            * f64::powi(1.0 / byte_counter + n / (time * capacity), 2))
        .cbrt();
        let (found, approximate) = (queue(&outcome), 5.0 + 195.0 * p / 0.01);
        assert!((found / approximate - 1.0).abs() < 0.1, "{flows}: {found} KB");
        assert!(outcome.arrays.accepted_by_host[flows as usize] > 0.995, "{flows}");
        let senders = &outcome.arrays.injected_by_host[..flows as usize];
        let share = senders.iter().map(|load| (load * n - 1.0).abs()).fold(0.0, f64::max);
        assert!(share < 0.15, "{flows}: {senders:?}");
        let told = outcome.notifications.as_ref().expect("notifications");
        let cuts = outcome.reaction_point.as_ref().expect("reaction points").cuts;
        assert!(told.lost == 0 && told.sent - cuts <= 2 && cuts > 100, "{told:?} {cuts}");
        let marks = outcome.congestion_point.as_ref().expect("congestion points").marked;
        assert!(marks > 0 && outcome.packets.lost == 0);
    }
}

/// Of a flow that is marked all the time a host tells its source once in each interval.
#[test]
fn sources_are_told_once_in_an_interval() {
    let mut spec = incast(2, "{ kmin = 0, kmax = 1, pmax = 1.0 }", "10 ms");
    spec.network.nic.reaction_point = None;
    spec.run.warmup = Warmup::Fixed(0.into());
    let told = support::run(&spec).notifications.expect("notifications");
    // 200 intervals of two flows; the first packets come to an empty queue.
    assert!((398..=400).contains(&told.sent), "{told:?}");
    assert!(told.says[0].contains("notifications of marked packets"), "{:?}", told.says);
}

/// A loaded network of any kind gives the same for any division; nothing is lost but what finds no room.
#[test]
fn marks_and_cuts_divide() {
    let networks = [
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ minimal = {} }", PAUSES[0]),
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ valiant = {} }", PAUSES[4]),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = {} }", PAUSES[5]),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }", PAUSES[0]),
    ];
    for (n, (topology, routing, control)) in networks.into_iter().enumerate() {
        let mut spec = loaded(
            (topology, routing),
            n,
            control,
            "{ latency = 5, injection_queue = 200, link = { buffer = 400 },
               notification_point = { cnp = { interval = 60, notifications = { size = 2 } } },
               reaction_point = { dcqcn = { byte_counter = 60, timer = 80, alpha_timer = 80,
                 active_increase = '1/100', hyper_increase = '1/20', least_rate = '1/50' } } }",
        );
        spec.network.congestion_point =
            Some(value("{ ecn = { kmin = 4, kmax = 20, pmax = 0.5 } }"));
        spec.run.measure = 4_000.into();
        let one = support::run(&spec);
        let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
        assert!(one == support::attempt(&spec, &options).unwrap(), "{topology}: divided");
        let (told, used) = (one.notifications.unwrap(), one.reaction_point.unwrap());
        assert!(told.sent > 50 && used.cuts > 20 && used.rate_min < 0.5, "{topology}: {used:?}");
        assert!(used.cuts <= told.received, "{topology}: {told:?}");
    }
}

/// Without a mark nobody is told, no rate is cut, and nothing is as if there were any of it.
#[test]
fn what_never_acts_changes_nothing() {
    let mut spec = incast(2, "{ kmin = '900 MB', kmax = '900 MB' }", "1 ms");
    spec.run.warmup = Warmup::Fixed(0.into());
    let mut outcome = support::run(&spec);
    let told = outcome.notifications.take().expect("notification points");
    let used = outcome.reaction_point.take().expect("reaction points");
    assert!(told.says[0].contains("nobody was notified"), "{:?}", told.says);
    assert!(used.says[0].contains("no rate was cut"), "{:?}", used.says);
    (spec.network.nic.notification_point, spec.network.nic.reaction_point) = (None, None);
    assert!(support::run(&spec) == outcome, "it disturbs");
}

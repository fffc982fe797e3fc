//! Windows: what a flow has under way is bounded, and acknowledgements open it.

use deroute::RunOptions;
use deroute::outcome::{Outcome, WindowUse};
use deroute::spec::{Spec, Warmup};

use crate::support::catalogue::PAUSES;
use crate::support::incast::{Incast, loaded};
use crate::support::{self, value};

/// Reaction points with windows.
const LAWS: [&str; 5] = [
    "{ window = { size = 40 } }",
    "{ swift = { target = 90, increase = 1.0, decrease = 0.8, most_cut = 0.5, least_window = 2, \
       largest_window = 80, hop = 10, \
       flow_scaling = { range = 60, least = 0.1, most = 10.0 } } }",
    "{ nscc = { base_rtt = 90 } }",
    "{ nscc = { base_rtt = 90, target = 20, quick_adapt = false } }",
    "{ dctcp = { largest_window = 80 } }",
];

/// 40 Gb/s in phits of 50 B, 10 ns each, and packets of 20 phits: hosts 500 ns from their switch, of which some send to
/// one, with a reaction point.
fn incast(senders: u32, reaction: &str, measure: &str) -> Spec {
    let nic =
        format!("notification_point = {{ acknowledgement = {{}} }}\nreaction_point = {reaction}");
    Incast { senders, pipeline: 10, nic: &nic, measure, ..Incast::default() }.spec()
}

/// Cycles from the first phit of a packet to the last one of its acknowledgement, alone: a link of 50 cycles each way
/// at both hosts, and a switch of 10, twice; 20 and 2 phits; and the cycle in which the host answers.
const ROUND_TRIP: f64 = (2 * (50 + 10 + 50) + 20 + 2) as f64;

fn windows(outcome: &Outcome) -> WindowUse {
    outcome.reaction_point.as_ref().and_then(|used| used.windows).expect("windows")
}

/// One flow has min(1, W / T) of its link: a window of packets in each round trip.
#[test]
fn a_flow_has_a_window_in_each_round_trip() {
    for packets in [1_u32, 2, 5, 12, 13, 30] {
        let window = 20 * packets;
        let spec = incast(1, &format!("{{ window = {{ size = {window} }} }}"), "242 us");
        let outcome = support::run(&spec);
        let expected = (f64::from(window) / ROUND_TRIP).min(1.0);
        let found = outcome.arrays.accepted_by_host[1];
        assert!((found - expected).abs() < 3e-3, "{packets}: {found} {expected}");
        let used = windows(&outcome);
        assert!(used.under_way_max <= window, "{packets}: {used:?}");
        assert_eq!((used.least, used.most, used.raises), (window.into(), window.into(), 0));
        let says = &outcome.reaction_point.as_ref().unwrap().says[0];
        assert_eq!(says.contains("no window held anything up"), used.held == 0, "{says}");
        assert!(used.held > 0 || packets > 12, "{packets}: {used:?}");
        assert!(used.held == 0 || packets < 30, "{packets}: {used:?}");
    }
}

/// What is no whole packet of a window is not used, and the queue of an incast is what its windows have beyond the
/// round trip: nothing is paused for it.
#[test]
fn an_incast_queues_no_more_than_its_windows() {
    let outcome = support::run(&incast(8, "{ window = { size = 59 } }", "500 us"));
    assert!(outcome.arrays.accepted_by_host[8] > 0.999);
    assert_eq!(windows(&outcome).under_way_max, 40);
    // 16 packets of 20 phits are under way all the time, and one leaves in 20 cycles.
    let mean = outcome.latency.network_mean;
    assert!((mean - (320.0 - 112.0)).abs() < 12.0, "{mean}");
    let pauses = outcome.flow_control.as_ref().expect("pauses");
    assert!(pauses.links.iter().all(|class| class.stops == 0), "{pauses:?}");
    let shares = &outcome.arrays.injected_by_host[..8];
    assert!(shares.iter().all(|share| (share * 8.0 - 1.0).abs() < 0.02), "{shares:?}");
}

/// Cycles of the round trip that a packet spends on its way without queues.
const WAY: f64 = (2 * 50 + 10 + 20) as f64;

/// A run of greedy flows to one host under a law, after 1 ms, with marks from a fifth to four fifths of what the link
/// sends in a round trip.
fn settled(hosts: u32, reaction: &str) -> Outcome {
    let mut spec = incast(hosts, reaction, "1 ms");
    spec.network.congestion_point = Some(value("{ ecn = { kmin = 48, kmax = 194 } }"));
    spec.run.warmup = Warmup::Fixed("1 ms".into());
    let outcome = support::run(&spec);
    let busy = outcome.arrays.accepted_by_host[hosts as usize];
    assert!(busy > 0.998, "{hosts} {reaction}: {busy}");
    assert!(outcome.flow_control.as_ref().unwrap().links.iter().all(|link| link.stops == 0));
    outcome
}

/// Least and largest share of the senders, of what each would have.
fn shares(outcome: &Outcome, hosts: u32) -> (f64, f64) {
    let senders = &outcome.arrays.injected_by_host[..hosts as usize];
    let shares = senders.iter().map(|share| share * f64::from(hosts));
    shares.fold((f64::INFINITY, 0.0), |(least, most), share| (least.min(share), most.max(share)))
}

fn swift(target: u32, more: &str) -> String {
    format!(
        "{{ swift = {{ target = {target}, increase = 0.1, decrease = 0.8, most_cut = 0.5, \
           least_window = 2, largest_window = 1000{more} }} }}"
    )
}

/// The round trip of Swift is its target, to within what the flows add together: what waits is the target less the way
/// without queues. Windows of less than a packet hold it, too, and flow scaling makes them fair.
#[test]
fn swift_settles_at_its_target() {
    for (flows, target, slack) in
        [(2_u32, 400_u32, 3.0), (8, 400, 3.0), (8, 900, 3.0), (32, 400, 24.0)]
    {
        let outcome = settled(flows, &swift(target, ""));
        let (found, queue) = (outcome.latency.network_mean - WAY, f64::from(target) - ROUND_TRIP);
        assert!((found - queue).abs() < slack, "{flows} {target}: {found} for {queue}");
        let used = outcome.reaction_point.as_ref().expect("reaction points");
        assert!(used.cuts > 5 && (windows(&outcome).least < 20.0) == (flows == 32), "{used:?}");
        assert!(used.says[0].contains("windows held packets up"), "{:?}", used.says);
    }
    let (least, most) = shares(&settled(2, &swift(400, "")), 2);
    assert!(least > 0.99 && most < 1.01, "{least} {most}");
    let scaling = ", flow_scaling = { range = 400, least = 0.1, most = 100.0 }";
    let (least, most) = shares(&settled(32, &swift(400, scaling)), 32);
    assert!(least > 0.9 && most < 1.1, "{least} {most}");
    let (least, most) = shares(&settled(32, &swift(400, "")), 32);
    assert!(least < 0.7 && most > 1.2, "{least} {most}");
}

/// The queueing delay of NSCC is its target; what is more than its flows can have with a packet each is not its fault.
#[test]
fn nscc_settles_at_its_target() {
    for (flows, keys, target) in [
        (2_u32, "", 242.0_f64),
        (8, "", 242.0),
        (8, ", quick_adapt = false", 242.0),
        (2, ", target = 180", 180.0),
    ] {
        let outcome = settled(flows, &format!("{{ nscc = {{ base_rtt = 242{keys} }} }}"));
        let found = outcome.latency.network_mean - WAY;
        assert!((found / target - 1.0).abs() < 0.1, "{flows} {keys}: {found} for {target}");
        let used = windows(&outcome);
        assert!(used.raises > 500 && used.most == 363.0, "{used:?}");
        let memory =
            outcome.flow_control.as_ref().unwrap().links.iter().map(|link| link.buffer_max);
        assert!(memory.max().unwrap() <= 363, "a buffer holds what is under way from its host");
    }
    let (least, most) = shares(&settled(2, "{ nscc = { base_rtt = 242 } }"), 2);
    assert!(least > 0.98 && most < 1.02, "{least} {most}");
    let outcome = settled(32, "{ nscc = { base_rtt = 242 } }");
    let found = outcome.latency.network_mean;
    assert!((found - (32.0 * 20.0 - (ROUND_TRIP - WAY))).abs() < 1.0, "a packet of each: {found}");
    assert_eq!(windows(&outcome).least, 20.0);
}

/// A lone flow below what its link carries is never cut, and the windows say that they were idle.
#[test]
fn windows_that_never_act_say_so() {
    for law in [swift(900, ""), "{ nscc = { base_rtt = 242 } }".to_owned()] {
        let mut spec = incast(1, &law, "100 us");
        spec.network.congestion_point = Some(value("{ ecn = { kmin = 48, kmax = 194 } }"));
        let mut outcome = support::run(&spec);
        let used = outcome.reaction_point.take().expect("reaction points");
        assert!(used.says[0].contains("no window held anything up"), "{:?}", used.says);
        assert_eq!((used.cuts, used.limited, used.rate_min), (0, 1, 1.0));
        spec.network.nic.reaction_point = None;
        assert!(support::run(&spec) == outcome, "it disturbs");
        spec.network.nic.reaction_point = Some(value(&law));
        spec.traffic.streams.clear();
        let used = support::run(&spec).reaction_point.expect("reaction points");
        assert!(used.says[0].contains("no window was opened"), "{:?}", used.says);
        assert_eq!((used.limited, used.windows.map(|windows| windows.least)), (0, Some(0.0)));
    }
}

/// The record of rates has the windows, between the smallest and the largest of the outcome.
#[test]
fn windows_are_recorded() {
    for law in ["{ window = { size = 40 } }".to_owned(), swift(400, "")] {
        let mut spec = incast(4, &law, "500 us");
        spec.probes.rates = Some(value("{ every = 50, flows = { hosts = [0, 3, 4] } }"));
        let outcome = support::run(&spec);
        let (used, record) = (windows(&outcome), outcome.rates.as_ref().expect("rates"));
        assert_eq!(record.windows.len(), record.rates.len());
        assert!(record.windows.iter().all(|phits| (used.least..=used.most).contains(phits)));
        // The receiver has sent nothing.
        assert!(record.windows.iter().skip(2).step_by(3).all(|phits| *phits == used.most));
        let changes = record.windows.windows(4).filter(|w| w[0] != w[3]).count();
        assert_eq!(changes > 10, used.raises > 0, "{law}: {changes}");
    }
}

/// Loaded networks, with laws of any kind, give the same for any division; nothing is lost.
#[test]
fn windows_divide() {
    let networks = [
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ valiant = {} }"),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }"),
    ];
    for (n, (topology, routing)) in networks.into_iter().enumerate() {
        for law in LAWS {
            let nic = format!(
                "{{ latency = 5, injection_queue = 200, link = {{ buffer = 400 }},
                   notification_point = {{ acknowledgement = {{ notifications = {{ size = 2 }} }} }},
                   reaction_point = {law} }}",
            );
            let mut spec = loaded((topology, routing), n, PAUSES[0], &nic);
            spec.network.congestion_point =
                Some(value("{ ecn = { kmin = 4, kmax = 20, pmax = 0.5 } }"));
            let one = support::run(&spec);
            let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
            assert!(one == support::attempt(&spec, &options).unwrap(), "{topology} {law}");
            assert!(windows(&one).held > 20 && one.packets.lost == 0, "{topology} {law}");
        }
    }
}

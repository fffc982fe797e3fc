//! Windows: what a flow has under way is bounded, and acknowledgements open it.

use deroute::RunOptions;
use deroute::outcome::{Outcome, WindowUse};
use deroute::spec::{Spec, Warmup};

use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES};
use crate::support::{self, value};

/// Reaction points with windows.
const LAWS: [&str; 1] = ["{ window = { size = 40 } }"];

/// 40 Gb/s in phits of 50 B, 10 ns each, and packets of 20 phits: hosts 500 ns from their switch, of which some send to
/// one, with a reaction point.
fn incast(hosts: u32, reaction: &str, measure: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"10 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {{ crossbar = {{ hosts = {} }} }}\nclasses = {{ count = 2 }}\n\
         [network.nic]\nlatency = \"500 ns\"\ninjection_queue = \"100 KB\"\n\
         link = {{ buffer = \"8 MB\" }}\nnotification_point = {{ acknowledgement = {{}} }}\n\
         reaction_point = {reaction}\n\
         [network.flow_control.pfc]\n\
         [network.switch.input_buffered_output_queued]\npipeline = 10\n\
         [routing.minimal]\n\
         [traffic]\nload = 0.0\npacket_size = 20\npattern = \"uniform\"\n\
         stream = [{{ name = \"greedy\", hosts = {{ from = 0, to = {} }}, load = 1.0, \
                      destinations = {{ any = [{hosts}] }} }}]\n\
         [run]\nwarmup = \"100 us\"\nmeasure = \"{measure}\"\n",
        hosts + 1,
        hosts - 1
    ))
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
            let mut spec = support::network(topology);
            spec.routing = value(routing);
            for link in spec.network.links.values_mut() {
                (link.buffer, link.vcs) = (600.into(), 8.into());
            }
            spec.network.switch = value(match n % 2 {
                0 => "{ combined_queued = { pipeline = 3, output_buffer = 60 } }",
                _ => HOLDING_SWITCHES[1],
            });
            spec.network.classes = Some(value("{ count = 2 }"));
            spec.network.flow_control = value(PAUSES[0]);
            spec.network.congestion_point =
                Some(value("{ ecn = { kmin = 4, kmax = 20, pmax = 0.5 } }"));
            spec.network.nic = value(&format!(
                "{{ latency = 5, injection_queue = 200, link = {{ buffer = 400 }},
                   notification_point = {{ acknowledgement = {{ notifications = {{ size = 2 }} }} }},
                   reaction_point = {law} }}",
            ));
            spec.traffic.load = 0.9;
            spec.traffic.hotspots = value("[{ destinations = { any = [1] }, share = 0.3 }]");
            (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(500.into()), 3_000.into());
            spec.checks.full = true;
            let one = support::run(&spec);
            let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
            assert!(one == support::attempt(&spec, &options).unwrap(), "{topology} {law}");
            assert!(windows(&one).held > 20 && one.packets.lost == 0, "{topology} {law}");
        }
    }
}

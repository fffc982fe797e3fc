//! HPCC, and the telemetry that it follows.

use deroute::RunOptions;
use deroute::outcome::Outcome;
use deroute::spec::Spec;

use crate::support::catalogue::PAUSES;
use crate::support::incast::{Incast, loaded};
use crate::support::{self, value};

/// 40 Gb/s in phits of 50 B, 10 ns each, and packets of 20 phits: hosts so far from their switch, of which some send to
/// one.
fn incast(senders: u32, latency: &str, base_rtt: u32) -> Spec {
    let nic = format!(
        "notification_point = {{ acknowledgement = {{}} }}\n\
         reaction_point = {{ hpcc = {{ base_rtt = {base_rtt}, increase = \"80 B\" }} }}"
    );
    let (network, warmup, measure) = ("congestion_point = { int = {} }", "2 ms", "2 ms");
    Incast { senders, latency, network, nic: &nic, warmup, measure, ..Incast::default() }.spec()
}

fn reaction(outcome: &Outcome) -> &deroute::outcome::ReactionPointUse {
    outcome.reaction_point.as_ref().expect("reaction points")
}

/// The link is used as much as it is aimed at: in the fixed point W = W eta / U + W_AI for each of N flows that share
/// what the link carries in a round trip, so that U = eta + N W_AI over that. Nothing waits.
#[test]
fn utilisation_settles_at_eta() {
    // There and back 4 times 500 cycles, and a packet and its acknowledgement.
    let base = 2_030;
    for flows in [1_u32, 2, 4, 8] {
        let outcome = support::run(&incast(flows, "5 us", base));
        let accepted = outcome.arrays.accepted_by_host[flows as usize];
        let exact = 0.95 + f64::from(2 * flows) / f64::from(base);
        assert!((accepted - exact).abs() < 0.005, "{flows}: {accepted} for {exact}");
        // 1000 cycles of way and 20 of its own.
        let waited = outcome.latency.network_mean - 1_020.0;
        assert!(waited < 10.0 * f64::from(flows), "{flows}: {waited} cycles");
        let used = reaction(&outcome);
        assert!(used.windows.is_some_and(|windows| windows.raises > 0), "{used:?}");
        let point = outcome.congestion_point.as_ref().expect("congestion points");
        assert!(point.says[0].contains("packets took with them"), "{:?}", point.says);
        assert_eq!((point.marked, outcome.packets.lost), (0, 0));
        let ejected = point.queues.iter().find(|queue| queue.class == "ejection");
        assert!(ejected.is_some_and(|queue| queue.packets > 1_000), "{point:?}");
    }
}

/// Loaded networks give the same for any division.
#[test]
fn telemetry_divides() {
    let networks = [
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ minimal = {} }", PAUSES[0]),
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ valiant = {} }", PAUSES[0]),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ mod_k = {} }", PAUSES[0]),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }", "{ credits = {} }"),
    ];
    for (n, (topology, routing, control)) in networks.into_iter().enumerate() {
        let mut spec = loaded(
            (topology, routing),
            n,
            control,
            "{ latency = 5, injection_queue = 200,
               link = { buffer = 400, flow_control = { pfc = { response = 0 } } },
               notification_point = { acknowledgement = { notifications = { size = 2 } } },
               reaction_point = { hpcc = { base_rtt = 150, increase = 1 } } }",
        );
        spec.network.congestion_point = Some(value("{ int = {} }"));
        spec.probes.rates = Some(value("{ every = 100, flows = { hosts = [0, 1, 5] } }"));
        let one = support::run(&spec);
        let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
        assert!(one == support::attempt(&spec, &options).unwrap(), "{topology}: divided");
        let used = reaction(&one);
        assert!(used.cuts > 20 && used.rate_min < 0.9, "{topology}: {used:?}");
        assert_eq!(one.packets.lost, 0);
    }
}

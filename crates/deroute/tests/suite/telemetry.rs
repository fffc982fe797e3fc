//! HPCC, and the telemetry that it follows.

use deroute::RunOptions;
use deroute::outcome::Outcome;
use deroute::spec::{Spec, Warmup};

use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES};
use crate::support::{self, value};

/// 40 Gb/s in phits of 50 B, 10 ns each, and packets of 20 phits: hosts so far from their switch, of which some send to
/// one.
fn incast(hosts: u32, latency: &str, base_rtt: u32) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"10 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {{ crossbar = {{ hosts = {} }} }}\nclasses = {{ count = 2 }}\n\
         congestion_point = {{ int = {{}} }}\n\
         [network.nic]\nlatency = \"{latency}\"\ninjection_queue = \"100 KB\"\n\
         link = {{ buffer = \"8 MB\" }}\nnotification_point = {{ acknowledgement = {{}} }}\n\
         reaction_point = {{ hpcc = {{ base_rtt = {base_rtt}, increase = \"80 B\" }} }}\n\
         [network.flow_control.pfc]\n\
         [network.switch.input_buffered_output_queued]\n\
         [routing.minimal]\n\
         [traffic]\nload = 0.0\npacket_size = 20\npattern = \"uniform\"\n\
         stream = [{{ name = \"greedy\", hosts = {{ from = 0, to = {} }}, load = 1.0, \
                      destinations = {{ any = [{hosts}] }} }}]\n\
         [run]\nwarmup = \"2 ms\"\nmeasure = \"2 ms\"\n",
        hosts + 1,
        hosts - 1
    ))
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
        spec.network.flow_control = value(control);
        spec.network.congestion_point = Some(value("{ int = {} }"));
        spec.network.nic = value(
            "{ latency = 5, injection_queue = 200,
               link = { buffer = 400, flow_control = { pfc = { response = 0 } } },
               notification_point = { acknowledgement = { notifications = { size = 2 } } },
               reaction_point = { hpcc = { base_rtt = 150, increase = 1 } } }",
        );
        spec.traffic.load = 0.9;
        spec.traffic.hotspots = value("[{ destinations = { any = [1] }, share = 0.3 }]");
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(500.into()), 3_000.into());
        spec.checks.full = true;
        spec.probes.rates = Some(value("{ every = 100, flows = { hosts = [0, 1, 5] } }"));
        let one = support::run(&spec);
        let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
        assert!(one == support::attempt(&spec, &options).unwrap(), "{topology}: divided");
        let used = reaction(&one);
        assert!(used.cuts > 20 && used.rate_min < 0.9, "{topology}: {used:?}");
        assert_eq!(one.packets.lost, 0);
    }
}

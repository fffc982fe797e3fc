//! Lossless Ethernet against closed forms.

use deroute::RunOptions;
use deroute::outcome::{Outcome, PauseUse};
use deroute::spec::Spec;

use crate::support;

/// 10 Gb/s: a phit of 1.25 B a nanosecond, frames of so many phits; hosts on one switch, or on two with a trunk.
struct Setup<'a> {
    topology: &'a str,
    frame: u32,
    control: &'a str,
    traffic: String,
    measure: u32,
}

fn build(setup: &Setup<'_>) -> Spec {
    let Setup { topology, frame, control, traffic, measure } = setup;
    let link = "{ latency = 500, vcs = 1, buffer = \"100 KB\" }";
    let classes = match topology.contains("crossbar") {
        true => String::new(),
        false => format!("[network.links]\nlink = {link}\n"),
    };
    support::parse(&format!(
        "[units]\ncycle = \"1 ns\"\nphit = \"1.25 B\"\n\
         [network]\ntopology = {topology}\n{classes}\
         [network.nic]\nlatency = 500\nlink = {{ buffer = \"100 KB\" }}\n\
         [network.flow_control]\n{control}\n\
         [network.switch.input_buffered_output_queued]\npipeline = 0\n\
         [routing.minimal]\n\
         [traffic]\nload = 1.0\npacket_size = {frame}\npattern = \"uniform\"\n{traffic}\
         [run]\nwarmup = 400_000\nmeasure = {measure}\n[checks]\nfull = true\n"
    ))
}

fn run(spec: &Spec) -> Outcome {
    support::attempt(spec, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn hosts(outcome: &Outcome) -> &PauseUse {
    let used = outcome.flow_control.as_ref().expect("a flow control that pauses");
    used.links.last().expect("the links of hosts")
}

/// `n` saturating senders to one output: they are silent together for a share of 1 - 1/n of a period of
/// n^2 / (n - 1) (D / C + t), where D is what lies between XOFF and XON, and t the time from a crossing to its effect.
#[test]
fn senders_to_one_output_pause_in_turns() {
    for (n, period) in [(2_u32, 58_670.0), (4, 78_200.0)] {
        let topology = format!("{{ crossbar = {{ hosts = {} }} }}", n + 1);
        let setup = Setup {
            topology: &topology,
            // Small frames, so that time is almost continuous.
            frame: 80,
            control: "pfc = { xoff = \"97 KB\", xon = \"80 KB\", response = 0 }",
            traffic: format!("[[traffic.hotspots]]\ndestinations = {{ any = [{n}] }}\n"),
            measure: 2_000_000,
        };
        let outcome = run(&build(&setup));
        let used = hosts(&outcome);
        assert_eq!(used.lost_packets, 0);
        let stops = used.stops as f64 / f64::from(n);
        let measured = outcome.work.cycles as f64 / stops;
        eprintln!("n={n} period {measured} of {period}, paused {}", used.paused_mean);
        assert!((measured / period - 1.0).abs() < 0.03, "{measured} for {period}");
    }
}

//! Links that send broken frames again.

use deroute::Simulation;
use deroute::outcome::{Outcome, RetryLinks};
use deroute::spec::{RetrySpec, Spec, Warmup};

use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES, SWITCHES};
use crate::support::{self, value};

const PACKET: f64 = 10.0;

/// Host 0 sends to host 2 as much as it can over a link between two routers, of a byte a phit.
fn alone(latency: u32, retry: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"1 ns\"\nphit = \"1 B\"\n\
         [network]\ntopology = {{ graph = {{ hosts = 2, edges = [[0, 1]] }} }}\n\
         links = {{ link = {{ latency = {latency}, vcs = 1, buffer = 2000{retry} }} }}\n\
         nic = {{ latency = 1, injection_queue = 40 }}\n\
         switch = {{ combined_queued = {{ pipeline = 0, output_buffer = 40 }} }}\n\
         [routing.minimal]\n\
         [traffic]\nload = 1.0\npacket_size = {PACKET}\ninjection = 'paced'\n\
         pattern = {{ pairs = {{ list = [[0, 2]] }} }}\n\
         [run]\nwarmup = 10_000\nmeasure = 400_000\n[checks]\nfull = true\n"
    ))
}

fn links(outcome: &Outcome) -> &[RetryLinks] {
    &outcome.retry.as_ref().expect("links that can break frames").links
}

/// The closed form of go-back-N: (1 - e) / (1 + e (W - 1)), with W frames from the start of one to its answer.
#[test]
fn goodput_is_that_of_go_back_n() {
    for latency in [5, 45, 145] {
        for bit_error_rate in [1e-4_f64, 1e-3, 5e-3] {
            let retry = format!(", retry = {{ bit_error_rate = {bit_error_rate:?} }}");
            let outcome = support::run(&alone(latency, &retry));
            let error = 1.0 - (1.0 - bit_error_rate).powi(80);
            let window = (PACKET + 2.0 * f64::from(latency)) / PACKET;
            let goodput = (1.0 - error) / (1.0 + error * (window - 1.0));
            let found = outcome.arrays.accepted_by_host[2];
            // Four standard deviations of the errors in the measurement, each of which takes a loop.
            let frames = 400_000.0 / PACKET * goodput / (1.0 - error);
            let off = 4.0 * (frames * error).sqrt() * window * PACKET / 400_000.0 + 0.001;
            assert!((found - goodput).abs() < off, "{latency} {bit_error_rate}: {found} {goodput}");
            let link = &links(&outcome)[0];
            assert!((link.goodput - goodput).abs() < off, "{link:?} {goodput}");
            let share = link.errors as f64 / link.frames as f64;
            assert!((share / error - 1.0).abs() < 0.2, "{share} {error}");
            assert_eq!(outcome.packets.lost, 0);
        }
    }
}

/// A sender keeps what passes in a loop, and one that can keep less has that share of its link.
#[test]
fn the_replay_buffer_holds_a_loop() {
    let full = support::run(&alone(45, ", retry = { bit_error_rate = 0.0 }"));
    assert_eq!((links(&full)[0].replay_max, links(&full)[0].errors), (100, 0));
    for (buffer, share) in [(10, 0.1), (35, 0.3), (70, 0.7), (100, 1.0), (300, 1.0)] {
        let retry = format!(", retry = {{ bit_error_rate = 0.0, replay_buffer = {buffer} }}");
        let outcome = support::run(&alone(45, &retry));
        assert_eq!(outcome.arrays.accepted_by_host[2], share, "{buffer}");
    }
}

fn with_retry(spec: &mut Spec, retry: &str) {
    let retry: RetrySpec = value(retry);
    spec.network.links.values_mut().for_each(|link| link.retry = Some(retry.clone()));
    if let Some(link) = &mut spec.network.nic.link {
        link.retry = Some(retry);
    }
}

/// In every switch and under every flow control: without errors nothing changes, and with errors nothing is lost, and
/// the division does not matter.
#[test]
fn errors_lose_nothing_and_divide() {
    let controls = PAUSES[..4].iter().chain(&["{ credits = {} }"]).enumerate();
    for (c, control) in controls {
        let switch = if c % 2 == 0 { SWITCHES[7 + c] } else { HOLDING_SWITCHES[c % 3] };
        let mut spec = support::dragonfly(2, 4, 2);
        spec.network.switch = value(switch);
        spec.network.flow_control = value(control);
        spec.network.links.values_mut().for_each(|link| link.buffer = 600.into());
        spec.network.nic.latency = 5.into();
        spec.network.nic.link = (c < 4 && c % 2 == 0).then(|| value("{ buffer = 200 }"));
        (spec.traffic.load, spec.traffic.packet_size) = (0.6, value("{ min = 1, max = 16 }"));
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(300.into()), 1_500.into());
        spec.checks.full = true;
        let plain = support::run(&spec);
        with_retry(&mut spec, "{ bit_error_rate = 0.0 }");
        let mut perfect = support::run(&spec);
        assert!(perfect.retry.take().is_some());
        assert!(perfect == plain, "{control}: links without errors matter");
        with_retry(&mut spec, "{ bit_error_rate = 0.00002, replay_buffer = 100, response = 3 }");
        let one = support::run_divided(&spec, control);
        assert_eq!(one.packets.lost, 0, "{control}");
        for link in links(&one) {
            assert!(link.errors > 0 && link.goodput < 1.0 && link.replay_max <= 100, "{link:?}");
        }
    }
}

/// Rates and buffers that cannot work.
#[test]
fn rates_and_replay_buffers_are_checked() {
    for (retry, key) in [
        ("bit_error_rate = 1.0", "bit_error_rate"),
        ("bit_error_rate = -0.1", "bit_error_rate"),
        ("bit_error_rate = nan", "bit_error_rate"),
        ("bit_error_rate = 0.1, replay_buffer = 9", "replay_buffer"),
        ("bit_error_rate = 0.1, response = '1 KB'", "response"),
    ] {
        let spec = alone(5, &format!(", retry = {{ {retry} }}"));
        let error = Simulation::build(&spec).err().unwrap_or_else(|| panic!("{retry} is accepted"));
        assert_eq!(error.path, format!("network.links.link.retry.{key}"), "{error}");
    }
}

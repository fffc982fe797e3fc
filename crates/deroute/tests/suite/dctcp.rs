//! DCTCP: windows that are cut by the fraction of packets that are marked.

use deroute::outcome::Outcome;
use deroute::spec::Spec;

use crate::support::incast::Incast;
use crate::support::{self, value};

/// Phits of a packet.
const PACKET: f64 = 20.0;

fn nic(reaction: &str) -> String {
    format!("notification_point = {{ acknowledgement = {{}} }}\nreaction_point = {reaction}")
}

/// 40 Gb/s in phits of 50 B, 10 ns each, and packets of 1 KB: hosts 2 us from their switch, which marks beyond so many
/// phits, and of which some send to one.
fn incast(senders: u32, threshold: u32, reaction: &str) -> Spec {
    let nic = nic(reaction);
    let (latency, warmup, measure) = ("2 us", "10 ms", "4 ms");
    let mut spec =
        Incast { senders, latency, nic: &nic, warmup, measure, ..Incast::default() }.spec();
    let marks = format!("{{ ecn = {{ kmin = {threshold}, kmax = {threshold}, pmax = 1.0 }} }}");
    spec.network.congestion_point = Some(value(&marks));
    spec.probes.queues =
        Some(value(&format!("{{ every = 10, ports = {{ hosts = [{senders}] }} }}")));
    spec
}

/// One host sends to another over a link of half the rate.
fn narrow(threshold: u32, reaction: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"10 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {{ graph = {{ hosts = 1, edges = [[0, 1]] }} }}\n\
         classes = {{ count = 2 }}\nflow_control = {{ pfc = {{}} }}\n\
         congestion_point = {{ ecn = {{ kmin = {threshold}, kmax = {threshold}, pmax = 1.0 }} }}\n\
         switch = {{ input_buffered_output_queued = {{ pipeline = 10 }} }}\n\
         links = {{ link = {{ latency = 300, vcs = 2, buffer = 100_000, rate = \"1/2\" }} }}\n\
         [network.nic]\nlatency = 140\ninjection_queue = \"100 KB\"\nlink = {{ buffer = 100_000 }}\n{}\n\
         [routing.minimal]\n\
         [traffic]\nload = 0.0\npacket_size = 20\npattern = \"uniform\"\n\
         stream = [{{ name = \"greedy\", hosts = {{ from = 0, to = 0 }}, load = 1.0, \
                      destinations = {{ any = [1] }} }}]\n\
         [run]\nwarmup = \"10 ms\"\nmeasure = \"4 ms\"\n\
         [probes]\nqueues = {{ every = 10, ports = \"all\" }}\n\
         rates = {{ every = 10, flows = {{ pairs = [[0, 1]] }} }}\n",
        nic(reaction)
    ))
}

const DCTCP: &str = "{ dctcp = { largest_window = '1 MB' } }";

/// Packets that the narrowest link sends in a round trip without queues, found by a window of one packet.
fn pipe(mut spec: Spec, to: usize, rate: f64) -> f64 {
    spec.network.nic.reaction_point = Some(value("{ window = { size = 20 } }"));
    rate / support::run(&spec).arrays.accepted_by_host[to]
}

/// Least and most packets in the queue that is the longest.
fn queue(outcome: &Outcome) -> (f64, f64) {
    let queues = outcome.queues.as_ref().expect("queues were asked for");
    let width = queues.places.len();
    let span = |place: usize| {
        let samples = queues.phits.iter().skip(place).step_by(width);
        let (least, most) = samples.fold((u32::MAX, 0), |(l, m), q| (l.min(*q), m.max(*q)));
        (f64::from(most) / PACKET, f64::from(least) / PACKET)
    };
    let (most, least) = (0..width).map(span).fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
    (least, most)
}

/// One flow climbs to W* = C RTT + K packets by one in a round trip, and one round trip later it falls by alpha / 2, which
/// takes D = alpha W* / 2 round trips to make good. In the paper packets are marked as they come, all of a window in
/// these D, so that alpha = 1 / D: alpha^2 = 2 / W*. Two things differ here. Packets are marked as they leave, so that
/// the K that wait when the queue passes K are not: C RTT packets of W*. And alpha moves by g = 1/16 only: it is lowest when
/// the marks come, below its mean by the factor D g (1 - g)^(D - 1) / (1 - (1 - g)^D).
#[test]
fn alpha_is_that_of_its_sawtooth() {
    for threshold in [100_u32, 200, 400] {
        let spec = narrow(threshold, DCTCP);
        let pipe = pipe(spec.clone(), 1, 0.5);
        let outcome = support::run(&spec);
        let windows = &outcome.rates.as_ref().expect("rates were asked for").windows;
        let pairs = windows.windows(2).filter(|pair| pair[1] < pair[0]);
        let falls: Vec<f64> = pairs.map(|pair| 2.0 * (1.0 - pair[1] / pair[0])).collect();
        assert!(falls.len() > 40, "{threshold}: {} cuts", falls.len());
        let alpha = falls.iter().sum::<f64>() / falls.len() as f64;
        let critical = pipe + f64::from(threshold) / PACKET;
        let mean = (2.0 / critical * (pipe / critical)).sqrt();
        let kept: f64 = 1.0 - 1.0 / 16.0;
        let expected = (0..20).fold(mean, |alpha, _| {
            let length = alpha * critical / 2.0;
            let lowest =
                length * (1.0 - kept) * kept.powf(length - 1.0) / (1.0 - kept.powf(length));
            mean * lowest.sqrt()
        });
        assert!((alpha / expected - 1.0).abs() < 0.05, "{threshold}: {alpha} for {expected}");
        let (least, most) = queue(&outcome);
        assert!(least > 0.0 && most <= f64::from(threshold) / PACKET + 2.0, "{least} to {most}");
    }
}

/// N flows in step climb until the queue has K + N packets, and swing by sqrt(2 N (C RTT + K)) / 2. Where that is less than
/// K + N the link is never idle. Of all N those with 8 N = C RTT + K swing furthest below K, 6 here, so that K above
/// C RTT / 7 is enough for any of them; a seventh of that is not.
#[test]
fn queues_swing_below_the_threshold() {
    let pipe = pipe(incast(1, 150, DCTCP), 1, 1.0);
    assert!((5.8..5.9).contains(&(pipe / 7.0)), "{pipe}");
    for (flows, threshold) in [(2_u32, 150_u32), (4, 150), (6, 150), (8, 150), (6, 120), (6, 20)] {
        let what = format!("{flows} flows, threshold {threshold}");
        let outcome = support::run(&incast(flows, threshold, DCTCP));
        let (n, k) = (f64::from(flows), f64::from(threshold) / PACKET);
        let (least, most) = queue(&outcome);
        let swing = (2.0 * n * (pipe + k)).sqrt() / 2.0;
        assert!((most - k - n).abs() <= 1.0, "{what}: {most} packets");
        let accepted = outcome.arrays.accepted_by_host[flows as usize];
        if k > pipe / 7.0 {
            assert!((1.0..1.25).contains(&((most - least) / swing)), "{what}: {least} to {most}");
            assert!(accepted > 0.999, "{what}: {accepted}");
        } else {
            assert!(least == 0.0 && accepted < 0.98, "{what}: {least}, {accepted}");
        }
        let used = outcome.reaction_point.as_ref().expect("reaction points");
        assert!(used.cuts > 100 && used.windows.unwrap().raises > 1_000, "{what}: {used:?}");
        assert_eq!(outcome.packets.lost, 0);
    }
}

/// A flow alone, and links that carry all of it: no cut, and the windows say so.
#[test]
fn a_lone_flow_is_never_cut() {
    let outcome = support::run(&incast(1, 150, DCTCP));
    let used = outcome.reaction_point.as_ref().expect("reaction points");
    assert_eq!((used.cuts, used.limited), (0, 1));
    let accepted = outcome.arrays.accepted_by_host[1];
    assert!(accepted > 0.99, "{accepted}: slow start is over");
}

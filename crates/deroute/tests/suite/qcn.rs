//! Quantized congestion notification: congestion points, notifications, reaction points.

use deroute::RunOptions;
use deroute::outcome::{NotificationUse, Outcome, ReactionPointUse};
use deroute::spec::{Spec, Warmup};

use crate::notified;
use crate::streams::stream;
use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES};
use crate::support::{self, value};

/// 10 Gb/s in phits of 50 B, 40 ns each: hosts 5 us from their switch, PFC with buffers that never fill, packets of
/// 1500 B, and nothing but these streams.
pub fn switch(hosts: u32, qcn: &str, reaction: &str, streams: &str, times: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"40 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {{ crossbar = {{ hosts = {hosts} }} }}\n\
         classes = {{ count = 2 }}\ncongestion_point = {{ qcn = {qcn} }}\n\
         [network.nic]\nlatency = \"5 us\"\ninjection_queue = \"150 KB\"\n\
         link = {{ buffer = \"8 MB\" }}\nreaction_point = {{ qcn = {reaction} }}\n\
         [network.flow_control.pfc]\n\
         [network.switch.input_buffered_output_queued]\n\
         [routing.minimal]\n\
         [traffic]\nload = 0.0\npacket_size = 30\npattern = \"uniform\"\nstream = {streams}\n\
         [run]\n{times}\n[checks]\nfull = true\n"
    ))
}

/// Streams of so much load from some hosts to one.
pub fn to(name: &str, hosts: &str, load: f64, host: u32) -> String {
    format!(
        "{{ name = \"{name}\", hosts = {hosts}, load = {load:?}, destinations = {{ any = [{host}] }} }}"
    )
}

fn run(spec: &Spec) -> Outcome {
    support::attempt(spec, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn notifications(outcome: &Outcome) -> &NotificationUse {
    outcome.notifications.as_ref().expect("congestion points that notify")
}

fn reactions(outcome: &Outcome) -> &ReactionPointUse {
    outcome.reaction_point.as_ref().expect("reaction points")
}

/// N greedy flows to one output: it never idles, and its queue settles at the set point, about which it varies by up to
/// 3 KB in simulations of the two algorithms alone.
#[test]
fn a_queue_settles_at_its_set_point() {
    for (q_eq, mean) in [("20 KB", 20.0), ("33 KB", 33.0)] {
        for n in [2_u32, 4, 10] {
            let senders = format!("{{ from = 0, to = {} }}", n - 1);
            let qcn = format!("{{ q_eq = \"{q_eq}\" }}");
            let streams = format!("[{}]", to("greedy", &senders, 1.0, n));
            let times = "warmup = \"100 ms\"\nmeasure = \"100 ms\"";
            let outcome = run(&switch(n + 1, &qcn, "{}", &streams, times));
            let accepted = outcome.arrays.accepted_by_host[n as usize];
            assert!((accepted - 1.0).abs() < 5e-4, "{n} of {q_eq}: {accepted}");
            // Little: what waits is what passes in the time that packets spend beyond 2 x 125 cycles of way and 30 of
            // their own.
            let queue = 0.05 * (outcome.latency.network_mean - 280.0);
            assert!((queue - mean).abs() < 3.0, "{n} of {q_eq}: {queue} KB for {mean}");
            let (told, used) = (notifications(&outcome), reactions(&outcome));
            assert_eq!((told.lost, told.received), (0, told.sent));
            assert!(told.sent - used.cuts <= 2, "those at the end are on their way");
            assert_eq!(used.limited_at_end, u64::from(n));
            assert_eq!(outcome.packets.lost, 0);
        }
    }
}

/// Only what goes where it is congested is limited; by source, all that the host sends is.
#[test]
fn other_flows_of_a_host_are_left_alone() {
    let cold = |reaction: &str| {
        let streams = format!(
            "[{}, {}, {}]",
            to("hot", "[0, 1]", 0.5, 3),
            to("greedy", "[2]", 1.0, 3),
            to("cold", "[0]", 0.5, 4)
        );
        let times = "warmup = \"40 ms\"\nmeasure = \"60 ms\"";
        let mut spec = switch(5, "{ q_eq = \"20 KB\" }", reaction, &streams, times);
        // What waits for a limiter must not fill the queue for all.
        spec.network.nic.injection_queue = None;
        let outcome = run(&spec);
        let hot = outcome.arrays.accepted_by_host[3];
        assert!(hot > 0.9, "{hot}");
        let used = reactions(&outcome);
        assert!(used.limited >= 3 && used.limiters_max == 1, "{used:?}");
        (stream(&outcome, "cold").link_share.accepted, stream(&outcome, "hot").link_share.accepted)
    };
    let (free, hot) = cold("{}");
    assert!((free - 0.5).abs() < 0.005, "{free}");
    assert!(hot < 0.48, "{hot}");
    let (held, _) = cold("{ flow = \"source\" }");
    assert!(held < 0.48, "{held}");
}

/// A loaded network in which every part of a congestion point has something to do.
fn network(topology: &str, routing: &str, switch: &str, control: &str, nic: bool) -> Spec {
    let mut spec = support::network(topology);
    spec.routing = value(routing);
    for link in spec.network.links.values_mut() {
        (link.buffer, link.vcs) = (600.into(), 8.into());
    }
    spec.network.classes = Some(value("{ count = 2 }"));
    spec.network.switch = value(switch);
    spec.network.flow_control = value(control);
    spec.network.nic.latency = 5.into();
    spec.network.nic.injection_queue = Some(200.into());
    if nic {
        spec.network.nic.link = Some(value("{ buffer = 400 }"));
        spec.network.nic.reaction_point = Some(value(
            "{ qcn = { byte_counter = 60, timer = 400, active_increase = '1/100', hyper_increase = '1/20',
               least_rate = '1/50' } }",
        ));
    }
    spec.traffic.load = 0.9;
    spec.traffic.hotspots = value("[{ destinations = { any = [1] }, share = 0.3 }]");
    spec.run.warmup = Warmup::Fixed(500.into());
    spec.run.measure = 4_000.into();
    spec.probes.links = true;
    spec.checks.full = true;
    spec
}

const DRAGONFLY: &str = "{ dragonfly = { p = 2, a = 4, h = 2 } }";
const TREE: &str = "{ kary_tree = { k = 2, levels = 3 } }";
const COMBINED: &str = "{ combined_queued = { pipeline = 3, output_buffer = 60 } }";

/// The same for any division, whatever is sampled, and whoever is told; packets and notifications are all somewhere.
#[test]
fn notifications_divide() {
    let variants = [
        "sample = { bytes = 40 }",
        "sample = { packets = 10 }, law = 'constant', victim = 'random', notification_share = 0.3",
        "sample = { cycles = 60 }, law = 'linear', victim = 'oldest', growth = 'notification', w = 0.0",
        "sample = { bytes = 30 }, ejection = false, notifications = { size = 4 }",
    ];
    let networks = [
        (DRAGONFLY, "{ minimal = {} }", COMBINED, PAUSES[0], true),
        (DRAGONFLY, "{ ugal = {} }", COMBINED, "{ credits = {} }", false),
        (DRAGONFLY, "{ valiant = {} }", HOLDING_SWITCHES[1], PAUSES[4], true),
        (TREE, "{ minimal = {} }", HOLDING_SWITCHES[0], PAUSES[0], true),
        (TREE, "{ up_adaptive = {} }", COMBINED, PAUSES[5], true),
    ];
    for (n, (topology, routing, switch, control, nic)) in networks.into_iter().enumerate() {
        for (v, variant) in variants.into_iter().enumerate() {
            let mut spec = network(topology, routing, switch, control, nic);
            let qcn = match (topology, v) {
                (TREE, 3) => variant.replace("size = 4", "size = 4, path = 'random-up'"),
                _ => variant.to_owned(),
            };
            spec.network.congestion_point =
                Some(value(&format!("{{ qcn = {{ q_eq = 12, {qcn} }} }}")));
            spec.run.seed = (1 + n + v) as u64;
            let what = format!("{topology} {routing} {switch} {control} {qcn}");
            let one = support::attempt(&spec, &RunOptions::default());
            let one = one.unwrap_or_else(|error| panic!("{what}: {error}"));
            let options = RunOptions { threads: 2, partitions: Some(5), ..RunOptions::default() };
            let other = support::attempt(&spec, &options).unwrap();
            assert!(one == other, "{what}: the division matters");
            let told = notifications(&one);
            assert!(told.sent > 20 && told.received > told.sent / 2, "{what}: {told:?}");
            assert_eq!(told.ports.iter().map(|port| port.sent).sum::<u64>(), told.sent, "{what}");
            let ejected = told.queues.iter().find(|queue| queue.class == "ejection");
            assert_eq!(ejected.is_some_and(|queue| queue.samples > 0), v != 3, "{what}");
            if nic {
                let used = reactions(&one);
                assert!(used.cuts > 10 && used.rate_min < 0.9, "{what}: {used:?}");
                assert!(used.cuts <= told.received, "{what}");
            }
        }
    }
}

/// Congestion points that never notify, and limiters that never limit, change nothing, and say so.
#[test]
fn what_never_acts_changes_nothing() {
    for (switch, control, nic) in
        [(COMBINED, PAUSES[0], true), (HOLDING_SWITCHES[0], "{ credits = {} }", false)]
    {
        let mut spec = network(DRAGONFLY, "{ minimal = {} }", switch, control, nic);
        spec.network.nic.reaction_point = None;
        let bare = support::run(&spec);
        spec.network.congestion_point = Some(value(
            "{ qcn = { q_eq = 60, notification_share = 0.0, sample = { packets = 5 } } }",
        ));
        spec.network.nic.reaction_point = nic.then(|| value("{ qcn = {} }"));
        let mut outcome = support::run(&spec);
        let told = outcome.notifications.take().expect("congestion points");
        assert!(told.says[0].contains("nobody was notified"), "{:?}", told.says);
        assert!(told.sent == 0 && told.queues.iter().any(|queue| queue.samples > 0));
        if let Some(used) = outcome.reaction_point.take() {
            assert!(used.says[0].contains("no rate was cut"), "{:?}", used.says);
            assert_eq!((used.cuts, used.limited, used.rate_min), (0, 0, 1.0));
        }
        assert!(outcome == bare, "{switch} {control}: it disturbs");
    }
}

/// By so many packets, a share of those whose queue is too long is told.
#[test]
fn samples_are_as_many_as_asked_for() {
    let qcn = |share: f64| {
        format!(
            "{{ q_eq = \"5 KB\", w = 0.0, sample = {{ packets = 7 }}, law = 'constant', jitter = 0.0,
               victim = 'random', notification_share = {share:?} }}"
        )
    };
    for share in [1.0, 0.3] {
        // Nobody reacts: the rates are cut to no less than they are.
        let streams = format!("[{}]", to("greedy", "[0, 1]", 1.0, 2));
        let times = "warmup = 0\nmeasure = 1_000_000";
        let outcome = run(&switch(3, &qcn(share), "{ gain = 0.0 }", &streams, times));
        let told = notifications(&outcome);
        let ejection = &told.queues[0];
        // A packet that enters the queue of a host counts as delivered.
        assert_eq!(ejection.samples, outcome.packets.delivered / 7);
        assert!(ejection.congested as f64 > 0.99 * ejection.samples as f64);
        let found = told.sent as f64 / ejection.congested as f64;
        let deviation = (share * (1.0 - share) / ejection.congested as f64).sqrt();
        assert!((found - share).abs() <= 4.0 * deviation, "{found} for {share}");
    }
}

/// With a notification of feedback 63 for each M packets, `P` falls to a 64th and climbs a point for each hundred: so says the
/// record of the agents. The queue that is sampled holds more than twice of one phit when a packet enters, and host 1 has the
/// minimal port for its alternative, so that what it sends does not depend on `P`.
#[test]
fn probabilities_are_a_sawtooth() {
    for packets in [3_000_u32, 6_050] {
        let qcn = format!(
            "{{ q_eq = 1, w = 0.0, ejection = false, sample = {{ packets = {packets} }}, law = 'constant', jitter = 0.0, \
                notifications = {{ size = 2 }} }}"
        );
        let topology = "{ dragonfly = { p = 2, a = 1, h = 2 } }";
        let routing = "{ qcn_switch = { feedback = 'base' } }";
        let mut spec =
            notified::network(topology, routing, &qcn, (notified::COMBINED, "{ credits = {} }"));
        spec.traffic.load = 0.9;
        spec.traffic.pattern = value("{ pairs = { list = [[1, 2]] } }");
        spec.run.warmup = Warmup::Fixed(100_000.into());
        spec.run.measure = 300_000.into();
        spec.probes.agents = Some(value("{ every = 100, domain = 0 }"));
        let agents = support::run(&spec).agents.expect("agents were asked for");
        let column = agents.names.iter().position(|name| name == "probability_3").expect("a port");
        let all = agents.values.iter().skip(column).step_by(agents.names.len());
        let all: Vec<f64> = all.copied().collect();
        let (low, high) =
            all.iter().fold((100.0, 0.0), |(low, high): (f64, f64), p| (low.min(*p), high.max(*p)));
        // The last of the packets may be on its way when the notification is made.
        let climbs = f64::from((packets - 1) / 100);
        let peaks = (climbs * 64.0 / 63.0 - 1e-6)..=((climbs + 1.0) * 64.0 / 63.0 + 1e-6);
        assert!(peaks.contains(&high) && peaks.contains(&(64.0 * low)), "{low} {high}");
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let expected = f64::from(packets) / 200.0;
        assert!((mean / expected - 1.0).abs() < 0.06, "{mean} for {expected}");
        // Falls of all of that, and rises of a point.
        let falls = all.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(falls > 5, "{falls}");
        let rises = all.windows(2).filter(|pair| pair[1] > pair[0]);
        assert!(rises.map(|pair| pair[1] - pair[0]).all(|rise| (rise - 1.0).abs() < 1e-9));
    }
}

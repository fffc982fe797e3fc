//! Several injection queues for each class of a host.

use deroute::outcome::Outcome;
use deroute::spec::{InjectionQueues, Quantity, Spec, Warmup};

use crate::streams::stream;
use crate::support::catalogue::{HOLDING_SWITCHES, INJECTION_QUEUES, SWITCHES};
use crate::support::{self, value};

fn queues(text: &str) -> Option<InjectionQueues> {
    Some(value(text))
}

/// Two streams of host 0, and hosts that send to the destination of the first one all they can.
fn streams(others: u32, [a, b]: [(f64, u32); 2], (nic, injection): (&str, &str)) -> Spec {
    let hosts = others + 3;
    let stream = |name: &str, (load, to): (f64, u32)| {
        format!(
            "{{ name = '{name}', hosts = [0], load = {load:?}, destinations = {{ any = [{to}] }}, \
             injection = '{injection}' }}"
        )
    };
    support::parse(&format!(
        "[network]\ntopology = {{ crossbar = {{ hosts = {hosts} }} }}\n{nic}\
         [routing.minimal]\n\
         [traffic]\nload = 0.0\npacket_size = 8\npattern = 'uniform'\nstream = [\
         {}, {}, {{ name = 'others', hosts = {{ from = 3, to = {} }}, load = 1.0, destinations = {{ any = [1] }} }}]\n\
         [run]\nwarmup = 20_000\nmeasure = 60_000\n[checks]\nfull = true\n",
        stream("a", a),
        stream("b", b),
        hosts - 1
    ))
}

fn accepted(outcome: &Outcome, name: &str) -> f64 {
    stream(outcome, name).link_share.accepted
}

/// A packet to a busy host holds up only those of its queue: on one queue a stream to a host that nobody else wants
/// gets no more than in proportion to the one beside it; on a queue of its own, all that it asks for.
#[test]
fn a_queue_for_each_destination_waits_for_no_other() {
    let nic = "switch = { input_queued = {} }\nnic = { latency = 1, injection_queue = 64 }\n";
    for m in [1, 3, 7] {
        let mut spec = streams(m, [(0.5, 1), (0.45, 2)], (nic, "bernoulli"));
        let one = support::run(&spec);
        let (hot, cold) = (accepted(&one, "a"), accepted(&one, "b"));
        assert!((cold / hot - 0.9).abs() < 0.1, "{m}, one queue: {hot} {cold}");
        for own in ["{ destination = {} }", "{ destination = { count = 2 } }"] {
            spec.network.nic.queues = queues(own);
            let outcome = support::run(&spec);
            let (hot, cold) = (accepted(&outcome, "a"), accepted(&outcome, "b"));
            assert!((cold - 0.45).abs() < 0.02, "{m}, {own}: {cold}");
            assert!(hot > 0.05 && outcome.arrays.accepted_by_host[1] > 0.99, "{m}, {own}: {hot}");
        }
    }
}

/// Queues before a link take turns: of half a link, which is what another host leaves them, two flows get a quarter each.
/// On one queue they get it in proportion to what they ask for.
#[test]
fn queues_take_turns_at_the_link_of_a_host() {
    let nic = "switch = { input_queued = {} }\nflow_control = { pfc = { response = 0, frame = 1 } }\n\
               nic = { latency = 4, injection_queue = 64, link = { buffer = 200 } }\n";
    let mut spec = streams(1, [(0.7, 1), (0.3, 1)], (nic, "paced"));
    let one = support::run(&spec);
    for (name, load) in [("a", 0.35), ("b", 0.15)] {
        let found = accepted(&one, name);
        assert!((found - load).abs() < 0.02, "one queue: {name} {found}");
    }
    spec.network.nic.queues = queues("{ flow = { count = 32 } }");
    let outcome = support::run(&spec);
    for name in ["a", "b"] {
        let found = accepted(&outcome, name);
        assert!((found - 0.25).abs() < 0.002, "{name} {found}");
    }
}

/// One queue is what there is without queues, and where each host sends to one other, their number does not matter.
#[test]
fn one_queue_is_none() {
    let one = ["{ destination = { count = 1 } }", "{ flow = { count = 1 } }"];
    let many = ["{ destination = { count = 5 } }", "{ flow = { count = 7 } }"];
    for (pattern, choices) in [("'uniform'", one), ("{ shift = { by = 3 } }", many)] {
        for link in [None, Some("{ buffer = 200 }")] {
            let mut spec = support::dragonfly(2, 4, 2);
            spec.traffic.pattern = value(pattern);
            spec.traffic.load = 0.7;
            (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(300.into()), 1_500.into());
            spec.network.nic.latency = 2.into();
            spec.network.nic.injection_queue = Some(Quantity::from(60));
            if let Some(link) = link {
                spec.network.nic.link = Some(value(link));
                spec.network.flow_control =
                    value("{ pfc = { response = 0, frame = 1, lossy = true } }");
            }
            let without = support::run(&spec);
            for own in choices {
                spec.network.nic.queues = queues(own);
                assert!(support::run(&spec) == without, "{pattern} {link:?} {own}");
            }
        }
    }
}

/// Every switch and every way to choose, with classes and without, with links of hosts and without: nothing is lost,
/// and the division does not matter.
#[test]
fn queues_lose_nothing_and_divide() {
    let switches = SWITCHES.into_iter().step_by(3).chain(HOLDING_SWITCHES);
    for (s, switch) in switches.enumerate() {
        let mut spec = support::dragonfly(2, 4, 2);
        spec.network.switch = value(switch);
        spec.network.nic.queues = queues(INJECTION_QUEUES[s % INJECTION_QUEUES.len()]);
        spec.network.nic.latency = 5.into();
        spec.network.nic.injection_queue = Some(64.into());
        for link in spec.network.links.values_mut() {
            link.buffer = 250.into();
            link.vcs = (2 * support::vcs(link)).into();
        }
        if s % 2 == 0 {
            spec.network.queuing = Some(value("{ dbbm = { queues = 2 } }"));
        }
        if s % 3 == 0 {
            spec.network.flow_control = value("{ pfc = { response = 0, frame = 1 } }");
            spec.network.nic.link = Some(value("{ buffer = 200 }"));
        }
        spec.traffic.load = 0.9;
        spec.traffic.packet_size = value("{ min = 1, max = 16 }");
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(300.into()), 900.into());
        spec.checks.full = true;
        if support::routes_too_early(&spec) {
            continue;
        }
        let one = support::run_divided(&spec, switch);
        assert!(one.packets.delivered > 0 && one.packets.lost == 0, "{switch}");
    }
}

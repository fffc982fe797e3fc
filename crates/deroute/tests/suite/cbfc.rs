//! Credits that come back in messages.

use deroute::outcome::{CreditUse, Outcome};
use deroute::spec::{Forwarding, Spec, Warmup};
use deroute::{RunOptions, Simulation};

use crate::support::catalogue::{HOLDING_SWITCHES, SWITCHES};
use crate::support::{self, value};

/// Packets of the tests, and the way there and back between two routers: what a credit takes that is told at once.
const PACKET: u32 = 10;
const ROUND_TRIP: u32 = 100;

/// Hosts 0 and 1 at one router, 2 and 3 at the next; the link between the routers has such a buffer.
fn pair(control: &str, buffer: u32, traffic: &str) -> Spec {
    support::parse(&format!(
        "[network]\ntopology = {{ graph = {{ hosts = 2, edges = [[0, 1]] }} }}\nflow_control = {control}\n\
         links = {{ link = {{ latency = {}, vcs = 1, buffer = {buffer} }} }}\n\
         nic = {{ latency = 1, injection_queue = 40 }}\n\
         switch = {{ combined_queued = {{ pipeline = 0, output_buffer = 40 }} }}\n\
         {traffic}[checks]\nfull = true\n",
        ROUND_TRIP / 2
    ))
}

/// Host 0 sends to host 2 as much as it can, and nobody else sends.
fn alone(control: &str, buffer: u32) -> Spec {
    let traffic = "[routing.minimal]\n[traffic]\nload = 1.0\npacket_size = 10\ninjection = 'paced'\n\
                   pattern = { pairs = { list = [[0, 2]] } }\n[run]\nwarmup = 1000\nmeasure = 10_000\n";
    pair(control, buffer, traffic)
}

fn credits(outcome: &Outcome) -> &[CreditUse] {
    &outcome.flow_control.as_ref().expect("a flow control that says what it did").credits
}

fn accepted(outcome: &Outcome) -> f64 {
    outcome.arrays.accepted_by_host[2]
}

/// As many packets as the buffer holds go in a round trip, and no more than the link carries.
#[test]
fn a_buffer_sustains_its_share_of_a_round_trip() {
    for packets in [1, 2, 5, 9, 10, 12] {
        for rest in [0, PACKET - 1] {
            let spec = alone("{ cbfc = { interval = 1, message = 0 } }", packets * PACKET + rest);
            let share = f64::from(packets * PACKET) / f64::from(ROUND_TRIP);
            assert_eq!(accepted(&support::run(&spec)), share.min(1.0), "{packets} packets");
        }
    }
    // What is told later, and takes longer, is between the best and the worst that the interval allows.
    for (interval, message, buffer) in [(30, 2, 60), (80, 9, 120), (40, 0, 100), (200, 20, 200)] {
        let control = format!("{{ cbfc = {{ interval = {interval}, message = {message} }} }}");
        let outcome = support::run(&alone(&control, buffer));
        let (least, found) = (credits(&outcome)[0].sustained, accepted(&outcome));
        let most = f64::from(buffer) / f64::from(ROUND_TRIP + message);
        assert!(found >= least - 0.01 && found <= most.min(1.0), "{least} {found} {most}");
        assert_eq!(
            credits(&outcome)[0].round_trip,
            u64::from(ROUND_TRIP + interval + message + 10)
        );
    }
}

/// Where nothing comes the other way and a message takes nothing, it is as credits are, to the bit.
#[test]
fn messages_that_take_nothing_are_credits() {
    for buffer in [PACKET, 45, 100] {
        let mut told = alone("{ cbfc = { interval = 1, message = 0 } }", buffer);
        let mut plain = alone("{ credits = {} }", buffer);
        // Two classes of service, so that both have queues at the outputs.
        for spec in [&mut told, &mut plain] {
            spec.network.classes = Some(value("{ count = 2 }"));
            spec.network.links.values_mut().for_each(|link| link.vcs = value("2"));
        }
        let mut outcome = support::run(&told);
        assert!(outcome.flow_control.take().is_some());
        assert!(outcome == support::run(&plain), "{buffer}");
    }
}

/// A receiver that was busy with another class until cycle 3000 and is not any more: does its output idle then?
fn resumes(control: &str, buffer: u32) -> Option<f64> {
    let stream = "[routing.minimal]\n[traffic]\nload = 0.0\npacket_size = 10\npattern = 'uniform'\ninjection = 'paced'\n\
         stream = [{ name = 'low', hosts = [0], load = 1.0, destinations = { any = [2] } }, \
                   { name = 'high', hosts = [3], load = 1.0, destinations = { any = [2] }, class = 1, stop = 0 }]\n\
         [run]\nwarmup = 3000\nmeasure = 4000\n";
    let mut spec = pair(control, buffer, stream);
    spec.network.classes = Some(value("{ count = 2 }"));
    spec.network.links.values_mut().for_each(|link| link.vcs = value("2"));
    // Nothing of the lower class is in the way of the other.
    spec.network.switch = value(HOLDING_SWITCHES[0]);
    let simulation = Simulation::build(&spec).ok()?;
    let outcome = simulation
        .run(&RunOptions::default(), &mut |_| std::ops::ControlFlow::Continue(()))
        .expect("a run");
    assert_eq!(outcome.packets.lost, 0);
    Some(accepted(&outcome))
}

/// The least buffer, in steps of a packet, with which nothing is lost and an output that is wanted never idles.
fn least(control: impl Fn(u32) -> String) -> u32 {
    let enough = |packets: &u32| resumes(&control(packets * PACKET), packets * PACKET) == Some(1.0);
    (1..60).find(enough).expect("some buffer is enough") * PACKET
}

/// Credits need one round trip of buffer for the full rate and for losing nothing. Pauses need one to lose nothing
/// after they were said, and another one below that so as not to run dry. Both need some packets besides.
#[test]
fn credits_need_a_round_trip_and_pauses_two() {
    let counted = least(|_| "{ cbfc = { interval = 1, message = 0 } }".into());
    assert!((ROUND_TRIP..=ROUND_TRIP + 2 * PACKET).contains(&counted), "{counted}");
    // Of one class 1 of a link takes the frame of the other: 2 phits.
    let headroom = ROUND_TRIP + 2 * PACKET + 2;
    let paused = least(|buffer| {
        let xoff = buffer.saturating_sub(headroom).max(1);
        format!("{{ pfc = {{ response = 0, frame = 1, xoff = {xoff}, xon = {xoff} }} }}")
    });
    let most = 2 * ROUND_TRIP + 4 * PACKET;
    assert!((2 * ROUND_TRIP..=most).contains(&paused), "{paused}");
}

/// Every switch and every division, with hosts that count as well: nothing is lost, and credits are recounted.
#[test]
fn credits_are_kept_and_divide() {
    let switches = SWITCHES.into_iter().step_by(3).chain(HOLDING_SWITCHES);
    for (s, switch) in switches.enumerate() {
        let mut spec = support::dragonfly(2, 4, 2);
        let lost = [0.0, 0.3, 0.9][s % 3];
        let (interval, message) = [(5, 1), (20, 4), (60, 0)][s / 2 % 3];
        spec.network.switch = value(switch);
        spec.network.flow_control = value(&format!(
            "{{ cbfc = {{ interval = {interval}, message = {message}, cell = {}, lost_messages = {lost:?} }} }}",
            [1, 4, 7][s / 3 % 3]
        ));
        for link in spec.network.links.values_mut() {
            link.buffer = [30, 100, 203][s % 3].into();
        }
        spec.network.nic.latency = 5.into();
        spec.network.nic.injection_queue = Some(64.into());
        spec.network.nic.link = (s % 2 == 0).then(|| value("{ buffer = 50 }"));
        if s % 4 == 0 && !switch.contains("virtual") {
            spec.network.forwarding = Forwarding::StoreAndForward;
        }
        if s % 4 == 1 {
            spec.network.links.get_mut("local").expect("a link class").rate = Some("1/2".into());
        }
        spec.traffic.load = 0.9;
        spec.traffic.packet_size = value("{ min = 1, max = 16 }");
        spec.run.warmup = Warmup::Fixed(300.into());
        spec.run.measure = 900.into();
        spec.checks.full = true;
        if support::routes_too_early(&spec) {
            continue;
        }
        let one = support::run_divided(&spec, switch);
        assert!(one.packets.delivered > 0 && one.packets.lost == 0, "{switch}");
        let used = credits(&one);
        assert_eq!(used.len(), 2 + usize::from(s % 2 == 0), "{switch}");
        for class in used {
            assert!(class.messages > 0, "{switch}: {}", class.class);
            let share = class.lost_messages as f64 / class.messages as f64;
            assert!((share - lost).abs() < 0.2, "{switch}: {} lost {share} of {lost}", class.class);
        }
    }
}

/// A host with a link of its own sends what the buffer of its router holds in a round trip.
#[test]
fn hosts_count_as_well() {
    for (packets, share) in [(1, 0.1), (3, 0.3), (8, 0.8), (10, 1.0), (14, 1.0)] {
        let mut spec = alone("{ cbfc = { interval = 1, message = 0 } }", 1_000);
        spec.network.nic.latency = u64::from(ROUND_TRIP / 2).into();
        spec.network.nic.link = Some(value(&format!("{{ buffer = {} }}", packets * PACKET)));
        let outcome = support::run(&spec);
        assert_eq!(accepted(&outcome), share, "{packets} packets");
        let host = credits(&outcome).last().expect("hosts");
        assert_eq!((host.class.as_str(), host.links), ("host", 4));
    }
}

/// Messages that are lost delay credits, and lose none of them.
#[test]
fn lost_messages_are_made_up_for() {
    let control = |lost: f64| {
        format!("{{ cbfc = {{ interval = 20, message = 1, lost_messages = {lost:?} }} }}")
    };
    let run = |lost| accepted(&support::run(&alone(&control(lost), 150)));
    let found = [0.0, 0.2, 0.8].map(run);
    assert!(found[0] > 0.99 && found[0] > found[1] && found[1] > found[2], "{found:?}");
    assert!(found[2] > 0.1, "{found:?}");
}

/// Parameters and buffers that cannot work.
#[test]
fn parameters_and_buffers_are_checked() {
    let refuse = |text: &str, path: &str| {
        let error = Simulation::build(&alone(text, 20)).err();
        let error = error.unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(error.path, path, "{error}");
    };
    let at = |key: &str| format!("network.flow_control.cbfc.{key}");
    refuse("{ cbfc = { interval = 0, message = 1 } }", &at("interval"));
    refuse("{ cbfc = { interval = 9, message = 9 } }", &at("interval"));
    refuse(
        "{ cbfc = { interval = 9, message = 5_000_000_000 } }".replace('_', "").as_str(),
        &at("interval"),
    );
    refuse("{ cbfc = { interval = 9, message = 1, cell = 0 } }", &at("cell"));
    refuse("{ cbfc = { interval = 9, message = 1, cell = 70000 } }", &at("cell"));
    refuse("{ cbfc = { interval = 9, message = 1, lost_messages = 1.0 } }", &at("lost_messages"));
    refuse("{ cbfc = { interval = 9, message = 1, lost_messages = nan } }", &at("lost_messages"));
    refuse("{ cbfc = { interval = 9, message = 1, cell = 21 } }", "network.links.link.buffer");
    let mut spec = alone("{ cbfc = { interval = 9, message = 1 } }", 20);
    spec.network.links.values_mut().for_each(|link| link.shared = Some(20.into()));
    let error = Simulation::build(&spec).err().expect("memory that VCs share");
    assert_eq!(error.path, "network.links.link.shared");
}

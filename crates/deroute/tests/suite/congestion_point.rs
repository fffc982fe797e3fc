//! Congestion points against closed forms.

use deroute::RunOptions;
use deroute::outcome::{Outcome, PortMarks};
use deroute::spec::{Sensing, Spec, Warmup};

use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES};
use crate::support::{self, value};

/// Two hosts send all they can to a third: the queue at its output is full whenever a packet leaves. Packets of 10
/// phits, of which it holds 200.
fn full_queue(ecn: &str, pauses: bool) -> Spec {
    let (link, control) = match pauses {
        true => ("link = { buffer = 2000 }\n", "pfc = { response = 0, frame = 1 }"),
        false => ("", "credits = {}"),
    };
    support::parse(&format!(
        "[network]\ntopology = {{ crossbar = {{ hosts = 3 }} }}\n\
         [network.nic]\nlatency = 5\ninjection_queue = 100\n{link}\
         [network.flow_control]\n{control}\n\
         [network.congestion_point]\necn = {ecn}\n\
         [network.switch.output_queued]\noutput_buffer = 200\n\
         [routing.minimal]\n\
         [traffic]\nload = 1.0\npacket_size = 10\npattern = \"uniform\"\n\
         hotspots = [{{ destinations = {{ any = [2] }}, sources = {{ hosts = [0, 1] }} }}]\n\
         [run]\nwarmup = 2_000\nmeasure = 200_000\n[probes]\nlinks = true\n[checks]\nfull = true\n"
    ))
}

/// What the output to the third host did.
fn hot(outcome: &Outcome) -> PortMarks {
    outcome.congestion_point.as_ref().expect("a congestion point").ports[2]
}

/// The share of marks is the line from 0 at `kmin` to `pmax` at `kmax`, at the length of the queue behind a packet: all
/// that fits but one packet.
#[test]
fn marks_follow_the_queue() {
    let behind = 190.0;
    for pauses in [true, false] {
        for (kmin, kmax, pmax) in [(0, 200, 1.0), (100, 200, 0.5), (150, 191, 0.2), (0, 1000, 1.0)]
        {
            let ecn = format!("{{ kmin = {kmin}, kmax = {kmax}, pmax = {pmax} }}");
            let outcome = support::run(&full_queue(&ecn, pauses));
            let PortMarks { packets, marked, .. } = hot(&outcome);
            assert_eq!(packets, 20_000);
            let share: f64 = pmax * (behind - f64::from(kmin)) / f64::from(kmax - kmin);
            let off = marked as f64 / packets as f64 - share;
            let deviation = (share * (1.0 - share) / packets as f64).sqrt();
            assert!(off.abs() < 4.0 * deviation, "{ecn}: {marked} marks, {share} expected");
            // A packet passes one switch only.
            let used = outcome.congestion_point.expect("a congestion point");
            let all: u64 = used.queues.iter().map(|queue| queue.marked).sum();
            assert!(used.marked.abs_diff(all) <= 3, "{} delivered of {all}", used.marked);
            assert_eq!(used.queues[0].queue_max, behind as u32);
        }
    }
}

/// None up to `kmin`, all beyond `kmax`, and nothing by chance between them where they are one.
#[test]
fn marks_begin_and_end() {
    for (kmin, kmax, all) in
        [(190, 300, false), (190, 190, false), (189, 189, true), (0, 189, true)]
    {
        let ecn = format!("{{ kmin = {kmin}, kmax = {kmax}, pmax = 0.3 }}");
        let outcome = support::run(&full_queue(&ecn, true));
        let PortMarks { packets, marked, .. } = hot(&outcome);
        assert_eq!(marked, if all { packets } else { 0 }, "{ecn}");
        let used = outcome.congestion_point.expect("a congestion point");
        assert_eq!(used.marked_share == 0.0, !all);
        assert_eq!(used.says[0].contains("nothing was marked"), !all, "{:?}", used.says);
        assert!(all || used.says[0].contains("190 phits, and kmin is 190"), "{:?}", used.says);
    }
}

/// A loaded Dragonfly.
fn dragonfly(switch: &str, control: &str) -> Spec {
    let mut spec = support::dragonfly(2, 4, 2);
    for link in spec.network.links.values_mut() {
        link.buffer = 600.into();
    }
    spec.network.switch = value(switch);
    spec.network.flow_control = value(control);
    spec.traffic.load = 0.9;
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    spec.run.warmup = Warmup::Fixed(500.into());
    spec.run.measure = 3_000.into();
    spec.probes.links = true;
    spec.checks.full = true;
    spec
}

/// Marks are the same for any division, and change nothing but themselves.
#[test]
fn marks_divide_and_disturb_nothing() {
    let combined = "{ combined_queued = { pipeline = 3, output_buffer = 40 } }";
    let controls = ["{ credits = {} }", PAUSES[0], PAUSES[4]];
    for switch in [combined, HOLDING_SWITCHES[0]] {
        for control in controls {
            let mut spec = dragonfly(switch, control);
            spec.network.sensing = Sensing::Both;
            let bare = support::run(&spec);
            spec.network.congestion_point =
                Some(value("{ ecn = { kmin = 4, kmax = 30, pmax = 0.5 } }"));
            let mut one = support::run(&spec);
            for (threads, partitions) in [(1, 9), (2, 4)] {
                let options =
                    RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
                let other = support::attempt(&spec, &options).expect("a run");
                assert!(one == other, "{switch} {control}: the division matters");
            }
            let used = one.congestion_point.take().expect("a congestion point");
            assert!(one == bare, "{switch} {control}: marks disturb");
            let left: u64 = used.ports.iter().map(|port| port.packets).sum();
            let marked: u64 = used.ports.iter().map(|port| port.marked).sum();
            assert_eq!(left, used.queues.iter().map(|queue| queue.packets).sum::<u64>());
            assert_eq!(marked, used.queues.iter().map(|queue| queue.marked).sum::<u64>());
            assert!(0 < used.marked && used.marked < marked && marked < left, "{used:?}");
        }
    }
}

/// Each class has queues of its own: one that never waits is never marked.
#[test]
fn marks_are_those_of_a_class() {
    let mut spec = full_queue("{ kmin = 0, kmax = 0 }", true);
    spec.network.classes = Some(value("{ count = 2 }"));
    let outcome = support::run(&spec);
    let ports = outcome.congestion_point.expect("a congestion point").ports;
    let services: Vec<(u32, bool)> =
        ports.iter().map(|port| (port.service, port.packets > 0)).collect();
    assert_eq!(services[4..], [(0, true), (1, false)]);
    assert_eq!(ports[4].marked, ports[4].packets);
}

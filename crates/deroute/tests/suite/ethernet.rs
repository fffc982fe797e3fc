//! Lossless Ethernet against closed forms.

use deroute::outcome::{Outcome, PauseUse};
use deroute::spec::{Forwarding, Spec, Warmup};
use deroute::{RunOptions, Simulation};

use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES, SWITCHES};
use crate::support::{self, value};

/// 10 Gb/s: a phit of 1.25 B a nanosecond, frames of so many phits; hosts on one switch, or on two with a trunk.
pub struct Setup<'a> {
    pub topology: &'a str,
    pub frame: u32,
    pub control: &'a str,
    pub traffic: String,
    pub measure: u32,
}

/// The network of the closed forms.
pub fn build(setup: &Setup<'_>) -> Spec {
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
            measure: 4_000_000,
        };
        let outcome = run(&build(&setup));
        let used = hosts(&outcome);
        assert_eq!(used.lost_packets, 0);
        // The output never idles.
        assert_eq!(outcome.arrays.accepted_by_host[n as usize], 1.0);
        // Each buffer fills for the first time with what is left over of its link.
        let fill = 77_600.0 * f64::from(n) / f64::from(n - 1);
        let measured = (outcome.work.cycles as f64 - fill) * f64::from(n) / used.stops as f64;
        assert!((measured / period - 1.0).abs() < 0.02, "{measured} for {period}");
        // Hosts that send nothing to the hot spot are never paused.
        let paused = used.paused_mean * f64::from(n + 1) / f64::from(n);
        assert!((paused - 1.0 + 1.0 / f64::from(n)).abs() < 0.02, "{paused}");
    }
}

/// A receiver that says once that its sender be silent, and cannot say more because a frame of 4,000 phits fills the way
/// back: the link is idle for as many quanta of 512 bits as the pause has, and then goes on.
#[test]
fn a_pause_ends_after_its_quanta() {
    for quanta in [5, 10, 40] {
        let stream = |name: &str, from: u32, to: u32, size: u32| {
            format!(
                "{{ name = '{name}', hosts = [{from}], load = 1.0, destinations = {{ any = [{to}] }}, \
                 packet_size = {size}, injection = 'paced' }}"
            )
        };
        let spec = support::parse(&format!(
            "[units]\ncycle = \"1 ns\"\nphit = \"1.25 B\"\n\
             [network]\ntopology = {{ graph = {{ hosts = 3, edges = [[0, 1]] }} }}\n\
             links = {{ link = {{ latency = 50, vcs = 1, buffer = 80000 }} }}\n\
             nic = {{ latency = 1, injection_queue = 8000 }}\nswitch = {{ combined_queued = {{ output_buffer = 8000 }} }}\n\
             flow_control = {{ pfc = {{ xoff = 200, xon = 100, response = 0, quanta = {quanta}, lossy = true }} }}\n\
             [routing.minimal]\n\
             [traffic]\nload = 0.0\npacket_size = 10\npattern = 'uniform'\nstream = [{}, {}, {}]\n\
             [run]\nwarmup = 0\nmeasure = 400_000\n[probes]\nlinks = true\n[checks]\nfull = true\n",
            stream("a", 0, 3, 10),
            stream("rival", 4, 3, 10),
            stream("back", 5, 1, 4_000)
        ));
        let outcome = run(&spec);
        let used = hosts(&outcome);
        // 512 bits are 51.2 phits; two links, of which one is paused.
        let length = f64::from(quanta) * 51.2;
        let paused = used.paused_mean * 400_000.0 * 2.0;
        assert!(used.stops > 90, "{used:?}");
        assert!(
            (paused - used.stops as f64 * length).abs() <= length,
            "{quanta}: {paused} {used:?}"
        );
        // It is never idle otherwise, but for the frame that has begun when the pause comes, and the first packets.
        let forth = outcome.arrays.link_use[0];
        assert!((1.0 - forth - used.paused_max).abs() < 0.01, "{quanta}: {forth} {used:?}");
    }
}

/// Every switch with queues at its outputs under every flow control: all packets are somewhere or lost where that
/// is allowed, and the division does not matter.
#[test]
fn pauses_lose_nothing_and_divide() {
    let switches = SWITCHES.into_iter().step_by(4).chain(HOLDING_SWITCHES);
    for (s, switch) in switches.enumerate() {
        for (c, control) in PAUSES.into_iter().enumerate() {
            let mut spec = support::dragonfly(2, 4, 2);
            spec.network.switch = value(switch);
            spec.network.flow_control = value(control);
            for link in spec.network.links.values_mut() {
                link.buffer = 600.into();
            }
            spec.network.nic.latency = 5.into();
            spec.network.nic.link = (c % 2 == 0).then(|| value("{ buffer = 200 }"));
            if (s + c) % 3 == 0 && !switch.contains("virtual") {
                spec.network.forwarding = Forwarding::StoreAndForward;
            }
            if (s + c) % 4 == 1 {
                spec.network.links.get_mut("local").expect("a link class").rate =
                    Some("1/2".into());
            }
            spec.traffic.load = 0.9;
            spec.traffic.packet_size = value("{ min = 1, max = 16 }");
            spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
            spec.run.warmup = Warmup::Fixed(300.into());
            spec.run.measure = 900.into();
            spec.checks.full = true;
            if support::routes_too_early(&spec) {
                continue;
            }
            let what = format!("{switch} {control}");
            let one = support::run_divided(&spec, &what);
            let lossy = control.contains("lossy");
            assert!(lossy || one.packets.lost == 0, "{what}: {} packets lost", one.packets.lost);
            assert!(one.packets.delivered > 0, "{what}");
        }
    }
}

/// Pauses between groups and credits inside them, or the other way round, with hosts that are paused in a third way:
/// nothing is lost, buffers and credits are recounted, and the division does not matter.
#[test]
fn classes_of_links_differ_in_flow_control() {
    let (credits, pfc) = ("{ credits = {} }", "{ pfc = { response = 3, frame = 4 } }");
    let pause = "{ pause = { response = 2, frame = 2 } }";
    let timed = "{ pfc = { response = 0, frame = 2, quanta = 60 } }";
    let memory =
        "{ pfc = { response = 2, frame = 3, shared_buffer = { size = 9000, alpha = 0.5 } } }";
    let cases = [
        (credits, pfc, Some(pause)),
        (pfc, credits, Some(pfc)),
        (timed, pfc, Some(pfc)),
        (memory, credits, Some(pause)),
        (credits, credits, Some(pfc)),
    ];
    for (n, (local, global, host)) in cases.into_iter().enumerate() {
        let mut spec = support::dragonfly(2, 4, 2);
        spec.network.switch = value(HOLDING_SWITCHES[n % HOLDING_SWITCHES.len()]);
        for (name, link) in &mut spec.network.links {
            link.buffer = 150.into();
            link.flow_control = Some(value(if name == "local" { local } else { global }));
        }
        spec.network.nic.latency = 5.into();
        let link = |control: &str| value(&format!("{{ buffer = 200, flow_control = {control} }}"));
        spec.network.nic.link = host.map(link);
        spec.traffic.load = 0.9;
        spec.traffic.packet_size = value("{ min = 1, max = 16 }");
        spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
        spec.run.warmup = Warmup::Fixed(300.into());
        spec.run.measure = 3_000.into();
        (spec.checks.full, spec.checks.dependencies) = (true, true);
        spec.probes.pauses = true;
        let one = support::run_divided(&spec, &n.to_string());
        assert!(one.packets.lost == 0 && one.packets.delivered > 0, "{n}");
        let used = one.flow_control.as_ref().expect("pauses");
        let named: Vec<&str> = used.links.iter().map(|link| &*link.class).collect();
        let all = [("local", Some(local)), ("global", Some(global)), ("host", host)];
        let paused = all.into_iter().filter(|(_, control)| control.is_some_and(|c| c != credits));
        assert_eq!(named, paused.map(|(name, _)| name).collect::<Vec<_>>(), "{n}");
        assert!(used.links.iter().any(|link| link.stops > 0), "{n}: {used:?}");
        let rows = &one.pauses.as_ref().expect("a record").rows;
        for (class, link) in (0..).zip(&used.links) {
            let stops = rows.iter().filter(|row| row.class == class).map(|row| row.stops);
            assert_eq!(stops.sum::<u64>(), link.stops, "{n}: {}", link.class);
        }
    }
}

/// A class of links that says what the network says changes nothing.
#[test]
fn what_a_class_repeats_changes_nothing() {
    for control in PAUSES.into_iter().chain(["{ credits = {} }"]) {
        let mut spec = support::dragonfly(2, 4, 2);
        spec.network.flow_control = value(control);
        spec.network.links.values_mut().for_each(|link| link.buffer = 300.into());
        (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(100.into()), 500.into());
        let one = run(&spec);
        for link in spec.network.links.values_mut() {
            link.flow_control = Some(value(control));
        }
        assert!(one == run(&spec), "{control}");
    }
}

/// Limits that cannot work.
#[test]
fn classes_and_limits_are_checked() {
    let refuse = |text: &str, path: &str| {
        let mut spec = support::dragonfly(2, 4, 2);
        spec.network.flow_control = value(text);
        let error = Simulation::build(&spec).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(error.path, path, "{error}");
    };
    refuse(
        "{ pfc = { xoff = 10, xon = 20, response = 0, frame = 4, lossy = true } }",
        "network.flow_control.pfc.xon",
    );
    refuse("{ pfc = { xoff = 700, response = 0, frame = 4 } }", "network.flow_control.pfc.xoff");
    refuse("{ pfc = { quanta = 0 } }", "network.flow_control.pfc.quanta");
    refuse("{ pause = { frame = 100000 } }", "network.flow_control.pause.frame");
}

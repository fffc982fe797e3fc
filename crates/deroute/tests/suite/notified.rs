//! Routings that follow notifications of congestion: QCN-Switch and Switch AR.

use deroute::RunOptions;
use deroute::ids::{HostId, PortId, RouterId, VcId};
use deroute::outcome::Outcome;
use deroute::rng::{Owner, Stream};
use deroute::routing::{
    self, About, Fabric, Header, Made, Notification, Place, Queues, RouterView, Routing,
};
use deroute::spec::{Spec, Warmup};

use crate::conditional::{deeds, run};
use crate::support::catalogue::{HOLDING_SWITCHES, NOTIFIED, PAUSES};
use crate::support::{self, value};

pub const DRAGONFLY: &str = "{ dragonfly = { p = 2, a = 4, h = 2 } }";
const BUTTERFLY: &str = "{ hyperx = { widths = [3, 4], hosts = 3 } }";
const TREE: &str = "{ kary_tree = { k = 2, levels = 3 } }";

/// No packets.
pub struct Empty;

impl Queues for Empty {
    fn port(&self, _port: PortId) -> u32 {
        0
    }

    fn vc(&self, _port: PortId, _vc: VcId) -> u32 {
        0
    }
}

/// The agent of all routers of a network.
pub fn agent(topology: &str, routing: &str) -> Box<dyn Routing> {
    let topology = deroute::topology::build(&value(topology)).expect("a topology");
    let classes = topology.classes().len();
    let fabric = Fabric {
        latency: vec![1; classes],
        vcs: vec![4; classes],
        buffers: vec![100; classes],
        classes: 1,
        queues: 1,
        scale: support::dragonfly(1, 2, 1).units.scale().expect("units"),
        topology: topology.clone(),
    };
    let plan = routing::build(&value(routing), &fabric).expect("a routing");
    (plan.agent)(RouterId(0), topology.routers())
}

/// Of a packet on its minimal path.
pub const ABOUT: About = About { diverted: false, place: Place::Network };

/// Router 0 hears of the queue behind a port of its own.
fn tell(agent: &mut dyn Routing, port: u16, feedback: u8, now: u32) {
    tell_of(agent, (port, feedback, now), ABOUT);
}

pub fn tell_of(agent: &mut dyn Routing, (port, feedback, now): (u16, u8, u32), about: About) {
    let (router, to) = (RouterId(0), (RouterId(31), PortId(0)));
    let (port, ends, made) = (PortId(port), true, None);
    agent.notified(&Notification { router, port, made, ends, to, feedback, about, now });
}

/// The probabilities of the ports of router 0 to other routers, in percent.
pub fn probabilities(agent: &mut dyn Routing) -> Vec<f64> {
    let mut values = Vec::new();
    agent.read(RouterId(0), 0, &mut values);
    values.split_off(2)
}

/// What a packet from host 0 of router 0 sees of it, with queues that are empty.
pub fn view(rng: &mut Stream, now: u32) -> RouterView<'_> {
    RouterView {
        router: RouterId(0),
        input: PortId(0),
        vc: VcId(0),
        port: PortId(0),
        class: 0,
        now,
        size: 1,
        queues: &Empty,
        rng,
    }
}

/// Where packets from host 0 of router 0 to a router go, out of so many: the port of each.
fn ports(agent: &mut dyn Routing, to: RouterId, (packets, now): (u32, u32)) -> Vec<u16> {
    let mut rng = Stream::new(7, Owner::Router(0));
    let mut route = |_| {
        let mut view = view(&mut rng, now);
        agent.route(&mut view, &mut Header::new(to)).port.0
    };
    (0..packets).map(&mut route).collect()
}

pub fn near(found: &[f64], expected: &[f64]) {
    let pairs = found.iter().zip(expected);
    assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} for {expected:?}");
    assert_eq!(found.len(), expected.len());
}

/// Equations 4-3 to 4-5 and the rise by packets: a Dragonfly of h = 2 has ports 2 to 6 to other routers.
#[test]
fn probabilities_follow_feedback() {
    let base = |limit: &str| {
        let routing = format!("{{ qcn_switch = {{ feedback = 'base', limit = {limit} }} }}");
        agent(DRAGONFLY, &routing)
    };
    for (limit, left) in [("0.0078125", 50.78125), ("0.015625", 1.5625)] {
        let mut agent = base(limit);
        tell(&mut *agent, 5, 63, 0);
        near(&probabilities(&mut *agent), &[100.0, 100.0, 100.0, left, 100.0]);
    }
    // The sawtooth: 5,000 packets after a notification, a point for each hundred.
    let mut agent = base("0.015625");
    for _ in 0..3 {
        tell(&mut *agent, 5, 63, 0);
        (0..5_000).for_each(|_| agent.sent(RouterId(0), PortId(5)));
    }
    let top = (1.5625f64 + 50.0) / 64.0 + 50.0;
    near(&probabilities(&mut *agent)[3..4], &[top / 64.0 + 50.0]);
    // Comparison: one port of five that is congested.
    let mut agent = self::agent(DRAGONFLY, "{ qcn_switch = {} }");
    tell(&mut *agent, 5, 60, 0);
    near(&probabilities(&mut *agent)[3..4], &[100.0 * (1.0 - 48.0 / 64.0)]);
    // All of them: nothing changes any more, and what is less congested rises.
    for port in [2, 3, 4, 6, 5] {
        tell(&mut *agent, port, 60, 0);
    }
    let before = probabilities(&mut *agent);
    near(&before[3..], &[25.0, 100.0]);
    tell(&mut *agent, 5, 59, 0);
    near(&probabilities(&mut *agent)[3..4], &[26.0]);
    // The last feedback of the others decays: after many half-lives it is as if they had none.
    let mut agent = self::agent(DRAGONFLY, "{ qcn_switch = { decay = 100 } }");
    (2..6).for_each(|port| tell(&mut *agent, port, 60, 0));
    tell(&mut *agent, 6, 60, 5_000);
    near(&probabilities(&mut *agent)[4..], &[25.0]);
    // Other laws.
    let laws = "feedback = 'base', decrease_law = 'subtractive', increase_law = 'multiplicative', \
                increase = 10.0, packets = 1, least = 7.0";
    let mut agent = self::agent(DRAGONFLY, &format!("{{ qcn_switch = {{ {laws} }} }}"));
    tell(&mut *agent, 5, 32, 0);
    agent.sent(RouterId(0), PortId(5));
    near(&probabilities(&mut *agent)[3..4], &[55.0]);
    tell(&mut *agent, 5, 40, 0);
    near(&probabilities(&mut *agent)[3..4], &[7.0]);
}

/// Packets for other groups are diverted with the probability of the output of their minimal path, over the port of
/// their host; those for the own group never.
#[test]
fn probabilities_divert() {
    let mut agent = agent(DRAGONFLY, "{ qcn_switch = { feedback = 'base', limit = 0.01171875 } }");
    // 31 routers on is the last group, behind router 0 itself or a neighbour.
    let minimal = ports(&mut *agent, RouterId(31), (50, 0));
    assert!(minimal.iter().all(|port| *port == minimal[0]), "{minimal:?}");
    tell(&mut *agent, minimal[0], 64, 0);
    let diverted = ports(&mut *agent, RouterId(31), (4_000, 0));
    let alternative = if minimal[0] == 5 { 6 } else { 5 };
    assert!(diverted.iter().all(|port| [minimal[0], 5].contains(port)), "{alternative}");
    if minimal[0] != 5 {
        let share = diverted.iter().filter(|port| **port == 5).count() as f64 / 4_000.0;
        assert!((share - 0.75).abs() < 0.03, "{share}");
    }
    let local = ports(&mut *agent, RouterId(1), (50, 0));
    assert!(local.iter().all(|port| *port == local[0]), "{local:?}");
}

/// What a switch makes of its own inputs counts with source processing alone, for the minimal output of the packet,
/// and of notifications that pass nothing.
#[test]
fn sources_process_their_own_notifications() {
    let local = |ends, made, to: u32| {
        move |agent: &mut dyn Routing| {
            let (router, port, to) = (RouterId(0), PortId(2), (RouterId(to), PortId(0)));
            let (feedback, about, now) = (63, ABOUT, 0);
            agent.notified(&Notification { router, port, made, ends, to, feedback, about, now });
            probabilities(agent)
        }
    };
    let lowest = |found: &[f64]| found.iter().copied().fold(100.0, f64::min);
    for (processing, lowered) in [("off", 100.0), ("base", 1.5625), ("same", 100.0 - 78.75)] {
        let routing = format!("{{ qcn_switch = {{ source_processing = '{processing}' }} }}");
        let mut agent = agent(DRAGONFLY, &routing);
        // For the own group, and passing by.
        near(&[lowest(&local(false, Some(Made::AtInput), 1)(&mut *agent))], &[100.0]);
        near(&[lowest(&local(false, None, 31)(&mut *agent))], &[100.0]);
        near(&[lowest(&local(false, Some(Made::AtOutput), 31)(&mut *agent))], &[100.0]);
        near(&[lowest(&local(false, Some(Made::AtInput), 31)(&mut *agent))], &[lowered]);
    }
    let mut agent = agent(DRAGONFLY, "{ qcn_switch = { feedback = 'base' } }");
    near(&local(true, Some(Made::AtOutput), 31)(&mut *agent)[..2], &[1.5625, 100.0]);
}

/// Of all inputs, or of those within the group: the ports of this router from 5 on lead to other groups.
#[test]
fn sources_may_process_what_they_say_of_local_inputs_alone() {
    for (inputs, port, left) in [("all", 5, 1.5625), ("local", 2, 1.5625), ("local", 5, 100.0)] {
        let keys = format!("source_processing = 'base', source_inputs = '{inputs}'");
        let mut agent = agent(DRAGONFLY, &format!("{{ qcn_switch = {{ {keys} }} }}"));
        let (router, port, to) = (RouterId(0), PortId(port), (RouterId(31), PortId(0)));
        let (made, ends, feedback, about, now) = (Some(Made::AtInput), false, 63, ABOUT, 0);
        agent.notified(&Notification { router, port, made, ends, to, feedback, about, now });
        near(&[probabilities(&mut *agent).into_iter().fold(100.0, f64::min)], &[left]);
    }
}

/// The port up with the least level for a destination, until the level ends.
#[test]
fn levels_choose_the_way_up() {
    // Hosts 0 and 1 on switch 0, whose ports 2 and 3 lead up; D-mod-K's for host 6 is port 2.
    let far = deroute::topology::build(&value(TREE)).expect("a tree").router_of(HostId(6));
    let told = |agent: &mut dyn Routing, (port, feedback, now): (u16, u8, u32), ends: bool| {
        let (router, to) = (RouterId(0), (far, PortId(0)));
        let (port, made, about) = (PortId(port), None, ABOUT);
        agent.notified(&Notification { router, port, made, ends, to, feedback, about, now });
    };
    let goes = |agent: &mut dyn Routing, now| ports(agent, far, (1, now))[0];
    let plan = |keys: &str| agent(TREE, &format!("{{ switch_ar = {{ timer = 100, {keys} }} }}"));
    for (level, ways) in [
        ("max", [2, 3, 2, 3, 3]),
        ("last", [2, 3, 2, 3, 2]),
        ("flag", [2, 3, 2, 2, 2]),
        ("recent", [2, 3, 2, 3, 3]),
    ] {
        let mut agent = plan(&format!("level = '{level}'"));
        let mut found = vec![goes(&mut *agent, 0)];
        for (port, feedback, now) in [(2, 30, 10), (3, 40, 20), (2, 50, 30), (2, 10, 40)] {
            told(&mut *agent, (port, feedback, now), true);
            found.push(goes(&mut *agent, now));
        }
        assert_eq!(found, ways, "{level}");
        // What was heard has ended; then port 2 again.
        assert_eq!(goes(&mut *agent, 140), 2, "{level}");
        told(&mut *agent, (2, 1, 201), true);
        assert_eq!(goes(&mut *agent, 202), 3, "{level}");
    }
    let mut reset = plan("aging = 'reset'");
    told(&mut *reset, (2, 30, 190), true);
    assert_eq!([199, 200].map(|now| goes(&mut *reset, now)), [3, 2]);
    let mut never = plan("aging = 'never'");
    told(&mut *never, (2, 30, 0), true);
    assert_eq!(goes(&mut *never, 1 << 30), 3);
    let mut source = plan("at = 'source'");
    told(&mut *source, (2, 30, 0), false);
    assert_eq!(goes(&mut *source, 1), 2, "it only passes");
    told(&mut *source, (2, 30, 0), true);
    assert_eq!(goes(&mut *source, 1), 3);
    let mut part = plan("share = 0.2");
    told(&mut *part, (2, 30, 0), true);
    let found = ports(&mut *part, far, (2_000, 1));
    let share = found.iter().filter(|port| **port == 3).count() as f64 / 2_000.0;
    assert!((share - 0.2).abs() < 0.03, "{share}");
}

/// A loaded network whose queues are sampled often.
pub fn network(topology: &str, routing: &str, qcn: &str, (switch, control): (&str, &str)) -> Spec {
    let mut spec = support::network(topology);
    spec.routing = value(routing);
    for link in spec.network.links.values_mut() {
        (link.buffer, link.vcs) = (300.into(), 8.into());
    }
    spec.network.classes = Some(value("{ count = 2 }"));
    spec.network.switch = value(switch);
    spec.network.flow_control = value(control);
    spec.network.congestion_point = Some(value(&format!("{{ qcn = {qcn} }}")));
    spec.traffic.load = 0.8;
    spec.run.warmup = Warmup::Fixed(500.into());
    spec.run.measure = 3_000.into();
    spec.checks.full = true;
    spec
}

pub const COMBINED: &str = "{ combined_queued = { pipeline = 3, output_buffer = 60 } }";
pub const OUTPUT: &str = "{ q_eq = 12, sample = { packets = 10 }, law = 'constant', victim = 'random', \
                      notifications = { size = 2 } }";
const INPUT: &str = "{ q_eq = 20, queue = 'input', w = 0.0, sample = { packets = 8 }, \
                     law = 'constant', victim = 'random', notifications = { size = 2 } }";

/// What they draw may follow from entropies: the result is the same for any division.
#[test]
fn entropies_go_with_notifications() {
    for routing in NOTIFIED.into_iter().filter(|routing| !routing.contains("switch_ar")) {
        let mut spec = network(DRAGONFLY, routing, OUTPUT, (COMBINED, PAUSES[0]));
        spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
        spec.network.nic.entropy = Some(value("{ oblivious = { values = 64 } }"));
        let one = run(&spec);
        let options = RunOptions { threads: 2, partitions: Some(5), ..RunOptions::default() };
        assert!(one == support::attempt(&spec, &options).expect("it runs"), "{routing}");
        let used = one.entropy.expect("entropies");
        assert!(used.says[0].contains("sprayed over 64"), "{routing}: {used:?}");
    }
}

/// Every such routing acts where it can, loses nothing, has no deadlock and gives the same for any division, whatever
/// is sampled.
#[test]
fn notifications_act_and_divide() {
    let qcns = [OUTPUT, INPUT, &INPUT.replace("random", "oldest"), &OUTPUT.replace("8", "30")];
    for (r, routing) in NOTIFIED.into_iter().enumerate() {
        let tree = routing.contains("switch_ar");
        // Policies of short detours are those of a Dragonfly.
        let grouped = r % 2 == 0 || routing.contains("acor") || routing.contains("lian");
        let topology = match (tree, grouped) {
            (true, _) => TREE,
            (_, true) => DRAGONFLY,
            _ => BUTTERFLY,
        };
        let setups = [
            (qcns[0], (COMBINED, PAUSES[0])),
            (qcns[0], (HOLDING_SWITCHES[1], "{ credits = {} }")),
            (qcns[1], (COMBINED, PAUSES[0])),
            (qcns[2], ("{ virtual_output_queued = { pipeline = 3 } }", PAUSES[0])),
        ];
        for (n, (qcn, stages)) in setups.into_iter().enumerate() {
            let random_up = qcn.replace("size = 2", "size = 2, path = 'random-up'");
            let qcn = if tree { &random_up } else { qcn };
            let mut spec = network(topology, routing, qcn, stages);
            match topology {
                DRAGONFLY => spec.traffic.pattern = value("{ adversarial = { offset = 1 } }"),
                BUTTERFLY => spec.traffic.pattern = value("{ permutation = { seed = 5 } }"),
                _ => {
                    spec.traffic.hotspots = value("[{ destinations = { any = [1] }, share = 0.4 }]")
                }
            }
            spec.run.seed = (r + 7 * n) as u64;
            let what = format!("{topology} {routing} {qcn} {stages:?}");
            if stages.0.contains("virtual") {
                // There is nothing behind the crossbar of this one.
                assert!(deroute::Simulation::build(&spec).is_err(), "{what}");
                continue;
            }
            let one = support::attempt(&spec, &RunOptions::default());
            let one = one.unwrap_or_else(|error| panic!("{what}: {error}"));
            let options = RunOptions { threads: 2, partitions: Some(5), ..RunOptions::default() };
            let other = support::attempt(&spec, &options).expect("it runs");
            assert!(one == other, "{what}: the division matters");
            assert_eq!(one.packets.lost, 0, "{what}");
            let told = one.notifications.as_ref().expect("congestion points");
            assert!(told.sent > 10, "{what}: {told:?}");
            let inputs = qcn.contains("input");
            assert_eq!(
                told.queues.iter().any(|queue| queue.class == "ejection" && queue.samples > 0),
                !inputs,
                "{what}"
            );
            if !tree && !routing.contains("qcn_switch") {
                // They do not say what they hear.
                continue;
            }
            let used = deeds(&one);
            assert!(used.counts["notifications"] > 0, "{what}: {used:?}");
            assert!(used.counts["diverted"] > 0 || inputs, "{what}: {used:?}");
        }
    }
}

/// Nobody is notified: the routing was idle, and is minimal.
#[test]
fn without_notifications_it_is_minimal() {
    let silent = OUTPUT.replace("q_eq = 12", "q_eq = 60, notification_share = 0.0");
    let minimal = |topology| {
        let spec = network(topology, "{ minimal = {} }", &silent, (COMBINED, PAUSES[0]));
        run(&spec)
    };
    for (topology, routing) in [(DRAGONFLY, "{ qcn_switch = {} }"), (TREE, "{ switch_ar = {} }")] {
        let mut idle: Outcome = run(&network(topology, routing, &silent, (COMBINED, PAUSES[0])));
        let used = idle.adaptation.take().expect("it says so");
        assert!(used.says[0].starts_with("the routing was idle"), "{:?}", used.says);
        let expected = minimal(topology);
        assert_eq!(idle.packets, expected.packets, "{topology}");
        assert!((idle.latency.mean - expected.latency.mean).abs() < 1e-9, "{topology}");
    }
}

/// Two flows that share their first link by D-mod-K, though there is another: Switch AR finds it.
#[test]
fn flows_that_share_a_link_part() {
    let accepted = |routing: &str| {
        let qcn = OUTPUT.replace("size = 2", "size = 2, path = 'random-up'");
        let mut spec = network(TREE, routing, &qcn, (HOLDING_SWITCHES[0], PAUSES[0]));
        spec.traffic.load = 0.0;
        spec.traffic.streams = value(
            "[{ name = 'a', hosts = [0], load = 0.9, destinations = { any = [4] } },
              { name = 'b', hosts = [1], load = 0.9, destinations = { any = [6] } }]",
        );
        spec.run.measure = 20_000.into();
        let hosts = run(&spec).arrays.accepted_by_host;
        hosts[4] + hosts[6]
    };
    let minimal = accepted("{ minimal = {} }");
    assert!((0.97..1.01).contains(&minimal), "{minimal}");
    let adapted = accepted("{ switch_ar = { timer = 2000 } }");
    assert!(adapted > 1.2, "{adapted}");
}

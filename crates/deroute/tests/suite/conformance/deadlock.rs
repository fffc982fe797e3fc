//! A routing that does deadlock: the watchdog and the audit of dependencies must say so.

use std::ops::ControlFlow;
use std::sync::Arc;

use deroute::ids::{PortId, RouterId, VcId};
use deroute::outcome::{Outcome, PauseUse};
use deroute::routing::{Header, Hop, Plan, RouterView, Routing};
use deroute::spec::Spec;
use deroute::topology::{Peer, Topology};
use deroute::{RunError, RunOptions, Simulation};

use crate::support::catalogue::HOLDING_SWITCHES;
use crate::support::{self, value};

/// Sends every packet backwards around the ring of its group's routers, on one VC: the textbook
/// deadlock (Dally and Seitz 1987).
struct Ring {
    topology: Arc<dyn Topology>,
    routers: u32,
}

impl Routing for Ring {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let (group, here) = (view.router.0 / self.routers, view.router.0 % self.routers);
        let next = RouterId(group * self.routers + (here + self.routers - 1) % self.routers);
        let ports = (0..self.topology.radix(view.router)).map(PortId);
        let leads_on = |port: &PortId| {
            let peer = self.topology.peer(view.router, *port);
            matches!(peer, Peer::Router { router, .. } if router == next)
        };
        let port = { ports }.find(leads_on).unwrap_or_default();
        Hop { port, vc: VcId(0), position: header.position + 1 }
    }
}

/// Every host sends to the next router, which is three hops away on the ring.
fn spec() -> Spec {
    let mut spec = support::dragonfly(2, 4, 1);
    support::wiring(&mut spec).groups = Some(2);
    spec.traffic.pattern = value("'adversarial_local'");
    spec.traffic.load = 1.0;
    spec.network.links.get_mut("local").unwrap().buffer = 8.into();
    spec.run.measure = 30_000.into();
    spec.checks.watchdog = Some(1_000.into());
    spec.checks.full = true;
    spec
}

fn run(spec: &Spec, threads: usize) -> Result<Outcome, RunError> {
    let plan = |fabric: &deroute::routing::Fabric| {
        let topology = Arc::clone(&fabric.topology);
        let agent = Box::new(move |_, _| -> Box<dyn Routing> {
            Box::new(Ring { topology: Arc::clone(&topology), routers: 4 })
        });
        Ok(Plan { agent, vcs: Vec::new() })
    };
    let simulation = Simulation::build_with(spec, &plan).unwrap();
    let options = RunOptions { threads, ..RunOptions::default() };
    simulation.run(&options, &mut |_| ControlFlow::Continue(()))
}

/// The channels (router, port, VC) that a message lists, as numbers.
pub(super) fn channels(message: &str) -> Vec<[u32; 3]> {
    let number = |text: &str, after: &str| -> u32 {
        let rest = text.split_once(after).expect(after).1;
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    message
        .match_indices("(router ")
        .map(|(at, _)| &message[at..])
        .map(|text| [number(text, "router "), number(text, "port "), number(text, "VC ")])
        .collect()
}

/// The cycle of waits is named: the four routers of a group, each behind the next.
#[test]
fn a_deadlock_is_an_error_that_names_its_cycle() {
    for threads in [1, 2] {
        let Err(RunError::Deadlock(message)) = run(&spec(), threads) else {
            panic!("a deadlock went unnoticed")
        };
        let cycle = channels(&message);
        assert_eq!(cycle.len(), 4, "{message}");
        let group = cycle[0][0] / 4;
        for (n, [router, _, vc]) in cycle.iter().enumerate() {
            let next = cycle[(n + 1) % 4][0];
            assert_eq!((router / 4, *vc), (group, 0), "{message}");
            assert_eq!(next, group * 4 + (router + 3) % 4, "{message}");
        }
    }
}

/// With virtual output queues, a channel is stuck when all of its queues are; the same cycle is named.
#[test]
fn a_deadlock_of_virtual_output_queues_names_its_cycle() {
    let mut spec = spec();
    spec.network.switch = value("{ virtual_output_queued = { iterations = 2 } }");
    let Err(RunError::Deadlock(message)) = run(&spec, 1) else {
        panic!("a deadlock went unnoticed")
    };
    let cycle = channels(&message);
    assert_eq!(cycle.len(), 4, "{message}");
    for (n, [router, ..]) in cycle.iter().enumerate() {
        assert_eq!(cycle[(n + 1) % 4][0], router / 4 * 4 + (router + 3) % 4, "{message}");
    }
}

/// The audit finds the cycle of dependencies in a run that was too lightly loaded to deadlock; it
/// finds none where packets go forward, one hop each.
#[test]
fn dependencies_betray_a_deadlock_that_did_not_happen() {
    let mut light = spec();
    light.traffic.load = 0.02;
    light.checks.dependencies = true;
    let Err(RunError::Deadlock(message)) = run(&light, 1) else {
        panic!("a cycle of dependencies went unnoticed")
    };
    assert!(message.contains("dependencies") && channels(&message).len() >= 4, "{message}");
    light.checks.dependencies = false;
    let outcome = run(&light, 1).unwrap();
    assert!(outcome.packets.delivered > 1_000);
    let mut forward = spec();
    forward.checks.dependencies = true;
    support::run(&forward);
}

/// Switches that can hold a packet between its grant and its departure, each in another way.
const SWITCHES: [&str; 4] = [
    "{ combined_queued = { pipeline = 3, output_buffer = 16 } }",
    "{ input_queued = { pipeline = 2 } }",
    "{ virtual_output_queued = { iterations = 2 } }",
    HOLDING_SWITCHES[0],
];

/// As [`spec`], with receivers that pause.
fn pausing(control: &str, switch: &str) -> Spec {
    let mut spec = spec();
    spec.network.links.get_mut("local").unwrap().buffer = 40.into();
    spec.network.flow_control = value(control);
    spec.network.switch = value(switch);
    spec
}

/// The routers of a cycle of buffers and of outputs that wait for them, in its order.
fn paused_around(message: &str, vcs: &str) -> Vec<u32> {
    let cycle = message.split_once("wait for each other: ").expect("a cycle").1;
    let places: Vec<&str> = cycle.split(" -> ").collect();
    let mut routers = Vec::new();
    for (n, place) in places.iter().enumerate() {
        let router: String =
            place.split_once("router ").expect("a router").1.chars().take(1).collect();
        let next = places[(n + 1) % places.len()];
        if place.starts_with('(') {
            assert!(place.contains(vcs), "{message}");
            // The packets of a buffer wait at an output of the same router.
            assert!(
                next.starts_with("output ") && next.contains(&format!("router {router}")),
                "{message}"
            );
            routers.push(router.parse().expect("a number"));
        } else {
            assert!(place.ends_with(" paused") && next.starts_with('('), "{message}");
            assert_eq!(place.contains("VC 0"), vcs == "VC 0", "{message}");
        }
    }
    routers
}

/// Pauses that wait for each other are found in every switch, whether packets wait before its crossbar or behind it,
/// and named: the buffers of a ring of routers, and the outputs that these pause.
#[test]
fn pauses_that_wait_for_each_other_are_named() {
    let controls = [
        ("{ pfc = { response = 0, frame = 1 } }", "VC 0"),
        ("{ pause = { response = 0, frame = 1 } }", "all VCs"),
        ("{ pfc = { response = 0, frame = 1, quanta = 50 } }", "VC 0"),
    ];
    for (control, vcs) in controls {
        for switch in SWITCHES {
            let mut spec = pausing(control, switch);
            let mut messages = Vec::new();
            for threads in [1, 2] {
                match run(&spec, threads) {
                    Err(RunError::Deadlock(message)) => messages.push(message),
                    other => panic!("{control} {switch}: {other:?}"),
                }
            }
            assert_eq!(messages[0], messages[1]);
            let routers = paused_around(&messages[0], vcs);
            assert_eq!(routers.len(), 4, "{}", messages[0]);
            for (n, router) in routers.iter().enumerate() {
                let next = router / 4 * 4 + (router + 3) % 4;
                assert_eq!(routers[(n + 1) % 4], next, "{}", messages[0]);
            }
            // Where it does not come so far, the dependencies betray it.
            spec.traffic.load = 0.02;
            spec.checks.dependencies = true;
            let error = run(&spec, 1).expect_err("a cycle of dependencies");
            assert!(
                error.to_string().contains("dependencies") && error.to_string().contains(vcs),
                "{error}"
            );
        }
    }
}

/// Whoever is paused for much longer than the watchdog waits is in no deadlock as long as a host takes what comes.
#[test]
fn long_pauses_are_no_deadlock() {
    for control in [
        "{ pfc = { response = 0, frame = 1, xon = 8 } }",
        "{ pause = { response = 0, frame = 1, xon = 8 } }",
    ] {
        for switch in SWITCHES {
            let mut spec = support::network("{ rlft = { ports = 4, stages = 3 } }");
            for link in spec.network.links.values_mut() {
                (link.buffer, link.vcs) = (400.into(), 1.into());
            }
            spec.network.flow_control = value(control);
            spec.network.switch = value(switch);
            spec.traffic.load = 1.0;
            spec.traffic.hotspots = value("[{ destinations = { any = [0] } }]");
            spec.run.measure = 24_000.into();
            spec.checks.watchdog = Some(1_000.into());
            (spec.checks.dependencies, spec.checks.full) = (true, true);
            let outcome = support::run(&spec);
            let used = outcome.flow_control.expect("pauses");
            let silent = |class: &PauseUse| {
                class.paused_mean * 24_000.0 * f64::from(class.links) / class.stops as f64
            };
            assert!(used.links.iter().all(|class| class.stops > 0), "{control} {switch}");
            let longest = used.links.iter().map(silent).fold(0.0, f64::max);
            assert!(longest > 3_000.0, "{control} {switch}: {longest}");
            assert!(outcome.arrays.accepted_by_host[0] > 0.99, "{control} {switch}");
        }
    }
}

/// The VCs of a routing keep it free of deadlock under priority flow control as with credits, since one that is
/// paused takes nothing from the others in any stage of a switch; on a link that is paused as a whole they do not.
#[test]
fn vcs_part_what_is_paused_on_its_own() {
    for switch in SWITCHES {
        let mut spec = support::dragonfly(2, 4, 2);
        for link in spec.network.links.values_mut() {
            (link.buffer, link.vcs) = (60.into(), 2.into());
        }
        spec.network.flow_control = value("{ pfc = { response = 0, frame = 1 } }");
        spec.network.switch = value(switch);
        spec.traffic.pattern = value(super::vcs::EVERYWHERE);
        spec.traffic.load = 1.0;
        spec.run.measure = 10_000.into();
        spec.checks.watchdog = Some(1_000.into());
        (spec.checks.dependencies, spec.checks.full) = (true, true);
        let outcome = support::run(&spec);
        let used = outcome.flow_control.expect("pauses");
        assert!(used.links.iter().map(|class| class.stops).sum::<u64>() > 500, "{used:?}");
        spec.network.flow_control = value("{ pause = { response = 0, frame = 1 } }");
        let error =
            support::attempt(&spec, &RunOptions::default()).expect_err("a deadlock, or a cycle");
        assert!(matches!(error, RunError::Deadlock(_)), "{error}");
    }
}

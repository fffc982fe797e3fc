//! Conditional flow rules (MAR-bP): what is diverted, and when.

use deroute::RunOptions;
use deroute::ids::{HostId, PortId, RouterId};
use deroute::outcome::{AdaptationUse, Outcome};
use deroute::spec::{Spec, Warmup};
use deroute::topology::Peer;

use crate::equality;
use crate::support::{self, value};

pub fn run(spec: &Spec) -> Outcome {
    support::attempt(spec, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn deeds(outcome: &Outcome) -> &AdaptationUse {
    outcome.adaptation.as_ref().expect("a routing that says what it did")
}

/// A network with PFC whose buffers pause soon.
fn network(topology: &str, routing: &str, control: &str) -> Spec {
    let mut spec = support::network(topology);
    spec.routing = value(routing);
    for link in spec.network.links.values_mut() {
        (link.buffer, link.vcs) = (150.into(), 5.into());
    }
    spec.network.flow_control = value(control);
    spec.network.switch = value("{ combined_queued = { pipeline = 3, output_buffer = 40 } }");
    spec.network.nic.latency = 2.into();
    spec.traffic.load = 0.9;
    spec.run.warmup = Warmup::Fixed(300.into());
    spec.run.measure = 1_500.into();
    spec.checks.full = true;
    spec.probes.links = true;
    spec
}

const PFC: &str = "{ pfc = { response = 0, frame = 4, xoff = 40, xon = 20 } }";
const DRAGONFLY: &str = "{ dragonfly = { p = 2, a = 4, h = 2 } }";
const BUTTERFLY: &str = "{ hyperx = { widths = [3, 4], hosts = 3 } }";
const TREE: &str = "{ kary_tree = { k = 2, levels = 3 } }";

/// Every kind of alternative in every network that has it, with pauses of every kind: as the phit-by-phit model has
/// it, and the same for any division.
#[test]
fn pauses_divert() {
    let controls = [
        PFC,
        "{ pfc = { response = 5, phy_delay = 2, frame = 4, xoff = 30, xon = 10 } }",
        "{ pfc = { response = 0, frame = 4, xoff = 30, xon = 29, quanta = 50 } }",
        "{ pause = { response = 3, frame = 4, xoff = 90 } }",
    ];
    let networks = [
        (DRAGONFLY, "{ mar_bp = {} }"),
        (DRAGONFLY, "{ mar_bp = { redecide = true, vc_use = 'compact' } }"),
        (BUTTERFLY, "{ mar_bp = {} }"),
        (BUTTERFLY, "{ mar_bp = { alternatives = 'minimal' } }"),
        ("{ hyperx = { widths = [2, 3, 2], hosts = 2, trunk = 2 } }", "{ mar_bp = {} }"),
        (
            "{ hyperx = { widths = [3, 2, 2], hosts = 2 } }",
            "{ mar_bp = { alternatives = 'minimal', redecide = true } }",
        ),
        (TREE, "{ mar_bp = {} }"),
        (
            "{ folded_clos = { ports = 4, levels = 3, groups = 2 } }",
            "{ mar_bp = { redecide = true } }",
        ),
    ];
    for (n, (topology, routing)) in networks.into_iter().enumerate() {
        let mut diverted = 0;
        for (c, control) in controls.into_iter().enumerate() {
            let mut spec = network(topology, routing, control);
            spec.network.queuing = [None, Some(value("{ dbbm = { queues = 1 } }"))][c % 2].clone();
            spec.traffic.pattern = value(match topology.contains("dragonfly") {
                true => "{ adversarial = { offset = 1 } }",
                false => "{ permutation = { seed = 3 } }",
            });
            spec.run.measure = 700.into();
            spec.run.seed = (n + c) as u64;
            let outcome = equality::agree(&spec);
            diverted += deeds(&outcome).counts["diverted"];
            for (threads, partitions) in [(1, Some(usize::MAX)), (2, Some(3))] {
                let options = RunOptions { threads, partitions, ..RunOptions::default() };
                let divided = support::attempt(&spec, &options).expect("it runs");
                assert!(outcome == divided, "{topology} {routing} {control}");
            }
        }
        assert!(diverted > 0, "{topology} {routing}: nothing was paused");
    }
}

/// At low load nobody is paused, and the routing was idle: the outcome is that of minimal routing.
#[test]
fn without_pauses_it_is_minimal() {
    let mut spec = network(DRAGONFLY, "{ mar_bp = {} }", PFC);
    spec.traffic.load = 0.05;
    let mut idle = run(&spec);
    let used = idle.adaptation.take().expect("it says so");
    assert_eq!((used.counts["diverted"], used.counts["decided"] > 100), (0, true));
    assert!(used.says[0].starts_with("the routing was idle"), "{:?}", used.says);
    spec.routing = value("{ minimal = {} }");
    assert!(run(&spec) == idle);
}

/// Host `i` of a router is diverted over its `i`-th global port, and nobody else is: in the rows of a flattened
/// butterfly as in the groups of a Dragonfly.
#[test]
fn every_host_has_one_alternative() {
    for (topology, offset) in [(DRAGONFLY, 4), (BUTTERFLY, 3)] {
        // All hosts of a router to those of a router in the next group.
        let mut spec = network(topology, "{ mar_bp = {} }", PFC);
        let wired = deroute::topology::build(&spec.network.topology).expect("a topology");
        let hosts = wired.hosts() / wired.routers();
        spec.traffic.load = 0.0;
        let to = hosts * offset;
        let stream = |name: &str, from: u32| {
            let last = from + hosts - 1;
            format!(
                "{{ name = '{name}', hosts = {{ from = {from}, to = {last} }}, load = 1.0, \
                   destinations = {{ any = [{to}] }} }}"
            )
        };
        // The neighbours of the destination are in the way.
        let streams = [stream("far", 0), stream("near", to + hosts)];
        spec.traffic.streams = value(&format!("[{}]", streams.join(", ")));
        let outcome = run(&spec);
        assert!(deeds(&outcome).counts["diverted"] > 10, "{topology}: {outcome:?}");
        let links = outcome.arrays.link_at.chunks(2).zip(&outcome.arrays.link_use);
        let used: Vec<u16> = links
            .filter(|(at, share)| at[0] == 0 && **share > 0.0)
            .map(|(at, _)| at[1] as u16)
            .collect();
        let globals = wired.global_ports(RouterId(0));
        let own: Vec<u16> = globals.clone().take(hosts as usize).collect();
        let minimal = wired.next_hop(RouterId(0), wired.router_of(HostId(to))).port.0;
        for port in used {
            assert!(
                port == minimal || own.contains(&port),
                "{topology}: port {port} is not a rule's"
            );
            assert!(matches!(wired.peer(RouterId(0), PortId(port)), Peer::Router { .. }));
        }
    }
}

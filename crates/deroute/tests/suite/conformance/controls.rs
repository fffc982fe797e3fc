//! Every control of congestion keeps the rules of all: the same result for any division, nothing lost where links
//! pause, all packets accounted for, and a word on what it did, also where it did nothing.

use deroute::RunOptions;
use deroute::outcome::Outcome;
use deroute::spec::Spec;

use crate::support::catalogue::PAUSES;
use crate::support::controls::{ENTROPIES, REACTION_POINTS};
use crate::support::incast::loaded;
use crate::support::{self, value};

/// Networks whose routing draws paths.
const NETWORKS: [(&str, &str); 3] = [
    ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ valiant = {} }"),
    ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = { draw = 'random' } }"),
    ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }"),
];

/// A loaded network with a key of the NIC and what tells it.
fn with(turn: usize, key: &str, told: (Option<&str>, Option<&str>)) -> Spec {
    let point = told.1.map_or(String::new(), |point| format!("notification_point = {point},"));
    let nic = format!(
        "{{ latency = 5, injection_queue = 200, link = {{ buffer = 400 }}, resequencing = {{}},
           {point} {key} }}"
    );
    let mut spec = loaded(NETWORKS[turn], turn, PAUSES[0], &nic);
    spec.network.congestion_point = told.0.map(value);
    spec
}

fn conforms(spec: &Spec, what: &str) -> Outcome {
    let one = support::run(spec);
    let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
    assert!(one == support::attempt(spec, &options).unwrap(), "{what}: divided");
    let packets = &one.packets;
    assert_eq!(packets.lost, 0, "{what}");
    assert!(packets.injected >= packets.delivered && packets.delivered > 1_000, "{what}");
    one
}

/// The same network without traffic: what is said then.
fn idle(spec: &Spec) -> Outcome {
    let mut spec = spec.clone();
    (spec.traffic.load, spec.traffic.hotspots) = (0.0, Vec::new());
    support::run(&spec)
}

#[test]
fn every_reaction_point() {
    for (reaction, point, told) in REACTION_POINTS {
        for (turn, network) in NETWORKS.into_iter().enumerate() {
            let what = format!("{network:?} {reaction}");
            let spec = with(turn, &format!("reaction_point = {reaction}"), (point, told));
            let outcome = conforms(&spec, &what);
            let used = outcome.reaction_point.expect("reaction points");
            let acted = used.cuts > 0 || used.windows.is_some_and(|windows| windows.held > 0);
            assert!(acted && !used.says.is_empty(), "{what}: {used:?}");
            let says = idle(&spec).reaction_point.expect("reaction points").says.join("; ");
            assert!(says.starts_with("no ") || says.contains("nothing"), "{what}: {says}");
        }
    }
}

#[test]
fn every_entropy() {
    for (entropy, point, told) in ENTROPIES {
        for (turn, network) in NETWORKS.into_iter().enumerate() {
            let what = format!("{network:?} {entropy}");
            let spec = with(turn, &format!("entropy = {entropy}"), (point, told));
            let used = conforms(&spec, &what).entropy.expect("entropies");
            assert!(used.packets > 1_000 && !used.says.is_empty(), "{what}: {used:?}");
            let says = idle(&spec).entropy.expect("entropies").says.join("; ");
            assert!(says.starts_with("no "), "{what}: {says}");
        }
    }
}

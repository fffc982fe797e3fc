//! What a spec leaves to the engine: VCs follow from the routing, buffers from the link.

use deroute::Simulation;
use deroute::spec::{Quantity, Spec, Vcs};

use crate::support::catalogue::{LATTICE_ROUTINGS, ROUTINGS};
use crate::support::{self, value};

/// The spec with everything about links left to the engine that can be.
fn automatic(mut spec: Spec) -> Spec {
    for link in spec.network.links.values_mut() {
        (link.vcs, link.buffer) = (Vcs::default(), Quantity::auto());
    }
    spec
}

/// The spec with what the engine has filled in.
fn filled(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    for (path, number) in Simulation::build(&spec).unwrap().filled() {
        let [class, key] = path.strip_prefix("network.links.").map_or([""; 2], |rest| {
            rest.split_once('.').map_or([""; 2], |(class, key)| [class, key])
        });
        let link = spec.network.links.get_mut(class).unwrap();
        match key {
            "vcs" => link.vcs = (*number as u8).into(),
            "buffer" => link.buffer = u64::from(*number).into(),
            other => panic!("{other}"),
        }
    }
    spec
}

/// Every routing gets as many VCs as it needs: with one fewer it says that these are too few.
#[test]
fn vcs_follow_from_the_routing() {
    let dragonflies = ROUTINGS.iter().map(|routing| (support::dragonfly(2, 4, 2), routing));
    let lattice = || support::lattice("{ widths = [3, 3], hosts = 2 }");
    let lattices = LATTICE_ROUTINGS.iter().map(|routing| (lattice(), routing));
    for (spec, routing) in dragonflies.chain(lattices) {
        let mut spec = automatic(spec);
        spec.routing = value(routing);
        let whole = filled(&spec);
        assert!(Simulation::build(&whole).unwrap().filled().is_empty());
        for name in whole.network.links.keys() {
            let mut fewer = whole.clone();
            let link = fewer.network.links.get_mut(name).unwrap();
            let vcs = support::vcs(link) - 1;
            link.vcs = vcs.into();
            let error = Simulation::build(&fewer).err().unwrap().to_string();
            let words = if vcs == 0 { "out of range" } else { "too few" };
            assert!(error.contains(words) && error.contains(name), "{routing}: {error}");
        }
    }
}

/// A round trip of the link, and two packets; at the rate of the link, and in each class of a scheme.
#[test]
fn buffers_follow_from_the_link() {
    let mut spec = automatic(support::dragonfly(2, 4, 2));
    spec.network.links.get_mut("local").unwrap().latency = 15.into();
    let global = spec.network.links.get_mut("global").unwrap();
    (global.latency, global.rate) = (151.into(), Some("1/4".into()));
    spec.traffic.packet_size = value("{ min = 3, max = 10 }");
    spec.routing = value("{ valiant = {} }");
    spec.network.queuing = Some(value("{ dbbm = { queues = 3 } }"));
    let simulation = Simulation::build(&spec).unwrap();
    let found: Vec<_> = simulation.filled().iter().map(|(path, n)| (path.as_str(), *n)).collect();
    let expected = [
        ("network.links.local.vcs", 12),
        ("network.links.local.buffer", 53),
        ("network.links.global.vcs", 6),
        ("network.links.global.buffer", 97),
    ];
    assert_eq!(found, expected);
}

/// A result is the same whether the engine or the spec has the numbers.
#[test]
fn what_is_filled_in_is_simulated() {
    let mut spec = automatic(support::dragonfly(2, 4, 2));
    spec.routing = value("{ piggyback = {} }");
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    assert_eq!(support::run(&spec), support::run(&filled(&spec)));
}

/// More VCs than there can be are told as if the spec had asked for the most there are.
#[test]
fn too_many_are_refused() {
    let mut spec = automatic(support::lattice("{ widths = [3, 3], hosts = 2 }"));
    spec.routing = value("{ omniwar = { deroutes = 30 } }");
    spec.network.queuing = Some(value("{ dbbm = { queues = 3 } }"));
    let error = Simulation::build(&spec).err().unwrap();
    assert_eq!(error.path, "network.links.dim1.vcs");
    assert!(error.message.contains("64 is too few"), "{error}");
}

/// Two hosts send all they can to each other over one link. What the engine takes for a buffer fills it, and of smaller ones it
/// says how much of it gets through.
#[test]
fn automatic_buffers_fill_their_links() {
    let within = |what: &str| format!("{{ combined_queued = {{ pipeline = 90, {what} }} }}");
    for (switch, buffer, throttled) in [
        (within("output_buffer = 400"), "'auto'", ""),
        (within("output_buffer = 400"), "50", "network.links.link.buffer"),
        (within("output_buffer = 400"), "105", "network.links.link.buffer"),
        (within("output_buffer = 80"), "'auto'", "network.switch.combined_queued.output_buffer"),
        (within("output_buffer = 100"), "'auto'", ""),
        ("{ input_buffered_output_queued = { pipeline = 90 } }".into(), "'auto'", ""),
        ("{ input_queued = { pipeline = 90 } }".into(), "'auto'", ""),
        ("{ input_queued = { pipeline = 90 } }".into(), "80", "network.links.link.buffer"),
    ] {
        let spec = support::parse(&format!(
            "[network]\ntopology = {{ graph = {{ hosts = 1, edges = [[0, 1]] }} }}\nswitch = {switch}\n\
             links = {{ link = {{ latency = 15, buffer = {buffer} }} }}\nnic = {{ injection_queue = 400 }}\n\
             [routing.minimal]\n[traffic]\nload = 1.0\npacket_size = 10\npattern = \"uniform\"\n\
             [run]\nwarmup = 2000\nmeasure = 20000\n"
        ));
        let told = Simulation::build(&spec).unwrap().throttles();
        let paths: Vec<_> = told.iter().map(|(path, _)| path.as_str()).collect();
        let wanted: Vec<_> = [throttled].into_iter().filter(|path| !path.is_empty()).collect();
        assert_eq!(paths, wanted, "{switch} {buffer}");
        let share = told.first().map_or(1.0, |(_, share)| *share);
        let found = support::run(&spec).load.accepted;
        assert!((found / share - 1.0).abs() < 0.03, "{switch} {buffer}: {found} for {share}");
    }
}

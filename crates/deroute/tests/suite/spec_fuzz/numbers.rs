//! Numbers of any size, in specs that TOML cannot even write.

use deroute::Simulation;
use deroute::spec::{
    Change, CrossbarSpec, DragonflySpec, PacketSize, Quantity, Spec, Topology, UniformSize, Warmup,
    WeightedSize,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::hostile::TEXTS;
use super::{endure, seeds};
use crate::support::{self, value};
fn counts() -> impl Strategy<Value = u32> {
    let edges =
        [0, 1, 2, 3, 7, 64, 127, 1023, 1024, 1025, 65535, 65536, 1 << 24, 1 << 31, u32::MAX];
    prop_oneof![4 => select(Vec::from(edges)), 1 => any::<u32>(), 3 => 1..6u32]
}

fn quantities() -> impl Strategy<Value = Quantity> {
    let edges = [0, 1, 2, 16, 1 << 24, (1 << 30) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, u64::MAX];
    prop_oneof![
        4 => select(Vec::from(edges)).prop_map(Quantity::Number),
        2 => (1..40u64).prop_map(Quantity::Number),
        1 => any::<u64>().prop_map(Quantity::Number),
        1 => select(&TEXTS[..]).prop_map(Quantity::from),
    ]
}

prop_compose! {
    fn topologies()(
        (p, a, h) in (counts(), counts(), counts()),
        groups in proptest::option::of(counts()),
        trunk in counts(),
        (crossbar, mirror, consecutive) in (0..4, any::<bool>(), any::<bool>()),
    ) -> Topology {
        if crossbar == 0 {
            return Topology::Crossbar(CrossbarSpec { hosts: p });
        }
        let arrangement = value(if consecutive { "'consecutive'" } else { "'palmtree'" });
        Topology::Dragonfly(DragonflySpec { p, a, h, groups, arrangement, mirror, trunk })
    }
}

fn sizes() -> impl Strategy<Value = PacketSize> {
    let weighted =
        (quantities(), counts()).prop_map(|(size, weight)| WeightedSize { size, weight });
    prop_oneof![
        quantities().prop_map(PacketSize::Fixed),
        (quantities(), quantities())
            .prop_map(|(min, max)| PacketSize::Uniform(UniformSize { min, max })),
        proptest::collection::vec(weighted, 0..4).prop_map(PacketSize::Mix),
    ]
}

/// Specs that TOML cannot even write: any number of any type, one or a few at a time.
#[test]
fn extreme_numbers() {
    let links = (quantities(), any::<u8>(), quantities());
    let times = (quantities(), quantities(), quantities(), proptest::option::of(quantities()));
    let parts = (seeds(), topologies(), links, sizes(), times, any::<(f64, u64, u16)>());
    let run =
        |(mut spec, topology, link, size, times, (load, seed, which)): (Spec, _, _, _, _, _)| {
            let chosen = |bit: u16| which >> bit & 1 == 1 && which >> (bit + 8) & 1 == 1;
            let (latency, vcs, buffer): (Quantity, u8, Quantity) = link;
            let (warmup, measure, at, queue) = times;
            let global = spec.network.links.get_mut("global").unwrap();
            if chosen(0) {
                (global.latency, global.vcs) = (latency, vcs.into());
            }
            if chosen(1) {
                global.buffer = buffer;
            }
            if chosen(2) {
                spec.network.topology = topology;
            }
            if chosen(3) {
                spec.traffic.packet_size = size;
            }
            if chosen(4) {
                (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(warmup), measure);
            }
            if chosen(5) {
                spec.traffic.then = vec![Change { at, load: Some(0.1), pattern: None }];
            }
            if chosen(6) {
                spec.traffic.load = load;
            }
            if chosen(7) {
                spec.network.nic.injection_queue = queue;
            }
            spec.run.seed = seed;
            endure(&spec)
        };
    support::runner(6_000).run(&parts, run).unwrap_or_else(|error| panic!("{error}"));
}

/// Geometries at the edge of what fits: refused with a path, or built.
#[test]
fn geometries() {
    for (p, a, h, groups, trunk, fits) in [
        (1, 1, 1, None, 1, true),
        (1024, 1, 1, None, 1, true),
        (1, 1024, 1, Some(2), 1, true),
        (1, 1, 1024, None, 1024, true),
        (1, 32, 16, None, 1, true),
        // As many groups as hosts allow: a table of the pairs of groups would not fit.
        (1, 127, 1024, None, 1, false),
        (1, 60, 1024, None, 1, false),
        (1024, 1024, 1024, None, 1, false),
        (1024, 1024, 1024, Some(2), 1 << 20, false),
        (u32::MAX, u32::MAX, u32::MAX, Some(u32::MAX), u32::MAX, false),
    ] {
        let mut spec = support::dragonfly(p, a, h);
        (support::wiring(&mut spec).groups, support::wiring(&mut spec).trunk) = (groups, trunk);
        match Simulation::build(&spec) {
            Ok(simulation) => {
                assert!(fits, "{p}, {a}, {h}, {groups:?}, {trunk} was built");
                let footprint = simulation.footprint();
                assert!(footprint.fixed_bytes <= footprint.worst_bytes);
            }
            Err(error) => {
                assert!(!fits, "{p}, {a}, {h}, {groups:?}, {trunk}: {error}");
                assert!(error.path.starts_with("network.topology.dragonfly."), "{error}");
            }
        }
    }
}

/// Buffers, latencies and pipelines at their largest: how far the engine plans ahead stays in
/// range, or the spec is refused.
#[test]
fn deepest_buffers() {
    for switch in [
        "{ input_queued = { pipeline = 16777216 } }",
        "{ output_queued = { pipeline = 16777216 } }",
        "{ combined_queued = { pipeline = 16777216, output_buffer = 1073741823 } }",
    ] {
        let mut spec = support::dragonfly(1, 2, 1);
        spec.network.switch = value(switch);
        spec.network.nic.latency = (1 << 24).into();
        for link in spec.network.links.values_mut() {
            link.latency = (1 << 24).into();
        }
        let mut refused = 0;
        for buffer in (3..=30).map(|bits| (1 << bits) - 1) {
            spec.network.links.get_mut("global").unwrap().buffer = buffer.into();
            match Simulation::build(&spec) {
                Ok(simulation) => {
                    // A partition has five timing wheels, of up to 512 MiB each.
                    let bytes = simulation.footprint().fixed_bytes;
                    assert!(bytes < 6 << 29, "{switch}, {buffer} phits: {bytes} bytes");
                }
                Err(error) => {
                    assert_eq!(error.path, "network.links.global.buffer", "{error}");
                    refused += 1;
                }
            }
        }
        assert!((1..=6).contains(&refused), "{refused} sizes refused");
    }
}

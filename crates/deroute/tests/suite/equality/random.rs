//! Random specs.

use deroute::spec::{
    CombinedQueuedSpec, InputQueuedSpec, OutputQueuedSpec, Quantity, Routed, Spec, Switch,
    Topology, VirtualOutputQueuedSpec,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::compare;
use crate::support::catalogue::{
    DRAGONFLIES, INJECTIONS, PATTERNS, PLAIN_PATTERNS, ROUTINGS, SIZES,
};
use crate::support::{self, value};
prop_compose! {
    /// A switch with any parameters. Its output buffer holds a packet of 16 phits.
    fn switches()(
        kind in 0..4,
        pipeline in select(&[0u64, 1, 2, 3, 5, 10, 17, 90][..]),
        speedup in 1..=3u8,
        buffer in prop_oneof![16..24u64, 16..200u64],
        iterations in 1..=3u8,
        (age, on_request, transit_priority, early) in any::<(bool, bool, bool, bool)>(),
    ) -> Switch {
        let allocator = value(&format!(
            "{{ iterations = {iterations}, arbiter = '{}', pointer = '{}', \
             transit_priority = {transit_priority} }}",
            if age { "age" } else { "round-robin" },
            if on_request { "on-request" } else { "on-grant" },
        ));
        let (pipeline, output_buffer) = (Quantity::from(pipeline), Quantity::from(buffer));
        match kind {
            0 => {
                let routed = if early { Routed::Arrival } else { Routed::Head };
                Switch::InputQueued(InputQueuedSpec { pipeline, allocator, routed })
            }
            1 => {
                let spec = CombinedQueuedSpec { pipeline, speedup, output_buffer, allocator };
                Switch::CombinedQueued(spec)
            }
            2 => Switch::VirtualOutputQueued(VirtualOutputQueuedSpec { pipeline, iterations }),
            _ => {
                let output_buffer = age.then_some(output_buffer);
                Switch::OutputQueued(OutputQueuedSpec { pipeline, output_buffer })
            }
        }
    }
}

prop_compose! {
    /// Loads, sizes, queues and lengths for a spec of any topology.
    fn dressed(base: Spec)(
        switch in switches(),
        size in select(&SIZES[..]),
        injection in select(&INJECTIONS[..]),
        load in prop_oneof![0.02..0.5, 0.5..0.97, Just(0.97)],
        queue in prop_oneof![Just(None), (16..60u64).prop_map(Some)],
        latency in select(&[0u64, 0, 1, 5][..]),
        (warmup, measure, seed) in (0..300u64, 100..400u64, any::<u64>()),
        (width, before) in (1..100u64, 0..300u64),
    ) -> Spec {
        let mut spec = base.clone();
        spec.network.switch = switch;
        spec.network.nic.latency = latency.into();
        spec.network.nic.injection_queue = queue.map(Quantity::from);
        spec.traffic.packet_size = value(size);
        spec.traffic.injection = value(injection);
        spec.traffic.load = load;
        spec.run.seed = seed;
        spec.run.warmup = deroute::spec::Warmup::Fixed(warmup.into());
        spec.run.measure = measure.into();
        spec.probes.series = Some(width.into());
        spec.probes.series_before = (before > 0 && before <= warmup).then(|| before.into());
        spec
    }
}

fn networks() -> impl Strategy<Value = Spec> {
    let link = || (1..20u64, prop_oneof![Just(16u64), 16..80u64], 0..2u8);
    (dressed(support::dragonfly(1, 2, 1)), select(&DRAGONFLIES[..]), link(), link()).prop_flat_map(
        |(mut spec, dragonfly, local, global)| {
            spec.network.topology = Topology::Dragonfly(value(dragonfly));
            for (name, (latency, buffer, more)) in [("local", local), ("global", global)] {
                let link = spec.network.links.get_mut(name).unwrap();
                (link.latency, link.buffer) = (latency.into(), buffer.into());
                link.vcs += more;
            }
            (Just(spec), select(&ROUTINGS[..]), select(&PATTERNS[..]), 0..16usize).prop_map(
                |(mut spec, routing, pattern, turn)| {
                    spec.routing = value(routing);
                    spec.traffic.pattern = value(pattern);
                    if support::routes_too_early(&spec) {
                        spec.network.switch = value("{ input_queued = {} }");
                    }
                    support::vary(&mut spec, turn.saturating_sub(8));
                    spec
                },
            )
        },
    )
}

fn check(spec: Spec) -> Result<(), TestCaseError> {
    compare(&spec).map_err(TestCaseError::fail)
}

/// Random Dragonflies with random everything.
#[test]
fn random_networks() {
    support::runner(1500).run(&networks(), check).unwrap_or_else(|error| panic!("{error}"));
}

/// Random single switches.
#[test]
fn random_crossbars() {
    let specs = (2..10u32, select(&PLAIN_PATTERNS[..])).prop_flat_map(|(hosts, pattern)| {
        let mut spec = support::crossbar(hosts);
        spec.traffic.pattern = value(pattern);
        dressed(spec)
    });
    support::runner(500).run(&specs, check).unwrap_or_else(|error| panic!("{error}"));
}

//! Random specs.

use std::cell::Cell;

use deroute::Simulation;
use deroute::spec::{
    CombinedQueuedSpec, Forwarding, InputBufferedOutputQueuedSpec, InputQueuedSpec,
    OutputQueuedSpec, Quantity, Routed, Spec, Switch, Topology, VirtualOutputQueuedSpec,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::compare;
use super::ethernet::rates;
use crate::support::catalogue::{
    DRAGONFLIES, INJECTIONS, PATTERNS, PLAIN_PATTERNS, ROUTINGS, SIZES,
};
use crate::support::{self, value};
prop_compose! {
    /// A switch with any parameters, of the first so many kinds. Its output buffer holds a packet of 16 phits.
    fn switches(kinds: u8)(
        kind in 0..kinds,
        pipeline in select(&[0u64, 1, 2, 3, 5, 10, 17, 90][..]),
        speedup in 1..=3u8,
        buffer in prop_oneof![16..24u64, 16..200u64],
        iterations in 1..=3u8,
        (age, on_request, transit_priority, early, registers) in any::<(bool, bool, bool, bool, bool)>(),
    ) -> Switch {
        let allocator = value(&format!(
            "{{ iterations = {iterations}, arbiter = '{}', pointer = '{}', \
             transit_priority = {transit_priority} }}",
            if age { "age" } else { "round-robin" },
            if on_request { "on-request" } else { "on-grant" },
        ));
        let (pipeline, output_buffer) = (Quantity::from(pipeline), Quantity::from(buffer));
        // The ideal switch, which comes last, is in every list.
        match if kind + 1 == kinds { 4 } else { kind } {
            0 => {
                let routed = if early { Routed::Arrival } else { Routed::Head };
                Switch::InputQueued(InputQueuedSpec { pipeline, allocator, routed, registers: registers && early })
            }
            1 => {
                let spec = CombinedQueuedSpec { pipeline, speedup, output_buffer, allocator };
                Switch::CombinedQueued(spec)
            }
            2 => Switch::VirtualOutputQueued(VirtualOutputQueuedSpec { pipeline, iterations, registers }),
            3 => {
                let memory_bandwidth = on_request.then_some(speedup);
                let spec = InputBufferedOutputQueuedSpec { pipeline, memory_bandwidth };
                Switch::InputBufferedOutputQueued(spec)
            }
            _ => {
                let output_buffer = age.then_some(output_buffer);
                Switch::OutputQueued(OutputQueuedSpec { pipeline, output_buffer })
            }
        }
    }
}

prop_compose! {
    /// Loads, sizes, queues and lengths for a spec of any topology.
    fn dressed(base: Spec, kinds: u8)(
        switch in switches(kinds),
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
    (dressed(support::dragonfly(1, 2, 1), 4), select(&DRAGONFLIES[..]), link(), link())
        .prop_flat_map(|(mut spec, dragonfly, local, global)| {
            spec.network.topology = Topology::Dragonfly(value(dragonfly));
            for (name, (latency, buffer, more)) in [("local", local), ("global", global)] {
                let link = spec.network.links.get_mut(name).unwrap();
                (link.latency, link.buffer) = (latency.into(), buffer.into());
                link.vcs = (support::vcs(link) + more).into();
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
        })
}

fn check(spec: Spec) -> Result<(), TestCaseError> {
    compare(&spec).map(|_| ()).map_err(TestCaseError::fail)
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
        dressed(spec, 4)
    });
    support::runner(500).run(&specs, check).unwrap_or_else(|error| panic!("{error}"));
}

/// A flow control of any kind, with limits by which packets may be lost.
fn controls() -> impl Strategy<Value = String> {
    let limits = (4..100_u32, 0..=100_u32, any::<bool>(), 0..20_u32, 0..3_u32, 0..6_u32);
    let quanta = prop_oneof![Just(None), (1..80_u32).prop_map(Some)];
    (0..8, limits, quanta).prop_map(|(kind, limits, quanta)| {
        let (xoff, share, derived, response, phy, frame) = limits;
        let xon = xoff * share / 100;
        let limits = if derived { String::new() } else { format!("xoff = {xoff}, xon = {xon}, ") };
        let quanta = quanta.map_or(String::new(), |quanta| format!("quanta = {quanta}, "));
        let name = match kind {
            0 => return "{ credits = {} }".to_owned(),
            1 => return "{ lossy = {} }".to_owned(),
            2..5 => "pause",
            _ => "pfc",
        };
        format!(
            "{{ {name} = {{ {limits}{quanta}response = {response}, phy_delay = {phy}, \
             frame = {frame}, lossy = true }} }}"
        )
    })
}

prop_compose! {
    /// Links, hosts and classes as Ethernet has them, for a spec of any topology.
    fn ethernet(base: Spec)(
        spec in dressed(base, 5),
        control in controls(),
        host in prop_oneof![Just(None), (16..150_u32, select(&["1/1"][..])).prop_map(Some)],
        links in prop::collection::vec((1..12_u64, 1..=3_u8, 16..160_u64, 1..=4_u32), 4),
        slow in prop_oneof![Just(None), (0..9_usize).prop_map(Some)],
        (whole, classes, ets) in (any::<bool>(), 1..=3_u8, any::<bool>()),
        hot in prop_oneof![Just(None), (0..2_u32).prop_map(Some)],
        own in prop::collection::vec(prop::option::weighted(0.3, controls()), 4),
    ) -> Spec {
        let mut spec = spec;
        spec.network.flow_control = value(&control);
        let at_hosts = own[3].as_ref().unwrap_or(&control);
        let host = host.filter(|_| !at_hosts.contains("credits"));
        let link = |(buffer, rate)| {
            let own = own[3].as_ref().map_or(String::new(), |own| format!(", flow_control = {own}"));
            value(&format!("{{ buffer = {buffer}, rate = '{rate}'{own} }}"))
        };
        spec.network.nic.link = host.map(link);
        if spec.network.nic.latency == 0.into() {
            spec.network.nic.latency = 1.into();
        }
        for (link, (latency, vcs, buffer, period)) in spec.network.links.values_mut().zip(links) {
            (link.latency, link.buffer) = (latency.into(), buffer.into());
            link.vcs = ((support::vcs(link) + vcs) * classes).into();
            link.rate = (period > 1).then(|| format!("1/{period}").as_str().into());
        }
        for (link, own) in spec.network.links.values_mut().zip(&own) {
            link.flow_control = own.as_deref().map(value);
        }
        if let Some(turn) = slow {
            rates(&mut spec, turn);
        }
        if whole {
            spec.network.forwarding = Forwarding::StoreAndForward;
        }
        let shares = ["100", "30, 70", "20, 50, 30"][usize::from(classes) - 1];
        let ets = if ets { format!(", schedule = {{ ets = [{shares}] }}") } else { String::new() };
        spec.network.classes = (classes > 1).then(|| value(&format!("{{ count = {classes}{ets} }}")));
        let hot = hot.map(|host| value(&format!("[{{ destinations = {{ any = [{host}] }} }}]")));
        spec.traffic.hotspots = hot.unwrap_or_default();
        spec
    }
}

/// Random networks of every kind with random queues at their outputs.
#[test]
fn random_ethernet() {
    let specs = select(super::ethernet::networks()).prop_flat_map(ethernet);
    let (agreed, paused, lost) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let check = |spec: Spec| {
        if Simulation::build(&spec).is_err() {
            return Ok(());
        }
        let outcome = compare(&spec).map_err(TestCaseError::fail)?;
        let add = |count: &Cell<u32>, one: bool| count.set(count.get() + u32::from(one));
        add(&agreed, true);
        add(&lost, outcome.packets.lost > 0);
        let links = outcome.flow_control.iter().flat_map(|used| &used.links);
        add(&paused, links.map(|link| link.stops).sum::<u64>() > 0);
        Ok(())
    };
    let cases = 400;
    support::runner(cases).run(&specs, check).unwrap_or_else(|error| panic!("{error}"));
    let [agreed, paused, lost] = [agreed, paused, lost].map(|count| count.get());
    assert!(
        agreed > cases / 2 && paused > cases / 8 && lost > cases / 20,
        "{agreed} {paused} {lost}"
    );
}

//! Streams in classes of service, credits in messages, links with errors, memory that ports share, and marks.

use deroute::Simulation;
use deroute::outcome::Outcome;
use deroute::spec::{Forwarding, Quantity, Spec, Switch, Warmup};

use super::agree;
use super::ethernet::{networks, rates};
use crate::support::catalogue::{HOLDING_SWITCHES, INJECTION_QUEUES, INJECTIONS, SIZES, SWITCHES};
use crate::support::{self, value};

/// Networks of every kind with a switch, sizes and loads of the nth case; those whose routing refuses the switch have the
/// next one.
fn cases() -> impl Iterator<Item = (usize, Spec)> {
    networks().into_iter().enumerate().step_by(2).map(|(n, mut spec)| {
        let mut turn = 7 * n + 3;
        let all: Vec<&str> = SWITCHES.into_iter().chain(HOLDING_SWITCHES).collect();
        loop {
            spec.network.switch = value(all[turn % all.len()]);
            if !support::routes_too_early(&spec) {
                break;
            }
            turn += 1;
        }
        spec.traffic.packet_size = value(SIZES[n / 2 % SIZES.len()]);
        spec.traffic.injection = value(INJECTIONS[n / 3 % INJECTIONS.len()]);
        spec.traffic.load = [0.9, 0.4, 0.7][n % 3];
        spec.network.nic.latency = [1, 5, 2][n % 3].into();
        spec.network.nic.injection_queue = Some(Quantity::from(40));
        spec.network.nic.queues = (n % 5 == 2).then(|| value(INJECTION_QUEUES[n % 2]));
        spec.run.warmup = Warmup::Fixed(80.into());
        spec.run.measure = 260.into();
        spec.run.seed = n as u64;
        if n % 7 == 3 {
            rates(&mut spec, n);
        }
        if n % 4 == 0 && !matches!(spec.network.switch, Switch::VirtualOutputQueued(_)) {
            spec.network.forwarding = Forwarding::StoreAndForward;
        }
        (n, spec)
    })
}

/// Runs of which the engine accepts the spec: they agree, and something is seen in so many of them.
fn all_agree(cases: impl Iterator<Item = Spec>, seen: fn(&Outcome) -> bool, least: u32) {
    let (mut runs, mut found) = (0, 0);
    for spec in cases.filter(|spec| Simulation::build(spec).is_ok()) {
        runs += 1;
        found += u32::from(seen(&agree(&spec)));
    }
    assert!(found >= least, "{found} of {runs}");
}

/// Two classes of service and streams in both, under each schedule and flow control.
#[test]
fn streams_in_classes() {
    let controls = [
        "{ credits = {} }",
        "{ pfc = { response = 2, frame = 2, xoff = 40, xon = 20, lossy = true } }",
        "{ pause = { response = 5, frame = 2, xoff = 60, lossy = true } }",
        "{ cbfc = { interval = 9, message = 1 } }",
    ];
    let dressed = cases().map(|(n, mut spec)| {
        for link in spec.network.links.values_mut() {
            link.vcs = (2 * support::vcs(link)).into();
            link.buffer = 120.into();
        }
        spec.network.flow_control = value(controls[n / 2 % 4]);
        spec.network.nic.link = (n / 2 % 4 > 0 && n % 3 > 0).then(|| value("{ buffer = 100 }"));
        let schedule = ["'strict'", "{ ets = [30, 70] }", "{ ets = [50, 50] }"][n % 3];
        spec.network.classes = Some(value(&format!("{{ count = 2, schedule = {schedule} }}")));
        spec.traffic.load = 0.2;
        spec.traffic.streams = value(
            "[{ name = 'a', hosts = 'all', load = 0.4, pattern = 'uniform', class = 1 },
              { name = 'b', hosts = [0, 1], load = 0.3, destinations = { any = [1, 0] }, packet_size = 5 }]",
        );
        spec
    });
    let seen = |outcome: &Outcome| outcome.streams.iter().all(|stream| stream.packets.measured > 9);
    all_agree(dressed, seen, 15);
}

/// Credits that come back in messages, of which some are lost, between switches and to hosts.
#[test]
fn credits_in_messages() {
    let dressed = cases().map(|(n, mut spec)| {
        let (interval, message) = [(5, 1), (20, 4), (60, 0)][n / 2 % 3];
        let (cell, lost) = ([1, 4, 7][n / 3 % 3], [0.0, 0.3][n / 2 % 2]);
        spec.network.flow_control = value(&format!(
            "{{ cbfc = {{ interval = {interval}, message = {message}, cell = {cell}, lost_messages = {lost:?} }} }}"
        ));
        for link in spec.network.links.values_mut() {
            link.buffer = [30, 60, 203][n % 3].into();
        }
        spec.network.nic.link = (n % 3 > 0).then(|| value("{ buffer = 50 }"));
        spec
    });
    let seen = |outcome: &Outcome| {
        // Where all switches are one, there are no links.
        let mut credits = outcome.flow_control.iter().flat_map(|used| &used.credits);
        credits.any(|credits| credits.messages > 20)
    };
    all_agree(dressed, seen, 20);
}

/// Frames that break, with and without room to keep those that have no answer, on every link.
#[test]
fn links_with_errors() {
    let dressed = cases().map(|(n, mut spec)| {
        let rate = ["1e-4", "1e-3", "1e-5"][n % 3];
        let replay = ["", ", replay_buffer = 40", ", replay_buffer = 20"][n / 2 % 3];
        let retry = format!("{{ bit_error_rate = {rate}{replay}, response = {} }}", n % 4);
        for link in spec.network.links.values_mut() {
            link.retry = Some(value(&retry));
            link.buffer = 120.into();
        }
        if n % 3 > 0 {
            spec.network.flow_control =
                value("{ pfc = { response = 2, frame = 2, xoff = 60, xon = 30, lossy = true } }");
            spec.network.nic.link = Some(value(&format!("{{ buffer = 100, retry = {retry} }}")));
        }
        spec
    });
    let seen = |outcome: &Outcome| {
        outcome.retry.iter().flat_map(|retry| &retry.links).any(|link| link.errors > 3)
    };
    all_agree(dressed, seen, 15);
}

/// Buffers that take of the memory of their switch, by dynamic and by static thresholds.
#[test]
fn memory_that_ports_share() {
    let dressed = cases().map(|(n, mut spec)| {
        let threshold = ["alpha = 0.5", "limit = 30", "alpha = 2.0"][n % 3];
        let (size, quanta) = (4_000 + 40 * (n % 4), ["", ", quanta = 40"][n / 2 % 2]);
        let control = ["pfc", "pause"][n / 4 % 2];
        spec.network.flow_control = value(&format!(
            "{{ {control} = {{ response = 1, frame = 2, xoff = 24, xon = 12, lossy = true{quanta}, \
             shared_buffer = {{ size = {size}, {threshold} }} }} }}"
        ));
        for link in spec.network.links.values_mut() {
            link.buffer = 80.into();
        }
        spec.network.nic.link = (n % 3 > 0).then(|| value("{ buffer = 70 }"));
        spec.traffic.load = 0.9;
        spec
    });
    let seen = |outcome: &Outcome| {
        let shared = outcome.flow_control.as_ref().and_then(|used| used.shared.as_ref());
        shared.is_some_and(|shared| shared.used_max > 10)
    };
    all_agree(dressed, seen, 15);
}

/// Packets that leave long queues behind are marked, class by class.
#[test]
fn marks() {
    let dressed = cases().map(|(n, mut spec)| {
        let (kmin, kmax, pmax) = [(0, 40, 0.5), (10, 10, 1.0), (5, 90, 0.1)][n / 2 % 3];
        spec.network.congestion_point = Some(value(&format!(
            "{{ ecn = {{ kmin = {kmin}, kmax = {kmax}, pmax = {pmax:?} }} }}"
        )));
        if n % 3 > 0 {
            spec.network.flow_control =
                value("{ pfc = { response = 2, frame = 2, xoff = 60, xon = 30, lossy = true } }");
            spec.network.links.values_mut().for_each(|link| link.buffer = 120.into());
            spec.network.nic.link = Some(value("{ buffer = 100 }"));
        }
        if n % 4 > 1 {
            spec.network
                .links
                .values_mut()
                .for_each(|link| link.vcs = (2 * support::vcs(link)).into());
            spec.network.classes = Some(value("{ count = 2 }"));
            spec.traffic.load = 0.4;
            spec.traffic.streams = value(
                "[{ name = 'a', hosts = 'all', load = 0.4, pattern = 'uniform', class = 1 }]",
            );
        }
        spec
    });
    let seen =
        |outcome: &Outcome| outcome.congestion_point.as_ref().is_some_and(|point| point.marked > 5);
    all_agree(dressed, seen, 8);
}

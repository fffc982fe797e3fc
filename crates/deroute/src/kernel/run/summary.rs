//! From whole-number counts to the result.

use super::precision::{self, Changes};
use super::statistics::{columns, latency, ratio};
use super::verdict::{Course, verdict};
use super::{Running, jobs, streams};
use crate::ids::HostId;
use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::Network;
use crate::kernel::machine::Machine;
use crate::kernel::model::{Model, WarmupTimes};
use crate::outcome::{
    Arrays, Fairness, LinkUse, Load, Outcome, Packets, PathShare, Series, Size, State, Verdict,
    Work,
};
use crate::probe::PathKind;
use crate::probe::collect::Collector;

/// What became of the packets.
fn packets(model: &Model, total: &Collector) -> Packets {
    let delivered = total.delivered - total.retransmission.duplicates;
    // What is lost for good.
    let lost = if model.egress.retransmission.is_some() { 0 } else { total.lost };
    Packets {
        generated: total.generated,
        refused: total.refused,
        injected: total.injected,
        delivered,
        lost: total.lost,
        in_flight: total.generated - delivered - lost,
        measured: total.sums().packets,
    }
}

/// Assembles the result.
pub(crate) fn outcome<M: Machine>(running: &Running<M>, every_link: bool) -> Outcome {
    let network = &running.network();
    let model = network.model;
    let mut total = Collector::new();
    network.cores().for_each(|core| total.merge(&core.collector));
    let (sums, cycles) = (total.sums(), total.to - total.from);
    // A run that ends has no steady state to know anything of.
    let ends = model.jobs.is_some();
    let (load, latency) = (load(model, &total), latency(&total, ends));
    let changes = if ends { None } else { Changes::of(&total, &running.in_flight.counts) };
    let arrays = arrays(network, cycles, every_link);
    let course = Course {
        warmed_up: running.warmed_up,
        growing: matches!(model.times.warmup, WarmupTimes::Automatic { growth: Some(_), .. }),
        changing: model.traffic.changes(total.from, total.to),
        unknown: running.not_reached(),
        packets: sums.packets,
        changes,
    };
    let verdict = match (ends, jobs::unfinished(network)) {
        (false, _) => verdict(&load, &latency, &course),
        (true, None) => Verdict { state: State::Completed, reasons: Vec::new() },
        (true, Some(reason)) => Verdict { state: State::Unfinished, reasons: vec![reason] },
    };
    Outcome {
        verdict,
        cycle_ns: model.scale.cycle_ns(),
        phit_bytes: model.scale.phit_bytes(),
        size: size(model),
        measured_from: u64::from(total.from),
        measured_cycles: u64::from(cycles),
        load,
        packets: packets(model, &total),
        latency,
        trend: changes.map(|changes| changes.trend()),
        stopping: running.stopping,
        hops_mean: ratio(total.hops, sums.packets),
        fairness: fairness(model, &arrays),
        paths: paths(network),
        links: links(network, cycles),
        blocked_attempts_mean: ratio(total.blocked, total.injected_packets),
        work: Work { cycles: u64::from(network.now), grants: total.grants },
        arrays,
        series: model.times.series.map(|(width, before)| Series {
            start: -i64::from(before.min(total.from)),
            width: u64::from(width),
            by_generation: columns(&total.by_generation),
            by_delivery: columns(&total.by_delivery),
        }),
        workload: jobs::outcome(network),
        agents: running.samples.as_ref().map(|samples| samples.record(total.from)),
        streams: streams::outcome(network),
        resequencing: streams::resequencing(network, total.to),
        flow_control: super::pauses::outcome(network, cycles),
        retry: super::retries::outcome(network),
        retransmission: super::retransmissions::outcome(model, &total),
        congestion_point: super::marks::outcome(network, &total, every_link),
        notifications: super::notices::outcome(network, &total, every_link),
        entropy: super::entropies::outcome(network),
        reaction_point: super::notices::reactions(network),
        adaptation: super::adaptation::outcome(network),
        congestion: running.trees.as_ref().map(|trees| trees.record_from(total.from)),
        queues: None,
        rates: None,
        pauses: super::pauses::record(network, total.from, total.to),
    }
}

fn size(model: &Model) -> Size {
    let (hosts, routers) = (model.topology.hosts(), model.topology.routers());
    Size { hosts, routers, links: model.links() }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn load(model: &Model, total: &Collector) -> Load {
    let hosts = f64::from(model.topology.hosts());
    let host_cycles = hosts * f64::from(total.to - total.from);
    let per_host_cycle = |phits: u64| phits as f64 / host_cycles;
    let known = if model.jobs.is_some() { None } else { precision::accepted(total) };
    Load {
        offered: model.traffic.offered(total.from, total.to),
        attempted: per_host_cycle(total.attempted_phits),
        generated: per_host_cycle(total.generated_phits),
        injected: per_host_cycle(total.injected_phits),
        accepted: per_host_cycle(total.sums().phits),
        accepted_ci95: known.map_or(0.0, |known| known.half_width / hosts),
    }
}

fn arrays(network: &Network<'_>, cycles: u32, every_link: bool) -> Arrays {
    let mut arrays = Arrays { path_kinds: PathKind::ALL.to_vec(), ..Arrays::default() };
    let rate = |phits: u64| phits as f64 / f64::from(cycles);
    for (partition, first) in network.parts() {
        let partition = partition.core();
        for router in &partition.routers {
            // Hosts are in the order of their ports.
            let end = router.port_base + u32::from(router.ports);
            let first = partition.hosts.partition_point(|host| host.port < router.port_base);
            let last = partition.hosts.partition_point(|host| host.port < end);
            let loads: Vec<f64> =
                partition.hosts[first..last].iter().map(|host| rate(host.injected)).collect();
            arrays.injected_by_router.push(if loads.is_empty() { 0.0 } else { mean(&loads) });
        }
        for host in &partition.hosts {
            arrays.injected_by_host.push(rate(host.injected));
            arrays.accepted_by_host.push(rate(host.accepted.into()));
        }
        arrays.paths_by_router.extend(partition.paths.iter().flatten());
        let links = partition.outputs.iter().enumerate();
        for (index, output) in links.filter(|(_, o)| every_link && o.kind == PortKind::Link) {
            let base = partition.routers[output.router as usize].port_base;
            arrays.link_at.extend([first + output.router, index as u32 - base]);
            arrays.link_use.push(rate(u64::from(output.sent)));
        }
    }
    arrays
}

fn fairness(model: &Model, arrays: &Arrays) -> Fairness {
    let jain = |loads: &[f64]| {
        let (sum, squares) = loads.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
        if squares == 0.0 { 1.0 } else { sum * sum / (loads.len() as f64 * squares) }
    };
    let spread = |loads: &[f64]| {
        let (min, max) = loads.iter().fold((f64::MAX, 0f64), |(a, b), x| (a.min(*x), b.max(*x)));
        if min > 0.0 { max / min } else { 0.0 }
    };
    // Hosts that have nobody to send to are not to be fair to, nor are routers without others.
    let mut hosts = Vec::new();
    let mut routers = vec![(0.0, 0u32); model.topology.routers() as usize];
    for (host, load) in (0..).map(HostId).zip(&arrays.injected_by_host) {
        if model.jobs.is_some() || model.traffic.sends(host) {
            hosts.push(*load);
            let (sum, count) = &mut routers[model.topology.router_of(host).index()];
            (*sum, *count) = (*sum + load, *count + 1);
        }
    }
    let homes = routers.iter().filter(|(_, count)| *count > 0);
    let homes: Vec<f64> = homes.map(|(sum, count)| sum / f64::from(*count)).collect();
    Fairness {
        jain_hosts: jain(&hosts),
        jain_routers: jain(&homes),
        max_min_hosts: spread(&hosts),
        max_min_routers: spread(&homes),
    }
}

fn paths(network: &Network<'_>) -> Vec<PathShare> {
    let mut counts = [0u64; PathKind::ALL.len()];
    for row in network.cores().flat_map(|core| &core.paths) {
        for (count, packets) in counts.iter_mut().zip(row) {
            *count += u64::from(*packets);
        }
    }
    let all = counts.iter().sum();
    let share = |kind: PathKind| {
        let packets = counts[kind.index()];
        PathShare { kind, packets, share: ratio(packets, all) }
    };
    PathKind::ALL.into_iter().map(share).collect()
}

fn links(network: &Network<'_>, cycles: u32) -> Vec<LinkUse> {
    let names = network.model.topology.classes();
    let classes = names.iter().map(|name| (*name).to_owned()).chain(["ejection".to_owned()]);
    let outputs = || network.cores().flat_map(|core| &core.outputs);
    classes
        .enumerate()
        .map(|(index, class)| {
            let kind = if index < names.len() { PortKind::Link } else { PortKind::Host };
            let members = outputs().filter(|o| {
                o.kind == kind && (kind == PortKind::Host || usize::from(o.class) == index)
            });
            let (mut count, mut sum, mut min, mut max) = (0u32, 0u64, u64::MAX, 0u64);
            for output in members {
                let sent = u64::from(output.sent);
                (count, sum) = (count + 1, sum + sent);
                (min, max) = (min.min(sent), max.max(sent));
            }
            let rate = |phits: u64| phits as f64 / f64::from(cycles);
            LinkUse {
                class,
                links: count,
                mean: rate(sum) / f64::from(count.max(1)),
                min: if count == 0 { 0.0 } else { rate(min) },
                max: rate(max),
            }
        })
        .collect()
}

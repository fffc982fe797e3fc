//! From whole-number counts to the result.

use hdrhistogram::Histogram;

use super::{Running, jobs};
use crate::ids::HostId;
use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::Network;
use crate::kernel::machine::Machine;
use crate::kernel::model::{Model, WarmupTimes};
use crate::outcome::{
    Arrays, Fairness, Latency, LinkUse, Load, Outcome, Packets, PathShare, Percentile, Series,
    SeriesColumns, Size, State, Verdict, Work,
};
use crate::probe::PathKind;
use crate::probe::collect::{BATCHES, Bins, Collector, HISTOGRAM_DIGITS, Sums};

/// Percentiles that a result lists.
const PERCENTS: [f64; 6] = [1.0, 25.0, 50.0, 95.0, 99.0, 99.9];
/// 97.5% quantile of Student's t with `BATCHES - 1` = 19 degrees of freedom.
const T_975: f64 = 2.093;
/// A network that accepts less than this share of what is attempted is saturated.
const SATURATION: f64 = 0.98;
/// Fewest packets of a result.
const FEWEST: u64 = 1_000;
/// Widest relative confidence interval of a steady mean latency.
const WIDEST: f64 = 0.05;

/// Fewest batches of five intervals that the warm-up is judged by: with fewer, the truncation could
/// hardly lie beyond the first half.
const FEWEST_FIVES: usize = 20;
/// Batches at the end that no truncation may reach into: few batches alone always look precise.
const LAST_FIVES: usize = 5;

/// MSER-5 (White, Cobb and Spratt 2000): averages the series in fives, finds the truncation that
/// minimises the standard error of what remains, and accepts if that truncation lies in the first
/// half.
pub(crate) fn mser_accepts(series: &[f64]) -> bool {
    let fives: Vec<f64> =
        series.chunks_exact(5).map(|five| five.iter().sum::<f64>() / 5.0).collect();
    if fives.len() < FEWEST_FIVES {
        return false;
    }
    let error = |rest: &[f64]| {
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * n)
    };
    let candidates = 0..=fives.len() - LAST_FIVES;
    let best = candidates.min_by(|&a, &b| error(&fives[a..]).total_cmp(&error(&fives[b..])));
    best.is_some_and(|cut| cut <= fives.len() / 2)
}

/// The least-squares line through the last `window` values does not rise.
pub(crate) fn stopped_growing(series: &[f64], window: usize) -> bool {
    let Some(first) = series.len().checked_sub(window) else { return false };
    let middle = (window - 1) as f64 / 2.0;
    let rise: f64 = series[first..].iter().zip(0..).map(|(y, i)| y * (f64::from(i) - middle)).sum();
    rise <= 0.0
}

/// What is known of the run besides its counts.
struct Course {
    warmed_up: bool,
    /// Not warmed up means that the latency never stopped growing.
    growing: bool,
    /// The traffic changes while it is measured.
    changing: bool,
}

/// Assembles the result.
pub(crate) fn outcome<M: Machine>(
    running: &Running<M>,
    warmed_up: bool,
    every_link: bool,
) -> Outcome {
    let network = &running.network();
    let model = network.model;
    let mut total = Collector::new();
    for core in network.cores() {
        (total.from, total.to) = (core.collector.from, core.collector.to);
        total.merge(&core.collector);
    }
    let cycles = total.to - total.from;
    let hosts = model.topology.hosts();
    let per_host_cycle = |phits: u64| phits as f64 / (f64::from(hosts) * f64::from(cycles));
    let batch_share = f64::from(hosts) * f64::from(cycles) / BATCHES as f64;
    let accepted: Vec<f64> = total.batches.iter().map(|b| b.phits as f64 / batch_share).collect();
    let mut load = Load {
        offered: model.traffic.offered(total.from, total.to),
        attempted: per_host_cycle(total.attempted_phits),
        generated: per_host_cycle(total.generated_phits),
        injected: per_host_cycle(total.injected_phits),
        accepted: per_host_cycle(total.sums.phits),
        accepted_ci95: half_width(&accepted),
    };
    let mut latency = latency(&total);
    let arrays = arrays(network, cycles, every_link);
    let packets = Packets {
        generated: total.generated,
        refused: total.refused,
        injected: total.injected,
        delivered: total.delivered,
        in_flight: total.generated - total.delivered,
        measured: total.sums.packets,
    };
    let course = Course {
        warmed_up,
        growing: matches!(model.times.warmup, WarmupTimes::Automatic { growth: Some(_), .. }),
        changing: model.traffic.changes(total.from, total.to),
    };
    let verdict = if model.jobs.is_some() {
        // A run that ends has no steady state to know anything of.
        (load.accepted_ci95, latency.ci95) = (0.0, 0.0);
        match jobs::unfinished(network) {
            None => Verdict { state: State::Completed, reasons: Vec::new() },
            Some(reason) => Verdict { state: State::Unfinished, reasons: vec![reason] },
        }
    } else {
        verdict(&total, &load, &latency, &course)
    };
    Outcome {
        verdict,
        cycle_ns: model.scale.cycle_ns(),
        phit_bytes: model.scale.phit_bytes(),
        size: Size { hosts, routers: model.topology.routers(), links: model.links() },
        measured_from: u64::from(total.from),
        measured_cycles: u64::from(cycles),
        load,
        packets,
        latency,
        hops_mean: ratio(total.hops, total.sums.packets),
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
        congestion: running.trees.as_ref().map(|trees| trees.record_from(total.from)),
    }
}

pub(crate) fn ratio(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half-width of the 95% confidence interval of a mean over batches.
fn half_width(batches: &[f64]) -> f64 {
    let n = batches.len() as f64;
    let centre = mean(batches);
    let variance = batches.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n - 1.0);
    T_975 * (variance / n).sqrt()
}

/// Mean latency of each batch that has packets.
fn batch_latencies(total: &Collector) -> Vec<f64> {
    let full = total.batches.iter().filter(|batch| batch.packets > 0);
    full.map(|batch| batch.latency as f64 / batch.packets as f64).collect()
}

/// The percentiles of a histogram whose largest value is known.
pub(crate) fn percentiles(histogram: &Histogram<u64>, max: u64) -> Vec<Percentile> {
    let percentile = |percent| Percentile {
        percent,
        cycles: histogram.value_at_quantile(percent / 100.0).min(max),
    };
    PERCENTS.into_iter().map(percentile).collect()
}

fn latency(total: &Collector) -> Latency {
    let (count, batches) = (total.sums.packets, batch_latencies(total));
    Latency {
        mean: ratio(total.sums.latency, count),
        ci95: if batches.len() == BATCHES { half_width(&batches) } else { 0.0 },
        injection_mean: ratio(total.injection_latency, count),
        network_mean: ratio(total.sums.latency - total.injection_latency, count),
        min: if count == 0 { 0 } else { u64::from(total.min) },
        max: u64::from(total.max),
        percentiles: percentiles(&total.histogram, u64::from(total.max)),
        histogram_error: 10f64.powi(-i32::from(HISTOGRAM_DIGITS)),
    }
}

fn verdict(total: &Collector, load: &Load, latency: &Latency, course: &Course) -> Verdict {
    let Course { warmed_up, growing, changing } = *course;
    let mut reasons = Vec::new();
    // What is sent and not accepted piles up in queues: in a steady state the two differ by far less
    // than the loads themselves fluctuate, so no confidence interval is subtracted.
    if total.sums.packets >= FEWEST && load.accepted < SATURATION * load.attempted {
        let percent = 100.0 * load.accepted / load.attempted;
        reasons
            .push(format!("the network accepts {percent:.1}% of what the hosts attempt to send"));
        return Verdict { state: State::Saturated, reasons };
    }
    if !warmed_up && growing {
        reasons.push("the latency was still growing at the limit of the warm-up".into());
        return Verdict { state: State::Saturated, reasons };
    }
    if changing {
        reasons.push("the traffic changes during the measurement".into());
    }
    if !warmed_up {
        reasons.push("the warm-up did not reach a steady latency within its limit".into());
    }
    if total.sums.packets < FEWEST {
        let found = total.sums.packets;
        reasons.push(format!("{found} packets were measured, fewer than {FEWEST}"));
    } else if latency.ci95 > WIDEST * latency.mean {
        let percent = 100.0 * latency.ci95 / latency.mean;
        reasons.push(format!("the mean latency is only known to {percent:.1}%"));
    }
    let batches = batch_latencies(total);
    if batches.len() == BATCHES {
        let (early, late) = batches.split_at(BATCHES / 2);
        let drift = mean(late) - mean(early);
        let noise = half_width(early).hypot(half_width(late));
        if drift.abs() > noise && drift.abs() > WIDEST * latency.mean {
            let percent = 100.0 * drift / mean(early);
            reasons.push(format!("the latency drifts by {percent:+.1}% within the measurement"));
        }
    }
    let state = if reasons.is_empty() { State::Steady } else { State::NotConverged };
    Verdict { state, reasons }
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

fn columns(bins: &Bins) -> SeriesColumns {
    let column = |value: fn(&Sums) -> u64| bins.bins().iter().map(value).collect();
    SeriesColumns {
        packets: column(|sums| sums.packets),
        phits: column(|sums| sums.phits),
        latency_sum: column(|sums| sums.latency),
        nonminimal: column(|sums| sums.nonminimal),
    }
}

#[cfg(test)]
mod tests {
    use super::{mser_accepts, stopped_growing};

    /// A deterministic value between 0 and 1 that follows no trend.
    fn wobble(i: usize) -> f64 {
        (i * 7919 % 101) as f64 / 101.0
    }

    #[test]
    fn mser_never_accepts_a_rising_series() {
        for length in 0..400 {
            let rising: Vec<f64> = (0..length).map(|i| i as f64 * 10.0 + wobble(i)).collect();
            assert!(!mser_accepts(&rising), "after {length} intervals");
        }
    }

    #[test]
    fn growth_stops_with_the_slope() {
        let rising: Vec<f64> = (0..50).map(|i| 2.0 * f64::from(i) + wobble(i as usize)).collect();
        assert!(!stopped_growing(&rising, 15));
        let bent: Vec<f64> = (0..50).map(|i| f64::from(i.min(20))).collect();
        assert!(!stopped_growing(&bent[..30], 15), "the window begins before the bend");
        assert!(stopped_growing(&bent, 15));
        assert!(!stopped_growing(&bent[..14], 15), "too short to judge");
    }

    #[test]
    fn mser_waits_for_the_transient_to_end() {
        let flat: Vec<f64> = (0..100).map(|i| 500.0 + wobble(i)).collect();
        assert!(mser_accepts(&flat));
        assert!(!mser_accepts(&flat[..99]), "too short to judge");
        let settling = |i: usize| 500.0 + wobble(i) + if i < 80 { 300.0 } else { 0.0 };
        let settled: Vec<f64> = (0..300).map(settling).collect();
        assert!(!mser_accepts(&settled[..120]), "most of it is transient");
        assert!(mser_accepts(&settled));
    }
}

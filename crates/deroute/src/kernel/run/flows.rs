//! How long the flows of a job took, and how long each would take alone.

use crate::ids::{Cycle, HostId};
use crate::kernel::model::Model;
use crate::outcome::{FlowBin, FlowSlowdown, FlowTimes, FlowsOutcome, JobArrays};
use crate::probe::messages::Record;
use crate::topology::Peer;
use crate::workload::{Flow, Flows, Job};

/// The result of a job of flows, and, where it is asked for, its table; `None` of another job.
pub(super) fn outcome(
    job: &Job,
    total: &Record,
    model: &Model,
    arrays: &mut JobArrays,
) -> Option<FlowsOutcome> {
    let flows = job.flows.as_ref()?;
    let mut times = vec![0; flows.all.len()];
    for (index, arrived) in &total.flows {
        let began = job.start.saturating_add(flows.all[*index as usize].start);
        times[*index as usize] = u64::from(arrived - began);
    }
    let alone: Vec<u64> = flows.all.iter().map(|flow| alone(model, job, flow)).collect();
    if flows.table {
        table(flows, (&times, &alone), arrays);
    }
    let some = |holds: &dyn Fn(u64) -> bool| {
        let all = flows.all.iter().zip(times.iter().zip(&alone));
        let mine = all.filter(|(flow, _)| holds(flow.phits.into()));
        summary(mine.map(|(_, (time, alone))| (*time, *alone)).collect())
    };
    let ends = flows.bins.iter().copied();
    let bounds = [0].into_iter().chain(ends.clone()).zip(ends.map(Some).chain([None]));
    let bins = bounds.map(|(above, up_to)| {
        let (flows, unfinished, time, slowdown) =
            some(&|phits| phits > above && up_to.is_none_or(|most| phits <= most));
        FlowBin { above, up_to, flows, unfinished, time, slowdown }
    });
    let bins = bins.filter(|bin| bin.flows > 0).collect();
    let (flows, unfinished, time, slowdown) = some(&|_| true);
    Some(FlowsOutcome { flows, unfinished, time, slowdown, bins })
}

/// Flows, those that have not ended, and what the others took; of each its time, 0 if it has not ended, and that
/// which it would take alone.
fn summary(all: Vec<(u64, u64)>) -> (u64, u64, FlowTimes, FlowSlowdown) {
    let ended = all.iter().filter(|(time, _)| *time > 0);
    let times = ended.clone().map(|(time, _)| *time as f64).collect();
    let slowdowns: Vec<f64> = ended.map(|(time, alone)| *time as f64 / *alone as f64).collect();
    let count = all.len() as u64;
    let unfinished = count - slowdowns.len() as u64;
    let [mean, p50, p99, max] = figures(times);
    let time = FlowTimes { mean, p50, p99, max };
    let [mean, p50, p99, max] = figures(slowdowns);
    (count, unfinished, time, FlowSlowdown { mean, p50, p99, max })
}

/// Mean, median, 99th percentile (the nearest rank) and maximum; 0 of nothing.
fn figures(mut values: Vec<f64>) -> [f64; 4] {
    values.sort_unstable_by(f64::total_cmp);
    let [count, last] = [values.len(), values.len().saturating_sub(1)];
    let at = |percent: usize| {
        values.get((count * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0)
    };
    let mean = values.iter().sum::<f64>() / count.max(1) as f64;
    [mean, at(50), at(99), values.get(last).copied().unwrap_or(0.0)]
}

fn table(flows: &Flows, (times, alone): (&[u64], &[u64]), arrays: &mut JobArrays) {
    let all = || flows.all.iter();
    arrays.flow_source = all().map(|flow| flow.from).collect();
    arrays.flow_destination = all().map(|flow| flow.to).collect();
    arrays.flow_phits = all().map(|flow| flow.phits).collect();
    arrays.flow_start = all().map(|flow| flow.start.into()).collect();
    (arrays.flow_time, arrays.flow_alone) = (times.to_vec(), alone.to_vec());
}

/// Cycles that a flow would take, were it alone in the network, on the shortest path that the topology names.
fn alone(model: &Model, job: &Job, flow: &Flow) -> u64 {
    let (from, to) = (job.hosts[flow.from as usize], job.hosts[flow.to as usize]);
    if from == to {
        return job.within.time(flow.phits).into();
    }
    let largest = model.jobs.as_ref().map_or(1, |jobs| u32::from(jobs.packet));
    let before = flow.phits.saturating_sub(1) / largest;
    let last = flow.phits - before * largest;
    let links = path(model, from, to);
    // The last packet passes the link where it waits longest for those before it as they do, and then alone.
    let mut most = 0;
    for place in 0..links.len() {
        let period = u64::from(links[place].1) * u64::from(before) * u64::from(largest);
        let size = |link: usize| if before > 0 && link < place { largest } else { last };
        let way: u64 = (0..links.len()).map(|link| step(model, &links, link, size(link))).sum();
        most = most.max(period + way);
    }
    most
}

/// Latency, and cycles of a phit, of each link from one host to another.
fn path(model: &Model, from: HostId, to: HostId) -> Vec<(Cycle, u32)> {
    let topology = &*model.topology;
    // Without links of their own hosts have their packets in the first switch at once.
    let (first, host) = model.egress.nic.map_or((0, 1), |nic| (nic.period, nic.period));
    let (mut at, end) = (topology.router_of(from), topology.router_of(to));
    let mut links = vec![(model.host_latency, first)];
    while at != end {
        let port = topology.next_hop(at, end).port;
        let Peer::Router { router, class, .. } = topology.peer(at, port) else { break };
        let link = &model.classes[usize::from(class)];
        let own = model.egress.slow.get(&(at.0, port.0)).copied();
        links.push((link.latency, own.unwrap_or(link.period)));
        at = router;
    }
    links.push((model.host_latency, host));
    links
}

/// Cycles of a packet that never waits from the beginning of a link to that of the next one, or to its last phit.
fn step(model: &Model, links: &[(Cycle, u32)], link: usize, size: u32) -> u64 {
    let (latency, period) = links[link];
    let behind = match links.get(link + 1) {
        None => size * period,
        Some(_) if link == 0 && model.egress.nic.is_none() => model.pipeline,
        Some(_) if model.store_and_forward => model.pipeline + size * period,
        // The last phit must have come to its end when a faster link needs that.
        Some((_, next)) => model.pipeline + size * period.saturating_sub(*next),
    };
    u64::from(latency) + u64::from(behind)
}

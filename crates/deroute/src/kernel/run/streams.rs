//! What the streams of the traffic did.

use super::precision;
use super::statistics::{PERCENTS, columns, latency, ratio};
use crate::ids::Cycle;
use crate::kernel::inspect::Network;
use crate::kernel::model::Model;
use crate::outcome::{
    ResequencingUse, Slowdown, SlowdownPercentile, StreamLoad, StreamOutcome, StreamPackets,
};
use crate::probe::order::OrderRecord;
use crate::probe::streams::{FRACTION, PARTS, StreamRecord};
use crate::traffic::TrafficStream;

/// What receivers did to put packets in order, if they do.
pub(super) fn resequencing(network: &Network<'_>, to: Cycle) -> Option<ResequencingUse> {
    let mut total = OrderRecord::default();
    for part in &network.partitions {
        total.merge(&part.order(to)?);
    }
    let hosts = u64::from(network.model.topology.hosts());
    Some(ResequencingUse {
        packets: total.arrived,
        out_of_order: total.late,
        out_of_order_share: ratio(total.late, total.arrived),
        held: total.held,
        held_share: ratio(total.held, total.arrived),
        wait_mean: ratio(total.waited, total.released),
        buffer_mean: ratio(total.phit_cycles, hosts * u64::from(total.to - total.from)),
        buffer_max: total.most,
        dropped: total.dropped,
    })
}

/// The results of all streams.
pub(super) fn outcome(network: &Network<'_>) -> Vec<StreamOutcome> {
    let total = |index: usize| {
        let mut total = StreamRecord::new();
        network.partitions.iter().for_each(|part| total.merge(&part.streams()[index]));
        total
    };
    let streams = network.model.traffic.streams().iter().enumerate();
    streams.map(|(index, stream)| of(network.model, stream, &total(index))).collect()
}

/// The result of one, from what all partitions have recorded.
fn of(model: &Model, stream: &TrafficStream, total: &StreamRecord) -> StreamOutcome {
    let collector = &total.collector;
    let (measured, ends) = (collector.sums().packets, model.jobs.is_some());
    let load = load(model, stream, total);
    let share = |load: f64| load * f64::from(stream.workload().period());
    StreamOutcome {
        name: stream.name().to_owned(),
        class: stream.class(),
        hosts: stream.hosts().len() as u32,
        load,
        link_share: StreamLoad {
            offered: share(load.offered),
            attempted: share(load.attempted),
            accepted: share(load.accepted),
            accepted_ci95: share(load.accepted_ci95),
        },
        packets: StreamPackets {
            generated: collector.generated,
            refused: collector.refused,
            delivered: collector.delivered,
            lost: collector.lost,
            measured,
        },
        latency: latency(collector, ends),
        slowdown: slowdown(total, measured),
        out_of_order: total.late,
        out_of_order_share: ratio(total.late, measured),
        series: model.times.series.map(|_| columns(&collector.by_delivery)),
    }
}

fn load(model: &Model, stream: &TrafficStream, total: &StreamRecord) -> StreamLoad {
    let collector = &total.collector;
    let (all, hosts) = (f64::from(model.topology.hosts()), stream.hosts().len() as f64);
    let host_cycles = hosts * f64::from(collector.to - collector.from);
    let known = if model.jobs.is_some() { None } else { precision::accepted(collector) };
    StreamLoad {
        offered: stream.workload().offered(collector.from, collector.to) * all / hosts,
        attempted: collector.attempted_phits as f64 / host_cycles,
        accepted: collector.sums().phits as f64 / host_cycles,
        accepted_ci95: known.map_or(0.0, |known| known.half_width / hosts),
    }
}

fn slowdown(total: &StreamRecord, measured: u64) -> Slowdown {
    let one = (1u64 << FRACTION) as f64;
    let max = total.most_slowdown as f64 / one;
    let at = |percent: f64| total.slowdowns.value_at_quantile(percent / 100.0) as f64;
    let percentile =
        |percent| SlowdownPercentile { percent, ratio: (at(percent) / PARTS as f64).min(max) };
    Slowdown {
        mean: ratio(total.slowdown, measured) / one,
        max,
        percentiles: PERCENTS.into_iter().map(percentile).collect(),
    }
}

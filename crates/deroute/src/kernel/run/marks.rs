//! What the congestion points did.

use std::collections::BTreeMap;

use crate::congestion::CongestionPlan;
use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::Network;
use crate::outcome::{CongestionPointUse, MarkUse, PortMarks};
use crate::probe::collect::Collector;
use crate::probe::marks::MarkRecord;

/// The result, if there are congestion points; that of single ports if asked for.
pub(crate) fn outcome(
    network: &Network<'_>,
    total: &Collector,
    every_port: bool,
) -> Option<CongestionPointUse> {
    let kmin = match network.model.egress.congestion_point? {
        CongestionPlan::Mark(plan) => Some(plan.kmin),
        CongestionPlan::Record => None,
        CongestionPlan::Sample(_) => return None,
    };
    let mut queues = BTreeMap::new();
    let mut ports = Vec::new();
    for (partition, first) in network.parts() {
        let core = partition.core();
        for (index, output) in (0..).zip(&core.outputs) {
            if output.kind == PortKind::Unused {
                continue;
            }
            let base = core.routers[output.router as usize].port_base;
            for (service, record) in (0..).zip(partition.marks(index)) {
                // Those of hosts come last.
                add(queues.entry((output.class, service)).or_default(), record);
                if every_port {
                    ports.push(PortMarks {
                        router: first + output.router,
                        port: index - base,
                        service,
                        packets: record.packets,
                        marked: record.marked,
                    });
                }
            }
        }
    }
    let names = network.model.topology.classes();
    let named = |((class, service), found): ((u8, u32), MarkUse)| MarkUse {
        class: names.get(usize::from(class)).map_or("ejection", |name| *name).to_owned(),
        service,
        ..found
    };
    let queues: Vec<MarkUse> = queues.into_iter().map(named).collect();
    let packets = total.sums().packets;
    Some(CongestionPointUse {
        says: vec![kmin.map_or_else(|| met(&queues), |kmin| says(&queues, kmin))],
        marked: total.marked,
        marked_share: if packets == 0 { 0.0 } else { total.marked as f64 / packets as f64 },
        queues,
        ports,
    })
}

/// Adds what left one output.
fn add(found: &mut MarkUse, record: &MarkRecord) {
    found.packets += record.packets;
    found.marked += record.marked;
    found.queue_max = found.queue_max.max(record.longest);
    if record.packets > 0 {
        let share = record.marked as f64 / record.packets as f64;
        found.share_max = found.share_max.max(share);
    }
}

/// What acted and what did not.
fn says(queues: &[MarkUse], kmin: u32) -> String {
    let marked: u64 = queues.iter().map(|queue| queue.marked).sum();
    if marked > 0 {
        return format!("{marked} packets were marked");
    }
    format!(
        "nothing was marked: the longest queue that a packet left behind was {} phits, and kmin is {kmin}",
        longest(queues)
    )
}

/// What packets took with them.
fn met(queues: &[MarkUse]) -> String {
    let outputs: u64 = queues.iter().map(|queue| queue.packets).sum();
    format!(
        "packets took with them what they met at {outputs} outputs, the longest queue {} phits",
        longest(queues)
    )
}

fn longest(queues: &[MarkUse]) -> u32 {
    queues.iter().map(|queue| queue.queue_max).max().unwrap_or(0)
}

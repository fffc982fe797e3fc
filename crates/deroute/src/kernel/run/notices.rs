//! What the congestion points that send notifications did, and what hosts did then.

use std::collections::BTreeMap;

use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::Network;
use crate::notification::Tells;
use crate::outcome::{NotificationUse, PortSamples, ReactionPointUse, SampledQueues, WindowUse};
use crate::probe::collect::{Collector, Notices};
use crate::probe::limits::{LimitRecord, WindowRecord};
use crate::probe::notices::NoticeRecord;

/// The result, if there are such congestion points; that of single ports if asked for.
pub(crate) fn outcome(
    network: &Network<'_>,
    total: &Collector,
    every_port: bool,
) -> Option<NotificationUse> {
    let plan = network.model.egress.notices?;
    let mut found = BTreeMap::<(u8, u32), NoticeRecord>::new();
    let mut ports = Vec::new();
    for (partition, first) in network.parts() {
        let core = partition.core();
        for (index, output) in (0..).zip(&core.outputs) {
            if output.kind == PortKind::Unused {
                continue;
            }
            let base = core.routers[output.router as usize].port_base;
            for (service, record) in (0..).zip(partition.notices(index)) {
                if service == u32::from(plan.class) {
                    continue;
                }
                // Those of hosts come last.
                found.entry((output.class, service)).or_default().add(&record);
                if every_port {
                    ports.push(PortSamples {
                        router: first + output.router,
                        port: index - base,
                        service,
                        samples: record.samples,
                        congested: record.congested,
                        sent: record.sent,
                        queue_max: record.longest,
                    });
                }
            }
        }
    }
    let names = network.model.topology.classes();
    let queues = found.iter().map(|(&(class, service), record)| SampledQueues {
        class: names.get(usize::from(class)).map_or("ejection", |name| *name).to_owned(),
        service,
        samples: record.samples,
        congested: record.congested,
        sent: record.sent,
        queue_mean: super::statistics::ratio(record.phits, record.samples),
        queue_max: record.longest,
    });
    let mut all = NoticeRecord::default();
    found.values().for_each(|record| all.add(record));
    let Notices { sent, received, lost } = total.notices;
    let points = network.model.notification_point.map(|plan| plan.tells);
    Some(NotificationUse {
        says: match points {
            None => says(&all, &total.notices),
            Some(tells) => replies(tells, &total.notices),
        },
        service: plan.class,
        sent,
        received,
        lost: lost + all.dropped,
        queues: queues.collect(),
        ports,
    })
}

/// What acted and what did not.
fn says(all: &NoticeRecord, notices: &Notices) -> Vec<String> {
    let NoticeRecord { samples, congested, sent, dropped, longest, .. } = *all;
    let mut says = match (samples, congested, sent) {
        (0, ..) => vec!["no queue was sampled: too little entered any of them".to_owned()],
        (_, 0, _) => vec![format!(
            "nobody was notified: the longest of {samples} queues sampled held {longest} phits"
        )],
        (.., 0) => vec![format!("nobody was notified, though {congested} queues were too long")],
        _ => vec![format!("{sent} notifications were sent, of {samples} samples")],
    };
    if dropped + notices.lost > 0 {
        says.push(format!("{} notifications were lost for want of room", dropped + notices.lost));
    }
    says
}

/// What receiving hosts did and what they did not.
fn replies(tells: Tells, notices: &Notices) -> Vec<String> {
    let Notices { sent, lost, .. } = *notices;
    let mut says = match (tells, sent) {
        (Tells::Marks(_), 0) => vec!["nobody was notified: no packet came marked".to_owned()],
        (Tells::Packets, 0) => vec!["nothing was acknowledged: no packet came".to_owned()],
        (Tells::Marks(_), _) => vec![format!("hosts sent {sent} notifications of marked packets")],
        (Tells::Packets, _) => vec![format!("hosts sent {sent} acknowledgements")],
    };
    if lost > 0 {
        says.push(format!("{lost} of them were lost for want of room"));
    }
    says
}

/// What the reaction points did, if there are any.
pub(crate) fn reactions(network: &Network<'_>) -> Option<ReactionPointUse> {
    let mut all = LimitRecord::default();
    let plan = network.model.egress.reaction_point?;
    network.partitions.iter().filter_map(|part| part.limits()).for_each(|part| all.add(&part));
    let LimitRecord { cuts, begun, ended, most, lowest, windows } = all;
    let windows = plan.law.begin().window().map(|_| windows);
    let says = match (windows, cuts) {
        (Some(windows), _) => says_of_windows(&windows, (begun, cuts)),
        (_, 0) => "no rate was cut: no host heard of congestion".to_owned(),
        _ => format!("rates were cut {cuts} times, to {lowest:.3} of the link at the least"),
    };
    let windows = windows.map(|windows| WindowUse {
        held: windows.held,
        raises: windows.raises,
        least: if begun == 0 { 0.0 } else { windows.least },
        most: windows.most,
        under_way_max: windows.under_way,
    });
    Some(ReactionPointUse {
        says: vec![says],
        cuts,
        limited: begun,
        limited_at_end: begun - ended,
        limiters_max: most,
        rate_min: lowest,
        windows,
    })
}

/// What windows did and what they did not.
fn says_of_windows(windows: &WindowRecord, (begun, cuts): (u64, u64)) -> String {
    let WindowRecord { held, raises, least, most, .. } = *windows;
    let acted = match held {
        _ if begun == 0 => return "no window was opened: no host sent anything".to_owned(),
        0 => "no window held anything up: what was under way always left room".to_owned(),
        _ => format!("windows held packets up {held} times"),
    };
    match raises + cuts {
        0 => acted,
        _ => format!("{acted}; raised {raises} times, cut {cuts}, {least:.0} to {most:.0} phits"),
    }
}

//! What a flow control that pauses did, from the counts of its receivers and senders.

use crate::control::PausePlan;
use crate::ids::Cycle;
use crate::kernel::control::PauseRecord;
use crate::kernel::core::ports::{Input, PortKind};
use crate::kernel::egress::SilenceRecord;
use crate::kernel::inspect::{Inspect, Network};
use crate::kernel::model::Pauses;
use crate::outcome::{FlowControlUse, PauseRow, PauseSeries, PauseUse, SharedUse};

/// One direction of a link, with what its ends have recorded.
struct Link<'a> {
    class: usize,
    plan: &'a PausePlan,
    /// Router and port of its ends, or the host that sends.
    from: Result<[u32; 2], u32>,
    to: [u32; 2],
    /// Of each VC, or of all together.
    records: Vec<PauseRecord>,
    vcs: u8,
    /// Of each queue of the sender.
    silences: Vec<SilenceRecord>,
}

/// The result, if the flow control is one that pauses, loses packets, or has credits in messages.
pub(crate) fn outcome(network: &Network<'_>, cycles: Cycle) -> Option<FlowControlUse> {
    let (credits, told) = super::credits::outcome(network);
    let Some(pauses) = &network.model.pause else {
        let counts = !credits.is_empty();
        return counts.then(|| FlowControlUse {
            says: told,
            links: Vec::new(),
            credits,
            shared: None,
        });
    };
    let names = network.model.topology.classes().iter().copied();
    let classes = names.chain(["host"]).zip(pauses.by_class());
    let mut links: Vec<PauseUse> =
        classes.filter_map(|(name, plan)| plan.map(|plan| unused(name, plan))).collect();
    // Whole numbers, so that the sums do not depend on the partitions.
    let mut silent = vec![(0, 0); links.len()];
    each(network, pauses, |link| {
        let sums = add(&mut links[link.class], link, cycles);
        let (paused, queues) = silent[link.class];
        silent[link.class] = (paused + sums.0, queues + sums.1);
    });
    for (found, (paused, queues)) in links.iter_mut().zip(silent) {
        found.paused_mean = paused as f64 / (f64::from(cycles) * queues.max(1) as f64);
    }
    let mut says = says(pauses.lossy(), &links);
    says.extend(told);
    let shared = network.partitions.iter().filter_map(|partition| partition.shared_memory());
    let shared = shared.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
    let shared = shared.map(|(size, used_max)| SharedUse { size, used_max });
    if let Some(SharedUse { size, used_max }) = shared {
        says.push(format!(
            "of {size} phits that the ports of a switch share, {used_max} were in use at the most"
        ));
    }
    Some(FlowControlUse { says, links, credits, shared })
}

/// Links of a class on which nothing has happened, of which there is none yet.
fn unused(class: &str, PausePlan { limits, .. }: &PausePlan) -> PauseUse {
    PauseUse {
        class: class.to_owned(),
        links: 0,
        frames: 0,
        stops: 0,
        paused_mean: 0.0,
        paused_max: 0.0,
        buffer_max: 0,
        buffer: limits.capacity,
        xoff: (limits.xoff < u32::MAX).then_some(limits.xoff),
        lost_packets: 0,
        lost_phits: 0,
        trimmed_packets: 0,
    }
}

/// Adds a link to those of its class; returns the cycles in which its queues were silent, and how many they are.
fn add(found: &mut PauseUse, link: &Link<'_>, cycles: Cycle) -> (u64, u64) {
    found.links += 1;
    for record in &link.records {
        found.frames += u64::from(record.frames);
        found.stops += u64::from(record.stops);
        found.buffer_max = found.buffer_max.max(record.peak);
        found.lost_packets += u64::from(record.lost_packets);
        found.lost_phits += u64::from(record.lost_phits);
        found.trimmed_packets += u64::from(record.trimmed);
    }
    let silent = link.silences.iter().map(|silence| silence.measured).sum();
    let queues = link.silences.len() as u64;
    let share = silent as f64 / (f64::from(cycles) * queues as f64);
    found.paused_max = found.paused_max.max(share);
    (silent, queues)
}

/// Shows every link whose sender can be paused or whose buffer can overflow, in the order of the receiving ports.
fn each(network: &Network<'_>, pauses: &Pauses, mut look: impl FnMut(&Link<'_>)) {
    for (partition, first) in network.parts() {
        for (port, input) in (0..).zip(&partition.core().inputs) {
            if let Some(link) = link((network, pauses), (partition, first), (port, input)) {
                look(&link);
            }
        }
    }
}

/// The link behind an input of a partition.
fn link<'a>(
    (network, pauses): (&Network<'a>, &'a Pauses),
    (partition, first): (&'a dyn Inspect, u32),
    (port, input): (u32, &Input),
) -> Option<Link<'a>> {
    let (core, upstream) = (partition.core(), input.upstream);
    let (class, from, sender) = match input.kind {
        PortKind::Link => {
            let class = usize::from(core.outputs[port as usize].class);
            let other = network.partitions[upstream.partition as usize];
            let output = &other.core().outputs[upstream.port as usize];
            let base = other.core().routers[output.router as usize].port_base;
            let router = other.core().first_router + output.router;
            let from = [router, upstream.port - base];
            (class, Ok(from), (other, upstream.port))
        }
        PortKind::Host => {
            let host = core.hosts[upstream.port as usize].id.0;
            // The links of hosts come after the outputs.
            let queue = core.outputs.len() as u32 + upstream.port;
            (usize::from(u8::MAX), Err(host), (partition, queue))
        }
        PortKind::Unused => return None,
    };
    Some(Link {
        class: pauses.place_of(class),
        plan: pauses.of(class)?,
        from,
        to: [first + input.router, port - input.base],
        records: partition.pauses(port),
        vcs: input.vcs,
        silences: sender.0.silences(sender.1, input.vcs),
    })
}

/// The record of every link and VC, if it is asked for.
pub(crate) fn record(network: &Network<'_>, from: Cycle, to: Cycle) -> Option<PauseSeries> {
    let pauses = network.model.pause.as_ref().filter(|_| network.model.pause_probe)?;
    let (width, before) = network.model.times.series.unwrap_or_default();
    let before = before.min(from);
    let bins = if width == 0 { 0 } else { (to - (from - before)).div_ceil(width) };
    let mut columns: Vec<Vec<u32>> = Vec::new();
    let mut rows = Vec::new();
    each(network, pauses, |link| {
        let vcs = if link.plan.whole_link { 1 } else { link.vcs };
        for vc in 0..vcs {
            rows.push(row(link, vc));
            columns.push(link.silences[usize::from(vc)].bins.clone());
        }
    });
    let column =
        |bin: usize| columns.iter().map(move |column| column.get(bin).copied().unwrap_or(0));
    let mut paused = Vec::with_capacity(bins as usize * rows.len());
    (0..bins as usize).for_each(|bin| paused.extend(column(bin)));
    Some(PauseSeries { start: -i64::from(before), width: u64::from(width), rows, paused })
}

/// What happened to a VC of a link, or to all of them.
fn row(link: &Link<'_>, vc: u8) -> PauseRow {
    let record = link.records[usize::from(vc)];
    PauseRow {
        from: link.from.ok(),
        to: link.to,
        host: link.from.err(),
        vc: (!link.plan.whole_link).then_some(vc.into()),
        class: link.class as u32,
        frames: record.frames.into(),
        stops: record.stops.into(),
        paused: link.silences[usize::from(vc)].measured,
        buffer_max: record.peak,
        headroom_max: record.peak.saturating_sub(link.plan.limits.xoff),
        lost_packets: record.lost_packets.into(),
        lost_phits: record.lost_phits.into(),
        trimmed_packets: record.trimmed.into(),
    }
}

/// What acted and what did not.
fn says(lossy: bool, links: &[PauseUse]) -> Vec<String> {
    let mut says = Vec::new();
    let pausing = links.iter().any(|link| link.xoff.is_some());
    let stops: u64 = links.iter().map(|link| link.stops).sum();
    let lost: u64 = links.iter().map(|link| link.lost_packets).sum();
    if pausing && stops == 0 {
        let fullest = links.iter().max_by_key(|link| {
            1_000 * u64::from(link.buffer_max) / u64::from(link.xoff.unwrap_or(1).max(1))
        });
        if let Some(PauseUse { class, buffer_max, xoff: Some(xoff), .. }) = fullest {
            says.push(format!(
                "nothing was paused: the fullest buffer, of {class}, held {buffer_max} phits, and xoff is {xoff}"
            ));
        }
    } else if pausing {
        says.push(format!("senders were told {stops} times to be silent"));
    }
    if lost > 0 {
        says.push(format!("{lost} packets were lost for want of room"));
    } else if lossy {
        says.push("no packet was lost".into());
    }
    says
}

//! What a flow control that pauses did, from the counts of its receivers and senders.

use crate::control::PausePlan;
use crate::ids::Cycle;
use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::{Inspect, Network};
use crate::outcome::{FlowControlUse, PauseUse};

/// The result, if the flow control is one that pauses or loses packets.
pub(crate) fn outcome(network: &Network<'_>, cycles: Cycle) -> Option<FlowControlUse> {
    let plan = network.model.pause.as_ref()?;
    let names = network.model.topology.classes();
    let mut links: Vec<PauseUse> =
        (0..names.len()).map(|class| of_class(network, plan, Some(class), cycles)).collect();
    if plan.host.is_some() {
        links.push(of_class(network, plan, None, cycles));
    }
    let says = says(plan, &links);
    Some(FlowControlUse { says, links })
}

/// The links of one class, or those of the hosts.
fn of_class(
    network: &Network<'_>,
    plan: &PausePlan,
    class: Option<usize>,
    cycles: Cycle,
) -> PauseUse {
    let names = network.model.topology.classes();
    let limits = class.map_or(plan.host, |class| Some(plan.limits[class])).unwrap_or_default();
    let mut found = PauseUse {
        class: class.map_or("host", |class| names[class]).to_owned(),
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
    };
    // Whole numbers, so that the sum does not depend on the partitions.
    let (mut paused, mut queues) = (0, 0);
    for partition in &network.partitions {
        let silence = add(&mut found, *partition, class, cycles);
        (paused, queues) = (paused + silence.0, queues + silence.1);
    }
    found.paused_mean = paused as f64 / (f64::from(cycles) * queues.max(1) as f64);
    found
}

/// Adds what a partition has recorded; returns the cycles in which its queues were silent, and how many they are.
fn add(
    found: &mut PauseUse,
    partition: &dyn Inspect,
    class: Option<usize>,
    cycles: Cycle,
) -> (u64, u64) {
    let core = partition.core();
    let mut paused = (0, 0);
    for (port, input) in (0..).zip(&core.inputs) {
        let of_class = match input.kind {
            PortKind::Link => class == Some(usize::from(core.outputs[port as usize].class)),
            PortKind::Host => class.is_none(),
            PortKind::Unused => false,
        };
        let Some(record) = partition.pauses(port).filter(|_| of_class) else { continue };
        found.links += 1;
        found.frames += record.frames;
        found.stops += record.stops;
        found.buffer_max = found.buffer_max.max(record.peak);
        found.lost_packets += record.lost_packets;
        found.lost_phits += record.lost_phits;
        // The sender of a link is known where it is: as an output, or as a host.
        let sender = match input.kind {
            PortKind::Host => core.outputs.len() as u32 + input.upstream.port,
            _ => port,
        };
        let vcs =
            if input.kind == PortKind::Host { input.vcs } else { core.outputs[port as usize].vcs };
        let (silent, queues) = partition.silence(sender, vcs);
        paused = (paused.0 + silent, paused.1 + queues);
        let share = silent as f64 / (f64::from(cycles) * queues as f64);
        found.paused_max = found.paused_max.max(share);
    }
    paused
}

/// What acted and what did not.
fn says(plan: &PausePlan, links: &[PauseUse]) -> Vec<String> {
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
    } else if plan.lossy {
        says.push("no packet was lost".into());
    }
    says
}

//! Conservation and losslessness.

use std::collections::HashMap;

use crate::ids::{PortId, RouterId};
use crate::kernel::RunError;
use crate::kernel::books::{Channel, describe};
use crate::kernel::core::Core;
use crate::kernel::core::packet::Flight;
use crate::kernel::core::ports::{Input, PortKind};
use crate::kernel::inspect::{Inspect, Network};
use crate::kernel::machine::Departing;
use crate::probe::collect::Notices;
use crate::probe::retransmission::RetransmissionRecord;
use crate::topology::Peer;

/// Every packet generated was delivered or is somewhere.
pub(crate) fn conservation(network: &Network<'_>) -> Result<(), RunError> {
    let generated: u64 = network.cores().map(|core| core.collector.generated).sum();
    let delivered: u64 = network.cores().map(|core| core.collector.delivered).sum();
    let lost: u64 = network.cores().map(|core| core.collector.lost).sum();
    let live: u64 = network.cores().map(|core| u64::from(packets_in(core))).sum();
    let interfaces = network.partitions.iter().filter_map(|partition| partition.interfaces());
    let live = live + interfaces.map(|interfaces| interfaces.behind()).sum::<u64>();
    // Those that are to leave for their hosts count as delivered.
    let leaving: u64 = network.partitions.iter().map(|partition| partition.leaving()).sum();
    let notices = |count: fn(&Notices) -> u64| -> u64 {
        network.cores().map(|core| count(&core.collector.notices)).sum()
    };
    let sent = notices(|notices| notices.sent);
    let (received, missing) =
        (notices(|notices| notices.received), notices(|notices| notices.lost));
    for partition in &network.partitions {
        let (Some(cargo), live) = (partition.cargo(), packets_in(partition.core())) else {
            continue;
        };
        if cargo != live {
            return Err(RunError::Invariant(format!("the cargo of {cargo} of {live} packets")));
        }
    }
    let again = |count: fn(&RetransmissionRecord) -> u64| -> u64 {
        network.cores().map(|core| count(&core.collector.retransmission)).sum()
    };
    let (resent, trimmed) = (again(|all| all.resent - all.spared), again(|all| all.trimmed));
    let from = generated + resent + sent + leaving;
    if from != delivered + received + lost + trimmed + missing + live {
        return Err(RunError::Invariant(format!(
            "{generated} packets generated and {resent} again, but {delivered} delivered, {lost} lost, {trimmed} \
             trimmed and {live} in the network, {leaving} of them about to leave it; {sent} notifications, \
             {received} received and {missing} lost"
        )));
    }
    Ok(())
}

/// Packets in the queues of a partition, and on their way to them.
fn packets_in(core: &Core) -> u32 {
    core.pool.live() + core.arrivals.len()
}

/// Phits of each (input port, VC) of the whole network that are buffered, on the link, or whose
/// credits are on their way.
type Charged = HashMap<Channel, u64>;

/// Recounts everything: packets, buffers and credits.
pub(crate) fn full(network: &Network<'_>) -> Result<(), RunError> {
    let mut charged = Charged::new();
    for (partition, first) in network.parts() {
        let found = count_queues(partition, first, &mut charged)?
            + count_departing(partition, first, &mut charged)
            + count_events(partition.core(), first, &mut charged);
        let live = packets_in(partition.core());
        if found != live {
            return Err(RunError::Invariant(format!("{live} packets live, {found} reachable")));
        }
    }
    for (partition, first) in network.parts() {
        check_credits(partition.core(), first, &charged)?;
        for router in 0..partition.core().routers.len() as u32 {
            let wrong = |what| RunError::Invariant(format!("router {}: {what}", first + router));
            partition.check(router).map_err(wrong)?;
        }
    }
    Ok(())
}

fn count_queues(
    partition: &dyn Inspect,
    first: u32,
    charged: &mut Charged,
) -> Result<u32, RunError> {
    let core = partition.core();
    let mut packets = 0;
    for (index, input) in core.inputs.iter().enumerate() {
        let port = index as u32 - input.base;
        for vc in 0..input.vcs {
            let mut phits = 0;
            for queue in partition.vc_queues(index, vc) {
                for (place, packet) in core.packets(queue) {
                    packets += 1;
                    if !core.registers.hold(place) {
                        phits += charge(core, index as u32, packet.size);
                    }
                }
            }
            let channel = (first + input.router, port as u16, Some(vc));
            if input.kind == PortKind::Link {
                let owed = partition.owed(index as u32, vc);
                *charged.entry(channel).or_default() += phits + u64::from(owed);
            }
            let limit = limit(core, index);
            if phits > u64::from(limit) {
                let (place, limit) = (describe(&[channel]), limit);
                let message = format!("{place} holds {phits} phits of at most {limit}");
                return Err(RunError::Invariant(message));
            }
        }
    }
    Ok(packets)
}

/// Phits that a packet takes of the buffer at the end of the link of a port.
fn charge(core: &Core, port: u32, size: u16) -> u64 {
    core.model.charge(core.outputs[port as usize].class, size.into()).into()
}

/// Phits that a queue of an input may hold at the most.
fn limit(core: &Core, input: usize) -> u32 {
    let (model, class) = (&core.model, usize::from(core.outputs[input].class));
    let link = core.inputs[input].kind == PortKind::Link;
    let router = core.routers[core.inputs[input].router as usize].id;
    match model.pause.as_ref().and_then(|pauses| pauses.of(class)) {
        Some(plan) => {
            let shared = plan.shared.and_then(|_| model.shared_memory(router)).unwrap_or(0);
            plan.limits.capacity.saturating_add(shared)
        }
        None if link => model.classes[class].buffer,
        None if model.messages.as_ref().is_some_and(|messages| messages.host().is_some()) => {
            model.egress.nic.map_or(model.injection_queue, |nic| nic.buffer)
        }
        None => model.injection_queue,
    }
}

/// Packets that wait at the outputs, for which there is room at the other end.
fn count_departing(partition: &dyn Inspect, first: u32, charged: &mut Charged) -> u32 {
    let (core, departing) = (partition.core(), partition.departing());
    let to_host = |departing: &&Departing| {
        let output = core.outputs.get(departing.out as usize);
        output.is_some_and(|output| output.kind == PortKind::Host)
    };
    debug_assert_eq!(departing.iter().filter(to_host).count() as u64, partition.leaving());
    for Departing { out, vc, packet, held } in &departing {
        let packet = core.pool[*packet].packet;
        if core.outputs.get(*out as usize).is_some_and(|output| output.kind == PortKind::Link) {
            *charged.entry(far_end(core, first, *out, *vc)).or_default() +=
                charge(core, *out, packet.size);
        }
        if let Some((input, vc)) = held {
            let size = charge(core, *input, packet.size);
            let Input { router, base, .. } = core.inputs[*input as usize];
            *charged.entry((first + router, (input - base) as u16, Some(*vc))).or_default() += size;
        }
    }
    departing.len() as u32
}

/// The channel at the other end of a local output port.
pub(super) fn far_end(core: &Core, first: u32, port: u32, vc: u8) -> Channel {
    let output = &core.outputs[port as usize];
    let router = &core.routers[output.router as usize];
    let local = PortId((port - router.port_base) as u16);
    match core.model.topology.peer(RouterId(first + output.router), local) {
        Peer::Router { router, port, .. } => (router.0, port.0, Some(vc)),
        _ => (first + output.router, local.0, Some(vc)),
    }
}

fn count_events(core: &Core, first: u32, charged: &mut Charged) -> u32 {
    let mut packets = 0;
    for Flight { packet, to, .. } in core.arrivals.pending() {
        let (port, vc) = (to.port(), to.vc());
        packets += 1;
        let input = &core.inputs[port as usize];
        let channel = (first + input.router, (port - input.base) as u16, Some(vc));
        if input.kind == PortKind::Link {
            *charged.entry(channel).or_default() += charge(core, port, packet.size);
        }
    }
    for signal in core.signals.pending() {
        let output = core.outputs.get(signal.port() as usize);
        if output.is_none_or(|output| core.model.replaces_credits(output.class)) {
            continue;
        }
        let channel = far_end(core, first, signal.port(), signal.vc());
        *charged.entry(channel).or_default() += u64::from(signal.content());
    }
    packets
}

fn check_credits(core: &Core, first: u32, charged: &Charged) -> Result<(), RunError> {
    for (index, output) in core.outputs.iter().enumerate() {
        if output.kind != PortKind::Link || core.model.replaces_credits(output.class) {
            continue;
        }
        let class = core.model.classes[output.class as usize];
        let reserve = u64::from(class.buffer - class.shared);
        let used = |vc| {
            let channel = far_end(core, first, index as u32, vc);
            charged.get(&channel).copied().unwrap_or(0)
        };
        let all = || (0..output.vcs).map(used);
        let borrowed: u64 = all().map(|used| used.saturating_sub(reserve)).sum();
        let mut queued = 0;
        for vc in 0..output.vcs {
            let credits = output.credits(&core.credits, vc);
            let used = used(vc);
            queued += used;
            // What is left of its own, and of what VCs share.
            let left =
                reserve.saturating_sub(used) + u64::from(class.shared).saturating_sub(borrowed);
            if u64::from(credits) != left {
                let place = describe(&[far_end(core, first, index as u32, vc)]);
                return Err(RunError::Invariant(format!(
                    "{credits} credits, but {used} phits charged leave {left} of {place}"
                )));
            }
        }
        if u64::from(output.queued) != queued {
            let (router, counted) = (first + output.router, output.queued);
            return Err(RunError::Invariant(format!(
                "an output of router {router} counts {counted} phits, {queued} are charged"
            )));
        }
    }
    Ok(())
}

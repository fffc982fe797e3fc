//! Conservation, losslessness, and the deadlock watchdog.

use std::collections::{HashMap, HashSet};

use crate::ids::{Cycle, PortId, RouterId};
use crate::kernel::RunError;
use crate::kernel::books::{Channel, describe};
use crate::kernel::core::Core;
use crate::kernel::core::packet::{Flight, NONE};
use crate::kernel::core::ports::{Input, PortKind, Queue};
use crate::kernel::egress::Departing;
use crate::kernel::inspect::{Inspect, Network};
use crate::topology::Peer;

/// Every packet generated was delivered or is somewhere.
pub(crate) fn conservation(network: &Network<'_>) -> Result<(), RunError> {
    let generated: u64 = network.cores().map(|core| core.collector.generated).sum();
    let delivered: u64 = network.cores().map(|core| core.collector.delivered).sum();
    let lost: u64 = network.cores().map(|core| core.collector.lost).sum();
    let live: u64 = network.cores().map(|core| u64::from(packets_in(core))).sum();
    // Those that are to leave for their hosts count as delivered.
    let leaving: u64 = network.partitions.iter().map(|partition| leaving(*partition)).sum();
    for partition in &network.partitions {
        let (Some(interfaces), live) = (partition.interfaces(), packets_in(partition.core()))
        else {
            continue;
        };
        if interfaces.cargo.live() != live {
            let cargo = interfaces.cargo.live();
            return Err(RunError::Invariant(format!("the cargo of {cargo} of {live} packets")));
        }
    }
    if generated + leaving != delivered + lost + live {
        return Err(RunError::Invariant(format!(
            "{generated} packets generated, but {delivered} delivered, {lost} lost and {live} in the \
             network, {leaving} of them about to leave it"
        )));
    }
    Ok(())
}

/// Packets that have been granted the output to their host and have not left.
fn leaving(partition: &dyn Inspect) -> u64 {
    let core = partition.core();
    let departing = partition.departing().into_iter();
    let kind = |d: &Departing| core.outputs.get(d.out as usize).map(|output| output.kind);
    departing.filter(|d| kind(d) == Some(PortKind::Host)).count() as u64
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
        if network.model.pause.is_none() {
            check_credits(partition.core(), first, &charged)?;
        }
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
                for (_, packet) in core.packets(queue) {
                    packets += 1;
                    phits += u64::from(packet.size);
                }
            }
            let channel = (first + input.router, port as u16, vc);
            if input.kind == PortKind::Link {
                *charged.entry(channel).or_default() += phits;
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

/// Phits that a queue of an input may hold at the most.
fn limit(core: &Core, input: usize) -> u32 {
    let (model, class) = (&core.model, usize::from(core.outputs[input].class));
    let link = core.inputs[input].kind == PortKind::Link;
    match &model.pause {
        Some(plan) if link => plan.limits[class].capacity,
        Some(plan) => plan.host.map_or(model.injection_queue, |limits| limits.capacity),
        None if link => model.classes[class].buffer,
        None => model.injection_queue,
    }
}

/// Packets that wait at the outputs, for which there is room at the other end.
fn count_departing(partition: &dyn Inspect, first: u32, charged: &mut Charged) -> u32 {
    let (core, departing) = (partition.core(), partition.departing());
    for Departing { out, vc, packet, held } in &departing {
        let size = u64::from(core.pool[*packet].packet.size);
        if core.outputs.get(*out as usize).is_some_and(|output| output.kind == PortKind::Link) {
            *charged.entry(far_end(core, first, *out, *vc)).or_default() += size;
        }
        if let Some((input, vc)) = held {
            let Input { router, base, .. } = core.inputs[*input as usize];
            *charged.entry((first + router, (input - base) as u16, *vc)).or_default() += size;
        }
    }
    departing.len() as u32
}

/// The channel at the other end of a local output port.
fn far_end(core: &Core, first: u32, port: u32, vc: u8) -> Channel {
    let output = &core.outputs[port as usize];
    let router = &core.routers[output.router as usize];
    let local = PortId((port - router.port_base) as u16);
    match core.model.topology.peer(RouterId(first + output.router), local) {
        Peer::Router { router, port, .. } => (router.0, port.0, vc),
        _ => (first + output.router, local.0, vc),
    }
}

fn count_events(core: &Core, first: u32, charged: &mut Charged) -> u32 {
    let mut packets = 0;
    for Flight { packet, to, .. } in core.arrivals.pending() {
        let (port, vc) = (to.port(), to.vc());
        packets += 1;
        let input = &core.inputs[port as usize];
        let channel = (first + input.router, (port - input.base) as u16, vc);
        if input.kind == PortKind::Link {
            *charged.entry(channel).or_default() += u64::from(packet.size);
        }
    }
    let credits = core.model.pause.is_none();
    for signal in core.signals.pending().filter(|_| credits) {
        let channel = far_end(core, first, signal.port(), signal.vc());
        *charged.entry(channel).or_default() += u64::from(signal.content());
    }
    packets
}

fn check_credits(core: &Core, first: u32, charged: &Charged) -> Result<(), RunError> {
    for (index, output) in core.outputs.iter().enumerate() {
        if output.kind != PortKind::Link {
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

/// Finds packets that wait for each other.
pub(crate) struct Watchdog {
    patience: Cycle,
    next: Cycle,
}

impl Watchdog {
    pub(crate) fn new(patience: Cycle) -> Self {
        Self { patience, next: patience }
    }

    /// Looks at heads that have not moved for longer than the patience, and follows what they wait
    /// for. A cycle of such waits, each for credits that only the next can release, is a deadlock.
    pub(crate) fn look(&mut self, network: &Network<'_>) -> Result<(), RunError> {
        self.next = network.now.saturating_add(self.patience / 2);
        let mut waits = HashMap::new();
        for (partition, first) in network.parts() {
            self.stuck(partition, first, network.now, &mut waits);
        }
        match find_cycle(&doomed(waits)) {
            None => Ok(()),
            Some(cycle) => Err(RunError::Deadlock(format!(
                "at cycle {}, packets that have not moved for {} cycles wait for each other: {}",
                network.now,
                self.patience,
                describe(&cycle)
            ))),
        }
    }

    /// Is it time to look?
    pub(crate) fn is_due(&self, now: Cycle) -> bool {
        now >= self.next
    }

    /// For each channel of which every head is stuck, the channels whose room they wait for.
    fn stuck(
        &self,
        partition: &dyn Inspect,
        first: u32,
        now: Cycle,
        waits: &mut HashMap<Channel, Vec<Channel>>,
    ) {
        let core = partition.core();
        for (index, input) in core.inputs.iter().enumerate() {
            let base = input.base;
            if input.kind != PortKind::Link || now - input.busy_until.min(now) < self.patience {
                continue;
            }
            for vc in 0..input.vcs {
                let waits_for = |queue: &Queue| {
                    let (request, out) = (&queue.request, base + u32::from(queue.request.out));
                    let stuck = request.routed
                        && now - core.pool[queue.head].arrival >= self.patience
                        && partition.credit_blocked(base, request);
                    stuck.then(|| far_end(core, first, out, request.vc))
                };
                let queues = partition.vc_queues(index, vc);
                let heads = queues.into_iter().filter(|queue| queue.head != NONE);
                if let Some(ends) = heads.map(waits_for).collect::<Option<Vec<_>>>()
                    && !ends.is_empty()
                {
                    let channel = (first + input.router, (index as u32 - base) as u16, vc);
                    waits.insert(channel, ends);
                }
            }
        }
    }
}

/// Of channels and those that their heads wait for, the channels that no head can leave: every one waits
/// for another of them. For each of them, one of those that it waits for.
fn doomed(mut waits: HashMap<Channel, Vec<Channel>>) -> HashMap<Channel, Channel> {
    loop {
        let all: HashSet<Channel> = waits.keys().copied().collect();
        waits.retain(|_, ends| ends.iter().all(|end| all.contains(end)));
        if waits.len() == all.len() {
            return waits.into_iter().map(|(channel, ends)| (channel, ends[0])).collect();
        }
    }
}

/// A cycle in a graph in which every node has at most one successor. The result does not depend on
/// the order of the map.
fn find_cycle(waits: &HashMap<Channel, Channel>) -> Option<Vec<Channel>> {
    let mut starts: Vec<_> = waits.keys().copied().collect();
    starts.sort_unstable();
    let mut done = HashSet::new();
    for start in starts {
        let mut walk = Vec::new();
        let mut here = Some(start);
        while let Some(channel) = here
            && !done.contains(&channel)
        {
            if let Some(begin) = walk.iter().position(|&seen| seen == channel) {
                return Some(walk.split_off(begin));
            }
            walk.push(channel);
            here = waits.get(&channel).copied();
        }
        done.extend(walk);
    }
    None
}

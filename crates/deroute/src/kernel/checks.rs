//! Conservation, losslessness, and the deadlock watchdog.

use std::collections::{HashMap, HashSet};

use super::RunError;
use super::dependencies::{Channel, describe};
use super::packet::{Flight, NONE};
use super::partition::Partition;
use super::plant::Plant;
use super::state::{PortKind, Queue, read_credit};
use crate::ids::{Cycle, PortId, RouterId};
use crate::topology::Peer;

/// Every packet generated was delivered or is somewhere.
pub(super) fn conservation(partitions: &[Partition]) -> Result<(), RunError> {
    let generated: u64 = partitions.iter().map(|p| p.collector.generated).sum();
    let delivered: u64 = partitions.iter().map(|p| p.collector.delivered).sum();
    let live: u64 =
        partitions.iter().map(|p| u64::from(p.pool.live()) + u64::from(p.arrivals.len())).sum();
    for partition in partitions {
        let (Some(nics), live) =
            (&partition.nics, partition.pool.live() + partition.arrivals.len())
        else {
            continue;
        };
        if nics.parcels.live() != live {
            let parcels = nics.parcels.live();
            return Err(RunError::Invariant(format!("{parcels} parcels of {live} packets")));
        }
    }
    if generated != delivered + live {
        return Err(RunError::Invariant(format!(
            "{generated} packets generated, but {delivered} delivered and {live} in the network"
        )));
    }
    Ok(())
}

/// Phits of each (input port, VC) of the whole network that are buffered, on the link, or whose
/// credits are on their way.
type Charged = HashMap<Channel, u64>;

/// Recounts everything: packets, buffers and credits.
pub(super) fn full(
    plant: &Plant,
    partitions: &[Partition],
    firsts: &[u32],
) -> Result<(), RunError> {
    let mut charged = Charged::new();
    for (partition, first) in partitions.iter().zip(firsts) {
        let found = count_queues(plant, partition, *first, &mut charged)?
            + count_events(plant, partition, *first, &mut charged);
        let live = partition.pool.live() + partition.arrivals.len();
        if found != live {
            return Err(RunError::Invariant(format!("{live} packets live, {found} reachable")));
        }
    }
    for (partition, first) in partitions.iter().zip(firsts) {
        check_credits(plant, partition, *first, &charged)?;
        let Some(islip) = &partition.islip else { continue };
        for router in 0..partition.routers.len() as u32 {
            let wrong = |what| RunError::Invariant(format!("router {}: {what}", first + router));
            islip.check(partition, router).map_err(wrong)?;
        }
    }
    Ok(())
}

fn count_queues(
    plant: &Plant,
    partition: &Partition,
    first: u32,
    charged: &mut Charged,
) -> Result<u32, RunError> {
    let mut packets = 0;
    for (index, input) in partition.inputs.iter().enumerate() {
        let port = index as u32 - partition.routers[input.router as usize].port_base;
        for vc in 0..input.vcs {
            let mut phits = 0;
            for queue in partition.lanes(index, vc) {
                let mut next = queue.head;
                while next != NONE {
                    packets += 1;
                    phits += u64::from(partition.pool[next].packet.size);
                    next = partition.pool[next].next;
                }
            }
            let channel = (first + input.router, port as u16, vc);
            let limit = match input.kind {
                PortKind::Link => {
                    *charged.entry(channel).or_default() += phits;
                    let class = partition.outputs[index].class;
                    plant.classes[class as usize].buffer
                }
                _ => plant.injection_queue,
            };
            if phits > u64::from(limit) {
                let (place, limit) = (describe(&[channel]), limit);
                let message = format!("{place} holds {phits} phits of at most {limit}");
                return Err(RunError::Invariant(message));
            }
        }
    }
    Ok(packets)
}

/// The channel at the other end of a local output port.
fn far_end(plant: &Plant, partition: &Partition, first: u32, port: u32, vc: u8) -> Channel {
    let output = &partition.outputs[port as usize];
    let router = &partition.routers[output.router as usize];
    let local = PortId((port - router.port_base) as u16);
    match plant.topology.peer(RouterId(first + output.router), local) {
        Peer::Router { router, port, .. } => (router.0, port.0, vc),
        _ => (first + output.router, local.0, vc),
    }
}

fn count_events(plant: &Plant, partition: &Partition, first: u32, charged: &mut Charged) -> u32 {
    let mut packets = 0;
    for Flight { packet, to, .. } in partition.arrivals.pending() {
        let (port, vc) = (to.port(), to.vc());
        packets += 1;
        let input = &partition.inputs[port as usize];
        let router = &partition.routers[input.router as usize];
        let channel = (first + input.router, (port - router.port_base) as u16, vc);
        if input.kind == PortKind::Link {
            *charged.entry(channel).or_default() += u64::from(packet.size);
        }
    }
    for event in partition.credit_returns.pending() {
        let (port, vc, size) = read_credit(event);
        let channel = far_end(plant, partition, first, port, vc);
        *charged.entry(channel).or_default() += u64::from(size);
    }
    packets
}

fn check_credits(
    plant: &Plant,
    partition: &Partition,
    first: u32,
    charged: &Charged,
) -> Result<(), RunError> {
    for (index, output) in partition.outputs.iter().enumerate() {
        if output.kind != PortKind::Link {
            continue;
        }
        let class = plant.classes[output.class as usize];
        let reserve = u64::from(class.buffer - class.shared);
        let used = |vc| {
            let channel = far_end(plant, partition, first, index as u32, vc);
            charged.get(&channel).copied().unwrap_or(0)
        };
        let all = || (0..output.vcs).map(used);
        let borrowed: u64 = all().map(|used| used.saturating_sub(reserve)).sum();
        let mut queued = 0;
        for vc in 0..output.vcs {
            let credits = output.credits(&partition.credits, vc);
            let used = used(vc);
            queued += used;
            // What is left of its own, and of what VCs share.
            let left =
                reserve.saturating_sub(used) + u64::from(class.shared).saturating_sub(borrowed);
            if u64::from(credits) != left {
                let place = describe(&[far_end(plant, partition, first, index as u32, vc)]);
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
pub(super) struct Watchdog {
    patience: Cycle,
    next: Cycle,
}

impl Watchdog {
    pub(super) fn new(patience: Cycle) -> Self {
        Self { patience, next: patience }
    }

    /// Looks at heads that have not moved for longer than the patience, and follows what they wait
    /// for. A cycle of such waits, each for credits that only the next can release, is a deadlock.
    pub(super) fn look(
        &mut self,
        plant: &Plant,
        partitions: &[Partition],
        firsts: &[u32],
        now: Cycle,
    ) -> Result<(), RunError> {
        if now < self.next {
            return Ok(());
        }
        self.next = now.saturating_add(self.patience / 2);
        let mut waits = HashMap::new();
        for (partition, first) in partitions.iter().zip(firsts) {
            self.stuck(plant, partition, *first, now, &mut waits);
        }
        match find_cycle(&doomed(waits)) {
            None => Ok(()),
            Some(cycle) => Err(RunError::Deadlock(format!(
                "at cycle {now}, packets that have not moved for {} cycles wait for each other: {}",
                self.patience,
                describe(&cycle)
            ))),
        }
    }

    /// For each channel of which every head is stuck, the channels whose room they wait for.
    fn stuck(
        &self,
        plant: &Plant,
        partition: &Partition,
        first: u32,
        now: Cycle,
        waits: &mut HashMap<Channel, Vec<Channel>>,
    ) {
        for (index, input) in partition.inputs.iter().enumerate() {
            let base = partition.routers[input.router as usize].port_base;
            if input.kind != PortKind::Link || now - input.busy_until.min(now) < self.patience {
                continue;
            }
            for vc in 0..input.vcs {
                let waits_for = |queue: &Queue| {
                    let out = base + u32::from(queue.wish.out);
                    let output = &partition.outputs[out as usize];
                    let stuck = queue.wish.routed
                        && output.kind == PortKind::Link
                        && now - partition.pool[queue.head].arrival >= self.patience
                        && output.credits(&partition.credits, queue.wish.vc)
                            < plant.room(output.class, queue.wish.size);
                    stuck.then(|| far_end(plant, partition, first, out, queue.wish.vc))
                };
                let heads = partition.lanes(index, vc).filter(|queue| queue.head != NONE);
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

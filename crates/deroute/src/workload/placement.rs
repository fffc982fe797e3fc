//! Which rank is on which host.

use super::{Seat, spec};
use crate::ids::HostId;
use crate::rng::{Owner, Stream};
use crate::spec::SpecError;
use crate::topology::Topology;

/// Where ranks may be.
pub(super) struct Room<'a> {
    /// The ranks on each host.
    pub(super) seats: &'a [Vec<Seat>],
    pub(super) topology: &'a dyn Topology,
    pub(super) seed: u64,
}

/// Most ranks of a job.
const MOST_RANKS: u32 = 1 << 24;

/// The hosts that so many ranks of a job need, if that many of all are left.
pub(super) fn hosts_for(
    job: &spec::Job,
    ranks: u32,
    path: &str,
    (left, all): (usize, usize),
) -> Result<usize, SpecError> {
    let each = job.ranks_per_host;
    if each == 0 {
        let message = "a host without ranks is no host of the job";
        return Err(
            SpecError::new(format!("{path}.ranks_per_host"), message).choices(["at least 1"])
        );
    }
    let hosts = ranks.div_ceil(each) as usize;
    if ranks == 0 || hosts > left || ranks > MOST_RANKS {
        let message = match each {
            1 => format!("{ranks} ranks need a host each, and {left} of {all} are left"),
            _ => format!("{ranks} ranks need {hosts} hosts, and {left} of {all} are left"),
        };
        let most = (left as u64).saturating_mul(each.into()).min(MOST_RANKS.into());
        let choices = [format!("1 to {most}")];
        return Err(SpecError::new(format!("{path}.ranks"), message).choices(choices));
    }
    Ok(hosts)
}

/// The host of each of so many ranks of a job, among those without a seat.
pub(super) fn place(
    job: &spec::Job,
    ranks: u32,
    path: &str,
    room: &Room<'_>,
) -> Result<Vec<HostId>, SpecError> {
    let seats = room.seats;
    let free: Vec<u32> =
        (0..seats.len() as u32).filter(|&h| seats[h as usize].is_empty()).collect();
    let each = job.ranks_per_host;
    let hosts = hosts_for(job, ranks, path, (free.len(), seats.len()))?;
    let path = format!("{path}.placement");
    let chosen = match &job.placement {
        spec::Placement::Linear => free[..hosts].to_vec(),
        spec::Placement::RoundRobin => round_robin(free, hosts, room.topology),
        spec::Placement::Rails => rails(job, free, (hosts, room.topology), &path)?,
        spec::Placement::Random { seed: own } => shuffled(free, hosts, own.unwrap_or(room.seed)),
        spec::Placement::Blocked { block } => {
            let order = blocks(job, ranks, block, &format!("{path}.blocked.block"))?;
            let mut hosts = vec![0; ranks as usize];
            let seats = free.iter().flat_map(|host| (0..each).map(move |_| *host));
            order.iter().zip(seats).for_each(|(&rank, host)| hosts[rank as usize] = host);
            return Ok(hosts.into_iter().map(HostId).collect());
        }
        spec::Placement::Hosts(hosts) => {
            listed(hosts, (ranks as usize, each), seats, &format!("{path}.hosts"))?;
            return Ok(hosts.iter().copied().map(HostId).collect());
        }
        spec::Placement::File(file) => {
            let message = format!("{file:?}: the engine reads no files");
            return Err(SpecError::new(format!("{path}.file"), message).choices(["hosts"]));
        }
    };
    Ok((0..ranks).map(|rank| HostId(chosen[(rank / each) as usize])).collect())
}

/// The first hosts of all routers, then the second ones.
fn round_robin(mut free: Vec<u32>, hosts: usize, topology: &dyn Topology) -> Vec<u32> {
    let router = |host: u32| topology.router_of(HostId(host));
    let mut place = 0;
    let order: Vec<(u32, u32)> = (0..free.len())
        .map(|index| {
            let first = index == 0 || router(free[index]) != router(free[index - 1]);
            place = if first { 0 } else { place + 1 };
            (place, free[index])
        })
        .collect();
    let mut order = order;
    order.sort_unstable();
    free.clear();
    free.extend(order.into_iter().take(hosts).map(|(_, host)| host));
    free
}

/// Each host of a node on another router, and node beside node on them.
fn rails(
    job: &spec::Job,
    free: Vec<u32>,
    (hosts, topology): (usize, &dyn Topology),
    path: &str,
) -> Result<Vec<u32>, SpecError> {
    let Some(node) = &job.node else {
        let message = "there are no nodes whose hosts could be on rails";
        return Err(SpecError::new(path, message).choices(["`node` of the job"]));
    };
    let each = (node.ranks / job.ranks_per_host) as usize;
    let router = |host: &u32| topology.router_of(HostId(*host));
    let routers: Vec<&[u32]> = free.chunk_by(|a, b| router(a) == router(b)).collect();
    let mut chosen = Vec::with_capacity(hosts);
    for group in routers.chunks(each) {
        // Hosts of a node on each router, and nodes that there is room for.
        let on = |rail: usize| each / group.len() + usize::from(rail < each % group.len());
        let nodes = (0..group.len()).map(|rail| group[rail].len() / on(rail)).min().unwrap_or(0);
        for node in 0..nodes {
            let host = |nic: usize| {
                let (turn, rail) = (nic / group.len(), nic % group.len());
                group[rail][node * on(rail) + turn]
            };
            chosen.extend((0..each).map(host));
        }
    }
    if chosen.len() < hosts {
        let nodes = chosen.len() / each;
        let message = format!("{nodes} nodes of {each} hosts fit, each host on another router");
        let choices = [format!("at most {} ranks", nodes as u64 * u64::from(node.ranks))];
        return Err(SpecError::new(path, message).choices(choices));
    }
    chosen.truncate(hosts);
    Ok(chosen)
}

fn shuffled(mut free: Vec<u32>, ranks: usize, seed: u64) -> Vec<u32> {
    let mut rng = Stream::new(seed, Owner::Placement);
    for index in 0..ranks {
        let other = index + rng.below((free.len() - index) as u32) as usize;
        free.swap(index, other);
    }
    free.truncate(ranks);
    free
}

/// The ranks of a stencil block by block.
fn blocks(job: &spec::Job, ranks: u32, block: &[u32], path: &str) -> Result<Vec<u32>, SpecError> {
    let shape = job.steps.iter().find_map(|step| match step {
        spec::Step::Stencil(stencil) => Some(&stencil.shape),
        _ => None,
    });
    let Some(shape) = shape else {
        let message = "there is no stencil whose blocks could be placed";
        return Err(SpecError::new(path, message));
    };
    let divides = |(&b, &s): (&u32, &u32)| b > 0 && s % b == 0;
    if block.len() != shape.len() || !block.iter().zip(shape).all(divides) {
        let message = format!("{block:?} does not divide the shape {shape:?}");
        return Err(SpecError::new(path, message).choices(["a divisor for each dimension"]));
    }
    let place = |rank: u32| {
        let (mut rest, mut outer, mut inner) = (rank, Vec::new(), Vec::new());
        for (&width, &size) in shape.iter().zip(block) {
            let coordinate = rest % width;
            rest /= width;
            outer.push(coordinate / size);
            inner.push(coordinate % size);
        }
        // The first dimension varies fastest.
        outer.reverse();
        inner.reverse();
        (outer, inner)
    };
    let mut order: Vec<u32> = (0..ranks).collect();
    order.sort_by_cached_key(|&rank| place(rank));
    Ok(order)
}

/// Checks a list of hosts.
fn listed(
    hosts: &[u32],
    (ranks, each): (usize, u32),
    seats: &[Vec<Seat>],
    path: &str,
) -> Result<(), SpecError> {
    if hosts.len() != ranks {
        let message = format!("{} hosts for {ranks} ranks", hosts.len());
        return Err(SpecError::new(path, message).choices([format!("{ranks} hosts")]));
    }
    let mut left: Vec<u32> =
        seats.iter().map(|seats| if seats.is_empty() { each } else { 0 }).collect();
    for (rank, &host) in hosts.iter().enumerate() {
        let path = format!("{path}[{rank}]");
        match left.get_mut(host as usize) {
            None => {
                let message = format!("there is no host {host}");
                let choices = [format!("0 to {}", seats.len() - 1)];
                return Err(SpecError::new(path, message).choices(choices));
            }
            Some(0) => {
                let message = match each {
                    1 => format!("host {host} has a rank already"),
                    _ => format!("host {host} has all its ranks already"),
                };
                return Err(SpecError::new(path, message));
            }
            Some(left) => *left -= 1,
        }
    }
    Ok(())
}

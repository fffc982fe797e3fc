//! Which rank is on which host.

use super::{Seat, spec};
use crate::ids::HostId;
use crate::rng::{Owner, Stream};
use crate::spec::SpecError;

/// The host of each rank of a job, among those without a seat; there are enough.
pub(super) fn place(
    job: &spec::Job,
    path: &str,
    seats: &[Option<Seat>],
    seed: u64,
) -> Result<Vec<HostId>, SpecError> {
    let free: Vec<u32> = (0..seats.len() as u32).filter(|&h| seats[h as usize].is_none()).collect();
    let ranks = job.ranks as usize;
    let path = format!("{path}.placement");
    let hosts = match &job.placement {
        spec::Placement::Linear => free[..ranks].to_vec(),
        spec::Placement::Random { seed: own } => shuffled(free, ranks, own.unwrap_or(seed)),
        spec::Placement::Blocked { block } => {
            let order = blocks(job, block, &format!("{path}.blocked.block"))?;
            let mut hosts = vec![0; ranks];
            order.iter().zip(&free).for_each(|(&rank, &host)| hosts[rank as usize] = host);
            hosts
        }
        spec::Placement::Hosts(hosts) => {
            listed(hosts, ranks, seats, &format!("{path}.hosts"))?;
            hosts.clone()
        }
        spec::Placement::File(file) => {
            let message = format!("{file:?}: the engine reads no files");
            return Err(SpecError::new(format!("{path}.file"), message).choices(["hosts"]));
        }
    };
    Ok(hosts.into_iter().map(HostId).collect())
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
fn blocks(job: &spec::Job, block: &[u32], path: &str) -> Result<Vec<u32>, SpecError> {
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
    let mut order: Vec<u32> = (0..job.ranks).collect();
    order.sort_by_cached_key(|&rank| place(rank));
    Ok(order)
}

/// Checks a list of hosts.
fn listed(
    hosts: &[u32],
    ranks: usize,
    seats: &[Option<Seat>],
    path: &str,
) -> Result<(), SpecError> {
    if hosts.len() != ranks {
        let message = format!("{} hosts for {ranks} ranks", hosts.len());
        return Err(SpecError::new(path, message).choices([format!("{ranks} hosts")]));
    }
    let mut taken: Vec<bool> = seats.iter().map(Option::is_some).collect();
    for (rank, &host) in hosts.iter().enumerate() {
        let path = format!("{path}[{rank}]");
        match taken.get_mut(host as usize) {
            None => {
                let message = format!("there is no host {host}");
                let choices = [format!("0 to {}", seats.len() - 1)];
                return Err(SpecError::new(path, message).choices(choices));
            }
            Some(true) => {
                let message = format!("host {host} has a rank already");
                return Err(SpecError::new(path, message));
            }
            Some(taken) => *taken = true,
        }
    }
    Ok(())
}

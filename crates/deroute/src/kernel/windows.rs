//! Windows of time in which partitions do not need each other, and the threads that run them.
//!
//! Everything that one partition does to another takes at least the latency of a link between
//! them. So each may run that long alone, and mail is exchanged between windows. The order of mail
//! does not matter: what arrives in one cycle commutes.

use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

use super::partition::Partition;
use super::state::Mail;
use crate::ids::Cycle;

/// Mail between partitions of different threads: `[from * partitions + to]`.
struct Exchange {
    boxes: Vec<Mutex<Mail>>,
    partitions: usize,
}

impl Exchange {
    fn slot(&self, from: u32, to: usize) -> MutexGuard<'_, Mail> {
        let slot = &self.boxes[from as usize * self.partitions + to];
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs every partition to cycle `to`, in windows of `lookahead` cycles.
pub(super) fn run(partitions: &mut [Partition], to: Cycle, lookahead: Cycle, threads: usize) {
    let count = partitions.len();
    let threads = threads.min(count);
    if threads == 1 {
        turn(partitions, to, lookahead, None);
        return;
    }
    let boxes = (0..count * count).map(|_| Mutex::default()).collect();
    let exchange = Exchange { boxes, partitions: count };
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let mut rest = partitions;
        for thread in 0..threads {
            let share = rest.len() / (threads - thread);
            let (mine, others) = rest.split_at_mut(share);
            rest = others;
            let others = (&exchange, &barrier);
            scope.spawn(move || turn(mine, to, lookahead, Some(others)));
        }
    });
}

/// One thread's part of [`run`]: consecutive partitions, and the way to the others.
fn turn(
    partitions: &mut [Partition],
    to: Cycle,
    lookahead: Cycle,
    others: Option<(&Exchange, &Barrier)>,
) {
    let mut now = partitions[0].now;
    while now < to {
        let end = now.saturating_add(lookahead).min(to);
        for partition in partitions.iter_mut() {
            partition.run(end);
        }
        for to in 0..partitions[0].outbox.len() {
            post(partitions, to, others.map(|(exchange, _)| exchange));
        }
        if let Some((exchange, barrier)) = others {
            barrier.wait();
            for partition in partitions.iter_mut() {
                for from in 0..exchange.partitions {
                    partition.receive(&mut exchange.slot(from as u32, partition.index as usize));
                }
            }
            // Nobody may post the mail of the next window before this one's is collected: its
            // times could lie beyond the horizon of a wheel that has not moved on.
            barrier.wait();
        }
        now = end;
    }
}

/// Delivers the mail for one partition, or posts it if another thread has the partition.
fn post(partitions: &mut [Partition], to: usize, exchange: Option<&Exchange>) {
    let own = to.checked_sub(partitions[0].index as usize);
    for index in 0..partitions.len() {
        if partitions[index].outbox[to].is_empty() {
            continue;
        }
        let mut mail = std::mem::take(&mut partitions[index].outbox[to]);
        match (own.and_then(|own| partitions.get_mut(own)), exchange) {
            (Some(partition), _) => partition.receive(&mut mail),
            (None, Some(exchange)) => {
                mail.append_to(&mut exchange.slot(partitions[index].index, to));
            }
            (None, None) => unreachable!("one thread has all partitions"),
        }
        // Empty, but with room for the next window.
        partitions[index].outbox[to] = mail;
    }
}

//! Windows of time in which partitions do not need each other, and the threads that run them.
//!
//! Everything that one partition does to another takes at least the latency of a link between
//! them. So each may run that long alone, and mail is exchanged between windows. The order of mail
//! does not matter: what arrives in one cycle commutes.

use std::sync::{Barrier, Mutex, PoisonError};

use super::partition::{Mail, Partition};
use crate::ids::Cycle;

/// Mail between every two partitions: `[from * partitions + to]`.
struct Exchange {
    boxes: Vec<Mutex<Vec<Mail>>>,
    partitions: usize,
}

impl Exchange {
    fn post(&self, partition: &mut Partition) {
        let from = partition.index as usize * self.partitions;
        for (to, mail) in partition.outbox.iter_mut().enumerate() {
            if !mail.is_empty() {
                let mut slot =
                    self.boxes[from + to].lock().unwrap_or_else(PoisonError::into_inner);
                slot.append(mail);
            }
        }
    }

    fn collect(&self, partition: &mut Partition) {
        let to = partition.index as usize;
        for from in 0..self.partitions {
            let slot = &self.boxes[from * self.partitions + to];
            let mut mail = slot.lock().unwrap_or_else(PoisonError::into_inner);
            for item in mail.drain(..) {
                partition.receive(item);
            }
        }
    }
}

/// Runs every partition to cycle `to`, in windows of `lookahead` cycles.
pub(super) fn run(partitions: &mut [Partition], to: Cycle, lookahead: Cycle, threads: usize) {
    let count = partitions.len();
    if count == 1 {
        partitions[0].run(to);
        return;
    }
    let boxes = (0..count * count).map(|_| Mutex::default()).collect();
    let exchange = Exchange { boxes, partitions: count };
    let threads = threads.min(count);
    if threads == 1 {
        turn(partitions, to, lookahead, &exchange, None);
        return;
    }
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let mut rest = partitions;
        for thread in 0..threads {
            let share = rest.len() / (threads - thread);
            let (mine, others) = rest.split_at_mut(share);
            rest = others;
            let (exchange, barrier) = (&exchange, &barrier);
            scope.spawn(move || turn(mine, to, lookahead, exchange, Some(barrier)));
        }
    });
}

/// One thread's part of [`run`].
fn turn(
    partitions: &mut [Partition],
    to: Cycle,
    lookahead: Cycle,
    exchange: &Exchange,
    barrier: Option<&Barrier>,
) {
    let wait = || {
        if let Some(barrier) = barrier {
            barrier.wait();
        }
    };
    let mut now = partitions[0].now;
    while now < to {
        let end = now.saturating_add(lookahead).min(to);
        for partition in partitions.iter_mut() {
            partition.run(end);
            exchange.post(partition);
        }
        wait();
        for partition in partitions.iter_mut() {
            exchange.collect(partition);
        }
        // Mail of the next window must not be posted while this one's is being collected by a
        // thread whose wheel cannot reach that far.
        wait();
        now = end;
    }
}

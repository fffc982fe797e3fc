//! Windows of time in which partitions do not need each other, and the threads that run them.
//!
//! Everything that one partition does to another takes at least the latency of a link between
//! them. So each may run that long alone, and mail is exchanged between windows. The order of mail
//! does not matter: what arrives in one cycle commutes.
//!
//! The partitions of a thread run in turn and write to the same mail, so that what one partition is sent
//! in a window lies together: many partitions cost no more than the mail itself.

use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

use crate::ids::Cycle;
use crate::kernel::core::mail::Mail;
use crate::kernel::machine::Machine;
use crate::kernel::partition::Partition;

/// Mail between partitions.
pub(crate) struct Post {
    /// What each thread writes in a window: `[thread][to]`.
    written: Vec<Vec<Mail>>,
    sent: Sent,
}

/// What was written in a window that all have run: `[thread * partitions + to]`.
struct Sent {
    boxes: Vec<Mutex<Mail>>,
    partitions: usize,
}

impl Sent {
    fn slot(&self, thread: usize, to: usize) -> MutexGuard<'_, Mail> {
        let slot = &self.boxes[thread * self.partitions + to];
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a partition its mail.
    fn deliver<M: Machine>(&self, to: &mut Partition<M>) {
        for thread in 0..self.boxes.len() / self.partitions {
            to.receive(&mut self.slot(thread, to.path.core.index as usize));
        }
    }
}

impl Post {
    /// Between so many partitions, which are run by at most so many threads.
    pub(crate) fn new(partitions: usize, threads: usize) -> Self {
        let threads = threads.clamp(1, partitions);
        let mails = || (0..partitions).map(|_| Mail::default()).collect();
        let boxes = (0..threads * partitions).map(|_| Mutex::default()).collect();
        Self { written: (0..threads).map(|_| mails()).collect(), sent: Sent { boxes, partitions } }
    }

    /// Runs every partition to cycle `to`, in windows of `lookahead` cycles, and delivers all mail.
    pub(crate) fn run<M: Machine>(
        &mut self,
        partitions: &mut [Partition<M>],
        to: Cycle,
        lookahead: Cycle,
    ) {
        let Self { written, sent } = self;
        let (threads, sent) = (written.len(), &*sent);
        let barrier = &Barrier::new(threads);
        std::thread::scope(|scope| {
            let mut rest = partitions;
            for (thread, written) in written.iter_mut().enumerate() {
                let share = rest.len() / (threads - thread);
                let (mine, others) = rest.split_at_mut(share);
                rest = others;
                let mut work = move || {
                    turn(mine, written, (sent, thread, barrier), (to, lookahead));
                };
                // The last share is this thread's own.
                if thread + 1 == threads {
                    work();
                } else {
                    scope.spawn(work);
                }
            }
        });
    }
}

/// One thread's part of [`Post::run`]: consecutive partitions, and the way to the others.
fn turn<M: Machine>(
    partitions: &mut [Partition<M>],
    written: &mut Vec<Mail>,
    (sent, thread, barrier): (&Sent, usize, &Barrier),
    (to, lookahead): (Cycle, Cycle),
) {
    let mut now = partitions[0].path.core.now;
    while now < to {
        now = now.saturating_add(lookahead).min(to);
        for partition in partitions.iter_mut() {
            std::mem::swap(&mut partition.path.core.outbox, written);
            partition.run(now);
            std::mem::swap(&mut partition.path.core.outbox, written);
        }
        // All have received the mail of the last window.
        barrier.wait();
        for (to, mail) in written.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
            std::mem::swap(mail, &mut sent.slot(thread, to));
        }
        barrier.wait();
        partitions.iter_mut().for_each(|partition| sent.deliver(partition));
    }
}

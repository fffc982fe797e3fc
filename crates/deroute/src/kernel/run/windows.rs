//! Windows of time in which partitions do not need each other, and the threads that run them.
//!
//! Everything that one partition does to another takes at least the latency of a link between
//! them. So each may run that long alone, and mail is exchanged between windows. The order of mail
//! does not matter: what arrives in one cycle commutes.
//!
//! The partitions of a thread run in turn and write to the same mail, so that what one partition is sent
//! in a window lies together: many partitions cost no more than the mail itself.
//!
//! Threads stay for the whole run. In a window each begins with its own share of the partitions, which its cache may still
//! have, and then takes those of the others that nobody has begun: a job may be busy on a few partitions only. What they
//! write is received in the next window, while the other one of two sets of boxes is written: there is one barrier a window.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::ids::Cycle;
use crate::kernel::RunError;
use crate::kernel::core::mail::Mail;
use crate::kernel::machine::Machine;
use crate::kernel::partition::Partition;

/// Mail between partitions.
pub(crate) struct Post {
    /// What each thread writes in a window: `[thread][to]`.
    written: Vec<Vec<Mail>>,
    /// What several of them wrote in a window, and in the one before, by turns.
    sent: [Sent; 2],
    /// Several threads, once they have been started.
    pool: Option<ThreadPool>,
}

/// What was written in a window: `[thread * partitions + to]`.
struct Sent {
    boxes: Vec<Mutex<Mail>>,
    partitions: usize,
}

impl Sent {
    fn new(partitions: usize, threads: usize) -> Self {
        let boxes = (0..threads * partitions).map(|_| Mutex::default()).collect();
        Self { boxes, partitions }
    }

    fn slot(&self, thread: usize, to: usize) -> MutexGuard<'_, Mail> {
        lock(&self.boxes[thread * self.partitions + to])
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
        let written = (0..threads).map(|_| mails()).collect();
        let writers = if threads > 1 { threads } else { 0 };
        Self { written, sent: [0, 1].map(|_| Sent::new(partitions, writers)), pool: None }
    }

    /// Runs every partition to cycle `to`, in windows of `lookahead` cycles, and delivers all mail.
    ///
    /// # Errors
    /// [`RunError::Threads`] if they cannot be started.
    pub(crate) fn run<M: Machine>(
        &mut self,
        partitions: &mut [Partition<M>],
        to: Cycle,
        lookahead: Cycle,
    ) -> Result<(), RunError> {
        let Self { written, sent, pool } = self;
        if let [written] = &mut written[..] {
            alone(partitions, written, (to, lookahead));
            return Ok(());
        }
        let threads = written.len();
        let pool = match pool {
            Some(pool) => pool,
            None => pool.insert(started(threads)?),
        };
        let (now, count) = (partitions[0].path.core.now, partitions.len());
        let firsts: Vec<usize> = (0..=threads).map(|share| share * count / threads).collect();
        let team = Team {
            partitions: partitions.iter_mut().map(Mutex::new).collect(),
            written: written.iter_mut().map(Mutex::new).collect(),
            sent,
            next: [0, 1].map(|_| firsts.iter().copied().map(AtomicUsize::new).collect()),
            firsts,
            panicked: Default::default(),
            barrier: Barrier::new(threads),
        };
        pool.broadcast(|context| team.work(context.index(), now, (to, lookahead)));
        Ok(())
    }
}

fn started(threads: usize) -> Result<ThreadPool, RunError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| RunError::Threads(format!("{threads} threads: {error}")))
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// [`Post::run`] with one thread.
fn alone<M: Machine>(
    partitions: &mut [Partition<M>],
    written: &mut Vec<Mail>,
    (to, lookahead): (Cycle, Cycle),
) {
    let mut now = partitions[0].path.core.now;
    while now < to {
        now = now.saturating_add(lookahead).min(to);
        for partition in partitions.iter_mut() {
            window(partition, now, written);
        }
        for (partition, mail) in partitions.iter_mut().zip(&mut *written) {
            partition.receive(mail);
        }
    }
}

/// Runs a partition to the end of a window; it writes to this mail.
fn window<M: Machine>(partition: &mut Partition<M>, to: Cycle, written: &mut Vec<Mail>) {
    std::mem::swap(&mut partition.path.core.outbox, written);
    partition.run(to);
    std::mem::swap(&mut partition.path.core.outbox, written);
}

/// Threads at work, and what they share.
struct Team<'a, M: Machine> {
    partitions: Vec<Mutex<&'a mut Partition<M>>>,
    written: Vec<Mutex<&'a mut Vec<Mail>>>,
    sent: &'a [Sent; 2],
    /// First partition of each thread's share, and the total.
    firsts: Vec<usize>,
    /// Which partition of each share is begun next, in this window and in the next one, by turns.
    next: [Vec<AtomicUsize>; 2],
    /// A thread panicked in a window, in the routing of a user perhaps; by turns.
    panicked: [AtomicBool; 2],
    barrier: Barrier,
}

impl<M: Machine> Team<'_, M> {
    /// One thread's part of [`Post::run`].
    fn work(&self, thread: usize, mut now: Cycle, (to, lookahead): (Cycle, Cycle)) {
        let mut written = lock(&self.written[thread]);
        let mut turn = 0;
        while now < to {
            now = now.saturating_add(lookahead).min(to);
            // All have finished the window before this one.
            self.next[1 - turn][thread].store(self.firsts[thread], Ordering::Relaxed);
            let run = AssertUnwindSafe(|| {
                while let Some(index) = self.take(turn, thread) {
                    let mut partition = lock(&self.partitions[index]);
                    self.sent[turn].deliver(&mut **partition);
                    window(&mut **partition, now, &mut written);
                }
            });
            let done = catch_unwind(run);
            if done.is_err() {
                self.panicked[turn].store(true, Ordering::Relaxed);
            }
            turn = 1 - turn;
            for (to, mail) in written.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
                std::mem::swap(mail, &mut self.sent[turn].slot(thread, to));
            }
            self.barrier.wait();
            if self.panicked[1 - turn].load(Ordering::Relaxed) {
                // Nobody waits at the barrier for one that is not coming.
                return done.unwrap_or_else(|panic| resume_unwind(panic));
            }
        }
        for partition in &self.partitions[self.firsts[thread]..self.firsts[thread + 1]] {
            self.sent[turn].deliver(&mut **lock(partition));
        }
    }

    /// A partition that nobody has begun in this window, of the thread's own share before any other.
    fn take(&self, turn: usize, thread: usize) -> Option<usize> {
        let threads = self.written.len();
        (0..threads).map(|ahead| (thread + ahead) % threads).find_map(|share| {
            let index = self.next[turn][share].fetch_add(1, Ordering::Relaxed);
            (index < self.firsts[share + 1]).then_some(index)
        })
    }
}

//! A rank at work, and the messages that it gets in pieces.

use std::collections::BTreeMap;

use super::{Job, Op};
use crate::ids::Cycle;

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Goes on as soon as it may.
    Ready,
    /// Computes until this cycle.
    Computing(Cycle),
    /// Waits for a message.
    Waiting {
        /// Rank that sends it.
        from: u32,
        /// The sender's tag.
        tag: u32,
    },
    /// Has ended.
    Done,
}

/// A message that a rank hands to its network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Rank that it is for.
    pub to: u32,
    /// What the receiver waits for.
    pub tag: u32,
    /// Phits.
    pub phits: u32,
    /// Number among the messages of its sender.
    pub serial: u32,
}

/// What a rank asks of its network interface while it goes on.
pub trait Services {
    /// It hands over a message.
    fn send(&mut self, descriptor: Descriptor);

    /// It has ended an iteration.
    fn iteration(&mut self, iteration: u32);
}

/// One rank of a job.
#[derive(Clone, Debug)]
pub struct Process {
    /// What it does.
    pub state: State,
    /// Cycles that it has spent computing.
    pub computed: u64,
    rank: u32,
    iteration: u32,
    step: u32,
    /// Operation within the step.
    index: u32,
    sent: u32,
    /// Messages that have arrived and that it has not waited for, by sender and tag.
    arrived: BTreeMap<(u32, u32), u32>,
}

impl Process {
    /// A rank that has not begun.
    pub fn new(rank: u32) -> Self {
        Self {
            state: State::Ready,
            computed: 0,
            rank,
            iteration: 0,
            step: 0,
            index: 0,
            sent: 0,
            arrived: BTreeMap::new(),
        }
    }

    /// Its rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Where it is: the iteration and the step.
    pub fn place(&self) -> (u32, u32) {
        (self.iteration, self.step)
    }

    /// A message for it has arrived whole.
    pub fn receive(&mut self, from: u32, tag: u32) {
        *self.arrived.entry((from, tag)).or_default() += 1;
    }

    /// Goes on as far as it can.
    pub fn advance(&mut self, job: &Job, now: Cycle, services: &mut impl Services) {
        loop {
            let state = self.state;
            match state {
                State::Done => return,
                State::Computing(until) if until > now => return,
                State::Waiting { from, tag } if !self.take(from, tag) => return,
                _ => {}
            }
            self.state = State::Ready;
            let Some(op) = job.op(self.rank, self.iteration, self.step, self.index) else {
                self.turn(job, services);
                continue;
            };
            self.index += 1;
            match op {
                Op::Send { to, phits, tag } => {
                    let serial = self.sent;
                    self.sent += 1;
                    services.send(Descriptor { to, tag, phits, serial });
                }
                Op::Wait { from, tag } => self.state = State::Waiting { from, tag },
                Op::Compute { cycles } => {
                    self.computed += u64::from(cycles);
                    self.state = State::Computing(now.saturating_add(cycles));
                }
            }
        }
    }

    /// Ends a step.
    fn turn(&mut self, job: &Job, services: &mut impl Services) {
        (self.step, self.index) = (self.step + 1, 0);
        if self.step < job.steps() {
            return;
        }
        services.iteration(self.iteration);
        (self.iteration, self.step) = (self.iteration + 1, 0);
        if self.iteration == job.iterations {
            self.state = State::Done;
        }
    }

    /// Takes a message that has arrived.
    fn take(&mut self, from: u32, tag: u32) -> bool {
        let Some(count) = self.arrived.get_mut(&(from, tag)) else { return false };
        *count -= 1;
        if *count == 0 {
            self.arrived.remove(&(from, tag));
        }
        true
    }
}

/// A message of which packets have arrived, put back into their order.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// Phits in order: the packet that begins here is the next one.
    ready: u32,
    /// Packets that wait for one before them: where they begin, and their phits.
    held: BTreeMap<u32, u32>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It was the next one; so many phits that were held follow it.
    InOrder {
        /// Phits that are not held any more.
        released: u32,
    },
    /// It waits for a packet before it.
    Held,
}

impl Assembly {
    /// A packet of the message that begins after `offset` phits.
    pub fn place(&mut self, offset: u32, phits: u32) -> Placed {
        if offset != self.ready {
            self.held.insert(offset, phits);
            return Placed::Held;
        }
        self.ready += phits;
        let mut released = 0;
        while let Some(phits) = self.held.remove(&self.ready) {
            self.ready += phits;
            released += phits;
        }
        Placed::InOrder { released }
    }

    /// Phits that have arrived in order.
    pub fn ready(&self) -> u32 {
        self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_put_in_order() {
        let mut message = Assembly::default();
        assert_eq!(message.place(4, 4), Placed::Held);
        assert_eq!(message.place(8, 2), Placed::Held);
        assert_eq!(message.ready(), 0);
        assert_eq!(message.place(0, 4), Placed::InOrder { released: 6 });
        assert_eq!(message.ready(), 10);
        assert_eq!(message.place(10, 4), Placed::InOrder { released: 0 });
    }
}

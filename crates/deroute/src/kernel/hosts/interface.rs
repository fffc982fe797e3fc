//! The interface of a host: what its ranks have sent, and what has come for them.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::behind::Behind;
use super::incoming::Incoming;
use super::outgoing::Outgoing;

use crate::ids::Cycle;
use crate::probe::messages::{Message, Record};
use crate::queuing::Flows;
use crate::workload::matching::{Pattern, Waiter};
use crate::workload::process::{Descriptor, Kind, Process, Services};
use crate::workload::{Job, Seat};

/// Something that a rank is told of in a cycle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct News {
    /// Interface, and which of its ranks.
    pub(super) nic: u32,
    pub(super) worker: u32,
    pub(super) at: Cycle,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum What {
    /// A message begins to arrive.
    Begins { key: Pattern, sequence: u32 },
    /// The last packet of a message is consumed; its beginning is known already, or it is not.
    Arrives { kind: Kind, key: Pattern, sequence: u32, begun: bool, message: Message },
    /// What it has sent has left.
    Left(Waiter),
    /// The first phit of a message within its node arrives.
    Passes,
}

impl News {
    /// Its place in the order of all that its rank is told in a cycle.
    pub(super) fn place(&self) -> (u32, Kind, u32, Option<Waiter>) {
        match self.what {
            What::Begins { key, sequence } => (key.from, Kind::Eager, sequence, None),
            What::Arrives { kind, key, sequence, .. } => (key.from, kind, sequence, None),
            What::Left(waiter) => (u32::MAX, Kind::Data, 0, Some(waiter)),
            What::Passes => (u32::MAX, Kind::Data, 0, None),
        }
    }
}

/// A rank of a host.
#[derive(Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Worker {
    pub(crate) process: Process,
    pub(crate) seat: Seat,
    /// Cycle in which it has ended.
    pub(crate) ended: Option<Cycle>,
}

/// The interface of one host, and the ranks behind it. What every packet needs comes first, in one cache line.
#[derive(Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Interface {
    /// Index in `Core::hosts`.
    pub(super) host: u32,
    /// A rank can go on because of what it has been told.
    pub(super) told: bool,
    /// Messages of a queue take turns, packet by packet.
    pub(super) turns: bool,
    /// It has one rank, which need not know of a message that leads to nothing yet.
    pub(super) quiet: bool,
    /// First cycle in which a computation of a rank ends.
    pub(super) wakes: Cycle,
    /// Cycle of the event that was scheduled last for cutting a packet.
    pub(super) refill_at: Cycle,
    /// First cycle in which a packet may be cut, and in which one may be made.
    pub(super) next_cut: Cycle,
    pub(super) next_made: Cycle,
    /// Phits of the next packet of the first queue; none are as many as there are.
    pub(super) first: u32,
    /// Messages so far, or turns.
    pub(super) serial: u32,
    /// The seat of its first rank.
    pub(super) seat: Seat,
    /// Messages to be cut, by injection queue.
    pub(super) backlogs: Box<[VecDeque<Outgoing>]>,
    /// What was cut and is not there yet.
    pub(super) behind: Behind,
    pub(crate) workers: Vec<Worker>,
    /// Messages that have arrived in part.
    pub(super) incoming: Incoming,
    /// Messages for ranks of the same host or node, and their job.
    pub(super) within: Vec<(u32, Descriptor)>,
    /// Cycle of the event that was scheduled last for the end of a computation.
    pub(super) timer: Cycle,
    /// The same where it is later than the timing wheel reaches.
    pub(super) later: Cycle,
}

impl Outgoing {
    /// Phits of its next packet.
    pub(super) fn packet(&self, largest: u16) -> u32 {
        (self.descriptor.phits - self.cut).min(largest.into())
    }
}

impl Interface {
    /// There is nothing to cut or to make, as far as its first queue tells.
    #[inline(always)]
    pub(super) fn is_idle(&self) -> bool {
        self.first == u32::MAX && self.backlogs.len() == 1 && self.behind.phits() == 0
    }

    /// The queue of the message to cut a packet off: of those that are first in their queue and whose next
    /// packet fits, the one that was sent first.
    #[inline]
    pub(super) fn next_queue(&self, largest: u16, room: impl Fn(u8) -> u32) -> Option<u8> {
        if self.backlogs.len() == 1 {
            return (self.first <= room(0)).then_some(0);
        }
        let firsts =
            (0..).zip(&self.backlogs).filter_map(|(c, backlog)| Some((c, backlog.front()?)));
        let fitting = firsts.filter(|(class, next)| next.packet(largest) <= room(*class));
        fitting.min_by_key(|(_, next)| next.serial).map(|(class, _)| class)
    }

    /// Takes the next packet off the first message of a queue: the message as it was before, and the phits. Where messages
    /// take turns, the next one has its turn, if there is more of this one.
    #[inline]
    pub(super) fn take(&mut self, queue: u8, largest: u16) -> Option<(Outgoing, u32)> {
        let backlog = &mut self.backlogs[usize::from(queue)];
        let next = backlog.front_mut()?;
        let (message, size) = (*next, next.packet(largest));
        next.cut += size;
        if next.cut == message.descriptor.phits {
            backlog.pop_front();
        } else if self.turns
            && let Some(mut message) = backlog.pop_front()
        {
            message.serial = self.serial;
            self.serial = self.serial.wrapping_add(1);
            backlog.push_back(message);
        }
        if queue == 0 {
            self.first = backlog.front().map_or(u32::MAX, |next| next.packet(largest));
        }
        Some((message, size))
    }

    /// A packet is cut, if one is, for a queue that holds so many phits then, of which some may be there as packets: the
    /// packet that is made.
    #[inline]
    pub(super) fn make(
        &mut self,
        cut: Option<(Outgoing, u32)>,
        (queued, ahead): (u32, u32),
        largest: u16,
    ) -> Option<(Outgoing, u32)> {
        if self.behind.phits() == 0 && queued <= ahead {
            return cut;
        }
        if let Some((message, size)) = cut {
            self.behind.push(message, size);
        }
        let there = queued - self.behind.phits();
        self.behind.take(ahead.saturating_sub(there), largest)
    }

    /// Which of its ranks this is.
    #[inline]
    pub(super) fn worker(&self, rank: u32) -> u32 {
        if self.seat.rank == rank {
            return 0;
        }
        let place = self.workers.iter().position(|worker| worker.seat.rank == rank);
        place.unwrap_or(0) as u32
    }

    /// The job of one of its ranks.
    #[inline]
    pub(super) fn job(&self, worker: u32) -> usize {
        let seat = if worker == 0 { self.seat } else { self.workers[worker as usize].seat };
        seat.job as usize
    }
}

/// Takes what a rank sends.
pub(super) struct SendQueues<'a> {
    pub(super) job: &'a Job,
    pub(super) flows: &'a Flows,
    pub(super) seat: Seat,
    pub(super) now: Cycle,
    pub(super) serial: &'a mut u32,
    pub(super) backlogs: &'a mut [VecDeque<Outgoing>],
    pub(super) first: &'a mut u32,
    /// Phits of the largest packet.
    pub(super) packet: u16,
    pub(super) within: &'a mut Vec<(u32, Descriptor)>,
    pub(super) record: &'a mut Record,
}

impl Services for SendQueues<'_> {
    fn send(&mut self, descriptor: Descriptor) {
        let host = |rank: u32| self.job.hosts[rank as usize];
        let (from, to) = (host(self.seat.rank), host(descriptor.to));
        self.record.sent += 1;
        let of_node = self.job.node.is_some_and(|node| node.joins(self.seat.rank, descriptor.to));
        if to == from || of_node {
            self.within.push((self.seat.job, descriptor));
            return;
        }
        let service = self.job.service(descriptor.key.tag);
        let queue = self.flows.queue(service, (from, to), descriptor.key.tag);
        let (serial, issued) = (*self.serial, self.now);
        *self.serial = serial.wrapping_add(1);
        let backlog = &mut self.backlogs[usize::from(queue)];
        let message = Outgoing { descriptor, to, cut: 0, serial, issued };
        if queue == 0 && backlog.is_empty() {
            *self.first = message.packet(self.packet);
        }
        backlog.push_back(message);
    }

    fn iteration(&mut self, iteration: u32) {
        self.record.end_iteration(iteration, self.now);
    }

    fn collective(&mut self, of: u32, cycles: Cycle) {
        self.record.collectives[of as usize].count(cycles);
    }
}

//! Network interfaces of the hosts that run ranks: they cut messages into packets and put them
//! together again.

use std::collections::VecDeque;

use super::Entering;
use super::behind::Behind;
use super::incoming::{Incoming, MessageId};
use super::interface::{Interface, News, SendQueues, What, Worker};
use super::later::{Item, Later};
use super::scale_up::ScaleUp;
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Fragment, Load, Slab};
use crate::kernel::core::fetch::touch;
use crate::kernel::core::packet::NONE;
use crate::kernel::core::wheel::Wheel;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::probe::messages::{Message, Record};
use crate::state::{State, state};
use crate::table::Table;
use crate::workload::matching::Envelope;
use crate::workload::process::{Kind, Process};
use crate::workload::{Job, Jobs, Seat};

/// The interfaces of a partition.
pub(crate) struct Interfaces {
    pub(crate) nics: Vec<Interface>,
    /// The one of each host; `NONE` if it generates synthetic traffic. Others may follow the last one.
    of_hosts: Vec<u32>,
    /// What ranks are told.
    arrivals: Wheel<u32>,
    pub(super) news: Slab<News>,
    pub(super) later: Later,
    /// What its sender is to be told of a packet when it leaves, by the word of the packet.
    pub(super) leaving: Table<u32, u32>,
    /// Cycles that a phit takes on the link of a host.
    period: Cycle,
    /// Phits in an injection queue.
    pub(super) queue: u32,
    /// What is due in a cycle, while it is looked at: the interface, and the slot.
    due: Vec<u64>,
    /// Phits at the head of an injection queue that are there as packets.
    pub(super) ahead: u32,
    /// The networks within nodes, if there are nodes.
    pub(super) scale_up: Option<Box<ScaleUp>>,
    /// Which jobs have receives that take more than one source or tag.
    wildcards: Box<[bool]>,
    /// What each job has done here.
    pub(crate) records: Vec<Record>,
}

impl State for Interfaces {
    state! {
        keep nics, arrivals, news, later, leaving, scale_up, records;
        leave of_hosts, period, queue, due, ahead, wildcards;
    }
}

impl Interfaces {
    /// Those of a partition, with a wheel of so many cycles, so many for each phit on the link of a host, so many phits in
    /// an injection queue, and so many of them there as packets.
    pub(crate) fn new(
        jobs: &Jobs,
        (horizon, period): (Cycle, Cycle),
        (queue, ahead): (u32, u32),
    ) -> Self {
        Self {
            nics: Vec::new(),
            of_hosts: Vec::new(),
            arrivals: Wheel::new(horizon),
            news: Slab::new(),
            later: Later::new(),
            leaving: Table::default(),
            period,
            queue,
            due: Vec::new(),
            ahead,
            scale_up: jobs.node_latency().map(|_| Box::default()),
            wildcards: jobs.jobs.iter().map(|job| job.wildcards).collect(),
            records: jobs.jobs.iter().map(|job| Record::new(job.uses.all().len())).collect(),
        }
    }

    /// Packets in injection queues that are not there yet.
    pub(crate) fn behind(&self) -> u64 {
        self.nics.iter().map(|nic| u64::from(nic.behind.packets())).sum()
    }

    /// Fetches what most packets need of interfaces.
    pub(super) fn sweep(&self) {
        touch(self.nics.iter().map(|nic| nic.refill_at ^ nic.host ^ nic.backlogs.len() as u32));
    }

    /// The interface of a host, if it runs a rank.
    #[inline]
    pub(crate) fn of_host(&self, host: u32) -> Option<u32> {
        self.of_hosts.get(host as usize).copied().filter(|nic| *nic != NONE)
    }

    /// Adds the interface of a host with some ranks.
    pub(crate) fn add(&mut self, host: u32, jobs: &Jobs, seats: &[Seat], queues: u8) {
        self.of_hosts.resize(host as usize, NONE);
        let nic = self.nics.len() as u32;
        self.of_hosts.push(nic);
        if let Some(scale_up) = &mut self.scale_up {
            (0..).zip(seats).for_each(|(worker, seat)| scale_up.add(*seat, nic, worker));
        }
        let worker = |seat: &Seat| {
            let process = Process::new(seat.rank, &jobs.jobs[seat.job as usize]);
            Worker { seat: *seat, process, ended: None }
        };
        self.nics.push(Interface {
            host,
            workers: seats.iter().map(worker).collect(),
            backlogs: (0..queues).map(|_| VecDeque::new()).collect(),
            behind: Behind::default(),
            serial: 0,
            quiet: self.scale_up.is_none()
                && seats.len() == 1
                && jobs.jobs[seats[0].job as usize].keeps_nothing(),
            turns: seats.iter().any(|seat| jobs.jobs[seat.job as usize].flows.is_some()),
            first: u32::MAX,
            incoming: Incoming::default(),
            within: Vec::new(),
            seat: seats[0],
            told: false,
            wakes: 0,
            timer: 0,
            later: 0,
            refill_at: 0,
            next_cut: 0,
            next_made: 0,
        });
    }

    /// Has a rank do something. What it sends within its host is on its way then.
    #[inline]
    pub(super) fn with(
        &mut self,
        (index, worker): (u32, u32),
        (model, now): (&Model, Cycle),
        act: impl FnOnce(&mut Process, &Job, &mut SendQueues<'_>),
    ) {
        let Some(jobs) = &model.jobs else { return };
        let nic = &mut self.nics[index as usize];
        let alone = nic.workers.len() == 1;
        let own = &mut nic.workers[worker as usize];
        let seat = own.seat;
        let job = &jobs.jobs[seat.job as usize];
        let record = &mut self.records[seat.job as usize];
        let mut services = SendQueues {
            job,
            flows: &model.flows,
            seat,
            now,
            serial: &mut nic.serial,
            backlogs: &mut nic.backlogs,
            first: &mut nic.first,
            packet: jobs.packet,
            within: &mut nic.within,
            record,
        };
        act(&mut own.process, job, &mut services);
        // When it goes on, the others of its host do, what it does is noted, and what is for its node is sent.
        let alone = alone && job.kept == 0 && self.scale_up.is_none();
        nic.told |= !alone || !own.process.is_waiting();
        if own.ended.is_none() && own.process.is_done() {
            own.ended = Some(now);
            record.end_rank(now, own.process.computed);
        }
        if !nic.within.is_empty() {
            self.deliver_within(index, jobs, now);
        }
    }

    pub(super) fn tell(&mut self, news: News, now: Cycle) {
        let slot = self.news.insert(news);
        self.announce(slot, news.at, now);
    }

    /// A rank is told something in a cycle to come.
    fn announce(&mut self, slot: u32, at: Cycle, now: Cycle) {
        if at - now <= self.arrivals.horizon() {
            self.arrivals.push(at, slot);
        } else {
            self.later.add(at, Item::News(slot));
        }
    }

    /// What is due in the next cycle, and has been so far that the timing wheels did not reach it, is scheduled.
    fn schedule(&mut self, generations: &mut Wheel<u32>, now: Cycle) {
        while let Some(item) = self.later.take(now) {
            match item {
                Item::Host(host) => generations.push(now + 1, host),
                Item::News(slot) => self.arrivals.push(now + 1, slot),
            }
        }
    }

    /// The first cycle of `from..to` in which a rank is told something or is to be scheduled, or `to`.
    pub(super) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        self.arrivals.next(from, to.min(self.later.due().max(from)))
    }

    /// The last packet of a message, by its word, leaves its host, with so many phits.
    pub(super) fn leaves(&mut self, host_word: u32, (now, phits): (Cycle, u16)) {
        let Some(slot) = self.leaving.remove(&host_word) else { return };
        let at = now.saturating_add(u32::from(phits) * self.period);
        self.news.get_mut(slot).at = at;
        self.announce(slot, at, now);
    }

    /// Takes a packet of a message off the network; its last phit is consumed in the cycle before
    /// `delivered`. Packets come in the order in which they are consumed.
    pub(super) fn accept(
        &mut self,
        (host, now): (u32, Cycle),
        packet: &Delivery,
        fragment: &Fragment,
    ) {
        let Some(index) = self.of_host(host) else { return };
        let Fragment { kind, worker, key, sequence, offset, last, .. } = *fragment;
        let nic = &mut self.nics[index as usize];
        let job = nic.job(worker);
        let record = &mut self.records[job];
        let size = u32::from(packet.size);
        record.packets += 1;
        record.arrived_phits += u64::from(size);
        let at = packet.delivered;
        let mut begun = false;
        let mut phits = size;
        if offset > 0 || !last {
            let id = MessageId { worker, from: key.from, kind, sequence };
            let placed = nic.incoming.place(id, (offset, size), last);
            if let Some(held) = placed.held {
                record.hold(held);
            }
            // Only a receive that takes several senders asks which message began first.
            begun = kind == Kind::Eager && self.wildcards[job];
            if begun && placed.first {
                let what = What::Begins { key, sequence };
                self.tell(News { nic: index, worker, at, what }, now);
            }
            let Some(all) = placed.whole else { return };
            phits = all;
        }
        let message = Message { issued: packet.generated, arrived: at, phits };
        let what = What::Arrives { kind, key, sequence, begun, message };
        self.tell(News { nic: index, worker, at, what }, now);
    }

    /// What ranks are told in this cycle.
    pub(super) fn apply_messages<C: Load>(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<C>,
        entering: &mut Vec<Entering>,
    ) {
        let now = core.now;
        self.schedule(&mut core.generations, now);
        if self.scale_up.is_some() {
            self.receive_within_nodes(&core.model, now);
        }
        let mut due = std::mem::take(&mut self.due);
        while let Some(events) = self.arrivals.take(now) {
            let Self { arrivals, news, .. } = &*self;
            let place = |slot: &u32| u64::from(news.get(*slot).nic) << 32 | u64::from(*slot);
            due.extend(arrivals.events(events).iter().map(place));
            self.arrivals.done(events);
        }
        // What else happens in this cycle, at other hosts, does not change the order of what a rank hears.
        due.sort_unstable();
        let same = |one: &u64, next: &u64| one >> 32 == next >> 32;
        for same in due.chunk_by_mut(same).filter(|same| same.len() > 1) {
            same.sort_unstable_by_key(|one| {
                let news = self.news.get(*one as u32);
                (news.worker, news.place())
            });
        }
        for one in due.drain(..) {
            let news = self.news.remove(one as u32);
            if matches!(news.what, What::Passes) {
                continue;
            }
            if self.hear(&news, &core.model, now) {
                entering.extend(self.step(core, cargo, news.nic));
            }
        }
        self.due = due;
    }

    /// A rank is told something. Says whether anything may follow from that.
    fn hear(&mut self, news: &News, model: &Model, now: Cycle) -> bool {
        let News { nic, worker, what, .. } = *news;
        if let What::Arrives { kind, key, message, sequence, begun } = &what {
            let own = &mut self.nics[nic as usize];
            let seat = if worker == 0 { own.seat } else { own.workers[worker as usize].seat };
            let counts = matches!(kind, Kind::Eager | Kind::Data);
            let record = &mut self.records[seat.job as usize];
            record.receive(message, counts);
            if own.quiet && !begun && matches!(kind, Kind::Eager | Kind::Request) {
                let (key, request) = (*key, *kind == Kind::Request);
                let envelope = Envelope { key, sequence: *sequence, request };
                if own.workers[worker as usize].process.sets_aside(envelope, now) {
                    // What can be cut in this cycle has its own event.
                    return false;
                }
            }
            let jobs = model.jobs.as_ref();
            if jobs.is_some_and(|jobs| jobs.jobs[seat.job as usize].flows.is_some()) {
                record.flows.push((key.tag, message.arrived));
                return true;
            }
        }
        self.with((nic, worker), (model, now), |process, job, services| {
            process.account(job, now);
            tell(process, job, services, (&what, now));
        });
        true
    }
}

/// A rank is told something.
fn tell(
    process: &mut Process,
    job: &Job,
    services: &mut SendQueues<'_>,
    (what, now): (&What, Cycle),
) {
    match *what {
        What::Left(waiter) => process.has_left(waiter, now),
        What::Passes => {}
        What::Begins { key, sequence } => {
            process.hear(now, key.from, Kind::Eager, sequence);
            let envelope = Envelope { key, sequence, request: false };
            process.receive(job, envelope, false, services);
        }
        What::Arrives { kind, key, sequence, begun, .. } => {
            process.hear(now, key.from, kind, sequence);
            match kind {
                Kind::Ready => process.may_send(key.from, sequence, services),
                Kind::Data => process.complete(key, sequence),
                Kind::Eager if begun => process.complete(key, sequence),
                Kind::Eager | Kind::Request => {
                    let envelope = Envelope { key, sequence, request: kind == Kind::Request };
                    process.receive(job, envelope, true, services);
                }
            }
        }
    }
}

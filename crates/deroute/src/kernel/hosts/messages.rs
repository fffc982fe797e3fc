//! Network interfaces of the hosts that run ranks: they cut messages into packets and put them
//! together again.

use std::collections::{BTreeMap, VecDeque};

use super::Entering;
use super::interface::{Interface, News, Outgoing, SendQueues, What, Worker};
use super::later::{Item, Later};
use super::scale_up::ScaleUp;
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Cargo, Fragment, PartOf, Slab};
use crate::kernel::core::packet::{BufferId, NONE, Packet};
use crate::kernel::core::wheel::Wheel;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::probe::messages::{Message, Record};
use crate::routing::Header;
use crate::state::{State, state};
use crate::workload::matching::Envelope;
use crate::workload::process::{Descriptor, Kind, Process};
use crate::workload::{Job, Jobs, Placed, Seat};

/// The interfaces of a partition.
pub(crate) struct Interfaces {
    pub(crate) nics: Vec<Interface>,
    /// The one of each host; `NONE` if it generates synthetic traffic. Others may follow the last one.
    of_hosts: Vec<u32>,
    /// What ranks are told.
    arrivals: Wheel<u32>,
    news: Slab<News>,
    later: Later,
    /// What is due in a cycle, while it is looked at.
    due: Vec<u32>,
    /// The networks within nodes, if there are nodes.
    pub(super) scale_up: Option<Box<ScaleUp>>,
    /// Which jobs have receives that take more than one source or tag.
    wildcards: Box<[bool]>,
    /// What each job has done here.
    pub(crate) records: Vec<Record>,
}

impl State for Interfaces {
    state! { keep nics, arrivals, news, later, scale_up, records; leave of_hosts, due, wildcards; }
}

impl Interfaces {
    pub(crate) fn new(jobs: &Jobs, horizon: Cycle) -> Self {
        Self {
            nics: Vec::new(),
            of_hosts: Vec::new(),
            arrivals: Wheel::new(horizon),
            news: Slab::new(),
            later: Later::new(),
            due: Vec::new(),
            scale_up: jobs.node_latency().map(|_| Box::default()),
            wildcards: jobs.jobs.iter().map(|job| job.wildcards).collect(),
            records: jobs.jobs.iter().map(|job| Record::new(job.schedules.len())).collect(),
        }
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
            serial: 0,
            turns: seats.iter().any(|seat| jobs.jobs[seat.job as usize].flows.is_some()),
            incoming: BTreeMap::new(),
            within: Vec::new(),
            held: 0,
            timer: 0,
            later: 0,
            refill_at: 0,
            next_cut: 0,
        });
    }

    /// Has a rank do something. What it sends within its host is on its way then.
    fn with<T>(
        &mut self,
        (index, worker): (u32, u32),
        (model, now): (&Model, Cycle),
        act: impl FnOnce(&mut Process, &Job, &mut SendQueues<'_>) -> T,
    ) -> Option<T> {
        let jobs = model.jobs.as_ref()?;
        let nic = &mut self.nics[index as usize];
        let own = &mut nic.workers[worker as usize];
        let seat = own.seat;
        let job = &jobs.jobs[seat.job as usize];
        let record = &mut self.records[seat.job as usize];
        let mut services = SendQueues {
            job,
            flows: &model.flows,
            from: job.hosts[seat.rank as usize],
            seat,
            now,
            serial: &mut nic.serial,
            backlogs: &mut nic.backlogs,
            within: &mut nic.within,
            record,
        };
        let result = act(&mut own.process, job, &mut services);
        if own.ended.is_none() && own.process.is_done() {
            own.ended = Some(now);
            record.end_rank(now, own.process.computed);
        }
        self.deliver_within(index, jobs, now);
        Some(result)
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

    /// The last packet of a message leaves its host, with so many phits.
    pub(super) fn leaves(&mut self, slot: u32, (now, phits): (Cycle, u16)) {
        let at = now.saturating_add(phits.into());
        self.news.get_mut(slot).at = at;
        self.announce(slot, at, now);
    }

    /// Lets the ranks of a host go on. Returns the cycle of an event that is needed to end a computation, if the
    /// timing wheel reaches so far.
    fn work(&mut self, index: u32, model: &Model, now: Cycle, horizon: Cycle) -> Option<Cycle> {
        for worker in 0..self.nics[index as usize].workers.len() as u32 {
            let act = |process: &mut Process, job: &Job, services: &mut SendQueues<'_>| {
                process.advance(job, now, services);
            };
            self.with((index, worker), (model, now), act);
        }
        let nic = &mut self.nics[index as usize];
        let at = nic.workers.iter().filter_map(|worker| worker.process.next_timer()).min()?;
        let far = at - now > horizon;
        let known = if far { &mut nic.later } else { &mut nic.timer };
        if *known > now && *known <= at {
            return None;
        }
        *known = at;
        if far {
            self.later.add(at, Item::Host(nic.host));
            return None;
        }
        Some(at)
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
        let Fragment { kind, to, key, sequence, offset, length, .. } = *fragment;
        let nic = &mut self.nics[index as usize];
        let worker = nic.worker(to);
        let job = nic.workers[worker as usize].seat.job as usize;
        let record = &mut self.records[job];
        let size = u32::from(packet.size);
        record.packets += 1;
        record.arrived_phits += u64::from(size);
        let at = packet.delivered;
        // Only a receive that takes several senders asks which message began first.
        let early = kind == Kind::Eager && self.wildcards[job];
        let mut begun = false;
        if size < length {
            let place = (to, key.from, kind, sequence);
            begun = early;
            let is_first = !nic.incoming.contains_key(&place);
            let assembly = nic.incoming.entry(place).or_default();
            match assembly.place(offset, size) {
                Placed::Held => {
                    nic.held += size;
                    record.hold(nic.held);
                }
                Placed::InOrder { released } => nic.held -= released,
            }
            let whole = assembly.ready() == length;
            if whole {
                nic.incoming.remove(&place);
            }
            if early && is_first {
                let what = What::Begins { key, sequence };
                self.tell(News { nic: index, worker, at, what }, now);
            }
            if !whole {
                return;
            }
        }
        let message = Message { issued: packet.generated, arrived: at, phits: length };
        let what = What::Arrives { kind, key, sequence, begun, message };
        self.tell(News { nic: index, worker, at, what }, now);
    }

    /// What ranks are told in this cycle.
    #[cold]
    pub(super) fn apply_messages(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<Cargo>,
        entering: &mut Vec<Entering>,
    ) {
        let now = core.now;
        self.schedule(&mut core.generations, now);
        if self.scale_up.is_some() {
            self.receive_within_nodes(&core.model, now);
        }
        let mut due = std::mem::take(&mut self.due);
        while let Some(events) = self.arrivals.take(now) {
            due.extend_from_slice(self.arrivals.events(events));
            self.arrivals.done(events);
        }
        // What else happens in this cycle, at other hosts, does not change the order of what a rank hears.
        due.sort_unstable_by_key(|slot| self.news.get(*slot).place());
        for slot in due.drain(..) {
            let news = self.news.remove(slot);
            if matches!(news.what, What::Passes) {
                continue;
            }
            self.hear(&news, &core.model, now);
            let host = self.nics[news.nic as usize].host;
            entering.extend(self.step_rank(core, cargo, host));
        }
        self.due = due;
    }

    /// A rank is told something.
    fn hear(&mut self, news: &News, model: &Model, now: Cycle) {
        let News { nic, worker, what, .. } = *news;
        if let What::Arrives { kind, key, message, .. } = &what {
            let seat = self.nics[nic as usize].workers[worker as usize].seat;
            let counts = matches!(kind, Kind::Eager | Kind::Data);
            let record = &mut self.records[seat.job as usize];
            record.receive(message, counts);
            let jobs = model.jobs.as_ref();
            if jobs.is_some_and(|jobs| jobs.jobs[seat.job as usize].flows.is_some()) {
                record.flows.push((key.tag, message.arrived));
                return;
            }
        }
        self.with((nic, worker), (model, now), |process, job, services| match what {
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
        });
    }

    /// Lets the ranks of a host go on, and cuts a packet.
    #[cold]
    pub(super) fn step_rank(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<Cargo>,
        host: u32,
    ) -> Option<Entering> {
        let nic = self.of_host(host)?;
        if let Some(at) = self.work(nic, &core.model, core.now, core.generations.horizon()) {
            core.generations.push(at, host);
        }
        if self.scale_up.is_some() {
            self.send_within_nodes(core);
        }
        let packet = self.cut(core, cargo, host);
        self.refill(core, host);
        packet
    }

    /// Cuts the next packet of a host, if its injection queue has room for it: at most one a cycle, so
    /// that no two arrive at their router at once.
    fn cut(&mut self, core: &mut Core, cargo: &mut Slab<Cargo>, host: u32) -> Option<Entering> {
        let index = self.of_host(host)?;
        let Core { model, hosts, queued, collector, now, .. } = core;
        let jobs = model.jobs.as_ref()?;
        let (nic, host) = (&mut self.nics[index as usize], &mut hosts[host as usize]);
        if nic.next_cut > *now {
            return None;
        }
        let room = |class| model.nic_queue() - host.queued(queued, class);
        let class = nic.next_class(jobs.packet, room)?;
        let backlog = &mut nic.backlogs[usize::from(class)];
        let next = backlog.front_mut()?;
        let size = next.packet(jobs.packet);
        let Outgoing { descriptor, to, cut: offset, issued, .. } = *next;
        let Descriptor { to: rank, key, kind, sequence, phits: length, left } = descriptor;
        next.cut += size;
        nic.next_cut = *now + 1;
        let mut told = NONE;
        if next.cut == length {
            backlog.pop_front();
            if let Some(waiter) = left {
                let worker = nic.worker(key.from);
                let what = What::Left(waiter);
                told = self.news.insert(News { nic: index, worker, at: Cycle::MAX, what });
            }
        } else {
            nic.next_turn(class);
        }
        let part_of =
            PartOf::Message(Fragment { kind, to: rank, key, sequence, offset, length, left: told });
        *host.queued_mut(queued, class) += size;
        collector.generated += 1;
        let phits = u64::from(collector.covers(*now)) * u64::from(size);
        collector.attempted_phits += phits;
        collector.generated_phits += phits;
        let (router, port) = model.topology.home_of(to);
        let packet = Packet {
            generated: issued,
            host_word: cargo.insert(Cargo::new(host.id, part_of, model.host_latency)),
            header: Header::new(router),
            port,
            size: size as u16,
        };
        Some((packet, BufferId::new(host.port, class)))
    }

    /// Sees to it that a packet is cut in the next cycle, if there is one and room for it.
    #[cold]
    pub(super) fn refill(&mut self, core: &mut Core, host: u32) {
        let Core { model, hosts, queued, generations, now, .. } = core;
        let (Some(nic), Some(jobs)) = (self.of_host(host), &model.jobs) else { return };
        let (state, nic, soon) = (&hosts[host as usize], &mut self.nics[nic as usize], *now + 1);
        let room = |class| model.nic_queue() - state.queued(queued, class);
        if nic.refill_at != soon && nic.next_class(jobs.packet, room).is_some() {
            nic.refill_at = soon;
            generations.push(soon, host);
        }
    }
}

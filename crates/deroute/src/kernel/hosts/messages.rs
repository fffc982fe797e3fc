//! Network interfaces of the hosts that run a rank: they cut messages into packets and put them
//! together again.

use std::collections::{BTreeMap, VecDeque};

use super::Entering;
use crate::ids::{Cycle, HostId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Cargo, Fragment, PartOf, Slab};
use crate::kernel::core::packet::{BufferId, NONE, Packet};
use crate::kernel::core::wheel::Wheel;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::probe::messages::{Message, Record};
use crate::queuing::Flows;
use crate::routing::Header;
use crate::workload::process::{Assembly, Descriptor, Placed, Process, Services, State};
use crate::workload::{Job, Jobs, Seat};

/// A message that is being cut.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    descriptor: Descriptor,
    to: HostId,
    /// Phits that have been cut off.
    cut: u32,
    issued: Cycle,
}

/// A message whose last packet is being consumed.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    nic: u32,
    from: u32,
    tag: u32,
    message: Message,
}

/// The interface of one host, and the rank behind it.
pub(crate) struct Interface {
    /// Index in `Core::hosts`.
    host: u32,
    pub(crate) seat: Seat,
    pub(crate) process: Process,
    /// Messages to be cut, by class.
    backlogs: Box<[VecDeque<Outgoing>]>,
    /// Messages that have arrived in part, by sender and number.
    incoming: BTreeMap<(u32, u32), Assembly>,
    /// Phits that wait for a packet before them.
    held: u32,
    /// Cycle of the event that was scheduled last for the end of a computation.
    timer: Cycle,
    /// The same for cutting a packet.
    refill_at: Cycle,
    /// First cycle in which a packet may be cut.
    next_cut: Cycle,
    /// Cycle in which the rank has ended.
    pub(crate) ended: Option<Cycle>,
}

impl Outgoing {
    /// Phits of its next packet.
    fn packet(&self, largest: u16) -> u32 {
        (self.descriptor.phits - self.cut).min(largest.into())
    }
}

impl Interface {
    /// The class of the message to cut a packet off: of those that are first in their class and whose next
    /// packet fits, the one that was sent first.
    fn next_class(&self, largest: u16, room: impl Fn(u8) -> u32) -> Option<u8> {
        let firsts =
            (0..).zip(&self.backlogs).filter_map(|(c, backlog)| Some((c, backlog.front()?)));
        let fitting = firsts.filter(|(class, next)| next.packet(largest) <= room(*class));
        fitting.min_by_key(|(_, next)| next.descriptor.serial).map(|(class, _)| class)
    }
}

/// The interfaces of a partition.
pub(crate) struct Interfaces {
    pub(crate) nics: Vec<Interface>,
    /// The one of each host; `NONE` if it generates synthetic traffic. Others may follow the last one.
    of_hosts: Vec<u32>,
    /// Messages that become whole.
    arrivals: Wheel<u32>,
    messages: Slab<Incoming>,
    /// What each job has done here.
    pub(crate) records: Vec<Record>,
}

/// Takes what a rank sends.
struct SendQueues<'a> {
    job: &'a Job,
    flows: &'a Flows,
    from: HostId,
    now: Cycle,
    backlogs: &'a mut [VecDeque<Outgoing>],
    record: &'a mut Record,
}

impl Services for SendQueues<'_> {
    fn send(&mut self, descriptor: Descriptor) {
        let to = self.job.hosts[descriptor.to as usize];
        self.record.sent += 1;
        let class = self.flows.class(self.from, to);
        self.backlogs[usize::from(class)].push_back(Outgoing {
            descriptor,
            to,
            cut: 0,
            issued: self.now,
        });
    }

    fn iteration(&mut self, iteration: u32) {
        self.record.end_iteration(iteration, self.now);
    }
}

impl Interfaces {
    pub(crate) fn new(jobs: &Jobs, horizon: Cycle) -> Self {
        Self {
            nics: Vec::new(),
            of_hosts: Vec::new(),
            arrivals: Wheel::new(horizon),
            messages: Slab::new(),
            records: jobs.jobs.iter().map(|_| Record::new()).collect(),
        }
    }

    /// The interface of a host, if it runs a rank.
    #[inline]
    pub(crate) fn of_host(&self, host: u32) -> Option<u32> {
        self.of_hosts.get(host as usize).copied().filter(|nic| *nic != NONE)
    }

    /// Adds the interface of a host; returns the cycle in which its rank begins.
    pub(crate) fn add(&mut self, host: u32, seat: Seat, job: &Job, classes: u8) -> Cycle {
        self.of_hosts.resize(host as usize, NONE);
        self.of_hosts.push(self.nics.len() as u32);
        let mut process = Process::new(seat.rank);
        process.state = State::Computing(job.start);
        self.nics.push(Interface {
            host,
            seat,
            process,
            backlogs: (0..classes).map(|_| VecDeque::new()).collect(),
            incoming: BTreeMap::new(),
            held: 0,
            timer: 0,
            refill_at: 0,
            next_cut: 0,
            ended: None,
        });
        job.start
    }

    /// Lets a rank go on. Returns the cycle of an event that is needed to end its computation.
    fn work(&mut self, index: u32, model: &Model, now: Cycle, horizon: Cycle) -> Option<Cycle> {
        let jobs = model.jobs.as_ref()?;
        let nic = &mut self.nics[index as usize];
        let job = &jobs.jobs[nic.seat.job as usize];
        let record = &mut self.records[nic.seat.job as usize];
        let (flows, from) = (&model.flows, job.hosts[nic.seat.rank as usize]);
        let mut send_queues =
            SendQueues { job, flows, from, now, backlogs: &mut nic.backlogs, record };
        nic.process.advance(job, now, &mut send_queues);
        match nic.process.state {
            State::Computing(until) if nic.timer <= now => {
                nic.timer = until.min(now + horizon);
                Some(nic.timer)
            }
            State::Done if nic.ended.is_none() => {
                nic.ended = Some(now);
                self.records[nic.seat.job as usize].end_rank(now, nic.process.computed);
                None
            }
            _ => None,
        }
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
        let nic = &mut self.nics[index as usize];
        let record = &mut self.records[nic.seat.job as usize];
        let (size, key) = (u32::from(packet.size), (fragment.from, fragment.serial));
        record.packets += 1;
        record.arrived_phits += u64::from(size);
        if size < fragment.length {
            let assembly = nic.incoming.entry(key).or_default();
            match assembly.place(fragment.offset, size) {
                Placed::Held => {
                    nic.held += size;
                    record.hold(nic.held);
                }
                Placed::InOrder { released } => nic.held -= released,
            }
            if assembly.ready() < fragment.length {
                return;
            }
            nic.incoming.remove(&key);
        }
        let delivered = packet.delivered;
        let message =
            Message { issued: packet.generated, arrived: delivered, phits: fragment.length };
        let Fragment { from, tag, .. } = *fragment;
        let slot = self.messages.insert(Incoming { nic: index, from, tag, message });
        self.arrivals.push(delivered.min(now + self.arrivals.horizon()), slot);
    }

    /// Messages that become whole in this cycle reach their ranks.
    #[cold]
    pub(super) fn apply_messages(
        &mut self,
        core: &mut Core,
        cargo: &mut Slab<Cargo>,
        entering: &mut Vec<Entering>,
    ) {
        let now = core.now;
        while let Some(due) = self.arrivals.take(now) {
            for index in 0..due.len() {
                let slot = self.arrivals.events(due)[index];
                let arrived = self.messages.get_mut(slot).message.arrived;
                if arrived > now {
                    self.arrivals.push(arrived.min(now + self.arrivals.horizon()), slot);
                    continue;
                }
                let Incoming { nic, from, tag, message } = self.messages.remove(slot);
                let nic = &mut self.nics[nic as usize];
                nic.process.receive(from, tag);
                self.records[nic.seat.job as usize].receive(&message);
                let host = nic.host;
                entering.extend(self.step_rank(core, cargo, host));
            }
            self.arrivals.done(due);
        }
    }

    /// Lets the rank of a host go on, and cuts a packet.
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
        let packet = self.cut(core, cargo, host);
        self.refill(core, host);
        packet
    }

    /// Cuts the next packet of a host, if its injection queue has room for it: at most one a cycle, so
    /// that no two arrive at their router at once.
    fn cut(&mut self, core: &mut Core, cargo: &mut Slab<Cargo>, host: u32) -> Option<Entering> {
        let nic = self.of_host(host)?;
        let Core { model, hosts, queued, collector, now, .. } = core;
        let jobs = model.jobs.as_ref()?;
        let (nic, host) = (&mut self.nics[nic as usize], &mut hosts[host as usize]);
        let rank = nic.process.rank();
        if nic.next_cut > *now {
            return None;
        }
        let room = |class| model.nic_queue() - host.queued(queued, class);
        let class = nic.next_class(jobs.packet, room)?;
        let backlog = &mut nic.backlogs[usize::from(class)];
        let next = backlog.front_mut()?;
        let size = next.packet(jobs.packet);
        let Outgoing { descriptor, to, cut: offset, issued } = *next;
        next.cut += size;
        nic.next_cut = *now + 1;
        if next.cut == descriptor.phits {
            backlog.pop_front();
        }
        let Descriptor { tag, phits: length, serial, .. } = descriptor;
        let part_of = PartOf::Message(Fragment { from: rank, serial, tag, offset, length });
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

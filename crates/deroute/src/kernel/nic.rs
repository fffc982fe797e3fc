//! Network interfaces of the hosts that run a rank: they cut messages into packets and put them
//! together again.
//!
//! In a run with a workload every packet refers to a [`Parcel`] of its partition, which moves to
//! the next one with it. Without a workload there is none of this.

use std::collections::{BTreeMap, VecDeque};

use super::packet::{Buffer, NONE, Packet};
use super::partition::Partition;
use super::plant::Plant;
use super::state::Mail;
use super::wheel::Wheel;
use crate::ids::{Cycle, HostId};
use crate::probe::messages::{Message, Record};
use crate::routing::{Flows, Header};
use crate::workload::process::{Assembly, Letter, Office, Placed, Process, State};
use crate::workload::{Job, Jobs, Seat};

/// What a packet carries beside what routers look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parcel {
    /// Cycle of the first grant.
    injected: Cycle,
    /// Rank that sent it; [`NONE`] if it is no part of a message.
    from: u32,
    /// Number of its message among those of the sender.
    serial: u32,
    /// Tag of the message.
    tag: u32,
    /// Phits of the message before it, and in total.
    offset: u32,
    length: u32,
}

impl Parcel {
    /// That of a packet of the synthetic traffic.
    const SYNTHETIC: Self =
        Self { injected: 0, from: NONE, serial: 0, tag: 0, offset: 0, length: 0 };
}

/// A pool of things with small handles, reused last in, first out.
pub(super) struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            return slot;
        }
        self.slots.push(value);
        self.slots.len() as u32 - 1
    }

    pub(super) fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.slots[slot as usize]
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize]
    }

    /// Things in the pool.
    pub(super) fn live(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }
}

/// A message that is being cut.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    letter: Letter,
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
pub(super) struct Nic {
    /// Index in `Partition::hosts`.
    host: u32,
    pub(super) seat: Seat,
    pub(super) process: Process,
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
    pub(super) ended: Option<Cycle>,
}

impl Outgoing {
    /// Phits of its next packet.
    fn packet(&self, largest: u16) -> u32 {
        (self.letter.phits - self.cut).min(largest.into())
    }
}

impl Nic {
    /// The class of the message to cut a packet off: of those that are first in their class and whose next
    /// packet fits, the one that was sent first.
    fn next_class(&self, largest: u16, room: impl Fn(u8) -> u32) -> Option<u8> {
        let firsts =
            (0..).zip(&self.backlogs).filter_map(|(c, backlog)| Some((c, backlog.front()?)));
        let fitting = firsts.filter(|(class, next)| next.packet(largest) <= room(*class));
        fitting.min_by_key(|(_, next)| next.letter.serial).map(|(class, _)| class)
    }
}

/// The interfaces of a partition.
pub(super) struct Nics {
    pub(super) nics: Vec<Nic>,
    /// The one of each host; `NONE` if it generates synthetic traffic. Others may follow the last one.
    of_hosts: Vec<u32>,
    pub(super) parcels: Slab<Parcel>,
    /// Messages that become whole.
    arrivals: Wheel<u32>,
    messages: Slab<Incoming>,
    /// What each job has done here.
    pub(super) records: Vec<Record>,
}

/// Takes what a rank reports.
struct Desk<'a> {
    job: &'a Job,
    flows: &'a Flows,
    from: HostId,
    now: Cycle,
    backlogs: &'a mut [VecDeque<Outgoing>],
    record: &'a mut Record,
}

impl Office for Desk<'_> {
    fn send(&mut self, letter: Letter) {
        let to = self.job.hosts[letter.to as usize];
        self.record.sent += 1;
        let class = self.flows.class(self.from, to);
        self.backlogs[usize::from(class)].push_back(Outgoing {
            letter,
            to,
            cut: 0,
            issued: self.now,
        });
    }

    fn iteration(&mut self, iteration: u32) {
        self.record.end_iteration(iteration, self.now);
    }
}

impl Nics {
    pub(super) fn new(jobs: &Jobs, horizon: Cycle) -> Self {
        Self {
            nics: Vec::new(),
            of_hosts: Vec::new(),
            parcels: Slab::new(),
            arrivals: Wheel::new(horizon),
            messages: Slab::new(),
            records: jobs.jobs.iter().map(|_| Record::new()).collect(),
        }
    }

    /// The interface of a host, if it runs a rank.
    #[inline]
    pub(super) fn of_host(&self, host: u32) -> Option<u32> {
        self.of_hosts.get(host as usize).copied().filter(|nic| *nic != NONE)
    }

    /// Adds the interface of a host; returns the cycle in which its rank begins.
    pub(super) fn add(&mut self, host: u32, seat: Seat, job: &Job, classes: u8) -> Cycle {
        self.of_hosts.resize(host as usize, NONE);
        self.of_hosts.push(self.nics.len() as u32);
        let mut process = Process::new(seat.rank);
        process.state = State::Computing(job.start);
        self.nics.push(Nic {
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
    fn work(&mut self, index: u32, plant: &Plant, now: Cycle, horizon: Cycle) -> Option<Cycle> {
        let jobs = plant.jobs.as_ref()?;
        let nic = &mut self.nics[index as usize];
        let job = &jobs.jobs[nic.seat.job as usize];
        let record = &mut self.records[nic.seat.job as usize];
        let (flows, from) = (&plant.flows, job.hosts[nic.seat.rank as usize]);
        let mut desk = Desk { job, flows, from, now, backlogs: &mut nic.backlogs, record };
        nic.process.advance(job, now, &mut desk);
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
    fn accept(&mut self, index: u32, packet: &Packet, parcel: &Parcel, times: Times) {
        let nic = &mut self.nics[index as usize];
        let record = &mut self.records[nic.seat.job as usize];
        let (size, key) = (u32::from(packet.size), (parcel.from, parcel.serial));
        record.packets += 1;
        record.arrived_phits += u64::from(size);
        if size < parcel.length {
            let assembly = nic.incoming.entry(key).or_default();
            match assembly.place(parcel.offset, size) {
                Placed::Held => {
                    nic.held += size;
                    record.hold(nic.held);
                }
                Placed::InOrder { released } => nic.held -= released,
            }
            if assembly.ready() < parcel.length {
                return;
            }
            nic.incoming.remove(&key);
        }
        let Times { now, delivered } = times;
        let message =
            Message { issued: packet.generated, arrived: delivered, phits: parcel.length };
        let Parcel { from, tag, .. } = *parcel;
        let slot = self.messages.insert(Incoming { nic: index, from, tag, message });
        self.arrivals.push(delivered.min(now + self.arrivals.horizon()), slot);
    }
}

/// When a packet is granted its last port, and when it has been consumed.
#[derive(Clone, Copy)]
struct Times {
    now: Cycle,
    delivered: Cycle,
}

/// Out of the way of runs without a workload.
impl Partition {
    /// A parcel for a packet of the synthetic traffic.
    #[cold]
    pub(super) fn synthetic_parcel(&mut self) -> u32 {
        self.nics.as_mut().map_or(NONE, |nics| nics.parcels.insert(Parcel::SYNTHETIC))
    }

    /// A packet has left its injection queue.
    #[cold]
    pub(super) fn stamp(&mut self, parcel: u32) {
        if let Some(nics) = &mut self.nics {
            nics.parcels.get_mut(parcel).injected = self.now;
        }
    }

    /// Sends the parcel of a packet after it, to another partition.
    #[cold]
    pub(super) fn post_parcel(&mut self, partition: u32, parcel: u32) {
        if let Some(nics) = &mut self.nics {
            let parcel = nics.parcels.remove(parcel);
            self.outbox[partition as usize].parcels.push(parcel);
        }
    }

    /// Takes the parcels of packets from another partition.
    #[cold]
    pub(super) fn receive_parcels(&mut self, mail: &mut Mail) {
        let Some(nics) = &mut self.nics else { return };
        for (flight, parcel) in mail.arrivals.iter_mut().zip(mail.parcels.drain(..)) {
            flight.packet.mark = nics.parcels.insert(parcel);
        }
    }

    /// Takes a packet off the network; its last phit is consumed in the cycle before `delivered`.
    /// Returns the cycle of its first grant.
    #[cold]
    pub(super) fn unpack(&mut self, host: u32, packet: u32, delivered: Cycle) -> Cycle {
        let packet = &self.pool[packet].packet;
        let Some(nics) = &mut self.nics else { return packet.mark };
        let parcel = nics.parcels.remove(packet.mark);
        if parcel.from != NONE
            && let Some(nic) = nics.of_host(host)
        {
            nics.accept(nic, packet, &parcel, Times { now: self.now, delivered });
        }
        parcel.injected
    }

    /// Messages that become whole in this cycle reach their ranks.
    #[cold]
    pub(super) fn apply_messages(&mut self) {
        let now = self.now;
        loop {
            let Some(nics) = &mut self.nics else { return };
            let Some(due) = nics.arrivals.take(now) else { return };
            for index in 0..due.len() {
                let Some(nics) = &mut self.nics else { return };
                let slot = nics.arrivals.events(due)[index];
                let arrived = nics.messages.get_mut(slot).message.arrived;
                if arrived > now {
                    nics.arrivals.push(arrived.min(now + nics.arrivals.horizon()), slot);
                    continue;
                }
                let Incoming { nic, from, tag, message } = nics.messages.remove(slot);
                let nic = &mut nics.nics[nic as usize];
                nic.process.receive(from, tag);
                nics.records[nic.seat.job as usize].receive(&message);
                let host = nic.host;
                self.drive(host);
            }
            if let Some(nics) = &mut self.nics {
                nics.arrivals.done(due);
            }
        }
    }

    /// Lets the rank of a host go on, and cuts packets.
    #[cold]
    pub(super) fn drive(&mut self, host: u32) {
        let now = self.now;
        let Some(nics) = &mut self.nics else { return };
        let Some(nic) = nics.of_host(host) else { return };
        if let Some(at) = nics.work(nic, &self.plant, now, self.generations.horizon()) {
            self.generations.push(at, host);
        }
        if let Some((packet, to)) = self.cut(host) {
            self.enter::<false>(packet, to);
        }
        self.refill(host);
    }

    /// Cuts the next packet of a host, if its injection queue has room for it: at most one a cycle, so
    /// that no two arrive at their router at once.
    fn cut(&mut self, host: u32) -> Option<(Packet, Buffer)> {
        let plant = &*self.plant;
        let (nics, jobs) = (self.nics.as_mut()?, plant.jobs.as_ref()?);
        let nic = nics.of_host(host)?;
        let (nic, host) = (&mut nics.nics[nic as usize], &mut self.hosts[host as usize]);
        let rank = nic.process.rank();
        if nic.next_cut > self.now {
            return None;
        }
        let room = |class| plant.nic_queue() - host.queued(&self.queued, class);
        let class = nic.next_class(jobs.packet, room)?;
        let backlog = &mut nic.backlogs[usize::from(class)];
        let next = backlog.front_mut()?;
        let size = next.packet(jobs.packet);
        let Outgoing { letter, to, cut: offset, issued } = *next;
        next.cut += size;
        nic.next_cut = self.now + 1;
        if next.cut == letter.phits {
            backlog.pop_front();
        }
        let Letter { tag, phits: length, serial, .. } = letter;
        let parcel = Parcel { injected: 0, from: rank, serial, tag, offset, length };
        *host.queued_mut(&mut self.queued, class) += size;
        self.collector.generated += 1;
        let phits = u64::from(self.collector.covers(self.now)) * u64::from(size);
        self.collector.attempted_phits += phits;
        self.collector.generated_phits += phits;
        let (router, port) = plant.topology.home_of(to);
        let packet = Packet {
            generated: issued,
            mark: nics.parcels.insert(parcel),
            header: Header::new(router),
            port,
            size: size as u16,
        };
        Some((packet, Buffer::new(host.port, class)))
    }

    /// Sees to it that a packet is cut in the next cycle, if there is one and room for it.
    #[cold]
    pub(super) fn refill(&mut self, host: u32) {
        let (Some(nics), Some(jobs)) = (&mut self.nics, &self.plant.jobs) else { return };
        let Some(nic) = nics.of_host(host) else { return };
        let (state, index) = (&self.hosts[host as usize], host);
        let (nic, soon) = (&mut nics.nics[nic as usize], self.now + 1);
        let room = |class| self.plant.nic_queue() - state.queued(&self.queued, class);
        if nic.refill_at != soon && nic.next_class(jobs.packet, room).is_some() {
            nic.refill_at = soon;
            self.generations.push(soon, index);
        }
    }
}
